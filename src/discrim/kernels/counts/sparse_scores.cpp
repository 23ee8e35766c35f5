// Compressed rows times coefficients that lie column by column, all classes of one column next to each other.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "counts/counts.hpp"
#include "inside.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// Entries ahead whose coefficients are asked for, where they take more than the nearest cache.
constexpr int64_t AHEAD = 16, NEAR = 65536;
// Entries of a row from which on sums apart pay.
constexpr int64_t LONG = 32;
// Classes up to which the largest score is looked for one by one.
constexpr int64_t FEW = 6;
// Scores that are made at once, of as many rows as have them.
constexpr int64_t AT_ONCE = 2048;

// Rows from one to another, and where their scores go.
template <typename T, typename I>
struct Work {
    SparseRows<T, I> x;
    const double *table;
    int64_t stride;
    Entry entry;
    const double *start;  // what the scores of every row begin with
    double *sums;
    int64_t width;  // from the scores of one row to those of the next
    int64_t from, to;
};

// One double is no vector: compilers take it through registers of whole numbers.
template <int N>
struct LanesOf {
    typedef double type __attribute__((vector_size(8 * N), aligned(8)));
};
template <>
struct LanesOf<1> {
    using type = double;
};

// S classes of one row. Across rows the processor finds enough to do; within a long one sums apart do not wait.
template <int S, bool ASK, typename T, typename I>
DISCRIM_INLINE void add_row(const Work<T, I> &w, int64_t i, int64_t first) {
    constexpr int wide = S < 4 ? S : 4, blocks = S / wide;
    using lanes = typename LanesOf<wide>::type;
    constexpr int apart = S > LANES ? 1 : S > 4 ? 2 : 4;
    double *out = w.sums + (i - w.from) * w.width + first;
    const double *table = w.table + first;
    const int64_t end = w.x.first[i + 1], all = w.x.first[w.to];
    lanes sums[apart][blocks] = {};
    for (int b = 0; b < blocks; ++b) sums[0][b] = *reinterpret_cast<const lanes *>(w.start + first + b * wide);
    const auto add = [&](int64_t at, lanes *sum) DISCRIM_INLINED {
        if constexpr (ASK) {
            const double *there = table + static_cast<int64_t>(w.x.column[std::min(at + AHEAD, all - 1)]) * w.stride;
            for (int line = 0; line < S; line += LANES) __builtin_prefetch(there + line);
        }
        const double v = w.entry(static_cast<double>(w.x.value[at]));
        const double *coefficients = table + static_cast<int64_t>(w.x.column[at]) * w.stride;
        for (int b = 0; b < blocks; ++b) sum[b] += v * *reinterpret_cast<const lanes *>(coefficients + b * wide);
    };
    int64_t at = w.x.first[i];
    if (apart > 1 && end - at >= LONG) {
        for (; at + apart <= end; at += apart)
            for (int s = 0; s < apart; ++s) add(at + s, sums[s]);
        for (int s = 1; s < apart; ++s)
            for (int b = 0; b < blocks; ++b) sums[0][b] += sums[s][b];
    }
    for (; at < end; ++at) add(at, sums[0]);
    for (int b = 0; b < blocks; ++b) *reinterpret_cast<lanes *>(out + b * wide) = sums[0][b];
}

template <int S, typename T, typename I>
DISCRIM_INLINE void add_rows(const Work<T, I> &w, int64_t first) {
    const bool ask = w.x.p * w.stride > NEAR;
    for (int64_t i = w.from; i < w.to; ++i) ask ? add_row<S, true>(w, i, first) : add_row<S, false>(w, i, first);
}

// Columns are looked at just before they are used, so that they are read once.
template <int MI, typename T, typename I>
DISCRIM_INLINE void sum_rows_body(const Work<T, I> &w, bool &inside) {
    inside = all_inside(w.x.column + w.x.first[w.from], w.x.column + w.x.first[w.to], w.x.p);
    if (!inside) return;
    if (w.stride == 1) return add_rows<1>(w, 0);
    if (w.stride == 2) return add_rows<2>(w, 0);
    if (w.stride == 4) return add_rows<4>(w, 0);
    int64_t k = 0;
    for (; k + 4 * LANES <= w.stride; k += 4 * LANES) add_rows<4 * LANES>(w, k);
    switch ((w.stride - k) / LANES) {
        case 3: return add_rows<3 * LANES>(w, k);
        case 2: return add_rows<2 * LANES>(w, k);
        case 1: return add_rows<LANES>(w, k);
    }
}

// The entries of one row, and the sums of its settings.
template <typename T, typename I>
struct GridRow {
    const T *value;
    const I *column;
    int64_t size;
    Entry entry;
    double *sums;
};

