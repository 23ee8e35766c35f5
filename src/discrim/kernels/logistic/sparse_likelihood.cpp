// Compressed rows: every entry is read twice, once for the linear predictor and once, still in cache, for the gradient.
// The coefficients of one column lie next to each other, those of many classes in whole vectors.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "logistic/likelihood.hpp"
#include "logistic/logistic_lanes.hpp"
#include "logistic/packing.hpp"

namespace discrim {
namespace {

// A predictor that no class beyond the last can beat.
constexpr double NEVER = -1e300;
// Rows whose predictors are computed before their residuals are.
constexpr int64_t AT_ONCE = 256;

// Coefficients of one column next to each other in `wide` places, the constant last, with `beyond` after the K-th.
Lined by_column(const double *theta, int64_t K, int64_t wide, int64_t p, double beyond) {
    if (!theta) return {};
    Lined columns((p + 1) * wide, 0.0);
    for (int64_t j = 0; j < p; ++j)
        for (int64_t k = 0; k < K; ++k) columns[j * wide + k] = theta[k * (p + 1) + 1 + j];
    for (int64_t k = 0; k < wide; ++k) columns[p * wide + k] = k < K ? theta[k * (p + 1)] : beyond;
    return columns;
}

// The entries of a row.
template <typename T, typename I>
struct Row {
    const T *value;
    const I *column;
    int64_t count;

