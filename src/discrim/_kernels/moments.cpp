// One read of the rows. A block of rows is ordered by class, shifted by a pilot mean of each class,
// packed into panels of eight columns, and multiplied with itself in cache.

#include "moments.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes.hpp"
#include "products.hpp"

namespace discrim {
namespace {

DISCRIM_VERSIONS(self_product, (const double *packed, int64_t panel, int64_t m, int64_t size, double *c, Ahead &ahead),
                 (packed, panel, m, size, c, ahead))

// The rows of one class inside one block.
template <typename T>
struct Run {
    const Rows<T> *x;
    const int32_t *index;  // positions of the rows
    int64_t m;
    int64_t readable;          // rows below this one may be read past their end: the next row is there
    const double *pilot;       // padded to whole panels
    const double *root_weight; // sqrt(w) by position, or null
    double *packed;            // first row of this run in its panel, or null when only sums are wanted
    int64_t panel;             // doubles between panels
    double *sum;               // sum of w (x - pilot), padded
    double *square;            // sum of w (x - pilot)^2, padded, or null
};

// Visit as many columns of every row of the run as a vector holds: shift, weigh, add up, and store where asked.
template <typename V, bool contiguous, bool weighted, bool pack, typename T>
DISCRIM_INLINE void visit_columns(const Run<T> &run, int64_t first_column) {
    constexpr int64_t W = WIDTH<V>;
    const int64_t row_stride = run.x->row_stride, column_stride = run.x->column_stride;
    const int64_t count = std::min(W, run.x->p - first_column);
    const T *first = run.x->data + first_column * column_stride;
    const V pilot = get<V>(run.pilot + first_column);
    const int64_t readable = count == W ? run.x->n : run.readable;
    const auto inside = Kin<V>::numbered() < count;
    double *packed = run.packed + (pack ? first_column / LANES * run.panel + first_column % LANES : 0);
    V sum{}, square{};
    for (int64_t r = 0; r < run.m; ++r) {
        const int64_t i = run.index[r];
        const T *row = first + i * row_stride;
        V v = (contiguous && i < readable) ? get<V>(row) : strided<V>(row, column_stride, count);
        v = inside ? v - pilot : V{};
        if (weighted) {
            const double root = run.root_weight[i];
            v *= root;
            sum += root * v;
        } else {
            sum += v;
        }
        if (pack)
            put(packed + r * LANES, v);
        else
            square += v * v;
    }
    put(run.sum + first_column, get<V>(run.sum + first_column) + sum);
    if (!pack) put(run.square + first_column, get<V>(run.square + first_column) + square);
}

template <typename V, bool contiguous, bool weighted, typename T>
DISCRIM_INLINE void visit_all(const Run<T> &run) {
    for (int64_t first = 0; first < run.x->p; first += WIDTH<V>)
        if (run.packed)
            visit_columns<V, contiguous, weighted, true>(run, first);
        else
            visit_columns<V, contiguous, weighted, false>(run, first);
}

template <typename V, typename T>
DISCRIM_INLINE void visit(const Run<T> &run) {
    const bool contiguous = run.x->column_stride == 1;
    if (contiguous && run.root_weight) visit_all<V, true, true>(run);
    if (contiguous && !run.root_weight) visit_all<V, true, false>(run);
    if (!contiguous && run.root_weight) visit_all<V, false, true>(run);
    if (!contiguous && !run.root_weight) visit_all<V, false, false>(run);
}
template <int MI>
DISCRIM_INLINE void visit_run64_body(const Run<double> &run) { visit<Native<MI>>(run); }
template <int MI>
DISCRIM_INLINE void visit_run32_body(const Run<float> &run) { visit<Native<MI>>(run); }
DISCRIM_VERSIONS(visit_run64, (const Run<double> &run), (run))
DISCRIM_VERSIONS(visit_run32, (const Run<float> &run), (run))
inline void visit_run(const Run<double> &run) { visit_run64(run); }
inline void visit_run(const Run<float> &run) { visit_run32(run); }

// The block's rows in class order: a counting sort, `start[k]` being where class k begins.
void order_by_class(const int32_t *codes, const double *weight, int64_t first, int64_t m, int64_t K,
                    std::vector<int64_t> &start, std::vector<int32_t> &index) {
    std::fill(start.begin(), start.end(), 0);
    for (int64_t r = 0; r < m; ++r)
        if (codes[first + r] >= 0 && (!weight || weight[first + r] > 0)) ++start[codes[first + r] + 1];
    for (int64_t k = 0; k < K; ++k) start[k + 1] += start[k];
    std::vector<int64_t> next(start.begin(), start.end() - 1);
    for (int64_t r = 0; r < m; ++r) {
        const int32_t k = codes[first + r];
        if (k >= 0 && (!weight || weight[first + r] > 0)) index[next[k]++] = static_cast<int32_t>(r);
    }
}

// Pilot of a class: the mean of its rows in the first block where it appears. It is weighted, as a row that
// hardly counts must not pull it away from all that do.
template <typename T>
void set_pilot(const Rows<T> &x, const int32_t *index, int64_t m, const double *weight, double *pilot) {
    double total = 0.0;
    for (int64_t r = 0; r < m; ++r) {
        const T *row = x.data + index[r] * x.row_stride;
        const double w = weight ? weight[index[r]] : 1.0;
        total += w;
        for (int64_t j = 0; j < x.p; ++j) pilot[j] += w * static_cast<double>(row[j * x.column_stride]);
    }
    for (int64_t j = 0; j < x.p; ++j) pilot[j] /= total;
}

// Turn sums about the pilot into means and centred scatter.
void finish(int64_t K, int64_t p, int64_t padded, Depth depth, const Lined &pilot,
            const Lined &sum, const Lined &square, const Lined &product,
            Moments out) {
    for (int64_t k = 0; k < K; ++k) {
        const double n = out.weight[k];
        const double *d = sum.data() + k * padded;
        for (int64_t j = 0; j < p; ++j)
            out.mean[k * p + j] = n > 0 ? pilot[k * padded + j] + d[j] / n : 0.0;
        if (depth == Depth::diagonal)
            for (int64_t j = 0; j < p; ++j) {
                const double s = n > 0 ? square[k * padded + j] - d[j] * (d[j] / n) : 0.0;
                out.scatter[k * p + j] = s < 0 ? 0.0 : s;
            }
    }
    if (depth == Depth::diagonal) return;
    const int64_t matrices = depth == Depth::full ? K : 1;
    for (int64_t g = 0; g < matrices; ++g) {
        const double *c = product.data() + g * padded * padded;
        double *s = out.scatter + g * p * p;
        const int64_t k0 = depth == Depth::full ? g : 0, k1 = depth == Depth::full ? g + 1 : K;
        for (int64_t i = 0; i < p; ++i) {
            for (int64_t j = i; j < p; ++j) s[i * p + j] = c[i * padded + j];
            for (int64_t k = k0; k < k1; ++k) {
                if (!(out.weight[k] > 0)) continue;
                const double *d = sum.data() + k * padded;
                const double di = d[i] / out.weight[k];
                for (int64_t j = i; j < p; ++j) s[i * p + j] -= di * d[j];
            }
        }
        for (int64_t i = 0; i < p; ++i) {
            if (s[i * p + i] < 0) s[i * p + i] = 0.0;
            for (int64_t j = i + 1; j < p; ++j) s[j * p + i] = s[i * p + j];
        }
    }
}

}  // namespace

template <typename T>
void class_moments(const Rows<T> &x, const int32_t *codes, const double *weight, int64_t K, Depth depth,
                   Moments out) {
    const int64_t panels = (x.p + LANES - 1) / LANES, padded = panels * LANES;
    const int64_t m_max = std::min(block_rows(x.p), std::max<int64_t>(x.n, 1));
    const bool products = depth != Depth::diagonal;
    Lined pilot(K * padded, 0.0), sum(K * padded, 0.0), square(products ? 0 : K * padded, 0.0);
    Lined packed(products ? m_max * padded : 0, 0.0);
    Lined product(products ? (depth == Depth::full ? K : 1) * padded * padded : 0, 0.0);
    std::vector<double> root(weight ? m_max : 0);
    std::vector<int64_t> start(K + 1);
    std::vector<int32_t> index(m_max);
    std::vector<char> seen(K, 0);
    const int64_t panel = m_max * LANES;
    std::fill(out.weight, out.weight + K, 0.0);
    std::fill(out.rows, out.rows + K, 0);

    for (int64_t first = 0; first < x.n; first += m_max) {
        const int64_t m = std::min(m_max, x.n - first);
        const Rows<T> block{x.data + first * x.row_stride, m, x.p, x.row_stride, x.column_stride};
        // Whole vectors may run past the end of a row as long as they stay inside the array.
        const int64_t readable = x.row_stride < x.p ? 0 : m - LANES;
        order_by_class(codes, weight, first, m, K, start, index);
        Ahead ahead = following(x, first + m, m_max);
        if (weight)
            for (int64_t r = 0; r < m; ++r) root[r] = std::sqrt(std::max(weight[first + r], 0.0));
        for (int64_t k = 0; k < K; ++k) {
            const int64_t from = start[k], count = start[k + 1] - from;
            if (count == 0) continue;
            if (!seen[k]) {
                set_pilot(block, index.data() + from, count, weight ? weight + first : nullptr,
                          pilot.data() + k * padded);
                seen[k] = 1;
            }
            out.rows[k] += count;
            if (weight)
                for (int64_t r = 0; r < count; ++r) out.weight[k] += weight[first + index[from + r]];
            else
                out.weight[k] += static_cast<double>(count);
            const Run<T> run{&block, index.data() + from, count, readable, pilot.data() + k * padded,
                             weight ? root.data() : nullptr, products ? packed.data() + from * LANES : nullptr, panel,
                             sum.data() + k * padded, products ? nullptr : square.data() + k * padded};
            visit_run(run);
            if (depth == Depth::full)
                self_product(packed.data() + from * LANES, panel, count, x.p,
                             product.data() + k * padded * padded, ahead);
        }
        if (depth == Depth::pooled) self_product(packed.data(), panel, start[K], x.p, product.data(), ahead);
    }
    finish(K, x.p, padded, depth, pilot, sum, square, product, out);
}

template void class_moments<double>(const Rows<double> &, const int32_t *, const double *, int64_t, Depth, Moments);
template void class_moments<float>(const Rows<float> &, const int32_t *, const double *, int64_t, Depth, Moments);

}  // namespace discrim
