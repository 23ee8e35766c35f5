// Sixteen rows at a time, one row a lane: every step, the softmax too, runs down the lanes. Only linear scores take the
// rows as they lie: sums along rows, or down columns, of which some are added at a time.

#include "gaussian/scores.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "native_lanes.hpp"

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

// Vectors that hold a group, and how many dot products their registers have room for at once.
template <typename V>
constexpr int64_t PARTS = GROUP / WIDTH<V>;
template <typename V>
constexpr int AT_ONCE = WIDTH<V> == LANES ? 4 : 2;

// M dot products of coefficient rows (length p, `stride` apart) with the lanes.
template <int M, typename V>
DISCRIM_INLINE void dots(const double *coefficients, int64_t stride, const double *lanes, int64_t count,
                         V (*acc)[PARTS<V>]) {
    for (int m = 0; m < M; ++m)
        for (int64_t h = 0; h < PARTS<V>; ++h) acc[m][h] = V{};
    for (int64_t i = 0; i < count; ++i)
        for (int64_t h = 0; h < PARTS<V>; ++h) {
            const V z = get<V>(lanes + i * GROUP + h * WIDTH<V>);
            for (int m = 0; m < M; ++m) acc[m][h] += coefficients[m * stride + i] * z;
        }
}

template <typename V>
DISCRIM_INLINE void shift(const double *centre, int64_t p, const double *from, double *to) {
    for (int64_t i = 0; i < p; ++i)
        for (int64_t h = 0; h < GROUP; h += WIDTH<V>) put(to + i * GROUP + h, get<V>(from + i * GROUP + h) - centre[i]);
}

template <typename V>
DISCRIM_INLINE void score_diagonal(const Work &w) {
    const RuleArrays &rule = *w.rule;
    for (int64_t k = 0; k < rule.K; ++k) {
        V sum[PARTS<V>];
        for (int64_t h = 0; h < PARTS<V>; ++h) sum[h] = V{};
        for (int64_t i = 0; i < rule.p; ++i) {
            const double centre = rule.centre[k * rule.p + i], precision = rule.factor[k * rule.p + i];
            for (int64_t h = 0; h < PARTS<V>; ++h) {
                const V d = get<V>(w.x + i * GROUP + h * WIDTH<V>) - centre;
                sum[h] += precision * d * d;
            }
        }
        for (int64_t h = 0; h < PARTS<V>; ++h)
            put(w.scores + k * GROUP + h * WIDTH<V>, rule.offset[k] - 0.5 * sum[h]);
    }
}

template <typename V>
DISCRIM_INLINE void score_quadratic(const Work &w) {
    constexpr int M = AT_ONCE<V>;
    const RuleArrays &rule = *w.rule;
    for (int64_t k = 0; k < rule.K; ++k) {
        shift<V>(rule.centre + k * rule.p, rule.p, w.x, w.shifted);
        const double *factor = rule.factor + k * rule.r * rule.p;
        V sum[PARTS<V>], acc[M][PARTS<V>];
        for (int64_t h = 0; h < PARTS<V>; ++h) sum[h] = V{};
        int64_t j = 0;
        for (; j + M <= rule.r; j += M) {
            dots<M, V>(factor + j * rule.p, rule.p, w.shifted, rule.triangular ? j + M : rule.p, acc);
            for (int m = 0; m < M; ++m)
                for (int64_t h = 0; h < PARTS<V>; ++h) sum[h] += acc[m][h] * acc[m][h];
        }
        for (; j < rule.r; ++j) {
            dots<1, V>(factor + j * rule.p, rule.p, w.shifted, rule.triangular ? j + 1 : rule.p, acc);
            for (int64_t h = 0; h < PARTS<V>; ++h) sum[h] += acc[0][h] * acc[0][h];
        }
        for (int64_t h = 0; h < PARTS<V>; ++h)
            put(w.scores + k * GROUP + h * WIDTH<V>, rule.offset[k] - 0.5 * sum[h]);
    }
}

template <typename V>
DISCRIM_INLINE void find_best(const Work &w) {
    for (int64_t h = 0; h < GROUP; h += WIDTH<V>) {
        V best = get<V>(w.scores + h), which{};
        for (int64_t k = 1; k < w.rule->K; ++k) {
            const V s = get<V>(w.scores + k * GROUP + h);
            which = s > best ? every<V>(static_cast<double>(k)) : which;
            best = s > best ? s : best;
        }
        put(w.best + h, best);
        put(w.which + h, which);
    }
}

