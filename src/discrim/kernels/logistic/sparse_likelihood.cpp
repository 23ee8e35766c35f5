// Compressed rows: every entry is read twice, once for the linear predictor and once, still in cache, for the gradient.
// The coefficients of one column lie next to each other, those of many classes in whole vectors.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "logistic/likelihood.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// A predictor that no class beyond the last can beat.
constexpr double NEVER = -1e300;

// Coefficients of one column next to each other in `wide` places, the constant last, with `beyond` after the K-th.
Lined by_column(const double *theta, int64_t K, int64_t wide, int64_t p, double beyond) {
    if (!theta) return {};
    Lined columns((p + 1) * wide, 0.0);
    for (int64_t j = 0; j < p; ++j)
        for (int64_t k = 0; k < K; ++k) columns[j * wide + k] = theta[k * (p + 1) + 1 + j];
    for (int64_t k = 0; k < wide; ++k) columns[p * wide + k] = k < K ? theta[k * (p + 1)] : beyond;
    return columns;
}

// The entries of a row: values, and where the coefficients of their columns begin.
struct Entries {
    std::vector<double> value;
    std::vector<int64_t> place;

    template <typename T, typename I>
    void take(const SparseRows<T, I> &x, int64_t i, int64_t wide) {
        const int64_t first = x.first[i], count = static_cast<int64_t>(x.first[i + 1]) - first;
        value.resize(count);
        place.resize(count);
        for (int64_t e = 0; e < count; ++e) {
            value[e] = static_cast<double>(x.value[first + e]);
            place[e] = static_cast<int64_t>(x.column[first + e]) * wide;
        }
    }
};

// N vectors of eta += the products of a row with coefficients.
template <typename V, int N>
DISCRIM_INLINE void add_products(const Entries &row, const double *beta, double *eta) {
    V sum[N];
    for (int v = 0; v < N; ++v) sum[v] = get<V>(eta + v * WIDTH<V>);
    for (size_t e = 0; e < row.value.size(); ++e)
        for (int v = 0; v < N; ++v) sum[v] += row.value[e] * get<V>(beta + row.place[e] + v * WIDTH<V>);
    for (int v = 0; v < N; ++v) put(eta + v * WIDTH<V>, sum[v]);
}

template <int MI>
DISCRIM_INLINE void predict_body(const Entries &row, const double *beta, const double *constant, int64_t wide,
                                 double *eta) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    std::copy(constant, constant + wide, eta);
    int64_t k = 0;
    for (; k + 4 * W <= wide; k += 4 * W) add_products<V, 4>(row, beta + k, eta + k);
    for (; k + 2 * W <= wide; k += 2 * W) add_products<V, 2>(row, beta + k, eta + k);
    for (; k + W <= wide; k += W) add_products<V, 1>(row, beta + k, eta + k);
}
DISCRIM_VERSIONS(predict, (const Entries &row, const double *beta, const double *constant, int64_t wide, double *eta),
                 (row, beta, constant, wide, eta))

// log sum exp(eta); with `shares` also exp(eta) over that sum.
template <int MI>
DISCRIM_INLINE void log_sum_body(const double *eta, int64_t wide, double *shares, double &found) {
    using V = Native<MI>;
    const double most = *std::max_element(eta, eta + wide);
    V total{};
    for (int64_t k = 0; k < wide; k += WIDTH<V>) {
        const V e = exp_below_zero(get<V>(eta + k) - most);
        total += e;
        if (shares) put(shares + k, e);
    }
    const double sum = sum_of(total);
    for (int64_t k = 0; k < wide && shares; k += WIDTH<V>) put(shares + k, get<V>(shares + k) * (1.0 / sum));
    found = most + std::log(sum);
}
DISCRIM_VERSIONS(log_sum, (const double *eta, int64_t wide, double *shares, double &found), (eta, wide, shares, found))

template <int MI>
DISCRIM_INLINE void add_row_body(const Entries &row, const double *residual, int64_t wide, double *gradient) {
    using V = Native<MI>;
    for (size_t e = 0; e < row.value.size(); ++e) {
        double *g = gradient + row.place[e];
        for (int64_t k = 0; k < wide; k += WIDTH<V>) put(g + k, get<V>(g + k) + row.value[e] * get<V>(residual + k));
    }
}
DISCRIM_VERSIONS(add_row, (const Entries &row, const double *residual, int64_t wide, double *gradient),
                 (row, residual, wide, gradient))

