// Compressed rows: every entry is read twice, once for the linear predictor and once, still in cache, for the gradient.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "likelihood.hpp"

namespace discrim {
namespace {

// Coefficients of one column next to each other, the constant last.
std::vector<double> by_column(const double *theta, int64_t K, int64_t p) {
    std::vector<double> columns((p + 1) * K, 0.0);
    if (!theta) return columns;
    for (int64_t k = 0; k < K; ++k) {
        columns[p * K + k] = theta[k * (p + 1)];
        for (int64_t j = 0; j < p; ++j) columns[j * K + k] = theta[k * (p + 1) + 1 + j];
    }
    return columns;
}

template <typename T, typename I>
void predict(const SparseRows<T, I> &x, int64_t i, int64_t K, const std::vector<double> &beta, double *eta) {
    for (int64_t k = 0; k < K; ++k) eta[k] = beta[x.p * K + k];
    for (int64_t at = x.first[i]; at < static_cast<int64_t>(x.first[i + 1]); ++at) {
        const double v = static_cast<double>(x.value[at]);
        const double *b = beta.data() + static_cast<int64_t>(x.column[at]) * K;
        for (int64_t k = 0; k < K; ++k) eta[k] += v * b[k];
    }
}

double log_one_plus_exp(double eta) { return (eta > 0 ? eta : 0.0) + std::log1p(std::exp(-std::fabs(eta))); }

double log_sum(const double *eta, int64_t K) {
    double most = eta[0], sum = 0.0;
    for (int64_t k = 1; k < K; ++k) most = eta[k] > most ? eta[k] : most;
    for (int64_t k = 0; k < K; ++k) sum += std::exp(eta[k] - most);
    return most + std::log(sum);
}

}  // namespace

template <typename T, typename I>
void sparse_likelihood(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    // A softmax theta of one row cannot be told from a binary one, and is not asked for.
    const int64_t K = at.K;
    const auto beta = by_column(at.theta, K, x.p), rise = by_column(at.along, K, x.p);
    std::vector<double> gradient((x.p + 1) * K, 0.0), eta(K), slope(K), there(K), residual(K);
    *out.loss = 0.0;
    *out.least = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < x.n; ++i) {
        const double w = y.weight ? y.weight[i] : 1.0;
        if (!(w > 0)) continue;
        predict(x, i, K, beta, eta.data());
        if (at.along) predict(x, i, K, rise, slope.data());
        if (K == 1) eta[0] += y.offset ? y.offset[i] : 0.0;
        const int32_t code = y.codes[i];
        const double share = y.share ? y.share[i] : (code == 1 ? 1.0 : 0.0);
        const auto loss_at = [&](const double *e) {
            return K == 1 ? log_one_plus_exp(e[0]) - share * e[0] : log_sum(e, K) - e[code];
        };
        const double loss = loss_at(eta.data());
        *out.loss += w * loss;
        for (int64_t s = 0; s < at.S && at.along; ++s) {
            for (int64_t k = 0; k < K; ++k) there[k] = eta[k] + at.steps[s] * slope[k];
            out.losses[s] += w * loss_at(there.data());
        }
        if (K == 1) {
            const double e = std::exp(-std::fabs(eta[0])), inverse = 1.0 / (1.0 + e);
            *out.least = std::min(*out.least, w * e * inverse * inverse);
            const double mu = eta[0] >= 0 ? inverse : e * inverse, rest = eta[0] >= 0 ? e * inverse : inverse;
            residual[0] = w * (mu * (1.0 - share) - rest * share);
        } else {
            const double top = loss + eta[code];
            for (int64_t k = 0; k < K; ++k) {
                const double mu = w * std::exp(eta[k] - top);
                *out.least = std::min(*out.least, 0.5 * mu);
                residual[k] = mu - (k == code ? w : 0.0);
            }
        }
        if (at.order == Order::loss) continue;
        for (int64_t k = 0; k < K; ++k) gradient[x.p * K + k] += residual[k];
        for (int64_t e = x.first[i]; e < static_cast<int64_t>(x.first[i + 1]); ++e) {
            const double v = static_cast<double>(x.value[e]);
            double *g = gradient.data() + static_cast<int64_t>(x.column[e]) * K;
            for (int64_t k = 0; k < K; ++k) g[k] += v * residual[k];
        }
    }
    if (at.order == Order::loss) return;
    for (int64_t k = 0; k < K; ++k) {
        out.gradient[k * (x.p + 1)] = gradient[x.p * K + k];
        for (int64_t j = 0; j < x.p; ++j) out.gradient[k * (x.p + 1) + 1 + j] = gradient[j * K + k];
    }
}

template void sparse_likelihood(const SparseRows<double, int32_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<double, int64_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<float, int32_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<float, int64_t> &, const Response &, const Point &, Sums);

}  // namespace discrim
