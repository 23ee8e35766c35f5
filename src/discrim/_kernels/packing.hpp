// Rows of a block, shifted and packed into panels of eight columns; the column after the last is a constant 1.
#pragma once

#include <vector>

#include "likelihood.hpp"
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
};

// Panel q of rows i[0] to i[7], shifted.
template <bool contiguous, typename T>
DISCRIM_INLINE void take_panel(const Packing<T> &in, const int64_t *i, int64_t q, v8 *rows) {
    const T *first = in.x->data + q * LANES * in.x->column_stride;
    const int64_t count = in.x->p - q * LANES, row = in.x->row_stride, column = in.x->column_stride;
    const v8 shift = load(in.shift + q * LANES);
    if (count >= LANES) {
        for (int s = 0; s < LANES; ++s) {
            const T *at = first + i[s] * row;
            __builtin_prefetch(at + FAR * row, 0, 2);
            rows[s] = (contiguous ? take_eight(at) : take_strided(at, column, LANES)) - shift;
        }
        return;
    }
    v8i lane;
    for (int64_t l = 0; l < LANES; ++l) lane[l] = l;
    const v8i inside = lane < count;
    const v8 rest = lane == count ? splat(1.0) : splat(0.0);
    // Vectors that run past the end of a row stay inside the array for all but its last rows.
    const bool whole = contiguous && i[LANES - 1] < in.readable;
    for (int s = 0; s < LANES; ++s) {
        const T *at = first + i[s] * row;
        const v8 v = whole ? take_eight(at) : take_strided(at, column, count);
        rows[s] = inside ? v - shift : rest;
    }
}

// The rows of the next group of eight; past the end the last row stands in, for which nobody asks.
template <typename T>
DISCRIM_INLINE void next_eight(const Packing<T> &in, int64_t r, int64_t *i) {
    for (int64_t s = 0; s < LANES; ++s) i[s] = in.index[std::min(r + s, in.m - 1)];
}

// Rows that count: all without weights, else those of positive weight.
inline int64_t rows_that_count(const double *weight, int64_t first, int64_t m, int32_t *index) {
    int64_t count = 0;
    for (int64_t r = 0; r < m; ++r)
        if (!weight || weight[first + r] > 0) index[count++] = static_cast<int32_t>(r);
    return count;
}

// Place of kernel's column j in the user's order, where the constant comes first.
DISCRIM_INLINE int64_t place(int64_t j, int64_t p) { return j == p ? 0 : j + 1; }

}  // namespace
}  // namespace discrim
