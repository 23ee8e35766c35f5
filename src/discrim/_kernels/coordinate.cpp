// Coordinate descent on a Gram matrix. Sweeps find which coefficients are zero; one Cholesky factor of the others'
// curvature then ends the linear convergence that correlated columns cause.

#include "coordinate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes.hpp"

namespace discrim {
namespace {

// y += a x
template <int>
DISCRIM_INLINE void add_row_body(double a, const double *x, double *y, int64_t n) {
    int64_t i = 0;
    const v8 factor = splat(a);
    for (; i + LANES <= n; i += LANES) store(y + i, load(y + i) + factor * load(x + i));
    for (; i < n; ++i) y[i] += a * x[i];
}
DISCRIM_VERSIONS(add_row, (double a, const double *x, double *y, int64_t n), (a, x, y, n))

template <int>
DISCRIM_INLINE void inner_body(const double *x, const double *y, int64_t n, double *result) {
    v8 total = splat(0.0);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) total += load(x + i) * load(y + i);
    double sum = 0.0;
    for (int l = 0; l < LANES; ++l) sum += total[l];
    for (; i < n; ++i) sum += x[i] * y[i];
    *result = sum;
}
DISCRIM_VERSIONS(inner, (const double *x, const double *y, int64_t n, double *result), (x, y, n, result))

double dot(const double *x, const double *y, int64_t n) {
    double result;
    inner(x, y, n, &result);
    return result;
}

double shrink(double u, double by) { return u > by ? u - by : u < -by ? u + by : 0.0; }

// Lower Cholesky factor of an m x m matrix in place, by rows; false where a pivot loses all its digits.
bool factorise(std::vector<double> &a, int64_t m) {
    for (int64_t i = 0; i < m; ++i) {
        double *row = a.data() + i * m;
        for (int64_t j = 0; j < i; ++j) row[j] = (row[j] - dot(row, a.data() + j * m, j)) / a[j * m + j];
        const double pivot = row[i] - dot(row, row, i);
        if (!(pivot > 1e-11 * row[i])) return false;
        row[i] = std::sqrt(pivot);
    }
    return true;
}

void solve_factorised(const std::vector<double> &a, int64_t m, double *b) {
    for (int64_t i = 0; i < m; ++i) b[i] = (b[i] - dot(a.data() + i * m, b, i)) / a[i * m + i];
    for (int64_t i = m - 1; i >= 0; --i) {
        b[i] /= a[i * m + i];
        add_row(-b[i], a.data() + i * m, b, i);
    }
}

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

    // The exact minimum over the coordinates that are not zero, or as far towards it as all keep their signs.
    // False where their curvature has no inverse.
    bool finish() {
        active_.clear();
        for (int64_t j = 0; j < m_.q; ++j) {
            const bool fixed = m_.fixed && m_.fixed[j];
            if (!fixed && (theta_[j] != 0.0 || m_.lasso[j] == 0.0) && m_.hessian[j * m_.q + j] + m_.ridge[j] > 0.0)
                active_.push_back(j);
        }
        const int64_t m = active_.size();
        if (!m) return true;
        matrix_.resize(m * m);
        step_.resize(m);
        for (int64_t i = 0; i < m; ++i) {
            const int64_t at = active_[i];
            const double *row = m_.hessian + at * m_.q;
            for (int64_t j = 0; j <= i; ++j) matrix_[i * m + j] = row[active_[j]];
            matrix_[i * m + i] += m_.ridge[at];
            const double sign = theta_[at] > 0 ? 1.0 : theta_[at] < 0 ? -1.0 : 0.0;
            step_[i] = -(slope_[at] + m_.ridge[at] * theta_[at] + m_.lasso[at] * sign);
        }
        if (!factorise(matrix_, m)) return false;
        solve_factorised(matrix_, m, step_.data());
        move();
        return true;
    }

    int64_t active() const { return active_.size(); }

private:
    void change(int64_t j, double now) {
        add_row(now - theta_[j], m_.hessian + j * m_.q, slope_, m_.q);
        theta_[j] = now;
    }

    void move() {
        double part = 1.0;
        int64_t first = -1;
        for (size_t i = 0; i < step_.size(); ++i) {
            const double value = theta_[active_[i]];
            if (m_.lasso[active_[i]] > 0 && value * (value + step_[i]) < 0 && -value / step_[i] < part) {
                part = -value / step_[i];
                first = i;
            }
        }
        for (size_t i = 0; i < step_.size(); ++i) {
            const double now = static_cast<int64_t>(i) == first ? 0.0 : theta_[active_[i]] + part * step_[i];
            if (now != theta_[active_[i]]) change(active_[i], now);
        }
    }

    const QuadraticModel &m_;
    double *theta_, *slope_;
    std::vector<int64_t> active_;
    std::vector<double> matrix_, step_;
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
    int64_t quiet = 0;
    while (done.sweeps < most) {
        ++done.sweeps;
        bool turned = false;
        const double largest = descent.sweep(turned);
        if (!(largest > close)) {
            done.converged = largest == largest;
            break;
        }
        quiet = turned ? 0 : quiet + 1;
        // A factor costs about as much as some sweeps: it is worth it once these no longer change which are zero.
        if (quiet >= 3 && descent.finish()) quiet = 0;
    }
    for (int64_t j = 0; j < q; ++j) {
        const double step = theta[j] - point[j];
        done.left += 0.5 * step * (slope[j] - gradient[j] + model.ridge[j] * step);
    }
    done.left = std::max(done.left, 0.0);
    return done;
}

void secant(const double *hessian, const double *step, const double *change, int64_t q, double *mended) {
    std::copy(hessian, hessian + q * q, mended);
    std::vector<double> foreseen(q, 0.0);
    for (int64_t j = 0; j < q; ++j)
        if (step[j] != 0.0) add_row(step[j], hessian + j * q, foreseen.data(), q);
    const double model = dot(step, foreseen.data(), q), seen = dot(step, change, q);
    double wrong = 0.0;
    for (int64_t j = 0; j < q; ++j) wrong += (change[j] - foreseen[j]) * (change[j] - foreseen[j]);
    // Of a step that the model knew to many digits only rounding could be learned.
    if (!(model > 0.0 && seen > 1e-3 * model && wrong > 1e-18 * dot(change, change, q))) return;
    for (int64_t j = 0; j < q; ++j) {
        add_row(change[j] / seen, change, mended + j * q, q);
        add_row(-foreseen[j] / model, foreseen.data(), mended + j * q, q);
    }
}

}  // namespace discrim