    Row(const SparseRows<T, I> &x, int64_t i)
        : value(x.value + x.first[i]), column(x.column + x.first[i]), count(static_cast<int64_t>(x.first[i + 1]) - x.first[i]) {}
};

// N vectors of eta += the products of a row with coefficients: two sums each, so that none waits for the one before.
template <typename V, int N, typename T, typename I>
DISCRIM_INLINE void add_products(const Row<T, I> &row, const double *beta, int64_t wide, double *eta) {
    V sum[N], other[N]{};
    for (int v = 0; v < N; ++v) sum[v] = get<V>(eta + v * WIDTH<V>);
    int64_t e = 0;
    for (; e + 2 <= row.count; e += 2) {
        const double a = row.value[e], b = row.value[e + 1];
        const double *at = beta + row.column[e] * wide, *next = beta + row.column[e + 1] * wide;
        for (int v = 0; v < N; ++v) {
            sum[v] += a * get<V>(at + v * WIDTH<V>);
            other[v] += b * get<V>(next + v * WIDTH<V>);
        }
    }
    if (e < row.count)
        for (int v = 0; v < N; ++v)
            sum[v] += static_cast<double>(row.value[e]) * get<V>(beta + row.column[e] * wide + v * WIDTH<V>);
    for (int v = 0; v < N; ++v) put(eta + v * WIDTH<V>, sum[v] + other[v]);
}

// The gradient of N vectors of classes += the row times their residuals.
template <typename V, int N, typename T, typename I>
DISCRIM_INLINE void add_row(const Row<T, I> &row, const double *residual, int64_t wide, double *gradient) {
    V r[N];
    for (int v = 0; v < N; ++v) r[v] = get<V>(residual + v * WIDTH<V>);
    for (int64_t e = 0; e < row.count; ++e) {
        double *g = gradient + row.column[e] * wide;
        const double a = row.value[e];
        for (int v = 0; v < N; ++v) put(g + v * WIDTH<V>, get<V>(g + v * WIDTH<V>) + a * r[v]);
    }
}

template <typename V, typename T, typename I>
DISCRIM_INLINE void predict(const Row<T, I> &row, const Lined &beta, int64_t wide, int64_t p, double *eta) {
    constexpr int64_t W = WIDTH<V>;
    std::copy_n(beta.data() + p * wide, wide, eta);
    int64_t k = 0;
    for (; k + 4 * W <= wide; k += 4 * W) add_products<V, 4>(row, beta.data() + k, wide, eta + k);
    for (; k + 2 * W <= wide; k += 2 * W) add_products<V, 2>(row, beta.data() + k, wide, eta + k);
    for (; k < wide; k += W) add_products<V, 1>(row, beta.data() + k, wide, eta + k);
}

// log sum exp(eta); with `keep` exp(eta) over that sum is in the place of eta.
template <typename V, bool keep>
DISCRIM_INLINE double log_sum(double *eta, int64_t wide) {
    double most = eta[0];
    for (int64_t k = 1; k < wide; ++k) most = eta[k] > most ? eta[k] : most;
    V total{};
    for (int64_t k = 0; k < wide; k += WIDTH<V>) {
        const V e = exp_below_zero(get<V>(eta + k) - most);
        total += e;
        if (keep) put(eta + k, e);
    }
    const double sum = sum_of(total);
    for (int64_t k = 0; k < wide && keep; k += WIDTH<V>) put(eta + k, get<V>(eta + k) * (1.0 / sum));
    return most + std::log(sum);
}

void write_gradient(const Lined &gradient, int64_t K, int64_t wide, int64_t p, double *out) {
    for (int64_t k = 0; k < K; ++k) out[k * (p + 1)] = gradient[p * wide + k];
    for (int64_t j = 0; j < p; ++j)
        for (int64_t k = 0; k < K; ++k) out[k * (p + 1) + 1 + j] = gradient[j * wide + k];
}

// K classes in vectors of this kind.
template <typename V, typename T, typename I>
DISCRIM_INLINE void softmax_rows(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    const int64_t K = at.K, p = x.p, wide = (K + WIDTH<V> - 1) / WIDTH<V> * WIDTH<V>;
    const Lined beta = by_column(at.theta, K, wide, p, NEVER), rise = by_column(at.along, K, wide, p, 0.0);
    Lined gradient(at.order == Order::loss ? 0 : (p + 1) * wide, 0.0), eta(wide), slope(wide), there(wide);
    double loss = 0.0, least = std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < x.n; ++i) {
        const double w = y.weight ? y.weight[i] : 1.0;
        if (!(w > 0)) continue;
        const Row<T, I> row(x, i);
        const int32_t code = y.codes[i];
        predict<V>(row, beta, wide, p, eta.data());
        if (at.along) {
            predict<V>(row, rise, wide, p, slope.data());
            for (int64_t s = 0; s < at.S; ++s) {
                for (int64_t k = 0; k < wide; ++k) there[k] = eta[k] + at.steps[s] * slope[k];
                const double own = there[code];
                out.losses[s] += w * (log_sum<V, false>(there.data(), wide) - own);
            }
        }
        const double own = eta[code];
        loss += w * (log_sum<V, true>(eta.data(), wide) - own);
        for (int64_t k = 0; k < K; ++k) least = std::min(least, 0.5 * w * eta[k]);
        if (at.order == Order::loss) continue;
        eta[code] -= 1.0;
        double *constant = gradient.data() + p * wide;
        for (int64_t k = 0; k < wide; k += WIDTH<V>) {
            const V r = w * get<V>(eta.data() + k);
            put(eta.data() + k, r);
            put(constant + k, get<V>(constant + k) + r);
        }
        int64_t k = 0;
        for (; k + 4 * WIDTH<V> <= wide; k += 4 * WIDTH<V>) add_row<V, 4>(row, eta.data() + k, wide, gradient.data() + k);
        for (; k + 2 * WIDTH<V> <= wide; k += 2 * WIDTH<V>) add_row<V, 2>(row, eta.data() + k, wide, gradient.data() + k);
        for (; k < wide; k += WIDTH<V>) add_row<V, 1>(row, eta.data() + k, wide, gradient.data() + k);
    }
    *out.loss = loss;
    *out.least = least;
    if (at.order != Order::loss) write_gradient(gradient, K, wide, p, out.gradient);
}

template <typename T, typename I>
DISCRIM_INLINE double product(const SparseRows<T, I> &x, int64_t i, const double *beta) {
    const Row<T, I> row(x, i);
    double sum[4] = {beta[0], 0.0, 0.0, 0.0};
    int64_t e = 0;
    for (; e + 4 <= row.count; e += 4)
        for (int s = 0; s < 4; ++s) sum[s] += row.value[e + s] * beta[1 + row.column[e + s]];
    for (; e < row.count; ++e) sum[0] += row.value[e] * beta[1 + row.column[e]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Of two classes: predictors of some rows, their losses and residuals in vectors, and then the gradient.
template <typename V, typename T, typename I>
DISCRIM_INLINE void binary_rows(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    constexpr int64_t W = WIDTH<V>;
    alignas(64) double eta[AT_ONCE], slope[AT_ONCE], share[AT_ONCE], weight[AT_ONCE], residual[AT_ONCE];
    int32_t index[AT_ONCE];
    const bool wanted = at.order != Order::loss;
    if (wanted) std::fill(out.gradient, out.gradient + x.p + 1, 0.0);
    V loss{}, constant{}, least = every<V>(std::numeric_limits<double>::infinity());
    for (int64_t start = 0; start < x.n; start += AT_ONCE) {
        const int64_t m = rows_that_count(y.weight, start, std::min(AT_ONCE, x.n - start), index);
        const int64_t whole = (m + W - 1) / W * W;
        for (int64_t r = 0; r < m; ++r) {
            const int64_t i = start + index[r];
            eta[r] = product(x, i, at.theta) + (y.offset ? y.offset[i] : 0.0);
            slope[r] = at.along ? product(x, i, at.along) : 0.0;
            share[r] = y.share ? y.share[i] : (y.codes[i] == 1 ? 1.0 : 0.0);
            weight[r] = y.weight ? y.weight[i] : 1.0;
        }
        // Places that no row has weigh nothing.
        for (int64_t r = m; r < whole; ++r) eta[r] = slope[r] = share[r] = weight[r] = 0.0;
        for (int64_t s = 0; s < at.S && at.along; ++s) {
            V sum{};
            for (int64_t r = 0; r < whole; r += W) {
                const V there = get<V>(eta + r) + at.steps[s] * get<V>(slope + r);
                sum += get<V>(weight + r) * (logistic(there).log_sum - get<V>(share + r) * there);
            }
            out.losses[s] += sum_of(sum);
        }
        for (int64_t r = 0; r < whole; r += W) {
            const V w = get<V>(weight + r), a = get<V>(share + r), here = get<V>(eta + r);
            const Logistic<V> found = logistic(here);
            loss += w * (found.log_sum - a * here);
            const V spread = w > V{} ? w * found.spread : least;
            least = spread < least ? spread : least;
            const V left = w * (found.mu * (1.0 - a) - found.rest * a);
            constant += left;
            put(residual + r, left);
        }
        for (int64_t r = 0; r < m && wanted; ++r) {
            const Row<T, I> row(x, start + index[r]);
            for (int64_t e = 0; e < row.count; ++e) out.gradient[1 + row.column[e]] += row.value[e] * residual[r];
        }
    }
    *out.loss = sum_of(loss);
    double lowest = least[0];
    for (int64_t l = 1; l < W; ++l) lowest = std::min<double>(lowest, least[l]);
    *out.least = lowest;
    if (wanted) out.gradient[0] += sum_of(constant);
}

template <int MI, typename T, typename I>
DISCRIM_INLINE void all_rows(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    // A softmax theta of one row cannot be told from a binary one, and is not asked for.
    if (at.K == 1) binary_rows<Native<MI>>(x, y, at, out);
    else if (at.K <= 4) softmax_rows<v4>(x, y, at, out);
    else softmax_rows<Native<MI>>(x, y, at, out);
}

#define DISCRIM_SPARSE(name, T, I)                                                                                     \
    template <int MI>                                                                                                  \
    DISCRIM_INLINE void name##_body(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {         \
        all_rows<MI>(x, y, at, out);                                                                                   \
    }                                                                                                                  \
    DISCRIM_VERSIONS(name, (const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out), (x, y, at, out)) \
    inline void run(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) { name(x, y, at, out); }

DISCRIM_SPARSE(doubles, double, int32_t)
DISCRIM_SPARSE(doubles_far, double, int64_t)
DISCRIM_SPARSE(floats, float, int32_t)
DISCRIM_SPARSE(floats_far, float, int64_t)

}  // namespace

template <typename T, typename I>
void sparse_likelihood(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out) {
    run(x, y, at, out);
}

template void sparse_likelihood(const SparseRows<double, int32_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<double, int64_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<float, int32_t> &, const Response &, const Point &, Sums);
template void sparse_likelihood(const SparseRows<float, int64_t> &, const Response &, const Point &, Sums);

}  // namespace discrim
