#pragma once

#include <cstdint>

namespace discrim {

struct Sphere {
    double log_det, rcond;
};

// Deviations of the columns (infinite where not above the noise) and L^-1 with LL' the correlations, of a p x p matrix.
Sphere sphere(const double *sigma, const double *noise, int64_t p, double *scale, double *inverse);

}  // namespace discrim
