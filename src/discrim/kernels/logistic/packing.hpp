// Rows of a block, shifted and packed into panels of eight columns; the column after the last is a constant.
#pragma once

#include <numeric>
#include <vector>

#include "logistic/likelihood.hpp"
#include "native_lanes.hpp"
#include "products.hpp"

namespace discrim {
namespace {

// Rows ahead that are fetched while these are at work; fetching past the end does no harm.
constexpr int64_t FAR = 64;
// Rows of a block at most: more memory than this would have to be asked of the system each time.
constexpr int64_t MOST_ROWS = 512;

// Panels that hold p columns and the constant.
DISCRIM_INLINE int64_t panels_for(int64_t p) { return p / LANES + 1; }

// Kernel's order, columns first and then the constant, padded with zeros.
inline Lined columns_then_constant(const double *theta, int64_t p) {
    Lined padded(panels_for(p) * LANES, 0.0);
    if (!theta) return padded;
    std::copy(theta + 1, theta + 1 + p, padded.begin());
    padded[p] = theta[0];
    return padded;
}

template <typename T>
struct Packing {
    const Rows<T> *x;      // the block
    const int32_t *index;  // positions of the rows that count
    int64_t m;
    int64_t readable;  // rows below this one may be read past their end
    const double *shift;
    double *packed;
    int64_t panel;
    double constant = 1.0;
};

// Columns q W to q W + W of the W rows i[0], i[1] ..., shifted; W is the width of the vectors.
template <bool contiguous, typename T, typename V>
DISCRIM_INLINE void take_panel(const Packing<T> &in, const int64_t *i, int64_t q, V *rows) {
    constexpr int64_t W = WIDTH<V>;
    const T *first = in.x->data + q * W * in.x->column_stride;
    const int64_t count = in.x->p - q * W, row = in.x->row_stride, column = in.x->column_stride;
    const V shift = get<V>(in.shift + q * W);
    if (count >= W) {
        for (int s = 0; s < W; ++s) {
            const T *at = first + i[s] * row;
            if (q * W % LANES == 0) __builtin_prefetch(at + FAR * row, 0, 2);
            rows[s] = (contiguous ? get<V>(at) : strided<V>(at, column, W)) - shift;
        }
        return;
    }
    const auto lane = Kin<V>::numbered();
    const auto inside = lane < count;
    const V rest = lane == count ? every<V>(in.constant) : V{};
    if (count <= 0) {
        for (int s = 0; s < W; ++s) rows[s] = rest;
        return;
    }
    // Vectors that run past the end of a row stay inside the array for all but its last rows.
    const bool whole = contiguous && i[W - 1] < in.readable;
    for (int s = 0; s < W; ++s) {
        const T *at = first + i[s] * row;
        const V v = whole ? get<V>(at) : strided<V>(at, column, count);
        rows[s] = inside ? v - shift : rest;
    }
}

// The rows of the next group; past the end the last row stands in, for which nobody asks.
template <int64_t W, typename T>
DISCRIM_INLINE void next_rows(const Packing<T> &in, int64_t r, int64_t *i) {
    for (int64_t s = 0; s < W; ++s) i[s] = in.index[std::min(r + s, in.m - 1)];
}

// Rows that count: all without weights, else those of positive weight.
inline int64_t rows_that_count(const double *weight, int64_t first, int64_t m, int32_t *index) {
    if (!weight) {
        std::iota(index, index + m, 0);
        return m;
    }
    int64_t count = 0;
    for (int64_t r = 0; r < m; ++r)
        if (weight[first + r] > 0) index[count++] = static_cast<int32_t>(r);
    return count;
}

// Place of kernel's column j in the user's order, where the constant comes first.
DISCRIM_INLINE int64_t place(int64_t j, int64_t p) { return j == p ? 0 : j + 1; }

}  // namespace
}  // namespace discrim