// Scores become posteriors, or their logarithms.
template <typename V>
DISCRIM_INLINE void normalise(const Work &w, bool logarithms) {
    for (int64_t h = 0; h < GROUP; h += WIDTH<V>) {
        const V best = get<V>(w.best + h);
        V total{};
        for (int64_t k = 0; k < w.rule->K; ++k) {
            double *s = w.scores + k * GROUP + h;
            const V shifted = get<V>(s) - best, e = exp_below_zero(shifted);
            total += e;
            put(s, logarithms ? shifted : e);
        }
        V scale;
        for (int64_t l = 0; l < WIDTH<V>; ++l) scale[l] = logarithms ? std::log(total[l]) : 1.0 / total[l];
        for (int64_t k = 0; k < w.rule->K; ++k) {
            double *s = w.scores + k * GROUP + h;
            put(s, logarithms ? get<V>(s) - scale : get<V>(s) * scale);
        }
    }
}

template <int MI>
DISCRIM_INLINE void score_group_body(const Work &w) {
    using V = Native<MI>;
    if (w.rule->rule == Rule::diagonal)
        score_diagonal<V>(w);
    else
        score_quadratic<V>(w);
}
DISCRIM_VERSIONS(score_group, (const Work &w), (w))

// The rows of a group, and what is needed for their linear scores.
template <typename T>
struct Along {
    const RuleArrays *rule;
    const Rows<T> *rows;
    int64_t first, m;
    const double *tails;  // K x LANES: the coefficients from the last multiple of LANES on, then zeros
    double *x;            // 4 x p, centred; rows are padded with zeros to a multiple of LANES
    double *scores;       // K x GROUP
};

constexpr int64_t padded(int64_t p) { return (p + LANES - 1) / LANES * LANES; }

// Four rows from `first` on, centred; beyond the last row of the group it is repeated.
template <typename V, typename T>
DISCRIM_INLINE void centre(const Along<T> &w, int64_t first) {
    const int64_t p = w.rule->p, stride = padded(p), step = w.rows->column_stride;
    const double *at = w.rule->centre;
    for (int r = 0; r < 4; ++r) {
        const T *row = w.rows->data + (w.first + std::min(first + r, w.m - 1)) * w.rows->row_stride;
        double *to = w.x + r * stride;
        int64_t i = 0;
        if (step == 1)
            for (; i + WIDTH<V> <= p; i += WIDTH<V>) put(to + i, get<V>(row + i) - get<V>(at + i));
        for (; i < p; ++i) to[i] = static_cast<double>(row[i * step]) - at[i];
    }
}

// The sums of four vectors.
DISCRIM_INLINE v4 sums_of(const v4 *v) {
    const v4 low = DISCRIM_REORDER(v[0], v[1], v4i, 0, 4, 2, 6) + DISCRIM_REORDER(v[0], v[1], v4i, 1, 5, 3, 7);
    const v4 high = DISCRIM_REORDER(v[2], v[3], v4i, 0, 4, 2, 6) + DISCRIM_REORDER(v[2], v[3], v4i, 1, 5, 3, 7);
    return DISCRIM_REORDER(low, high, v4i, 0, 1, 4, 5) + DISCRIM_REORDER(low, high, v4i, 2, 3, 6, 7);
}
DISCRIM_INLINE v4 sums_of(const v8 *v) {
    v4 halves[4];
    for (int r = 0; r < 4; ++r)
        halves[r] = v4{v[r][0], v[r][1], v[r][2], v[r][3]} + v4{v[r][4], v[r][5], v[r][6], v[r][7]};
    return sums_of(halves);
}

