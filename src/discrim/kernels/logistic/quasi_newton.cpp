#include "logistic/quasi_newton.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "native_lanes.hpp"

namespace discrim {
namespace {

// The part of the gap by which a step must lower the value, and parts of a step that are tried where it does not.
constexpr double LEAST_PART = 1e-4;
constexpr double FRACTIONS[] = {0.5, 0.25, 0.125, 0.03125};
constexpr int64_t PARTS = 4;
// The part of the value that it may still promise to fall where all slopes are flat.
constexpr double PROMISED = 1e-2;

template <int MI>
DISCRIM_INLINE void dot_body(const double *a, const double *b, int64_t n, double &found) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    V sum[4]{};
    int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int64_t v = 0; v < 4; ++v) sum[v] += get<V>(a + i + v * W) * get<V>(b + i + v * W);
    for (; i + W <= n; i += W) sum[0] += get<V>(a + i) * get<V>(b + i);
    double rest = 0.0;
    for (; i < n; ++i) rest += a[i] * b[i];
    found = sum_of((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}
DISCRIM_VERSIONS(dot, (const double *a, const double *b, int64_t n, double &found), (a, b, n, found))

// y += s x
template <int MI>
DISCRIM_INLINE void add_times_body(double s, const double *x, double *y, int64_t n) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    int64_t i = 0;
    for (; i + W <= n; i += W) put(y + i, get<V>(y + i) + s * get<V>(x + i));
    for (; i < n; ++i) y[i] += s * x[i];
}
DISCRIM_VERSIONS(add_times, (double s, const double *x, double *y, int64_t n), (s, x, y, n))

// out = M x for a symmetric M.
template <int MI>
DISCRIM_INLINE void square_times_body(const double *m, const double *x, double *out, int64_t size) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    int64_t i = 0;
    for (; i + W <= size; i += W) {
        V sum[2]{};
        int64_t j = 0;
        for (; j + 2 <= size; j += 2)
            for (int64_t v = 0; v < 2; ++v) sum[v] += x[j + v] * get<V>(m + (j + v) * size + i);
        if (j < size) sum[0] += x[j] * get<V>(m + j * size + i);
        put(out + i, sum[0] + sum[1]);
    }
    for (; i < size; ++i) {
        double sum = 0.0;
        for (int64_t j = 0; j < size; ++j) sum += m[i * size + j] * x[j];
        out[i] = sum;
    }
}
DISCRIM_VERSIONS(square_times, (const double *m, const double *x, double *out, int64_t size), (m, x, out, size))

double product(const double *a, const double *b, int64_t n) {
    double found;
    dot(a, b, n, found);
    return found;
}

using Numbers = std::vector<double>;

class Descent {
public:
    Descent(const Evaluate &evaluate, const DescentProblem &problem, double *theta, Sums sums)
        : evaluate_(evaluate), p_(problem), n_(problem.K * problem.size), theta_(theta), sums_(sums), gradient_(n_),
          direction_(n_), target_(n_), change_(n_), bent_(n_), even_(problem.size), there_(sums.gradient, sums.gradient + n_),
          s_(problem.memory, Numbers()), y_(problem.memory, Numbers()), rho_(problem.memory), part_(problem.memory) {}

    DescentResult run(bool known) {
        if (!known) look(theta_, sums_.gradient);
        loss_ = *sums_.loss;
        value_ = penalised(loss_, theta_);
        set_gradient(sums_.gradient, theta_, gradient_);
        DescentResult result{value_, 0.0, 0, 0, false};
        for (int64_t i = 0;; ++i) {
            result.iterations = i;
            direct();
            double gap = -0.5 * product(gradient_.data(), direction_.data(), n_);
            result.converged = reached(gap);
            const double gain = value_ - p_.least;
            if (!count_ && !result.converged && 2.0 * gap > gain) {
                // It promises more than there is to gain.
                for (double &d : direction_) d *= gain / (2.0 * gap);
                gap = gain / 2.0;
            }
            result.gap = gap;
            if (result.converged) {
                add_times(1.0, direction_.data(), theta_, n_);
                value_ -= gap;
            }
            if (result.converged || i == p_.most) break;
            if (!move(gap)) {
                if (!count_) {
                    result.converged = gap <= 1e-7 * std::max(std::fabs(value_), 1.0);
                    break;
                }
                count_ = 0;
                length_ = 1.0;
            }
        }
        *sums_.loss = loss_;
        result.value = value_;
        result.passes = passes_;
        return result;
    }

private:
    // Loss and gradient at theta.
    void look(const double *theta, double *gradient) {
        std::fill(gradient, gradient + n_, 0.0);
        Sums sums = sums_;
        sums.gradient = gradient;
        evaluate_({p_.K, p_.shift, theta, nullptr, nullptr, 0, Order::gradient}, sums);
        ++passes_;
    }

    double penalised(double loss, const double *theta) const {
        for (int64_t j = 0; j < n_; ++j) loss += 0.5 * p_.ridge[j] * theta[j] * theta[j];
        return loss;
    }

    void set_gradient(const double *raw, const double *theta, Numbers &out) const {
        for (int64_t j = 0; j < n_; ++j) out[j] = raw[j] + p_.ridge[j] * theta[j];
    }

    bool reached(double gap) const {
        if (gap <= p_.enough) return true;
        if (!p_.flat || gap > PROMISED * std::fabs(value_)) return false;
        for (int64_t j = 0; j < n_; ++j)
            if (!(std::fabs(gradient_[j]) <= p_.flat[j])) return false;
        return true;
    }

