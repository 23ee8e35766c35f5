// Logistic regression by coordinate descent on the columns of the data.
#pragma once

#include <cstdint>

#include "logistic/columns_access.hpp"

namespace discrim {

// Minimise sum_i w_i (log(1 + exp(eta_i)) - y_i eta_i) + sum_j lasso_j |theta_j| + ridge_j theta_j^2 / 2 over the
// coefficients theta of the columns `working`, and over a constant where there is an intercept.
struct ColumnProblem {
    const double *y, *w;  // w may be null
    int64_t n;
    const int64_t *working;
    const double *lasso, *ridge;  // by place in working
    int64_t q;
    bool intercept;
};

// eta, theta (by place in working) and the constant are moved; eta must belong to theta on entry.
struct ColumnState {
    double *eta, *theta, *constant;
};

struct ColumnResult {
    double loss;
    int64_t rounds, sweeps;
    bool converged;
};

// Rounds of reweighting, each with some sweeps; ends when a round's first sweep has no h d^2 above `close`.
template <typename Columns>
ColumnResult column_descent(Columns &columns, const ColumnProblem &problem, ColumnState state, double close,
                            int64_t most);

// loss = sum w (log(1 + exp(eta)) - y eta), residual = w (y - mu), spread = w mu (1 - mu).
void weigh_rows(const double *y, const double *w, const double *eta, int64_t n, double *residual, double *spread,
                double *loss);

}  // namespace discrim
