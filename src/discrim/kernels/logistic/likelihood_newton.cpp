// Newton's method for two classes and few numbers, whose sums take less time than the calls that ask for them.

#include <algorithm>
#include <cmath>
#include <vector>

#include "logistic/likelihood.hpp"

namespace discrim {
namespace {

// A pivot below this, for columns of length one, has lost its digits.
constexpr double LEAST_PIVOT = 1e-7;
// The part of the gap by which a step must lower the value.
constexpr double LEAST_PART = 1e-4;

// step = -H^-1 g for a symmetric H of this size, which is overwritten; false where H has no inverse as far as the
// digits tell.
bool solve(double *h, int64_t size, const double *g, double *step) {
    std::vector<double> scale(size);
    for (int64_t i = 0; i < size; ++i) {
        const double diagonal = h[i * size + i];
        scale[i] = diagonal > 0.0 ? 1.0 / std::sqrt(diagonal) : 1.0;
    }
    for (int64_t i = 0; i < size; ++i) {
        double *row = h + i * size;
        for (int64_t j = 0; j <= i; ++j) {
            const double *other = h + j * size;
            double left = row[j] * scale[i] * scale[j];
            for (int64_t k = 0; k < j; ++k) left -= row[k] * other[k];
            if (j < i) row[j] = left / other[j];
            else if (left > LEAST_PIVOT * LEAST_PIVOT) row[i] = std::sqrt(left);
            else return false;
        }
        step[i] = -g[i] * scale[i];
        for (int64_t k = 0; k < i; ++k) step[i] -= row[k] * step[k];
        step[i] /= row[i];
    }
    for (int64_t i = size - 1; i >= 0; --i) {
        step[i] /= h[i * size + i];
        for (int64_t k = 0; k < i; ++k) step[k] -= h[i * size + k] * step[i];
        step[i] *= scale[i];
    }
    return true;
}

template <typename T>
class Newton {
public:
    Newton(const Rows<T> &x, const Response &y, const NewtonProblem &problem, const double *theta, Sums sums)
        : x_(x), y_(y), p_(problem), sums_(sums), size_(x.p + 1), theta_(theta, theta + size_), step_(size_, 0.0),
          slope_(size_), matrix_(size_ * size_) {}

    // Value, step and gap at theta; false where there is none.
    bool look() {
        std::fill(sums_.gradient, sums_.gradient + size_, 0.0);
        std::fill(sums_.hessian, sums_.hessian + size_ * size_, 0.0);
        binary_likelihood(x_, y_, {1, p_.shift, theta_.data(), nullptr, nullptr, 0, Order::curvature}, sums_);
        const int64_t first = p_.held ? 1 : 0, free = size_ - first;
        value = *sums_.loss;
        for (int64_t i = 0; i < size_; ++i) value += 0.5 * p_.ridge[i] * theta_[i] * theta_[i];
        for (int64_t i = 0; i < free; ++i) {
            slope_[i] = sums_.gradient[first + i] + p_.ridge[first + i] * theta_[first + i];
            std::copy_n(sums_.hessian + (first + i) * size_ + first, free, matrix_.data() + i * free);
            matrix_[i * free + i] += p_.ridge[first + i];
        }
        if (!std::isfinite(value) || !solve(matrix_.data(), free, slope_.data(), step_.data() + first)) return false;
        gap = 0.0;
        for (int64_t i = 0; i < free; ++i) gap -= 0.5 * slope_[i] * step_[first + i];
        return std::isfinite(gap);
    }

    void go() {
        for (int64_t i = 0; i < size_; ++i) theta_[i] += step_[i];
    }

    const std::vector<double> &theta() const { return theta_; }

    double value = 0.0, gap = 0.0;

private:
    const Rows<T> &x_;
    const Response &y_;
    const NewtonProblem &p_;
    Sums sums_;
    int64_t size_;
    std::vector<double> theta_, step_, slope_, matrix_;
};

}  // namespace

template <typename T>
NewtonResult binary_newton(const Rows<T> &x, const Response &y, const NewtonProblem &problem, double *theta, Sums sums) {
    Newton<T> at(x, y, problem, theta, sums);
    NewtonResult result{0.0, 0.0, 0, false};
    if (!at.look()) return result;
    while (result.iterations < problem.most) {
        ++result.iterations;
        const double before = at.value, gap = at.gap;
        at.go();
        if (gap <= problem.enough) {
            std::copy(at.theta().begin(), at.theta().end(), theta);
            return {before, gap, result.iterations, true};
        }
        if (!at.look() || !(at.value <= before - LEAST_PART * gap)) return result;
    }
    return result;
}

template NewtonResult binary_newton<double>(const Rows<double> &, const Response &, const NewtonProblem &, double *, Sums);
template NewtonResult binary_newton<float>(const Rows<float> &, const Response &, const NewtonProblem &, double *, Sums);

}  // namespace discrim
