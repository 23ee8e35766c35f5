// Sums of rows by class, scores of compressed rows, and logarithms of counts without the row itself.
#pragma once

#include <cstdint>
#include <vector>

#include "logistic/likelihood.hpp"
#include "gaussian/moments.hpp"
#include "gaussian/scores.hpp"

namespace discrim {

// With a threshold an entry counts as 1 above it and as 0 else; what is not finite stays so.
struct Entry {
    bool binary;
    double threshold;

    double operator()(double v) const { return binary ? (v > threshold ? 1.0 : 0.0) + (v - v) : v; }
};

struct ClassSums {
    double *weight;  // K
    int64_t *rows;   // K
    double *count;   // K x p
    double *least;   // the smallest entry, 0 where none is below
};

// Each logarithm is found once as long as few values lie between two that are equal.
void remembered_logs(const double *values, int64_t n, double *out);
// Writes weight and rows.
void count_rows(const int32_t *codes, const double *weight, int64_t n, int64_t K, ClassSums out);
// The numbers of the rows class by class, so that what belongs to one class stays in cache.
std::vector<int64_t> by_class(const int32_t *codes, int64_t n, int64_t K);

template <typename T>
void dense_sums(const Rows<T> &x, const int32_t *codes, const double *weight, int64_t K, Entry entry, ClassSums out);
// Returns false when a column lies outside the matrix.
template <typename T, typename I>
bool sparse_sums(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, int64_t K, Entry entry,
                 ClassSums out);

// score_k = offset_k + sum_j x_j table[j * stride + k]; stride is K, rounded up.
struct Table {
    const double *table, *offset;
    int64_t K, stride;
};

// Writes n x K values of type Out, or n class numbers; returns false when some row has no finite best score.
template <typename T, typename I, typename Out>
bool sparse_score(const SparseRows<T, I> &x, const Table &table, Entry entry, Output output, Out *values,
                  int64_t *best);

// What is left of counts (class k, column j at count[k * class_stride + j * column_stride]) when a row has gone.
struct HeldOut {
    const double *count;
    int64_t K, class_stride, column_stride;
    const double *prior;  // one number, or one a column
    bool one_prior;
    const double *logs;  // log(m + prior) of the whole numbers m below looked_up
    int64_t looked_up;
    bool own, plain;
};

template <typename T, typename I>
void held_out_logs(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, const HeldOut &h, Entry entry,
                   double *out);

// out[i, k, :] = sum_j x_ij logs[which[j, k], :], all `width` settings of one count next to each other.
struct Grid {
    const int32_t *which;  // p x K
    const double *logs;    // any number of rows, each of `width`, a multiple of 8
    int64_t K, width;
};

template <typename T, typename I>
void grid_sums(const SparseRows<T, I> &x, const Grid &grid, Entry entry, double *out);

}  // namespace discrim
