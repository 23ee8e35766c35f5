// Coordinate descent on a Gram matrix. Sweeps find which coefficients are zero; a Cholesky factor of the others'
// curvature then ends the slow convergence that correlated columns cause.

#include "logistic/coordinate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "logistic/coordinate_face.hpp"

namespace discrim {
namespace {

// Sweeps after which a factor is worth its cost: so many that leave all signs as they are, or so many in all.
constexpr int64_t QUIET = 3, LONG = 12;

double shrink(double u, double by) { return u > by ? u - by : u < -by ? u + by : 0.0; }

class Descent {
public:
    Descent(const QuadraticModel &model, double *theta, double *slope) : m_(model), theta_(theta), slope_(slope) {}

    // One visit of every coordinate; the largest a d^2 of a change d, and whether a sign changed.
    double sweep(bool &turned) {
        double largest = 0.0;
        for (int64_t j = 0; j < m_.q; ++j) {
            if (m_.fixed && m_.fixed[j]) continue;
            const double h = m_.hessian[j * m_.q + j], a = h + m_.ridge[j], old = theta_[j];
            if (!(a > 0.0)) continue;
            const double now = shrink(h * old - slope_[j], m_.lasso[j]) / a;
            if (now == old) continue;
            turned = turned || (now > 0) != (old > 0) || (now < 0) != (old < 0);
            change(j, now);
            largest = std::max(largest, a * (now - old) * (now - old));
        }
        return largest;
    }

private:
    void change(int64_t j, double now) {
        add_row(now - theta_[j], m_.hessian + j * m_.q, slope_, m_.q);
        theta_[j] = now;
    }

    const QuadraticModel &m_;
    double *theta_, *slope_;
};

}  // namespace

Descended gram_descent(const QuadraticModel &model, const double *point, const double *gradient, double *theta,
                       double close, int64_t most) {
    const int64_t q = model.q;
    std::vector<double> slope(gradient, gradient + q);
    for (int64_t j = 0; j < q; ++j)
        if (theta[j] != point[j]) add_row(theta[j] - point[j], model.hessian + j * q, slope.data(), q);
    Descent descent(model, theta, slope.data());
    Descended done{0.0, 0, false};
    Face face(model, theta, slope.data());
    int64_t quiet = 0, since = 0;
    while (done.sweeps < most) {
        ++done.sweeps;
        bool turned = false;
        const double largest = descent.sweep(turned);
        if (!(largest > close)) {
            done.converged = largest == largest;
            break;
        }
        quiet = turned ? 0 : quiet + 1;
        if (quiet >= QUIET || ++since >= LONG) {
            face.minimise();
            quiet = since = 0;
        }
    }
    for (int64_t j = 0; j < q; ++j) {
        const double step = theta[j] - point[j];
        done.left += 0.5 * step * (slope[j] - gradient[j] + model.ridge[j] * step);
    }
    done.left = std::max(done.left, 0.0);
    return done;
}

void secant(double *hessian, const double *step, const double *change, int64_t q) {
    std::vector<double> foreseen(q, 0.0);
    for (int64_t j = 0; j < q; ++j)
        if (step[j] != 0.0) add_row(step[j], hessian + j * q, foreseen.data(), q);
    const double model = dot(step, foreseen.data(), q), seen = dot(step, change, q);
    double wrong = 0.0;
    for (int64_t j = 0; j < q; ++j) wrong += (change[j] - foreseen[j]) * (change[j] - foreseen[j]);
    // Of a step that the model knew to many digits only rounding could be learned.
    if (!(model > 0.0 && seen > 1e-3 * model && wrong > 1e-18 * dot(change, change, q))) return;
    for (int64_t j = 0; j < q; ++j) {
        add_row(change[j] / seen, change, hessian + j * q, q);
        add_row(-foreseen[j] / model, foreseen.data(), hessian + j * q, q);
    }
}

}  // namespace discrim