void write_gradient(const Lined &gradient, int64_t K, int64_t wide, int64_t p, double *out) {
    for (int64_t k = 0; k < K; ++k) out[k * (p + 1)] = gradient[p * wide + k];
    for (int64_t j = 0; j < p; ++j)
        for (int64_t k = 0; k < K; ++k) out[k * (p + 1) + 1 + j] = gradient[j * wide + k];
}

template <typename T, typename I>
void softmax(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    const int64_t K = at.K, p = x.p, wide = (K + LANES - 1) / LANES * LANES;
    const Lined beta = by_column(at.theta, K, wide, p, NEVER), rise = by_column(at.along, K, wide, p, 0.0);
    Lined gradient((p + 1) * wide, 0.0), eta(wide), slope(wide), there(wide), residual(wide);
    Entries row;
    for (int64_t i = 0; i < x.n; ++i) {
        const double w = y.weight ? y.weight[i] : 1.0;
        if (!(w > 0)) continue;
        row.take(x, i, wide);
        predict(row, beta.data(), beta.data() + p * wide, wide, eta.data());
        const int32_t code = y.codes[i];
        double log_total;
        if (at.along) predict(row, rise.data(), rise.data() + p * wide, wide, slope.data());
        for (int64_t s = 0; s < at.S && at.along; ++s) {
            for (int64_t k = 0; k < wide; ++k) there[k] = eta[k] + at.steps[s] * slope[k];
            log_sum(there.data(), wide, nullptr, log_total);
            out.losses[s] += w * (log_total - there[code]);
        }
        log_sum(eta.data(), wide, residual.data(), log_total);
        *out.loss += w * (log_total - eta[code]);
        *out.least = std::min(*out.least, 0.5 * w * *std::min_element(residual.begin(), residual.begin() + K));
        if (at.order == Order::loss) continue;
        residual[code] -= 1.0;
        for (int64_t k = 0; k < wide; ++k) gradient[p * wide + k] += residual[k] *= w;
        add_row(row, residual.data(), wide, gradient.data());
    }
    if (at.order != Order::loss) write_gradient(gradient, K, wide, p, out.gradient);
}

double log_one_plus_exp(double eta) { return (eta > 0 ? eta : 0.0) + std::log1p(std::exp(-std::fabs(eta))); }

template <typename T, typename I>
double product(const SparseRows<T, I> &x, int64_t i, const double *beta) {
    double sum = beta[0];
    for (int64_t e = x.first[i]; e < static_cast<int64_t>(x.first[i + 1]); ++e)
        sum += x.value[e] * beta[1 + x.column[e]];
    return sum;
}

template <typename T, typename I>
void binary(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    if (at.order != Order::loss) std::fill(out.gradient, out.gradient + x.p + 1, 0.0);
    for (int64_t i = 0; i < x.n; ++i) {
        const double w = y.weight ? y.weight[i] : 1.0;
        if (!(w > 0)) continue;
        const double eta = product(x, i, at.theta) + (y.offset ? y.offset[i] : 0.0);
        const double share = y.share ? y.share[i] : (y.codes[i] == 1 ? 1.0 : 0.0);
        *out.loss += w * (log_one_plus_exp(eta) - share * eta);
        if (at.along) {
            const double slope = product(x, i, at.along);
            for (int64_t s = 0; s < at.S; ++s) {
                const double there = eta + at.steps[s] * slope;
                out.losses[s] += w * (log_one_plus_exp(there) - share * there);
            }
        }
        const double e = std::exp(-std::fabs(eta)), inverse = 1.0 / (1.0 + e);
        *out.least = std::min(*out.least, w * e * inverse * inverse);
        if (at.order == Order::loss) continue;
        const double mu = eta >= 0 ? inverse : e * inverse, rest = eta >= 0 ? e * inverse : inverse;
        const double residual = w * (mu * (1.0 - share) - rest * share);
        out.gradient[0] += residual;
        for (int64_t k = x.first[i]; k < static_cast<int64_t>(x.first[i + 1]); ++k)
            out.gradient[1 + x.column[k]] += x.value[k] * residual;
    }
}

}  // namespace

template <typename T, typename I>
void sparse_likelihood(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    *out.loss = 0.0;
    *out.least = std::numeric_limits<double>::infinity();
    // A softmax theta of one row cannot be told from a binary one, and is not asked for.
    if (at.K == 1) binary(x, y, at, out);
    else softmax(x, y, at, out);
}

template void sparse_likelihood(const SparseRows<double, int32_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<double, int64_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<float, int32_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<float, int64_t> &, const Response &, const Point &, Sums);

}  // namespace discrim
