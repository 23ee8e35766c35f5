// Compressed rows times coefficients that lie column by column, all classes of one column next to each other.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "counts/counts.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// Entries ahead whose coefficients are asked for.
constexpr int64_t AHEAD = 8;
// Classes up to which the largest score is looked for one by one.
constexpr int64_t FEW = 2;

template <typename T, typename I>
struct Work {
    const T *value;
    const I *column;
    int64_t size;  // entries of the row
    const double *table;
    int64_t stride;
    Entry entry;
    double *sums;
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

template <int S, typename T, typename I>
DISCRIM_INLINE void add_row(const Work<T, I> &w, int64_t first) {
    constexpr int wide = S < 4 ? S : 4, blocks = S / wide;
    using lanes = typename LanesOf<wide>::type;
    // With few classes an addition would wait for the last; with many there is enough to do meanwhile.
    constexpr int apart = S > LANES ? 1 : S > 4 ? 2 : 4;
    lanes sums[apart][blocks] = {};
    for (int b = 0; b < blocks; ++b) sums[0][b] = *reinterpret_cast<const lanes *>(w.sums + first + b * wide);
    const double *table = w.table + first;
    const auto add = [&](int64_t at, lanes *sum) DISCRIM_INLINED {
        const double v = w.entry(static_cast<double>(w.value[at]));
        const double *coefficients = table + static_cast<int64_t>(w.column[at]) * w.stride;
        for (int b = 0; b < blocks; ++b) sum[b] += v * *reinterpret_cast<const lanes *>(coefficients + b * wide);
    };
    int64_t at = 0;
    const auto ask_for = [&](int64_t ahead) DISCRIM_INLINED {
        const double *there = table + static_cast<int64_t>(w.column[ahead]) * w.stride;
        for (int line = 0; line < S; line += LANES) __builtin_prefetch(there + line);
    };
    for (; at + AHEAD + apart <= w.size; at += apart) {
        for (int s = 0; s < apart; ++s) ask_for(at + AHEAD + s);
        for (int s = 0; s < apart; ++s) add(at + s, sums[s]);
    }
    for (; at + apart <= w.size; at += apart)
        for (int s = 0; s < apart; ++s) add(at + s, sums[s]);
    for (; at < w.size; ++at) add(at, sums[0]);
    for (int s = 1; s < apart; ++s)
        for (int b = 0; b < blocks; ++b) sums[0][b] += sums[s][b];
    for (int b = 0; b < blocks; ++b) *reinterpret_cast<lanes *>(w.sums + first + b * wide) = sums[0][b];
}

template <typename T, typename I>
DISCRIM_INLINE void add_classes(const Work<T, I> &w) {
    if (w.stride == 1) return add_row<1>(w, 0);
    if (w.stride == 2) return add_row<2>(w, 0);
    if (w.stride == 4) return add_row<4>(w, 0);
    int64_t k = 0;
    for (; k + 4 * LANES <= w.stride; k += 4 * LANES) add_row<4 * LANES>(w, k);
    switch ((w.stride - k) / LANES) {
        case 3: return add_row<3 * LANES>(w, k);
        case 2: return add_row<2 * LANES>(w, k);
        case 1: return add_row<LANES>(w, k);
    }
}

template <int MI, typename T, typename I>
DISCRIM_INLINE void sum_row_body(const Work<T, I> &w) {
    add_classes(w);
}

// LANES * S settings of one class, whose sums stay in registers.
template <int S, typename T, typename I>
DISCRIM_INLINE void add_settings(const Work<T, I> &w, const Grid &grid, int64_t k, int64_t first) {
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
DISCRIM_INLINE void grid_row_body(const Work<T, I> &w, const Grid &grid) {
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

// The largest of many scores, the first of its equals, and whether all are numbers.
struct Best {
    double top;
    int64_t which;
    bool fine;
};

template <int MI>
DISCRIM_INLINE void find_best_body(const double *scores, int64_t lanes, Best &found) {
    using V = Native<MI>;
    V best = get<V>(scores), which{};
    typename Kin<V>::Integers wrong = best != best;
    for (int64_t k = WIDTH<V>; k < lanes; k += WIDTH<V>) {
        const V s = get<V>(scores + k);
        which = s > best ? every<V>(static_cast<double>(k)) : which;
        best = s > best ? s : best;
        wrong |= s != s;
    }
    found = {best[0], static_cast<int64_t>(which[0]), true};
    for (int64_t l = 0; l < WIDTH<V>; ++l) {
        const int64_t k = static_cast<int64_t>(which[l]) + l;
        if (best[l] > found.top || (best[l] == found.top && k < found.which)) found = {best[l], k, found.fine};
        found.fine &= wrong[l] == 0;
    }
}

using D32 = Work<double, int32_t>;
using D64 = Work<double, int64_t>;
using F32 = Work<float, int32_t>;
using F64 = Work<float, int64_t>;
DISCRIM_VERSIONS(sum_row, (const D32 &w), (w))
DISCRIM_VERSIONS(sum_row, (const D64 &w), (w))
DISCRIM_VERSIONS(sum_row, (const F32 &w), (w))
DISCRIM_VERSIONS(sum_row, (const F64 &w), (w))
DISCRIM_VERSIONS(grid_row, (const D32 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(grid_row, (const D64 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(grid_row, (const F32 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(grid_row, (const F64 &w, const Grid &grid), (w, grid))
DISCRIM_VERSIONS(find_best, (const double *scores, int64_t lanes, Best &found), (scores, lanes, found))
DISCRIM_VERSIONS(soften, (double *scores, int64_t lanes, double top, bool logarithms), (scores, lanes, top, logarithms))

// In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
inline void write(double *to, double value, bool) { *to = value; }
inline void write(float *to, double value, bool logarithm) {
    *to = logarithm && value > -0x1p-25 ? 0.0f : static_cast<float>(value);
}

// Of two classes whose scores are a number and 0, or that number and its negative, one is enough to know the larger.
struct One {
    bool mirrored, enough;
    std::vector<double> table;
};

One one_of_two(const Table &t, int64_t p) {
    bool empty = true, mirrored = t.offset[0] == -t.offset[1];
    One one{false, false, std::vector<double>(p)};
    for (int64_t j = 0; j < p; ++j) {
        const double first = t.table[2 * j], second = t.table[2 * j + 1];
        empty &= first == 0.0;
        mirrored &= first == -second;
        one.table[j] = second;
        if (!empty && !mirrored) return one;
    }
    one.mirrored = !empty;
    one.enough = std::isfinite(t.offset[1]);
    return one;
}

template <typename T, typename I>
bool best_of_two(const SparseRows<T, I> &x, const Table &t, const One &one, Entry entry, int64_t *best) {
    bool finite = true;
    for (int64_t i = 0; i < x.n; ++i) {
        const int64_t first = x.first[i];
        double second = t.offset[1];
        sum_row(Work<T, I>{x.value + first, x.column + first, static_cast<int64_t>(x.first[i + 1]) - first,
                           one.table.data(), 1, entry, &second});
        const double other = one.mirrored ? -second : t.offset[0];
        best[i] = second > other;
        finite &= std::isfinite(second);
    }
    return finite;
}

}  // namespace

template <typename T, typename I, typename Out>
bool sparse_score(const SparseRows<T, I> &x, const Table &t, Entry entry, Output output, Out *values, int64_t *best) {
    if (output == Output::best && t.K == 2 && t.stride == 2) {
        const One one = one_of_two(t, x.p);
        if (one.enough) return best_of_two(x, t, one, entry, best);
    }
    const int64_t lanes = (std::max(t.stride, t.K) + LANES - 1) / LANES * LANES;
    Lined scores(lanes);
    bool finite = true;
    for (int64_t i = 0; i < x.n; ++i) {
        std::copy(t.offset, t.offset + t.K, scores.begin());
        std::fill(scores.begin() + t.K, scores.end(), -std::numeric_limits<double>::infinity());
        const int64_t first = x.first[i];
        sum_row(Work<T, I>{x.value + first, x.column + first, static_cast<int64_t>(x.first[i + 1]) - first, t.table,
                           t.stride, entry, scores.data()});
        Best found{scores[0], 0, !std::isnan(scores[0])};
        if (t.K > FEW) find_best(scores.data(), lanes, found);
        else
            for (int64_t k = 1; k < t.K; ++k) {
                found.fine &= !std::isnan(scores[k]);
                if (scores[k] > found.top) found = {scores[k], k, found.fine};
            }
        finite &= found.fine && std::isfinite(found.top);
        if (output == Output::best) {
            best[i] = found.which;
            continue;
        }
        if (output != Output::scores) soften(scores.data(), lanes, found.top, output == Output::log_posterior);
        for (int64_t k = 0; k < t.K; ++k) write(values + i * t.K + k, scores[k], output == Output::log_posterior);
    }
    return finite;
}

template <typename T, typename I>
void grid_sums(const SparseRows<T, I> &x, const Grid &grid, Entry entry, double *out) {
    const int64_t size = grid.K * grid.width;
    for (int64_t i = 0; i < x.n; ++i) {
        const int64_t first = x.first[i];
        grid_row(Work<T, I>{x.value + first, x.column + first, static_cast<int64_t>(x.first[i + 1]) - first, nullptr, 0,
                            entry, out + i * size},
                 grid);
    }
}

#define DISCRIM_GRID(T, I) template void grid_sums(const SparseRows<T, I> &, const Grid &, Entry, double *);
DISCRIM_GRID(double, int32_t)
DISCRIM_GRID(double, int64_t)
DISCRIM_GRID(float, int32_t)
DISCRIM_GRID(float, int64_t)

#define DISCRIM_SCORE(T, I, Out) \
    template bool sparse_score(const SparseRows<T, I> &, const Table &, Entry, Output, Out *, int64_t *);
DISCRIM_SCORE(double, int32_t, double)
DISCRIM_SCORE(double, int64_t, double)
DISCRIM_SCORE(float, int32_t, float)
DISCRIM_SCORE(float, int64_t, float)
DISCRIM_SCORE(float, int32_t, double)
DISCRIM_SCORE(float, int64_t, double)

}  // namespace discrim
