// The exact minimum of a quadratic model over the coordinates that are not zero, by a Cholesky factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "logistic/coordinate.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// y += a x
template <int MI>
DISCRIM_INLINE void add_row_body(double a, const double *x, double *y, int64_t n) {
    using V = Native<MI>;
    int64_t i = 0;
    for (; i + WIDTH<V> <= n; i += WIDTH<V>) put(y + i, get<V>(y + i) + a * get<V>(x + i));
    for (; i < n; ++i) y[i] += a * x[i];
}
DISCRIM_VERSIONS(add_row, (double a, const double *x, double *y, int64_t n), (a, x, y, n))

template <int MI>
DISCRIM_INLINE void inner_body(const double *x, const double *y, int64_t n, double *result) {
    using V = Native<MI>;
    V total{};
    int64_t i = 0;
    for (; i + WIDTH<V> <= n; i += WIDTH<V>) total += get<V>(x + i) * get<V>(y + i);
    double sum = sum_of(total);
    for (; i < n; ++i) sum += x[i] * y[i];
    *result = sum;
}
DISCRIM_VERSIONS(inner, (const double *x, const double *y, int64_t n, double *result), (x, y, n, result))

inline double dot(const double *x, const double *y, int64_t n) {
    double result;
    inner(x, y, n, &result);
    return result;
}

inline double sign_of(double value) { return value > 0 ? 1.0 : value < 0 ? -1.0 : 0.0; }

// Between changes of sign the penalty is linear, so that the minimum there solves linear equations. Coordinates that
// the step would take through zero stop at zero and leave. Where the curvature has no inverse the model is a line
// along some direction: it falls, or stays, until a coordinate is zero, which then leaves too. So columns that depend
// on each other, and classes that share a constant, cost a factor instead of thousands of sweeps.
class Face {
public:
    Face(const QuadraticModel &model, double *theta, double *slope) : m_(model), theta_(theta), slope_(slope) {}

    void minimise() {
        collect();
        factorise(0);
        for (int round = 0; round < ROUNDS; ++round) {
            solve();
            if (!move()) return;
            leave();
        }
    }

private:
    static constexpr int ROUNDS = 200;
    // Rows of a factor that cost about as much as one coordinate's leave.
    static constexpr int64_t A_LEAVE = 20;
    // A pivot below this part of its diagonal has lost its digits.
    static constexpr double LEAST_PIVOT = 1e-11;
    // A sum below this part of its terms is rounding.
    static constexpr double ROUNDING = 1e-13;
    // The part in a direction without curvature that a coordinate has at least, if it is truly one of those in it.
    static constexpr double LEAST_REACH = 1e-4;

    int64_t size() const { return active_.size(); }
    double *row(int64_t i) { return matrix_.data() + i * width_; }

    void collect() {
        active_.clear();
        for (int64_t j = 0; j < m_.q; ++j) {
            const bool fixed = m_.fixed && m_.fixed[j];
            if (!fixed && (theta_[j] != 0.0 || m_.lasso[j] == 0.0) && m_.hessian[j * m_.q + j] + m_.ridge[j] > 0.0)
                active_.push_back(j);
        }
        width_ = size();
        matrix_.resize(width_ * width_);
        step_.resize(width_);
    }

    // Rows `from` and on of the lower factor; coordinates that the ones before determine slide, and one leaves.
    void factorise(int64_t from) {
        int64_t i = from;
        while (i < size()) {
            const int64_t at = active_[i];
            double *values = row(i);
            for (int64_t j = 0; j <= i; ++j) values[j] = m_.hessian[at * m_.q + active_[j]];
            values[i] += m_.ridge[at];
            for (int64_t j = 0; j < i; ++j) values[j] = (values[j] - dot(values, row(j), j)) / row(j)[j];
            const double pivot = values[i] - dot(values, values, i);
            if (pivot > LEAST_PIVOT * values[i]) {
                values[i++] = std::sqrt(pivot);
            } else {
                const int64_t zero = slide(i, pivot);
                if (zero < i) drop(zero, i--);
                else active_.erase(active_.begin() + i);
            }
        }
    }

    bool gone(int64_t i) const { return theta_[active_[i]] == 0.0 && m_.lasso[active_[i]] > 0.0; }

    // The factor without the coordinates that came to zero.
    void leave() {
        int64_t first = size(), count = 0;
        for (int64_t i = size() - 1; i >= 0; --i)
            if (gone(i)) {
                first = i;
                ++count;
            }
        if (count * A_LEAVE < size()) {
            for (int64_t i = size() - 1; i >= first; --i)
                if (gone(i)) drop(i, size());
            return;
        }
        const auto zero = [this](int64_t j) { return theta_[j] == 0.0 && m_.lasso[j] > 0.0; };
        active_.erase(std::remove_if(active_.begin(), active_.end(), zero), active_.end());
        factorise(first);
    }

    // Coordinate k leaves a factor of `rows` rows: those below move up and are rotated to a triangle again.
    void drop(int64_t k, int64_t rows) {
        active_.erase(active_.begin() + k);
        cosine_.resize(width_);
        sine_.resize(width_);
        for (int64_t i = k; i + 1 < rows; ++i) {
            double *values = row(i);
            std::copy(row(i + 1), row(i + 1) + i + 2, values);
            for (int64_t j = k; j < i; ++j) {
                const double a = values[j], b = values[j + 1];
                values[j] = cosine_[j] * a + sine_[j] * b;
                values[j + 1] = cosine_[j] * b - sine_[j] * a;
            }
            const double length = std::hypot(values[i], values[i + 1]);
            cosine_[i] = values[i] / length;
            sine_[i] = values[i + 1] / length;
            values[i] = length;
        }
    }

