// One problem of dense rows, learned one row ahead.
//
// When x is to change w to w + c x, the next row's product with w becomes w'z + c x'z: both parts are found while c is
// not known yet, and the weights are given their c x at the next row. Where the loss has a kink a row may change nothing;
// then c is zero, because a processor cannot foresee which rows do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "native_lanes.hpp"
#include "online/online.hpp"
#include "online/online_rules.hpp"

namespace discrim {

// Wider rows are learned faster in two passes where the second is seldom needed.
constexpr int64_t NARROW = 48;

DISCRIM_INLINE bool has_kink(const Settings &s) {
    return (s.loss == Loss::hinge || s.loss == Loss::perceptron) && s.cap == 0.0;
}

// The penalty acts by the scale alone, nobody asks for norms that only the weights could tell, and the loss is known here.
DISCRIM_INLINE bool suits_ahead(const Settings &s, const Problems &of) {
    if (s.update != Update::gradient || of.K != 1 || of.p == 0) return false;
    if (s.loss == Loss::log) return s.penalty == Penalty::none || (s.penalty == Penalty::l2 && !s.told);
    return has_kink(s) && s.rate != Rate::pa2 && (s.penalty == Penalty::none || s.penalty == Penalty::l2) &&
           !of.averages && of.p <= NARROW;
}

// c where a <= b, else 0; without a branch.
DISCRIM_INLINE double where_at_most(double a, double b, double c) {
    typedef int64_t v2i __attribute__((vector_size(16)));
    const v2 left = {a, a}, right = {b, b}, value = {c, c};
    return reinterpret_cast<v2>(static_cast<v2i>(left <= right) & reinterpret_cast<v2i>(value))[0];
}

// Half as many lanes with the same sum.
DISCRIM_INLINE v4 folded(v8 v) {
    v4 halves[2];
    std::memcpy(halves, &v, sizeof v);
    return halves[0] + halves[1];
}
DISCRIM_INLINE v2 folded(v4 v) {
    v2 halves[2];
    std::memcpy(halves, &v, sizeof v);
    return halves[0] + halves[1];
}
DISCRIM_INLINE v4 four(v8 v) { return folded(v); }
DISCRIM_INLINE v4 four(v4 v) { return v; }
// The sums of the lanes of a and of b.
DISCRIM_INLINE v2 two_sums(v4 a, v4 b) {
    return folded(DISCRIM_REORDER(a, b, v4i, 0, 4, 2, 6) + DISCRIM_REORDER(a, b, v4i, 1, 5, 3, 7));
}

// p numbers in whole vectors, of which the last may hold some that do not count: they are read as zeros.
template <typename V>
struct Width {
    using Integers = typename Kin<V>::Integers;
    int64_t full;  // numbers before the last vector
    Integers inside;

