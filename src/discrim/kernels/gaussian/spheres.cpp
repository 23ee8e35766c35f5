// Sphering of one small covariance matrix: a call into LAPACK and the arrays around it would cost more than the work.

#include "gaussian/spheres.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace discrim {

Sphere sphere(const double *sigma, const double *noise, int64_t p, double *scale, double *inverse) {
    bool alive = p > 0;
    double log_det = 0.0, trace = 0.0;
    for (int64_t j = 0; j < p; ++j) {
        const double variance = sigma[j * p + j], deviation = std::sqrt(variance > 0.0 ? variance : 0.0);
        const bool varies = deviation > noise[j];
        scale[j] = varies ? deviation : std::numeric_limits<double>::infinity();
        alive = alive && varies;
        log_det += 2.0 * std::log(scale[j]);
    }
    for (int64_t i = 0; i < p * p; ++i) inverse[i] = 0.0;
    const Sphere none = {-std::numeric_limits<double>::infinity(), 0.0};
    if (!alive) return none;
    std::vector<double> lower(p * p);
    for (int64_t i = 0; i < p; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
            double left = sigma[i * p + j] / scale[i] / scale[j];
            if (i == j) trace += left;
            for (int64_t k = 0; k < j; ++k) left -= lower[i * p + k] * lower[j * p + k];
            if (i > j) {
                lower[i * p + j] = left / lower[j * p + j];
                continue;
            }
            if (!(left > 0.0)) return none;
            lower[i * p + i] = std::sqrt(left);
            log_det += std::log(left);
        }
    }
    double squares = 0.0;
    for (int64_t i = 0; i < p; ++i) {
        // Row i of the inverse from those above it.
        for (int64_t k = 0; k < i; ++k)
            for (int64_t j = 0; j <= k; ++j) inverse[i * p + j] -= lower[i * p + k] * inverse[k * p + j];
        for (int64_t j = 0; j < i; ++j) inverse[i * p + j] /= lower[i * p + i];
        inverse[i * p + i] = 1.0 / lower[i * p + i];
        for (int64_t j = 0; j <= i; ++j) squares += inverse[i * p + j] * inverse[i * p + j];
    }
    return {log_det, 1.0 / (trace * squares)};
}

}  // namespace discrim
