// Loss and gradient of the binary log-likelihood at several thetas at once, in one read of the rows.
#pragma once

#include "logistic/likelihood.hpp"

namespace discrim {

// Thetas that one call takes: one in each lane of a vector.
constexpr int64_t SEVERAL = 8;

// theta is SEVERAL x (1 + p); losses has SEVERAL, gradients SEVERAL x (1 + p) numbers.
template <typename T>
void several_gradients(const Rows<T> &x, const Response &y, const double *shift, const double *theta, double *losses,
                       double *gradients);

}  // namespace discrim