// The scores of four rows in M classes, the first of them `k`.
template <int M, typename V, typename T>
DISCRIM_INLINE void score_four(const Along<T> &w, int64_t first, int64_t k) {
    const int64_t p = w.rule->p, stride = padded(p), whole = p / LANES * LANES;
    const double *factor = w.rule->factor + k * p, *tails = w.tails + k * LANES;
    V acc[M][4];
    for (auto &of_class : acc)
        for (V &sum : of_class) sum = V{};
    const auto add = [&](int64_t i, const double *coefficients, int64_t apart) DISCRIM_INLINED {
        V x[4];
        for (int r = 0; r < 4; ++r) x[r] = get<V>(w.x + r * stride + i);
        for (int m = 0; m < M; ++m) {
            const V f = get<V>(coefficients + m * apart);
            for (int r = 0; r < 4; ++r) acc[m][r] += f * x[r];
        }
    };
    for (int64_t i = 0; i < whole; i += WIDTH<V>) add(i, factor + i, p);
    for (int64_t i = whole; i < p; i += WIDTH<V>) add(i, tails + (i - whole), LANES);
    for (int m = 0; m < M; ++m) put(w.scores + (k + m) * GROUP + first, sums_of(acc[m]) + w.rule->offset[k + m]);
}

template <int MI, typename T>
DISCRIM_INLINE void score_along_body(const Along<T> &w) {
    using V = Native<MI>;
    constexpr int M = AT_ONCE<V>;
    for (int64_t first = 0; first < w.m; first += 4) {
        centre<V>(w, first);
        int64_t k = 0;
        for (; k + M <= w.rule->K; k += M) score_four<M, V>(w, first, k);
        for (; k < w.rule->K; ++k) score_four<1, V>(w, first, k);
    }
}
DISCRIM_VERSIONS(score_along, (const Along<double> &w), (w))
DISCRIM_VERSIONS(score_along, (const Along<float> &w), (w))

// Some rows of a matrix whose columns lie one behind the other, and their linear scores.
template <typename T>
struct Down {
    const RuleArrays *rule;
    const T *x;
    int64_t apart, groups;  // the distance of the columns; the rows are so many groups
    double *scores;         // groups x K x GROUP
};

// Adds C columns, the first of them `i`, to the scores of M classes, the first of them `k`.
template <int M, int C, typename V, typename T>
DISCRIM_INLINE void add_columns(const Down<T> &w, int64_t i, int64_t k) {
    const RuleArrays &rule = *w.rule;
    const T *x = w.x + i * w.apart;
    V factor[M][C], centre[C];
    for (int c = 0; c < C; ++c) centre[c] = every<V>(rule.centre[i + c]);
    for (int m = 0; m < M; ++m)
        for (int c = 0; c < C; ++c) factor[m][c] = every<V>(rule.factor[(k + m) * rule.p + i + c]);
    for (int64_t g = 0; g < w.groups; ++g)
        for (int64_t h = 0; h < GROUP; h += WIDTH<V>) {
            V z[C];
            for (int c = 0; c < C; ++c) z[c] = get<V>(x + c * w.apart + g * GROUP + h) - centre[c];
            for (int m = 0; m < M; ++m) {
                double *to = w.scores + (g * rule.K + k + m) * GROUP + h;
                V sum = get<V>(to);
                for (int c = 0; c < C; ++c) sum += factor[m][c] * z[c];
                put(to, sum);
            }
        }
}

template <int C, typename V, typename T>
DISCRIM_INLINE void add_to_classes(const Down<T> &w, int64_t i) {
    int64_t k = 0;
    for (; k + 2 <= w.rule->K; k += 2) add_columns<2, C, V>(w, i, k);
    if (k < w.rule->K) add_columns<1, C, V>(w, i, k);
}

template <int MI, typename T>
DISCRIM_INLINE void score_down_body(const Down<T> &w) {
    using V = Native<MI>;
    for (int64_t g = 0; g < w.groups; ++g)
        for (int64_t k = 0; k < w.rule->K; ++k)
            std::fill_n(w.scores + (g * w.rule->K + k) * GROUP, GROUP, w.rule->offset[k]);
    int64_t i = 0;
    for (; i + 4 <= w.rule->p; i += 4) add_to_classes<4, V>(w, i);
    for (; i < w.rule->p; ++i) add_to_classes<1, V>(w, i);
}
DISCRIM_VERSIONS(score_down, (const Down<double> &w), (w))
DISCRIM_VERSIONS(score_down, (const Down<float> &w), (w))