    // out = inverse right
    void invert(const double *right, double *out) {
        const int64_t K = p_.K, size = p_.size;
        if (!p_.blocks) {
            for (int64_t j = 0; j < n_; ++j) out[j] = p_.inverse[j] * right[j];
            return;
        }
        if (K == 1) return square_times(p_.inverse, right, out, size);
        even(right, target_.data());
        for (int64_t k = 0; k < K; ++k)
            square_times(p_.inverse + k * size * size, target_.data() + k * size, bent_.data() + k * size, size);
        even(bent_.data(), out);
        // Between classes of equal share the curvature is K / (K - 1) times that of each class by itself.
        for (int64_t j = 0; j < n_; ++j) out[j] *= 1.0 - 1.0 / K;
    }

    // What is left after the mean over the classes.
    void even(const double *from, double *to) {
        const int64_t K = p_.K, size = p_.size;
        std::fill(even_.begin(), even_.end(), 0.0);
        for (int64_t k = 0; k < K; ++k) add_times(1.0 / K, from + k * size, even_.data(), size);
        for (int64_t k = 0; k < K; ++k)
            for (int64_t j = 0; j < size; ++j) to[k * size + j] = from[k * size + j] - even_[j];
    }

    int64_t place(int64_t age) const { return (newest_ - age + p_.memory) % p_.memory; }

    // direction = - (inverse curvature, as the steps have shown it) gradient
    void direct() {
        change_ = gradient_;
        for (int64_t age = 0; age < count_; ++age) {
            const int64_t t = place(age);
            part_[t] = rho_[t] * product(s_[t].data(), change_.data(), n_);
            add_times(-part_[t], y_[t].data(), change_.data(), n_);
        }
        invert(change_.data(), direction_.data());
        for (double &d : direction_) d *= -length_;
        for (int64_t age = count_; age-- > 0;) {
            const int64_t t = place(age);
            const double across = rho_[t] * product(y_[t].data(), direction_.data(), n_);
            add_times(-part_[t] - across, s_[t].data(), direction_.data(), n_);
        }
    }

    // The full step where it lowers the value enough, else the best of its parts; false where none does.
    bool move(double gap) {
        Numbers to(n_);
        for (int64_t turn = 0; turn < 12; ++turn) {
            for (int64_t j = 0; j < n_; ++j) to[j] = theta_[j] + direction_[j];
            if (try_at(to, value_ - LEAST_PART * gap)) return true;
            double losses[PARTS] = {0.0, 0.0, 0.0, 0.0};
            Sums sums = sums_;
            sums.losses = losses;
            evaluate_({p_.K, p_.shift, theta_, direction_.data(), FRACTIONS, PARTS, Order::loss}, sums);
            ++passes_;
            double best = 0.0, lowest = 0.0;
            for (int64_t f = 0; f < PARTS; ++f) {
                for (int64_t j = 0; j < n_; ++j) to[j] = theta_[j] + FRACTIONS[f] * direction_[j];
                const double found = penalised(losses[f], to.data());
                if (std::isfinite(found) && (best == 0.0 || found < lowest)) best = FRACTIONS[f], lowest = found;
            }
            if (best > 0.0 && lowest < value_ - LEAST_PART * best * gap) {
                for (int64_t j = 0; j < n_; ++j) to[j] = theta_[j] + best * direction_[j];
                if (try_at(to, value_)) return true;
            }
            for (double &d : direction_) d /= 64.0;
            gap /= 64.0;
        }
        return false;
    }

    // Goes there if the value is no more than this.
    bool try_at(const Numbers &to, double most) {
        look(to.data(), there_.data());
        const double value = penalised(*sums_.loss, to.data());
        if (!(value <= most)) return false;
        loss_ = *sums_.loss;
        value_ = value;
        for (int64_t j = 0; j < n_; ++j) direction_[j] = to[j] - theta_[j];
        std::copy(to.begin(), to.end(), theta_);
        std::copy(there_.begin(), there_.end(), sums_.gradient);
        set_gradient(there_.data(), theta_, there_);
        for (int64_t j = 0; j < n_; ++j) change_[j] = there_[j] - gradient_[j];
        gradient_ = there_;
        remember();
        return true;
    }

    // The step that is in direction_, with the change of the gradient on it.
    void remember() {
        const double bend = product(direction_.data(), change_.data(), n_);
        const double along = product(direction_.data(), direction_.data(), n_);
        const double across = product(change_.data(), change_.data(), n_);
        if (!(bend > 1e-12 * std::sqrt(along * across))) return;
        newest_ = (newest_ + 1) % p_.memory;
        count_ = std::min(count_ + 1, p_.memory);
        s_[newest_] = direction_;
        y_[newest_] = change_;
        rho_[newest_] = 1.0 / bend;
        // How much flatter the way was than the first curvature had it. The direction is free for use now.
        invert(change_.data(), direction_.data());
        length_ = bend / product(change_.data(), direction_.data(), n_);
    }

    const Evaluate &evaluate_;
    const DescentProblem &p_;
    int64_t n_;
    double *theta_;
    Sums sums_;
    Numbers gradient_, direction_, target_, change_, bent_, even_, there_;
    std::vector<Numbers> s_, y_;
    Numbers rho_, part_;
    double value_ = 0.0, loss_ = 0.0, length_ = 1.0;
    int64_t count_ = 0, newest_ = -1, passes_ = 0;
};

}  // namespace

DescentResult quasi_newton(const Evaluate &evaluate, const DescentProblem &problem, bool known, double *theta, Sums sums) {
    return Descent(evaluate, problem, theta, sums).run(known);
}

}  // namespace discrim
