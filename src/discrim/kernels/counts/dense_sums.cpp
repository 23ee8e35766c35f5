// Sums of dense rows by class. Rows are added up as they lie in memory, some columns at a time, so that the sums of all
// classes stay in the nearest cache.

#include <algorithm>
#include <vector>

#include "counts/counts.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// Sums that lie in the nearest cache together, and the fewest columns that are worth a visit of the rows.
constexpr int64_t NEAR = 3072, FEWEST = 64;

template <typename T>
struct Adding {
    const Rows<T> *x;
    const int32_t *codes;
    const double *weight;  // or null
    int64_t K;
    Entry entry;
    double *count;  // K x p
    double *least;
};

template <typename V, bool BINARY>
DISCRIM_INLINE V read(V v, double threshold) {
    if constexpr (!BINARY) return v;
    const V zero{}, one = every<V>(1.0);
    return (v > every<V>(threshold) ? one : zero) + (v - v);
}

template <typename V>
DISCRIM_INLINE void keep_least(V low, double *least) {
    for (int64_t l = 0; l < WIDTH<V>; ++l) *least = std::min(*least, low[l]);
}

// Columns that lie next to each other.
template <typename V, bool BINARY, typename T>
DISCRIM_INLINE void add_rows(const Adding<T> &a) {
    const int64_t p = a.x->p, strip = std::max(FEWEST, NEAR / std::max<int64_t>(a.K, 1) / LANES * LANES);
    V low{};
    double lowest = 0.0;
    for (int64_t from = 0; from < p; from += strip) {
        const int64_t to = std::min(from + strip, p), whole = from + (to - from) / WIDTH<V> * WIDTH<V>;
        for (int64_t i = 0; i < a.x->n; ++i) {
            const T *row = a.x->data + i * a.x->row_stride;
            double *sums = a.count + a.codes[i] * p;
            const double w = a.weight ? a.weight[i] : 1.0;
            for (int64_t j = from; j < whole; j += WIDTH<V>) {
                const V v = get<V>(row + j);
                low = v < low ? v : low;
                put(sums + j, get<V>(sums + j) + w * read<V, BINARY>(v, a.entry.threshold));
            }
            for (int64_t j = whole; j < to; ++j) {
                const double v = static_cast<double>(row[j]);
                lowest = v < lowest ? v : lowest;
                sums[j] += w * a.entry(v);
            }
        }
    }
    *a.least = lowest;
    keep_least(low, a.least);
}

// As many columns as a vector has lanes, each read downwards.
template <typename V, bool BINARY, typename T>
DISCRIM_INLINE void add_columns(const Adding<T> &a) {
    constexpr int64_t W = WIDTH<V>;
    const int64_t p = a.x->p, row_stride = a.x->row_stride, column_stride = a.x->column_stride;
    std::vector<double> sums(a.K * W);
    V low{};
    for (int64_t from = 0; from < p; from += W) {
        const int64_t columns = std::min(W, p - from);
        std::fill(sums.begin(), sums.end(), 0.0);
        const auto add = [&](int64_t i, V v) DISCRIM_INLINED {
            low = v < low ? v : low;
            double *to = sums.data() + a.codes[i] * W;
            put(to, get<V>(to) + (a.weight ? a.weight[i] : 1.0) * read<V, BINARY>(v, a.entry.threshold));
        };
        const T *x = a.x->data + from * column_stride;
        if (columns == W) {
            for (int64_t i = 0; i < a.x->n; ++i) {
                V v{};
                for (int64_t l = 0; l < W; ++l) v[l] = static_cast<double>(x[i * row_stride + l * column_stride]);
                add(i, v);
            }
        } else {
            for (int64_t i = 0; i < a.x->n; ++i) {
                V v{};
                for (int64_t l = 0; l < columns; ++l) v[l] = static_cast<double>(x[i * row_stride + l * column_stride]);
                add(i, v);
            }
        }
        for (int64_t k = 0; k < a.K; ++k) std::copy_n(sums.data() + k * W, columns, a.count + k * p + from);
    }
    *a.least = 0.0;
    keep_least(low, a.least);
}

template <int MI, typename T>
DISCRIM_INLINE void add_all_body(const Adding<T> &a) {
    using V = Native<MI>;
    const bool along = a.x->column_stride == 1 || a.x->p == 1;
    if (along && a.entry.binary) return add_rows<V, true>(a);
    if (along) return add_rows<V, false>(a);
    if (a.entry.binary) return add_columns<V, true>(a);
    add_columns<V, false>(a);
}
DISCRIM_VERSIONS(add_all, (const Adding<double> &a), (a))
DISCRIM_VERSIONS(add_all, (const Adding<float> &a), (a))

}  // namespace

template <typename T>
void dense_sums(const Rows<T> &x, const int32_t *codes, const double *weight, int64_t K, Entry entry, ClassSums out) {
    count_rows(codes, weight, x.n, K, out);
    std::fill(out.count, out.count + K * x.p, 0.0);
    add_all(Adding<T>{&x, codes, weight, K, entry, out.count, out.least});
}

template void dense_sums(const Rows<double> &, const int32_t *, const double *, int64_t, Entry, ClassSums);
template void dense_sums(const Rows<float> &, const int32_t *, const double *, int64_t, Entry, ClassSums);

}  // namespace discrim
