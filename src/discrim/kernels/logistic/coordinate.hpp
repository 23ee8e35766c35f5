// Coordinate descent for a quadratic model with an elastic-net penalty.
#pragma once

#include <cstdint>

namespace discrim {

// m(t) = g'(t - point) + (t - point)'H(t - point) / 2 + sum lasso |t| + sum ridge t^2 / 2 over q coordinates.
struct QuadraticModel {
    const double *hessian;  // q x q, symmetric
    const double *lasso;
    const double *ridge;
    const uint8_t *fixed;  // coordinates that keep their value, or null
    int64_t q;
};

struct Descended {
    double left;  // half the squared length, under H and the ridge, of the way from the point to the minimum
    int64_t sweeps;
    bool converged;
};

// Move theta, where the search starts, to the minimum of the model at `point` with the gradient there.
Descended gram_descent(const QuadraticModel &model, const double *point, const double *gradient, double *theta,
                       double close, int64_t most);

// BFGS: change H such that it takes `step` to `change`; it stays as it is where the step tells nothing new.
void secant(double *hessian, const double *step, const double *change, int64_t q);

}  // namespace discrim
