// Rows of a block, shifted and packed into panels of eight columns; the column after the last is a constant 1.
#pragma once

#include <vector>

#include "likelihood.hpp"
#include "products.hpp"

namespace discrim {
namespace {

// Panels that hold p columns and the constant.
DISCRIM_INLINE int64_t panels_for(int64_t p) { return p / LANES + 1; }

// Kernel's order, columns first and then the constant, padded with zeros.
inline std::vector<double> columns_then_constant(const double *theta, int64_t p) {
    std::vector<double> padded(panels_for(p) * LANES, 0.0);
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

// Panel q of row i, shifted.
template <bool contiguous, typename T>
DISCRIM_INLINE v8 shifted(const Packing<T> &in, int64_t i, int64_t q) {
    const T *first = in.x->data + i * in.x->row_stride + q * LANES * in.x->column_stride;
    const int64_t count = in.x->p - q * LANES;
    if (count >= LANES)
        return (contiguous ? take_eight(first) : take_strided(first, in.x->column_stride, LANES)) -
               load(in.shift + q * LANES);
    v8 v = contiguous && i < in.readable ? take_eight(first) : take_strided(first, in.x->column_stride, count);
    v8i lane;
    for (int64_t l = 0; l < LANES; ++l) lane[l] = l;
    v = lane < count ? v - load(in.shift + q * LANES) : splat(0.0);
    return lane == count ? splat(1.0) : v;
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
