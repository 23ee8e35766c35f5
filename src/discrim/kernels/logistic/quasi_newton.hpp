// L-BFGS for few numbers, whose sums take less time than the calls that ask for them.
#pragma once

#include <cstdint>
#include <functional>

#include "logistic/likelihood.hpp"

namespace discrim {

// Minimise loss + sum ridge theta^2 / 2 over K x size coefficients. `inverse` is like that of the curvature: a diagonal,
// or with `blocks` a square for every class, which for several classes works within the directions that sum to zero over
// them. Coefficients whose row and column are zero keep their value. The step is the last that promises to lower the
// value by no more than `enough`, or from where no slope is above `flat`, which may be null. `least` is a value that no
// theta reaches.
struct DescentProblem {
    int64_t K, size;
    const double *shift, *ridge, *inverse, *flat;
    bool blocks;
    double enough, least;
    int64_t most, memory;
};

// The sums belong to the point before the last step where `converged`, and to theta itself elsewhere; `value` is that of
// theta. `known`: the sums at the start are in `sums` already.
struct DescentResult {
    double value, gap;
    int64_t iterations, passes;
    bool converged;
};

using Evaluate = std::function<void(const Point &, Sums)>;

DescentResult quasi_newton(const Evaluate &evaluate, const DescentProblem &problem, bool known, double *theta, Sums sums);

}  // namespace discrim
