// Class weights, means and centred scatter of a chunk of rows.
#pragma once

#include <cstdint>

namespace discrim {

enum class Depth { diagonal = 0, pooled = 1, full = 2 };

// Row i, column j is data[i * row_stride + j * column_stride]; strides count elements.
template <typename T>
struct Rows {
    const T *data;
    int64_t n, p, row_stride, column_stride;
};

struct Moments {
    double *weight;   // K
    int64_t *rows;    // K
    double *mean;     // K x p
    double *low;      // K x p, what rounding leaves out of the mean; or null
    double *scatter;  // K x p (diagonal), p x p (pooled) or K x p x p (full)
};

template <typename T>
void class_moments(const Rows<T> &x, const int32_t *codes, const double *weight, int64_t K, Depth depth,
                   Moments out);

}  // namespace discrim