    explicit Width(int64_t p) : full((p - 1) / WIDTH<V> * WIDTH<V>) {
        for (int64_t l = 0; l < WIDTH<V>; ++l) inside[l] = full + l < p ? -1 : 0;
    }
    int64_t padded() const { return full + WIDTH<V>; }
    template <typename T>
    DISCRIM_INLINE V last(const T *x) const {
        return reinterpret_cast<V>(reinterpret_cast<Integers>(get<V>(x + full)) & inside);
    }
};

// The products of a row with the weights, with the row before it and with itself.
template <typename V>
struct ThreeProducts {
    V along, across, square;
    template <bool SQUARE>
    DISCRIM_INLINE void add(V w, V before, V x) {
        along += w * x;
        across += before * x;
        if constexpr (SQUARE) square += x * x;
    }
    DISCRIM_INLINE ThreeProducts<double> sums() const {
        const v2 both = two_sums(four(along), four(across)), own = folded(four(square));
        return {both[0], both[1], own[0] + own[1]};
    }
};

// w += c before; then the products of `next` with w, with `row` and with itself.
template <bool SQUARE, typename V, typename T>
DISCRIM_INLINE ThreeProducts<double> after(const Width<V> &width, double *w, double c, const T *before, const T *row,
                                           const T *next) {
    ThreeProducts<V> even{}, odd{};
    const auto at = [&](ThreeProducts<V> &products, int64_t j) DISCRIM_INLINED {
        const V moved = get<V>(w + j) + get<V>(before + j) * c;
        put(w + j, moved);
        products.template add<SQUARE>(moved, get<V>(row + j), get<V>(next + j));
    };
    int64_t j = 0;
    for (; j + 2 * WIDTH<V> <= width.full; j += 2 * WIDTH<V>) {
        at(even, j);
        at(odd, j + WIDTH<V>);
    }
    if (j < width.full) at(even, j);
    const V moved = get<V>(w + width.full) + width.last(before) * c;
    put(w + width.full, moved);
    odd.template add<SQUARE>(moved, width.last(row), width.last(next));
    return ThreeProducts<V>{even.along + odd.along, even.across + odd.across, even.square + odd.square}.sums();
}

// The number that is larger, or smaller, without a branch.
DISCRIM_INLINE double larger(double a, double b) { return a > b ? a : b; }
DISCRIM_INLINE double smaller(double a, double b) { return a < b ? a : b; }

// Losses with a kink. What a row depends on of the one before it is the few lines from `dot` to `c`.
template <bool SQUARE, typename V, typename T, typename RowAt, typename Given>
DISCRIM_INLINE void kinked_ahead(const Width<V> &width, int64_t count, const Settings &s, const Problems &of, Memory &m,
                                 RowAt row_at, Given given) {
    const bool shrinks = s.penalty == Penalty::l2, told = s.told && shrinks;
    const double kink = s.loss == Loss::hinge ? 1.0 : 0.0;
    double scale = m.scale, intercept = m.intercept, t = m.t, norm = m.square, rate = m.eta, loss = 0.0, strange = 0.0;
    int64_t wrong = 0, updates = 0;
    const T *row = row_at(0), *before = row;
    auto products = after<SQUARE>(width, of.w, 0.0, row, row, row);
    double dot = products.along, square = products.square, c = 0.0;
    for (int64_t v = 0; v < count; ++v) {
        const T *next = v + 1 < count ? row_at(v + 1) : row;
        const auto [y, weight] = given(v);
        m.t = t;
        rate = rate_at(s, m);
        const double eta = scale * dot + intercept, z = y * eta, lacks = larger(kink - z, 0.0);
        strange += eta - eta;
        loss += lacks;
        wrong += z <= 0.0;
        if (told) loss += s.alpha * 0.5 * norm;
        if (shrinks) {
            const double kept = larger(1.0 - rate * s.alpha, 0.0);
            scale *= kept;
            norm *= kept * kept;
            if (scale < SMALLEST_SCALE) {
                after<false>(width, of.w, c, before, before, before);
                c = 0.0;
                dot *= scale;
                for (int64_t j = 0; j < of.p; ++j) of.w[j] *= scale;
                scale = 1.0;
            }
        }
        products = after<SQUARE>(width, of.w, c, before, row, next);
        double step;
        if (s.rate == Rate::pa1) {
            // The division does not wait for the loss.
            const double inverse = 1.0 / larger(square, std::numeric_limits<double>::min());
            step = square == 0.0 ? 0.0 : smaller(s.eta0, lacks * inverse) * weight * y;
            strange += square - square;
            c = step / scale;
            t += square == 0.0 ? 0.0 : 1.0;
        } else {
            const double whole = rate * weight * y;
            step = where_at_most(z, kink, whole);
            c = where_at_most(z, kink, whole * (1.0 / scale));
            t += 1.0;
        }
        if (SQUARE && told) norm += step * (2.0 * scale * dot + step * square);
        intercept += step * s.intercept_step;
        updates += step != 0.0;
        dot = products.along + c * products.across;
        // A product of two rows may overflow where that with the weights does not.
        if (!(std::fabs(products.across) <= std::numeric_limits<double>::max())) {
            after<false>(width, of.w, c, row, row, row);
            c = 0.0;
            dot = after<false>(width, of.w, c, row, row, next).along;
        }
        square = products.square;
        before = row;
        row = next;
    }
    after<false>(width, of.w, c, before, before, before);
    m.scale = scale;
    m.intercept = intercept;
    m.t = t;
    m.eta = rate;
    m.loss += loss;
    m.wrong += static_cast<double>(wrong);
    m.updates += static_cast<double>(updates);
    if (!(strange == 0.0)) m.finite = 0.0;
    if (!told) return;
    m.square = m.absolute = 0.0;
    for (int64_t j = 0; j < of.p; ++j) {
        m.square += of.w[j] * of.w[j];
        m.absolute += std::fabs(of.w[j]);
    }
    m.square *= m.scale * m.scale;
    m.absolute *= m.scale;
}

// Smooth losses: nearly every row changes the weights.
template <bool SQUARE, typename V, typename T, typename RowAt, typename Given>
DISCRIM_INLINE void smooth_ahead(const Width<V> &width, int64_t count, const Settings &s, const Problems &of, Memory &m,
                                 RowAt row_at, Given given) {
    LogSum logs;
    const T *row = row_at(0), *before = row;
    auto products = after<SQUARE>(width, of.w, 0.0, row, row, row);
    double dot = products.along, square = products.square, c = 0.0;
    for (int64_t v = 0; v < count; ++v) {
        const T *next = v + 1 < count ? row_at(v + 1) : row;
        const auto [y, weight] = given(v);
        const Step step = step_of([&]() DISCRIM_INLINED { return square; }, dot, y, weight, s, m, logs);
        scale_down(s, m, step.rate);
        if (m.scale < SMALLEST_SCALE) {
            after<false>(width, of.w, c, before, before, before);
            c = 0.0;
            dot *= m.scale;
            m = settled(of, 0, m);
        }
        products = after<SQUARE>(width, of.w, c, before, row, next);
        if (SQUARE) m.square += step.size * (2.0 * m.scale * dot + step.size * square);
        c = taken(s, m, step.size);
        dot = products.along + c * products.across;
        if (of.averages) average_in(DenseRow<T>{row, of.p}, s, of.averages, m, step.size);
        if (!(std::fabs(products.across) <= std::numeric_limits<double>::max())) {
            after<false>(width, of.w, c, row, row, row);
            c = 0.0;
            dot = after<false>(width, of.w, c, row, row, next).along;
        }
        m.t += 1.0;
        square = products.square;
        before = row;
        row = next;
    }
    after<false>(width, of.w, c, before, before, before);
    logs.fold();
    m.loss += logs.sum;
}

// Every row of the visits, of one problem that suits; `fetched(v)` is the place of the row of the v-th visit.
template <typename V, typename T, typename Fetched>
DISCRIM_INLINE void learn_ahead(const Rows<T> &x, const Visits &visits, const Settings &settings, const Problems &problems,
                                Fetched fetched) {
    if (visits.count == 0) return;
    const Width<V> width(x.p);
    // The weights are read in whole vectors too. What is written past their end are zeros.
    Lined weights(width.padded());
    std::copy(problems.w, problems.w + x.p, weights.begin());
    Problems here = problems;
    here.w = weights.data();
    // Rows that lie apart are brought together, and so are those behind which no memory can be read. There are up to four
    // at a time.
    const bool apart = x.column_stride != 1;
    std::vector<T> gathered(4 * width.padded());
    const T *end = x.data + (x.row_stride > 0 ? (x.n - 1) * x.row_stride : 0) + x.p;
    const auto row_at = [&](int64_t v) DISCRIM_INLINED -> const T * {
        const T *at = fetched(v);
        if (!apart && end - at >= width.padded()) return at;
        T *copy = gathered.data() + v % 4 * width.padded();
        for (int64_t j = 0; j < x.p; ++j) copy[j] = at[j * x.column_stride];
        return copy;
    };
    const double gains[2] = {problems.gain_negative[0], problems.gain_positive[0]};
    const int32_t positive = problems.positive[0];
    const auto given = [&](int64_t v) DISCRIM_INLINED {
        const bool own = visits.own(v, positive);
        return std::pair<double, double>(2.0 * own - 1.0, gains[own] * (visits.weight ? visits.weight[v] : 1.0));
    };
    with_usual(settings, [&](const Settings &s) DISCRIM_INLINED {
        Memory m = problems.memory[0];
        if (has_kink(s)) {
            // The compiler knows which of the two it is where the settings are usual.
            if (s.rate == Rate::pa1 || (s.told && s.penalty != Penalty::none))
                kinked_ahead<true, V, T>(width, visits.count, s, here, m, row_at, given);
            else
                kinked_ahead<false, V, T>(width, visits.count, s, here, m, row_at, given);
        } else if (s.cap > 0.0) {
            smooth_ahead<true, V, T>(width, visits.count, s, here, m, row_at, given);
        } else {
            smooth_ahead<false, V, T>(width, visits.count, s, here, m, row_at, given);
        }
        problems.memory[0] = m;
    });
    std::copy(weights.begin(), weights.begin() + x.p, problems.w);
}

}  // namespace discrim