// LANES * S settings of one class, whose sums stay in registers.
template <int S, typename T, typename I>
DISCRIM_INLINE void add_settings(const GridRow<T, I> &w, const Grid &grid, int64_t k, int64_t first) {
    typedef double lanes __attribute__((vector_size(32), aligned(8)));
    constexpr int blocks = 2 * S;
    lanes sums[blocks] = {};
    const double *logs = grid.logs + first;
    for (int64_t at = 0; at < w.size; ++at) {
        const double v = w.entry(static_cast<double>(w.value[at]));
        const double *there = logs + grid.which[static_cast<int64_t>(w.column[at]) * grid.K + k] * grid.width;
        for (int b = 0; b < blocks; ++b) sums[b] += v * *reinterpret_cast<const lanes *>(there + 4 * b);
    }
    double *out = w.sums + k * grid.width + first;
    for (int b = 0; b < blocks; ++b) *reinterpret_cast<lanes *>(out + 4 * b) = sums[b];
}

template <int MI, typename T, typename I>
DISCRIM_INLINE void grid_row_body(const GridRow<T, I> &w, const Grid &grid) {
    for (int64_t k = 0; k < grid.K; ++k) {
        int64_t m = 0;
        for (; m + 3 * LANES <= grid.width; m += 3 * LANES) add_settings<3>(w, grid, k, m);
        if (grid.width - m == 2 * LANES) add_settings<2>(w, grid, k, m);
        if (grid.width - m == LANES) add_settings<1>(w, grid, k, m);
    }
}

// Scores become posteriors or their logarithms; places beyond the last class hold minus infinity.
template <int MI>
DISCRIM_INLINE void soften_body(double *scores, int64_t lanes, double top, bool logarithms) {
    using V = Native<MI>;
    V total{};
    for (int64_t k = 0; k < lanes; k += WIDTH<V>) {
        const V shifted = get<V>(scores + k) - top, e = exp_below_zero(shifted);
        total += e;
        put(scores + k, logarithms ? shifted : e);
    }
    const double sum = sum_of(total), scale = logarithms ? std::log(sum) : 1.0 / sum;
    for (int64_t k = 0; k < lanes; k += WIDTH<V>)
        put(scores + k, logarithms ? get<V>(scores + k) - scale : get<V>(scores + k) * scale);
}

// The largest of the scores of a row, the first of its equals, and whether all are numbers.
struct Best {
    double top;
    int64_t which;
    bool fine;
};

DISCRIM_INLINE Best best_of_few(const double *scores, int64_t K) {
    Best found{scores[0], 0, scores[0] == scores[0]};
    for (int64_t k = 1; k < K; ++k) {
        found.fine &= scores[k] == scores[k];
        const bool larger = scores[k] > found.top;
        found.top = larger ? scores[k] : found.top;
        found.which = larger ? k : found.which;
    }
    return found;
}

template <typename V>
DISCRIM_INLINE Best best_of_many(const double *scores, int64_t lanes) {
    V best = get<V>(scores), which{};
    typename Kin<V>::Integers wrong = best != best;
    for (int64_t k = WIDTH<V>; k < lanes; k += WIDTH<V>) {
        const V s = get<V>(scores + k);
        which = s > best ? every<V>(static_cast<double>(k)) : which;
        best = s > best ? s : best;
        wrong |= s != s;
    }
    Best found{best[0], static_cast<int64_t>(which[0]), true};
    for (int64_t l = 0; l < WIDTH<V>; ++l) {
        const int64_t k = static_cast<int64_t>(which[l]) + l;
        if (best[l] > found.top || (best[l] == found.top && k < found.which)) found = {best[l], k, found.fine};
        found.fine &= wrong[l] == 0;
    }
    return found;
}

// Places of a row beyond the last class hold minus infinity.
template <int MI>
DISCRIM_INLINE void find_best_body(const double *scores, int64_t rows, int64_t K, int64_t lanes, Best *found) {
    for (int64_t i = 0; i < rows; ++i)
        found[i] = K <= FEW ? best_of_few(scores + i * lanes, K) : best_of_many<Native<MI>>(scores + i * lanes, lanes);
}

