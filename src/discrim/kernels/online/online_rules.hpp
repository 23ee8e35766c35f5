// How one row changes the weights of K problems.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lanes.hpp"
#include "native_lanes.hpp"
#include "online/online.hpp"
#include "online/online_rows.hpp"

namespace discrim {

constexpr double STEEPEST = 1e12;     // larger slopes are cut

// Sums of log(1 + e) with one logarithm for hundreds of terms, since a product of factors up to 2 cannot soon overflow.
struct LogSum {
    double product = 1.0, sum = 0.0;
    DISCRIM_INLINE void add(double e) {
        product *= 1.0 + e;
        if (product > 1e280) fold();
    }
    DISCRIM_INLINE void fold() {
        sum += std::log(product);
        product = 1.0;
    }
};

// The slope of the loss of one row at eta, for y of -1 or 1; its value is added to `total` where it is asked for.
DISCRIM_INLINE double slope_of(const Settings &s, double y, double eta, double &total, LogSum &logs) {
    const double z = y * eta;
    switch (s.loss) {
        case Loss::perceptron:
            if (z > 0.0) return 0.0;
            total -= z;
            return -y;
        case Loss::hinge:
            if (z > 1.0) return 0.0;
            total += 1.0 - z;
            return -y;
        case Loss::squared_hinge:
            if (z >= 1.0) return 0.0;
            total += (1.0 - z) * (1.0 - z);
            return -2.0 * y * (1.0 - z);
        case Loss::log: {
            // Not a call, around which the compiler would put away every register.
            const double e = exp_below_zero(every<v4>(-std::fabs(z)))[0];
            if (s.told) {
                total += z < 0.0 ? -z : 0.0;
                logs.add(e);
            }
            return -y * (z > 0.0 ? e : 1.0) / (1.0 + e);
        }
        case Loss::modified_huber:
            if (z >= 1.0) return 0.0;
            total += z >= -1.0 ? (1.0 - z) * (1.0 - z) : -4.0 * z;
            return z >= -1.0 ? -2.0 * y * (1.0 - z) : -4.0 * y;
        case Loss::squared_error:
            total += 0.5 * (eta - y) * (eta - y);
            return eta - y;
        case Loss::huber: {
            const double r = eta - y, size = std::fabs(r);
            total += size <= s.epsilon ? 0.5 * r * r : s.epsilon * (size - 0.5 * s.epsilon);
            return size <= s.epsilon ? r : r > 0.0 ? s.epsilon : -s.epsilon;
        }
        case Loss::epsilon: {
            const double r = eta - y, left = std::fabs(r) - s.epsilon;
            if (left <= 0.0) return 0.0;
            total += left;
            return r > 0.0 ? 1.0 : -1.0;
        }
        case Loss::squared_epsilon: {
            const double r = eta - y, left = std::fabs(r) - s.epsilon;
            if (left <= 0.0) return 0.0;
            total += left * left;
            return r > 0.0 ? 2.0 * left : -2.0 * left;
        }
    }
    return 0.0;
}

// The weights and their average written out, so that the scale is one again. The memory is taken and given by value: a
// loop can then keep it in registers.
inline Memory settled(const Problems &of, int64_t k, Memory m) {
    double *w = of.w + k * of.p;
    if (of.averages) {
        double *average = of.averages + k * of.p;
        for (int64_t j = 0; j < of.p; ++j) average[j] = (average[j] + m.average_a * w[j]) / m.average_b;
        m.average_a = 0.0;
        m.average_b = 1.0;
    }
    for (int64_t j = 0; j < of.p; ++j) w[j] *= m.scale;
    m.scale = 1.0;
    return m;
}

template <typename Row>
DISCRIM_INLINE void average_in(const Row &row, const Settings &s, double *averages, Memory &m, double step) {
    if (!(s.average > 0.0 && s.average <= m.t)) return;
    const double count = m.t - s.average + 1.0;
    if (step != 0.0) row.add(averages, -m.average_a * step / m.scale);
    if (count > 1.0) m.average_b *= count / (count - 1.0);
    m.average_a += m.average_b * m.scale / count;
    m.average_intercept += (m.intercept - m.average_intercept) / count;
}

// What a step does beside the weights; returns c: the weights are to become w + c x.
DISCRIM_INLINE double taken(const Settings &s, Memory &m, double step) {
    if (step == 0.0) return 0.0;
    m.intercept += step * s.intercept_step;
    m.updates += 1.0;
    // The division does not wait for the step.
    return step * (1.0 / m.scale);
}

template <typename Row>
DISCRIM_INLINE void move(const Row &row, const Settings &s, const Problems &of, int64_t k, Memory &m, double step) {
    if (step != 0.0) {
        double *w = of.w + k * of.p;
        const double c = taken(s, m, step);
        if (s.told && s.penalty != Penalty::none) {
            const Norms norms = row.add_told(w, c);
            m.square = norms.square * m.scale * m.scale;
            m.absolute = norms.absolute * m.scale;
        } else {
            row.add(w, c);
        }
    }
    if (of.averages) average_in(row, s, of.averages + k * of.p, m, step);
}

DISCRIM_INLINE double rate_at(const Settings &s, const Memory &m) {
    if (s.rate == Rate::optimal) return 1.0 / (s.alpha * (s.start + m.t - 1.0));
    if (s.rate != Rate::invscaling) return m.eta;
    const double t = s.start + m.t;
    return s.eta0 / (s.power == 0.5 ? std::sqrt(t) : std::pow(t, s.power));
}

DISCRIM_INLINE double l1_share(const Settings &s) {
    return s.penalty == Penalty::l2 ? 0.0 : s.penalty == Penalty::l1 ? 1.0 : s.l1_ratio;
}

struct Step {
    double size, rate;
};

// The step against the slope of the loss of a row whose product with w is `dot`; `square_of` gives that with itself.
template <typename Square>
DISCRIM_INLINE Step step_of(Square square_of, double dot, double y, double weight, const Settings &s, Memory &m,
                            LogSum &logs) {
    const double eta = m.scale * dot + m.intercept;
    if (!(std::fabs(eta) <= std::numeric_limits<double>::max())) m.finite = 0.0;
    m.wrong += y * eta <= 0.0 ? 1.0 : 0.0;
    double rate = m.eta = rate_at(s, m);
    if (s.cap > 0.0) rate = std::min(rate, s.cap / (1.0 + square_of()));
    double loss = 0.0;
    const double slope = slope_of(s, y, eta, loss, logs), share = l1_share(s);
    m.loss += loss;
    if (s.rate == Rate::pa1 || s.rate == Rate::pa2) {
        const double square = square_of();
        // A row that is too long to be squared would change nothing, and nobody would know.
        if (!(square <= std::numeric_limits<double>::max())) m.finite = 0.0;
        const double size = s.rate == Rate::pa1 ? std::min(s.eta0, loss / square) : loss / (square + 0.5 / s.eta0);
        return {y * size * weight, rate};
    }
    if (s.told && s.penalty != Penalty::none)
        m.loss += s.alpha * ((1.0 - share) * 0.5 * m.square + share * m.absolute);
    return {-rate * std::min(std::max(slope, -STEEPEST), STEEPEST) * weight, rate};
}

// The part of L2: all weights become smaller by their scale.
DISCRIM_INLINE void scale_down(const Settings &s, Memory &m, double rate) {
    if (s.penalty != Penalty::l2 && s.penalty != Penalty::elastic_net) return;
    const double kept = std::max(0.0, 1.0 - (1.0 - l1_share(s)) * rate * s.alpha);
    m.scale *= kept;
    m.square *= kept * kept;
    m.absolute *= kept;
}

// One step, and the penalty.
template <typename Row>
DISCRIM_INLINE void by_gradient(const Row &row, double y, double weight, const Settings &s, const Problems &of, int64_t k,
                                Memory &m, LogSum &logs) {
    weight *= y > 0.0 ? of.gain_positive[k] : of.gain_negative[k];
    const bool passive = s.rate == Rate::pa1 || s.rate == Rate::pa2;
    const Both found = passive ? row.both(of.w + k * of.p) : Both{row.dot(of.w + k * of.p), 0.0};
    const auto square = [&]() DISCRIM_INLINED { return passive ? found.square : row.square(); };
    const Step step = step_of(square, found.dot, y, weight, s, m, logs);
    if (s.rate == Rate::pa1 && found.square == 0.0) return;
    scale_down(s, m, step.rate);
    if (m.scale < SMALLEST_SCALE) m = settled(of, k, m);
    move(row, s, of, k, m, step.size);
    if (s.penalty == Penalty::l1 || s.penalty == Penalty::elastic_net) {
        m.shrunk += l1_share(s) * step.rate * s.alpha;
        row.shrink(of.w + k * of.p, of.second + k * of.p, m.shrunk, m.scale);
    }
    m.t += 1.0;
}

// All classes compete: a row that another class wins (or ties) moves its own class up and the winner down.
template <typename Row>
DISCRIM_INLINE void by_best_class(const Row &row, int32_t code, double weight, const Settings &s, const Problems &of) {
    int64_t own = -1, best = -1;
    double own_eta = 0.0, best_eta = -std::numeric_limits<double>::infinity();
    bool finite = true;
    for (int64_t k = 0; k < of.K; ++k) {
        const double eta = of.memory[k].scale * row.dot(of.w + k * of.p) + of.memory[k].intercept;
        finite &= std::fabs(eta) <= std::numeric_limits<double>::max();
        if (of.positive[k] == code) {
            own = k;
            own_eta = eta;
        } else if (eta > best_eta) {
            best = k;
            best_eta = eta;
        }
    }
    const bool wrong = own >= 0 && best >= 0 && !(own_eta > best_eta);
    for (int64_t k = 0; k < of.K; ++k) {
        Memory &m = of.memory[k];
        if (!finite) m.finite = 0.0;
        const double rate = m.eta = rate_at(s, m);
        const double step = !wrong ? 0.0 : k == own ? rate : k == best ? -rate : 0.0;
        if (wrong && k == own) {
            m.wrong += 1.0;
            m.loss += best_eta - own_eta;
        }
        move(row, s, of, k, m, step * weight * (own >= 0 ? of.gain_positive[own] : 1.0));
        m.t += 1.0;
    }
}

// Diagonal AROW: weights are Gaussian with variances v; a row within the margin moves the means most where v is large.
// eta0 is r; a row of weight c counts as r / c. The variance of the intercept is kept in `eta`.
template <typename Row>
DISCRIM_INLINE void by_confidence(const Row &row, double y, double weight, const Settings &s, const Problems &of, int64_t k) {
    Memory &m = of.memory[k];
    weight *= y > 0.0 ? of.gain_positive[k] : of.gain_negative[k];
    double *w = of.w + k * of.p, *v = of.second + k * of.p;
    const double eta = row.dot(w) + m.intercept, left = 1.0 - y * eta;
    if (!(std::fabs(eta) <= std::numeric_limits<double>::max())) m.finite = 0.0;
    m.wrong += y * eta <= 0.0 ? 1.0 : 0.0;
    m.t += 1.0;
    if (!(left > 0.0) || weight == 0.0) return;
    m.loss += left;
    m.updates += 1.0;
    const double constant = s.intercept_step * m.eta;
    const double spread = row.spread(v), b = 1.0 / (spread + constant + s.eta0 / weight), a = left * b * y;
    if (!(spread <= std::numeric_limits<double>::max())) m.finite = 0.0;
    row.confide(w, v, a, b);
    m.intercept += a * constant;
    m.eta -= b * constant * constant;
}

template <typename Row>
DISCRIM_INLINE void learn_row(const Row &row, int32_t code, double weight, const Settings &s, const Problems &of,
                              LogSum *logs) {
    if (s.update == Update::best_class) {
        by_best_class(row, code, weight, s, of);
        return;
    }
    for (int64_t k = 0; k < of.K; ++k) {
        const double y = code == of.positive[k] ? 1.0 : -1.0;
        if (s.update == Update::gradient)
            by_gradient(row, y, weight, s, of, k, of.memory[k], logs[k]);
        else
            by_confidence(row, y, weight, s, of, k);
    }
}

// The settings with these parts known to the compiler, without a cap.
DISCRIM_INLINE Settings known(Settings s, Loss loss, Rate rate, Penalty penalty, bool told) {
    s.loss = loss;
    s.rate = rate;
    s.penalty = penalty;
    s.told = told;
    s.cap = 0.0;
    return s;
}

// pass(settings), compiled by itself for what is asked for most, so that a row has fewer questions to answer: the
// defaults of SGD, and of perceptrons and passive-aggressive learners, which have no norms to keep.
template <typename Pass>
DISCRIM_INLINE void with_usual(const Settings &s, Pass pass) {
    const auto is = [&](Loss loss, Rate rate, Penalty penalty) DISCRIM_INLINED {
        return s.loss == loss && s.rate == rate && s.penalty == penalty && s.cap == 0.0;
    };
    if (is(Loss::hinge, Rate::optimal, Penalty::l2) && s.told)
        pass(known(s, Loss::hinge, Rate::optimal, Penalty::l2, true));
    else if (is(Loss::hinge, Rate::optimal, Penalty::l2))
        pass(known(s, Loss::hinge, Rate::optimal, Penalty::l2, false));
    else if (is(Loss::log, Rate::optimal, Penalty::l2) && !s.told)
        pass(known(s, Loss::log, Rate::optimal, Penalty::l2, false));
    else if (is(Loss::perceptron, Rate::constant, Penalty::none))
        pass(known(s, Loss::perceptron, Rate::constant, Penalty::none, false));
    else if (is(Loss::hinge, Rate::pa1, Penalty::none))
        pass(known(s, Loss::hinge, Rate::pa1, Penalty::none, false));
    else
        pass(s);
}

// Every row of the visits: `row_at(v)` is the row of the v-th; it also asks memory for one that comes later.
template <typename RowAt>
DISCRIM_INLINE void visit(const Visits &visits, const Settings &settings, const Problems &of, RowAt row_at) {
    const auto weight = [&](int64_t v) DISCRIM_INLINED { return visits.weight ? visits.weight[v] : 1.0; };
    if (settings.update == Update::gradient && of.K == 1) {
        // Memory and settings are copies that nothing points to: stores into the weights cannot change them.
        with_usual(settings, [&](const Settings &s) DISCRIM_INLINED {
            Memory m = of.memory[0];
            LogSum logs;
            const int32_t positive = of.positive[0];
            for (int64_t v = 0; v < visits.count; ++v) {
                const double y = visits.own(v, positive) ? 1.0 : -1.0;
                by_gradient(row_at(v), y, weight(v), s, of, 0, m, logs);
            }
            logs.fold();
            m.loss += logs.sum;
            of.memory[0] = m;
        });
        return;
    }
    const Settings s = settings;
    std::vector<LogSum> logs(of.K);
    for (int64_t v = 0; v < visits.count; ++v) learn_row(row_at(v), visits.code(v, of.positive[0]), weight(v), s, of, logs.data());
    for (int64_t k = 0; k < of.K; ++k) {
        logs[k].fold();
        of.memory[k].loss += logs[k].sum;
    }
}

}  // namespace discrim