template <int MI>
DISCRIM_INLINE void finish_group_body(const Work &w) {
    using V = Native<MI>;
    find_best<V>(w);
    if (w.output == Output::posterior) normalise<V>(w, false);
    if (w.output == Output::log_posterior) normalise<V>(w, true);
}
DISCRIM_VERSIONS(finish_group, (const Work &w), (w))

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
        if (x.row_stride == 1 && m == GROUP) {
            std::copy(column, column + GROUP, lanes + i * GROUP);
            continue;
        }
        for (int64_t r = 0; r < GROUP; ++r)
            lanes[i * GROUP + r] = static_cast<double>(column[std::min(r, m - 1) * x.row_stride]);
    }
}

Lined tails_of(const RuleArrays &rule) {
    Lined tails(rule.K * LANES, 0.0);
    const int64_t whole = rule.p / LANES * LANES;
    for (int64_t k = 0; k < rule.K; ++k)
        std::copy(rule.factor + k * rule.p + whole, rule.factor + (k + 1) * rule.p, tails.begin() + k * LANES);
    return tails;
}

// In single precision a posterior within 2^-25 of one is one, and its logarithm zero.
inline void write(double *to, double value, bool) { *to = value; }
inline void write(float *to, double value, bool logarithm) {
    *to = logarithm && value > -0x1p-25 ? 0.0f : static_cast<float>(value);
}

// What is wanted of the scores of a group, written for its rows from `first` to `first + m`.
template <typename Out>
bool answer(const Work &work, int64_t first, int64_t m, Out *values, int64_t *best) {
    const int64_t K = work.rule->K;
    finish_group(work);
    bool finite = true;
    for (int64_t r = 0; r < m; ++r) finite &= std::isfinite(work.best[r]);
    if (work.output == Output::best)
        for (int64_t r = 0; r < m; ++r) best[first + r] = static_cast<int64_t>(work.which[r]);
    else
        for (int64_t r = 0; r < m; ++r)
            for (int64_t k = 0; k < K; ++k)
                write(values + (first + r) * K + k, work.scores[k * GROUP + r], work.output == Output::log_posterior);
    return finite;
}

// Rows whose scores are made at once where columns lie one behind the other.
constexpr int64_t DOWN = 16;

}  // namespace

template <typename T, typename Out>
bool score(const Rows<T> &x, const RuleArrays &rule, Output output, Out *values, int64_t *best) {
    const bool linear = rule.rule == Rule::linear, down = linear && x.row_stride == 1 && x.column_stride != 1 && x.n >= GROUP;
    const bool along = linear && !down;
    Lined tails = along ? tails_of(rule) : Lined(), centred(along ? 4 * padded(x.p) : 0);
    std::vector<double> lanes(linear ? 0 : x.p * GROUP), shifted(rule.rule == Rule::quadratic ? x.p * GROUP : 0);
    std::vector<double> scores(rule.K * GROUP * (down ? DOWN : 1)), largest(GROUP), which(GROUP);
    Work work{&rule, output, lanes.data(), shifted.data(), scores.data(), largest.data(), which.data()};
    bool finite = true;
    for (int64_t first = 0; first < x.n;) {
        if (down) {
            // The last group may begin among rows that have had their answer: every row is summed in the same way.
            first = std::min(first, x.n - GROUP);
            const int64_t groups = std::min(DOWN, (x.n - first) / GROUP);
            score_down(Down<T>{&rule, x.data + first, x.column_stride, groups, scores.data()});
            for (int64_t g = 0; g < groups; ++g, first += GROUP) {
                work.scores = scores.data() + g * rule.K * GROUP;
                finite &= answer(work, first, GROUP, values, best);
            }
            continue;
        }
        const int64_t m = std::min(GROUP, x.n - first);
        if (along) {
            score_along(Along<T>{&rule, &x, first, m, tails.data(), centred.data(), scores.data()});
        } else {
            gather(x, first, m, lanes.data());
            score_group(work);
        }
        finite &= answer(work, first, m, values, best);
        first += m;
    }
    return finite;
}

template bool score(const Rows<double> &, const RuleArrays &, Output, double *, int64_t *);
template bool score(const Rows<float> &, const RuleArrays &, Output, float *, int64_t *);
template bool score(const Rows<float> &, const RuleArrays &, Output, double *, int64_t *);
template bool score(const Rows<double> &, const RuleArrays &, Output, float *, int64_t *);

}  // namespace discrim
