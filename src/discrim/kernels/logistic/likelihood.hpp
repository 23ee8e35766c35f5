// Loss, gradient and curvature of the logistic log-likelihood at theta, in one read of the rows.
#pragma once

#include <cstdint>

#include "gaussian/moments.hpp"

namespace discrim {

// For K classes `blocks` are the K diagonal blocks of the curvature, one a class.
enum class Order { loss = 0, gradient = 1, curvature = 2, blocks = 3 };

// What goes with every row; all but codes may be null. A row's y is share, or 1 for code 1.
struct Response {
    const int32_t *codes;
    const double *share, *weight, *offset;
};

// eta = offset + theta_0 + theta_1..p'(x - shift), for K classes one theta after the other. Losses are also told
// at theta + s along for S values s.
struct Point {
    int64_t K;
    const double *shift, *theta, *along, *steps;
    int64_t S;
    Order order;
};

// gradient is K x (1 + p), curvature (K (1 + p))^2 or K x (1 + p)^2 for blocks, losses S.
// least is a lower bound of the smallest curvature of a row, along any pair of classes.
struct Sums {
    double *loss, *gradient, *hessian, *losses, *least;
};

// Compressed rows: the entries of row i are first[i] to first[i + 1].
template <typename T, typename I>
struct SparseRows {
    const T *value;
    const I *column, *first;
    int64_t n, p;
};

template <typename T>
void binary_likelihood(const Rows<T> &x, const Response &y, const Point &at, Sums out);
template <typename T>
void softmax_likelihood(const Rows<T> &x, const Response &y, const Point &at, Sums out);

// Minimise loss + sum ridge theta^2 / 2; the constant keeps its value if `held`. A step that promises to lower the value
// by no more than `enough` is the last.
struct NewtonProblem {
    const double *shift, *ridge;
    bool held;
    double enough;
    int64_t most;
};

// `value` and `gap` belong to the point before the last step, and so do the sums.
struct NewtonResult {
    double value, gap;
    int64_t iterations;
    bool converged;
};

// From theta on by full steps. Not converged, with theta as it was, where one of them does not lower the value, where
// the curvature has no inverse, or after `most` steps.
template <typename T>
NewtonResult binary_newton(const Rows<T> &x, const Response &y, const NewtonProblem &problem, double *theta, Sums sums);

// Likelihoods of compressed rows, without curvature and without a shift.
template <typename T, typename I>
void sparse_likelihood(const SparseRows<T, I> &x, const Response &y, const Point &at, Sums out);

}  // namespace discrim
