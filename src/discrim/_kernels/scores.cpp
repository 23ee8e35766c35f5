// Sixteen rows at a time, one row a lane: every step, the softmax too, runs down the lanes.

#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes.hpp"

namespace discrim {
namespace {

constexpr int64_t GROUP = 2 * LANES;

struct Work {
    const RuleArrays *rule;
    Output output;
    double *x;       // p x GROUP
    double *shifted; // p x GROUP
    double *scores;  // K x GROUP
    double *best;    // GROUP: largest score
    double *which;   // GROUP: its class
};

// M dot products of coefficient rows (length p, `stride` apart) with the lanes.
template <int M>
DISCRIM_INLINE void dots(const double *coefficients, int64_t stride, const double *lanes, int64_t count, v8 (*acc)[2]) {
    for (int m = 0; m < M; ++m) acc[m][0] = acc[m][1] = splat(0.0);
    for (int64_t i = 0; i < count; ++i) {
        const v8 a = load(lanes + i * GROUP), b = load(lanes + i * GROUP + LANES);
        for (int m = 0; m < M; ++m) {
            const double c = coefficients[m * stride + i];
            acc[m][0] += c * a;
            acc[m][1] += c * b;
        }
    }
}

DISCRIM_INLINE void put(double *to, v8 a, v8 b) {
    store(to, a);
    store(to + LANES, b);
}

DISCRIM_INLINE void score_linear(const Work &w) {
    const RuleArrays &rule = *w.rule;
    for (int64_t i = 0; i < rule.p; ++i) {
        const v8 centre = splat(rule.centre[i]);
        put(w.x + i * GROUP, load(w.x + i * GROUP) - centre, load(w.x + i * GROUP + LANES) - centre);
    }
    v8 acc[4][2];
    int64_t k = 0;
    for (; k + 4 <= rule.K; k += 4) {
        dots<4>(rule.factor + k * rule.p, rule.p, w.x, rule.p, acc);
        for (int m = 0; m < 4; ++m) {
            const v8 offset = splat(rule.offset[k + m]);
            put(w.scores + (k + m) * GROUP, acc[m][0] + offset, acc[m][1] + offset);
        }
    }
    for (; k < rule.K; ++k) {
        dots<1>(rule.factor + k * rule.p, rule.p, w.x, rule.p, acc);
        const v8 offset = splat(rule.offset[k]);
        put(w.scores + k * GROUP, acc[0][0] + offset, acc[0][1] + offset);
    }
}

DISCRIM_INLINE void score_diagonal(const Work &w) {
    const RuleArrays &rule = *w.rule;
    for (int64_t k = 0; k < rule.K; ++k) {
        v8 a = splat(0.0), b = splat(0.0);
        for (int64_t i = 0; i < rule.p; ++i) {
            const v8 centre = splat(rule.centre[k * rule.p + i]), precision = splat(rule.factor[k * rule.p + i]);
            const v8 da = load(w.x + i * GROUP) - centre, db = load(w.x + i * GROUP + LANES) - centre;
            a += precision * da * da;
            b += precision * db * db;
        }
        const v8 offset = splat(rule.offset[k]), half = splat(0.5);
        put(w.scores + k * GROUP, offset - half * a, offset - half * b);
    }
}

DISCRIM_INLINE void score_quadratic(const Work &w) {
    const RuleArrays &rule = *w.rule;
    for (int64_t k = 0; k < rule.K; ++k) {
        for (int64_t i = 0; i < rule.p; ++i) {
            const v8 centre = splat(rule.centre[k * rule.p + i]);
            put(w.shifted + i * GROUP, load(w.x + i * GROUP) - centre, load(w.x + i * GROUP + LANES) - centre);
        }
        const double *factor = rule.factor + k * rule.r * rule.p;
        v8 a = splat(0.0), b = splat(0.0), acc[4][2];
        int64_t j = 0;
        for (; j + 4 <= rule.r; j += 4) {
            dots<4>(factor + j * rule.p, rule.p, w.shifted, rule.triangular ? j + 4 : rule.p, acc);
            for (int m = 0; m < 4; ++m) {
                a += acc[m][0] * acc[m][0];
                b += acc[m][1] * acc[m][1];
            }
        }
        for (; j < rule.r; ++j) {
            dots<1>(factor + j * rule.p, rule.p, w.shifted, rule.triangular ? j + 1 : rule.p, acc);
            a += acc[0][0] * acc[0][0];
            b += acc[0][1] * acc[0][1];
        }
        const v8 offset = splat(rule.offset[k]), half = splat(0.5);
        put(w.scores + k * GROUP, offset - half * a, offset - half * b);
    }
}

DISCRIM_INLINE void find_best(const Work &w) {
    for (int64_t half = 0; half < GROUP; half += LANES) {
        v8 best = load(w.scores + half), which = splat(0.0);
        for (int64_t k = 1; k < w.rule->K; ++k) {
            const v8 s = load(w.scores + k * GROUP + half);
            which = s > best ? splat(static_cast<double>(k)) : which;
            best = s > best ? s : best;
        }
        store(w.best + half, best);
        store(w.which + half, which);
    }
}

// Scores become posteriors, or their logarithms.
DISCRIM_INLINE void normalise(const Work &w, bool logarithms) {
    for (int64_t half = 0; half < GROUP; half += LANES) {
        const v8 best = load(w.best + half);
        v8 total = splat(0.0);
        for (int64_t k = 0; k < w.rule->K; ++k) {
            double *s = w.scores + k * GROUP + half;
            const v8 shifted = load(s) - best, e = exp_nonpositive(shifted);
            total += e;
            store(s, logarithms ? shifted : e);
        }
        v8 scale;
        for (int64_t l = 0; l < LANES; ++l) scale[l] = logarithms ? std::log(total[l]) : 1.0 / total[l];
        for (int64_t k = 0; k < w.rule->K; ++k) {
            double *s = w.scores + k * GROUP + half;
            store(s, logarithms ? load(s) - scale : load(s) * scale);
        }
    }
}

template <int MI>
DISCRIM_INLINE void score_group_body(const Work &w) {
    switch (w.rule->rule) {
        case Rule::linear: score_linear(w); break;
        case Rule::diagonal: score_diagonal(w); break;
        case Rule::quadratic: score_quadratic(w); break;
    }
    find_best(w);
    if (w.output == Output::posterior) normalise(w, false);
    if (w.output == Output::log_posterior) normalise(w, true);
}
DISCRIM_VERSIONS(score_group, (const Work &w), (w))

// Lanes beyond the last row repeat it, so that they stay harmless.
template <typename T>
void gather(const Rows<T> &x, int64_t first, int64_t m, double *lanes) {
    if (x.column_stride == 1) {
        for (int64_t r = 0; r < GROUP; ++r) {
            const T *row = x.data + (first + std::min(r, m - 1)) * x.row_stride;
            for (int64_t i = 0; i < x.p; ++i) lanes[i * GROUP + r] = static_cast<double>(row[i]);
        }
        return;
    }
    for (int64_t i = 0; i < x.p; ++i) {
        const T *column = x.data + first * x.row_stride + i * x.column_stride;
        for (int64_t r = 0; r < GROUP; ++r)
            lanes[i * GROUP + r] = static_cast<double>(column[std::min(r, m - 1) * x.row_stride]);
    }
}

// In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
inline void write(double *to, double value, bool) { *to = value; }
inline void write(float *to, double value, bool logarithm) {
    *to = logarithm && value > -0x1p-25 ? 0.0f : static_cast<float>(value);
}

}  // namespace

template <typename T, typename Out>
bool score(const Rows<T> &x, const RuleArrays &rule, Output output, Out *values, int64_t *best) {
    const int64_t K = rule.K;
    std::vector<double> lanes(x.p * GROUP), shifted(rule.rule == Rule::quadratic ? x.p * GROUP : 0);
    std::vector<double> scores(K * GROUP), largest(GROUP), which(GROUP);
    const Work work{&rule, output, lanes.data(), shifted.data(), scores.data(), largest.data(), which.data()};
    bool finite = true;
    for (int64_t first = 0; first < x.n; first += GROUP) {
        const int64_t m = std::min(GROUP, x.n - first);
        gather(x, first, m, lanes.data());
        score_group(work);
        for (int64_t r = 0; r < m; ++r) finite &= std::isfinite(largest[r]);
        if (output == Output::best)
            for (int64_t r = 0; r < m; ++r) best[first + r] = static_cast<int64_t>(which[r]);
        else
            for (int64_t r = 0; r < m; ++r)
                for (int64_t k = 0; k < K; ++k) write(values + (first + r) * K + k, scores[k * GROUP + r], output == Output::log_posterior);
    }
    return finite;
}

template bool score(const Rows<double> &, const RuleArrays &, Output, double *, int64_t *);
template bool score(const Rows<float> &, const RuleArrays &, Output, float *, int64_t *);
template bool score(const Rows<float> &, const RuleArrays &, Output, double *, int64_t *);
template bool score(const Rows<double> &, const RuleArrays &, Output, float *, int64_t *);

}  // namespace discrim