    // Go down along the direction without curvature that coordinate i and those before it span, until one of them is
    // zero; which that is, or i where none will be.
    int64_t slide(int64_t i, double curvature) {
        for (int64_t j = 0; j < i; ++j) step_[j] = -row(i)[j];
        back(i);
        step_[i] = 1.0;
        double falling = 0.0, terms = 0.0;
        for (int64_t j = 0; j <= i; ++j) {
            falling += step_[j] * descent(active_[j]);
            terms += std::fabs(step_[j]) * (std::fabs(slope_[active_[j]]) + m_.lasso[active_[j]]);
        }
        if (!(std::fabs(falling) > ROUNDING * terms)) return i;
        const double direction = falling < 0.0 ? -1.0 : 1.0;
        for (int64_t j = 0; j <= i; ++j) step_[j] *= direction;
        int64_t first = -1;
        double part = crossing(i + 1, INFINITY, first);
        // Without an end of the line, or with one that only rounding made, nothing tells how far to go.
        if (first < 0 || reach(first) < LEAST_REACH * longest(i + 1)) return i;
        if (curvature > 0.0 && std::fabs(falling) < part * curvature) {
            part = std::fabs(falling) / curvature;
            first = -1;
        }
        go(i + 1, part, first);
        return first < 0 ? i : first;
    }

    // How far the step goes in coordinate active_[i], in units in which all have the same curvature.
    double reach(int64_t i) const {
        const int64_t j = active_[i];
        return std::fabs(step_[i]) * std::sqrt(m_.hessian[j * m_.q + j] + m_.ridge[j]);
    }

    double longest(int64_t n) const {
        double most = 0.0;
        for (int64_t i = 0; i < n; ++i) most = std::max(most, reach(i));
        return most;
    }

    // Minus the slope of the model with its penalties.
    double descent(int64_t j) const {
        return -(slope_[j] + m_.ridge[j] * theta_[j] + m_.lasso[j] * sign_of(theta_[j]));
    }

    void solve() {
        for (int64_t i = 0; i < size(); ++i)
            step_[i] = (descent(active_[i]) - dot(row(i), step_.data(), i)) / row(i)[i];
        back(size());
    }

    // step = L'^-1 step over the first n.
    void back(int64_t n) {
        for (int64_t i = n - 1; i >= 0; --i) {
            step_[i] /= row(i)[i];
            add_row(-step_[i], row(i), step_.data(), i);
        }
    }

    // The part of the step, at most `part`, at which the first of n coordinates is zero.
    double crossing(int64_t n, double part, int64_t &first) const {
        for (int64_t i = 0; i < n; ++i) {
            const double value = theta_[active_[i]];
            if (m_.lasso[active_[i]] > 0 && value * step_[i] < 0 && -value / step_[i] < part) {
                part = -value / step_[i];
                first = i;
            }
        }
        return part;
    }

    // Take the step with all that change sign at zero if that is lower, else as far as none does; whether one came to
    // zero.
    bool move() {
        int64_t first = -1;
        const double part = crossing(size(), 1.0, first);
        if (first >= 0 && project()) return true;
        go(size(), part, first);
        return first >= 0;
    }

    // A part of the step of the first n; coordinate `zero` ends there to the last digit.
    void go(int64_t n, double part, int64_t zero) {
        for (int64_t i = 0; i < n; ++i) {
            const int64_t j = active_[i];
            change(j, i == zero ? 0.0 : theta_[j] + part * step_[i]);
        }
    }

    bool project() {
        before_.assign(slope_, slope_ + m_.q);
        old_.resize(size());
        double penalty = 0.0, model = 0.0;
        for (int64_t i = 0; i < size(); ++i) {
            const int64_t j = active_[i];
            const double old = old_[i] = theta_[j], whole = old + step_[i];
            const double now = m_.lasso[j] > 0.0 && old * whole < 0.0 ? 0.0 : whole;
            penalty += m_.lasso[j] * (std::fabs(now) - std::fabs(old)) + 0.5 * m_.ridge[j] * (now + old) * (now - old);
            change(j, now);
        }
        for (int64_t i = 0; i < size(); ++i)
            model += 0.5 * (before_[active_[i]] + slope_[active_[i]]) * (theta_[active_[i]] - old_[i]);
        if (model + penalty < 0.0) return true;
        std::copy(before_.begin(), before_.end(), slope_);
        for (int64_t i = 0; i < size(); ++i) theta_[active_[i]] = old_[i];
        return false;
    }

    void change(int64_t j, double now) {
        if (now != theta_[j]) add_row(now - theta_[j], m_.hessian + j * m_.q, slope_, m_.q);
        theta_[j] = now;
    }

    const QuadraticModel &m_;
    double *theta_, *slope_;
    int64_t width_ = 0;
    std::vector<int64_t> active_;
    std::vector<double> matrix_, step_, before_, old_, cosine_, sine_;
};

}  // namespace
}  // namespace discrim