using D32 = Work<double, int32_t>;
using D64 = Work<double, int64_t>;
using F32 = Work<float, int32_t>;
using F64 = Work<float, int64_t>;
using GD32 = GridRow<double, int32_t>;
using GD64 = GridRow<double, int64_t>;
using GF32 = GridRow<float, int32_t>;
using GF64 = GridRow<float, int64_t>;
DISCRIM_VERSIONS(sum_rows, (const D32 &w, bool &inside), (w, inside))
DISCRIM_VERSIONS(sum_rows, (const D64 &w, bool &inside), (w, inside))
DISCRIM_VERSIONS(sum_rows, (const F32 &w, bool &inside), (w, inside))
DISCRIM_VERSIONS(sum_rows, (const F64 &w, bool &inside), (w, inside))
DISCRIM_VERSIONS(grid_row, (const GD32 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(grid_row, (const GD64 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(grid_row, (const GF32 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(grid_row, (const GF64 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(find_best, (const double *scores, int64_t rows, int64_t K, int64_t lanes, Best *found),
                 (scores, rows, K, lanes, found))
DISCRIM_VERSIONS(soften, (double *scores, int64_t lanes, double top, bool logarithms), (scores, lanes, top, logarithms))

// In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
inline void write(double *to, double value, bool) { *to = value; }
inline void write(float *to, double value, bool logarithm) {
    *to = logarithm && value > -0x1p-25 ? 0.0f : static_cast<float>(value);
}

// Scores that fill their places need not be looked through, unless one of them is not finite.
template <typename T, typename I>
bool only_scores(const SparseRows<T, I> &x, const Table &t, Entry entry, double *values, bool &inside) {
    const int64_t step = std::max<int64_t>(AT_ONCE / t.K, 1);
    for (int64_t from = 0; from < x.n; from += step) {
        const int64_t to = std::min(from + step, x.n);
        sum_rows(Work<T, I>{x, t.table, t.stride, entry, t.offset, values + from * t.K, t.K, from, to}, inside);
        if (!inside) return true;
    }
    // What is not finite shows in the difference from itself.
    double wrong[LANES] = {};
    int64_t at = 0;
    for (; at + LANES <= x.n * t.K; at += LANES)
        for (int64_t l = 0; l < LANES; ++l) wrong[l] += values[at + l] - values[at + l];
    for (; at < x.n * t.K; ++at) wrong[0] += values[at] - values[at];
    return std::all_of(wrong, wrong + LANES, [](double v) { return v == 0.0; });
}

}  // namespace

template <typename T, typename I, typename Out>
bool sparse_score(const SparseRows<T, I> &x, const Table &t, Entry entry, Output output, Out *values, int64_t *best,
                  bool &inside) {
    inside = true;
    if constexpr (std::is_same_v<Out, double>)
        if (output == Output::scores && t.stride == t.K) {
            if (only_scores(x, t, entry, values, inside)) return true;
            if (t.K == 1) return false;
        }
    const bool soft = output == Output::posterior || output == Output::log_posterior;
    const int64_t lanes = !soft && t.K <= FEW ? t.stride : (std::max(t.stride, t.K) + LANES - 1) / LANES * LANES;
    const int64_t step = std::max<int64_t>(AT_ONCE / lanes, 1);
    Lined start(lanes), scores(step * lanes);
    std::fill(start.begin(), start.end(), -std::numeric_limits<double>::infinity());
    std::copy(t.offset, t.offset + t.K, start.begin());
    for (int64_t i = 0; i < step; ++i) std::copy(start.begin(), start.end(), scores.begin() + i * lanes);
    std::vector<Best> found(step);
    bool finite = true;
    for (int64_t from = 0; from < x.n; from += step) {
        const int64_t to = std::min(from + step, x.n);
        sum_rows(Work<T, I>{x, t.table, t.stride, entry, start.data(), scores.data(), lanes, from, to}, inside);
        if (!inside) return false;
        find_best(scores.data(), to - from, t.K, lanes, found.data());
        for (int64_t i = from; i < to; ++i) {
            const Best &of_row = found[i - from];
            double *row = scores.data() + (i - from) * lanes;
            finite &= of_row.fine && std::isfinite(of_row.top);
            if (output == Output::best) {
                best[i] = of_row.which;
                continue;
            }
            if (soft) soften(row, lanes, of_row.top, output == Output::log_posterior);
            for (int64_t k = 0; k < t.K; ++k) write(values + i * t.K + k, row[k], output == Output::log_posterior);
            if (soft) std::copy(start.begin() + t.stride, start.end(), row + t.stride);
        }
    }
    return finite;
}

template <typename T, typename I>
void grid_sums(const SparseRows<T, I> &x, const Grid &grid, Entry entry, double *out) {
    const int64_t size = grid.K * grid.width;
    for (int64_t i = 0; i < x.n; ++i) {
        const int64_t first = x.first[i];
        grid_row(GridRow<T, I>{x.value + first, x.column + first, static_cast<int64_t>(x.first[i + 1]) - first, entry,
                               out + i * size},
                 grid);
    }
}

#define DISCRIM_GRID(T, I) template void grid_sums(const SparseRows<T, I> &, const Grid &, Entry, double *);
DISCRIM_GRID(double, int32_t)
DISCRIM_GRID(double, int64_t)
DISCRIM_GRID(float, int32_t)
DISCRIM_GRID(float, int64_t)

#define DISCRIM_SCORE(T, I, Out) \
    template bool sparse_score(const SparseRows<T, I> &, const Table &, Entry, Output, Out *, int64_t *, bool &);
DISCRIM_SCORE(double, int32_t, double)
DISCRIM_SCORE(double, int64_t, double)
DISCRIM_SCORE(float, int32_t, float)
DISCRIM_SCORE(float, int64_t, float)
DISCRIM_SCORE(float, int32_t, double)
DISCRIM_SCORE(float, int64_t, double)

}  // namespace discrim
