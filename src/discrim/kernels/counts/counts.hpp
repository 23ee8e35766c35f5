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

// Means and centred squares of each column; whatever has no entry stays as it is. Returns false when a column lies
// outside the matrix.
template <typename T, typename I>
bool sparse_moments(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, int64_t K, Moments out);

// sign (log(N_kj + added_j) - log_total_k), of counts N_kj at count[k * class_stride + j * column_stride]; with a whole,
// of what the count leaves of it. The logarithm of zero is zero here: its limit is for the caller.
struct LogShares {
    const double *count;
    int64_t K, p, class_stride, column_stride;
    const double *whole;  // or null
    int64_t whole_class_stride, whole_column_stride;  // 0 where there is one number for all
    const double *added;  // one number, or one a column
    bool one_added;
    const double *log_total;  // K
    double sign;
    double *out;  // K x p
};
void log_shares(const LogShares &s);

// score_k = offset_k + sum_j x_j table[j * stride + k]; stride is K, rounded up.
struct Table {
    const double *table, *offset;
    int64_t K, stride;
};

// Writes n x K values of type Out, or n class numbers; returns false when some row has no finite best score. Stops
// where a column is not `inside` of the matrix.
template <typename T, typename I, typename Out>
bool sparse_score(const SparseRows<T, I> &x, const Table &table, Entry entry, Output output, Out *values,
                  int64_t *best, bool &inside);

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
