// Reweighted coordinate descent. The constant is profiled out: a column is centred by its mean under the rows'
// spreads, so that moving its coefficient never disturbs the constant. Sparse columns stay sparse, because the
// centring is one number C for all rows: the true residual is r - C v.

#include "logistic/columns.hpp"

#include <algorithm>
#include <cmath>

#include "logistic/columns_anderson.hpp"
#include "logistic/logistic_lanes.hpp"

namespace discrim {
namespace {

// Spreads below this part of the weight count as this much: rows that are all but certain still resist a step.
constexpr double LEAST_SPREAD = 1e-9;
// A round ends when its steps have shrunk by this factor, since new weights then gain more than old ones.
constexpr double ENOUGH = 0.02;
// A round that begins within this factor of the end is solved to the end.
constexpr double NEAR = 100;
constexpr int64_t SWEEPS = 50;

template <int MI>
DISCRIM_INLINE void weigh_rows_all_body(const double *y, const double *w, const double *eta, int64_t n,
                                        double *residual, double *spread, double *loss) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    V total{};
    for (int64_t i = 0; i < n; i += W) {
        V e{}, yi{}, wi{};
        const int64_t count = std::min(W, n - i);
        if (count == W) {
            e = get<V>(eta + i);
            yi = get<V>(y + i);
            wi = w ? get<V>(w + i) : every<V>(1.0);
        } else {
            for (int64_t l = 0; l < count; ++l) {
                e[l] = eta[i + l];
                yi[l] = y[i + l];
                wi[l] = w ? w[i + l] : 1.0;
            }
        }
        const Logistic<V> at = logistic(e);
        const V least = every<V>(LEAST_SPREAD);
        total += wi * (at.log_sum - yi * e);
        const V r = wi * (at.rest * yi - at.mu * (1.0 - yi)), s = wi * (at.spread > least ? at.spread : least);
        if (count == W) {
            put(residual + i, r);
            put(spread + i, s);
        } else {
            for (int64_t l = 0; l < count; ++l) {
                residual[i + l] = r[l];
                spread[i + l] = s[l];
            }
        }
    }
    *loss = sum_of(total);
}
DISCRIM_VERSIONS(weigh_rows_all,
                 (const double *y, const double *w, const double *eta, int64_t n, double *residual, double *spread,
                  double *loss),
                 (y, w, eta, n, residual, spread, loss))

template <int MI>
DISCRIM_INLINE void products_of_body(const double *x, const double *r, const double *v, int64_t n, Products *out) {
    using V = Native<MI>;
    V xr{}, xv{}, xxv{};
    int64_t i = 0;
    for (; i + WIDTH<V> <= n; i += WIDTH<V>) {
        const V xi = get<V>(x + i), weighted = xi * get<V>(v + i);
        xr += xi * get<V>(r + i);
        xv += weighted;
        xxv += xi * weighted;
    }
    *out = {sum_of(xr), sum_of(xv), sum_of(xxv)};
    for (; i < n; ++i) {
        out->xr += x[i] * r[i];
        out->xv += x[i] * v[i];
        out->xxv += x[i] * x[i] * v[i];
    }
}
DISCRIM_VERSIONS(products_of, (const double *x, const double *r, const double *v, int64_t n, Products *out),
                 (x, r, v, n, out))

template <int MI>
DISCRIM_INLINE void inner_product_body(const double *x, const double *r, int64_t n, double *out) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    V sum[4] = {V{}, V{}, V{}, V{}};
    int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; ++k) sum[k] += get<V>(x + i + k * W) * get<V>(r + i + k * W);
    double total = sum_of((sum[0] + sum[1]) + (sum[2] + sum[3]));
    for (; i < n; ++i) total += x[i] * r[i];
    *out = total;
}
DISCRIM_VERSIONS(inner_product, (const double *x, const double *r, int64_t n, double *out), (x, r, n, out))

template <int MI>
DISCRIM_INLINE void take_away_body(double by, const double *x, const double *v, double *r, int64_t n) {
    using V = Native<MI>;
    int64_t i = 0;
    for (; i + WIDTH<V> <= n; i += WIDTH<V>) put(r + i, get<V>(r + i) - by * get<V>(v + i) * get<V>(x + i));
    for (; i < n; ++i) r[i] -= by * v[i] * x[i];
}
DISCRIM_VERSIONS(take_away, (double by, const double *x, const double *v, double *r, int64_t n), (by, x, v, r, n))

double shrink(double u, double by) { return u > by ? u - by : u < -by ? u + by : 0.0; }

// The quadratic model of one round: weights as of its beginning.
template <typename Columns>
class Round {
public:
    Round(Columns &columns, const ColumnProblem &problem, double *theta)
        : x_(columns), p_(problem), theta_(theta), xv_(problem.q), h_(problem.q), known_(problem.q) {}

    void begin() {
        total_ = 0.0;
        double sum = 0.0;
        for (int64_t i = 0; i < p_.n; ++i) {
            total_ += x_.spread()[i];
            sum += x_.residual()[i];
        }
        x_.begin();
        std::fill(known_.begin(), known_.end(), 0);
        history_.restart();
        constant_ = p_.intercept && total_ > 0.0 ? sum / total_ : 0.0;
        step_ = constant_ * constant_ * total_;
    }

    // Visit these places of the working set; the largest h d^2.
    double sweep(const std::vector<int64_t> &places) {
        double largest = step_;
        step_ = 0.0;
        for (const int64_t k : places) largest = std::max(largest, visit(k));
        return largest;
    }

    double constant() const { return constant_; }
    void forget() { history_.restart(); }

    // Keep where the last sweep ended; after some of them, go to their limit where the model is lower there.
    void accelerate(const std::vector<int64_t> &places) {
        std::vector<double> &now = history_.next();
        const size_t size = places.size();
        now.resize(size + p_.n + 1);
        for (size_t k = 0; k < size; ++k) now[k] = theta_[places[k]];
        x_.copy_residual(now.data() + size);
        now.back() = constant_;
        if (!history_.full()) return;
        double c[Anderson::DEPTH];
        if (history_.weights(size, c)) {
            history_.combine(c, limit_);
            if (value(places, limit_) < value(places, history_.last())) {
                for (size_t k = 0; k < size; ++k) theta_[places[k]] = limit_[k];
                x_.set_residual(limit_.data() + size);
                constant_ = limit_.back();
            }
        }
        history_.restart();
    }

private:
    // The model with these coefficients, residuals and constant.
    double value(const std::vector<int64_t> &places, const std::vector<double> &at) {
        double sum = 0.0;
        const double *residual = at.data() + places.size(), *spread = x_.spread();
        for (int64_t i = 0; i < p_.n; ++i) {
            const double r = residual[i] - at.back() * spread[i];
            if (spread[i] > 0.0) sum += 0.5 * r * r / spread[i];
        }
        for (size_t k = 0; k < places.size(); ++k)
            sum += p_.lasso[places[k]] * std::fabs(at[k]) + 0.5 * p_.ridge[places[k]] * at[k] * at[k];
        return sum;
    }

    // Move coefficient k to its minimum; h d^2 of its change d.
    double visit(int64_t k) {
        const int64_t j = p_.working[k];
        double xr;
        if (known_[k]) {
            xr = x_.slope(j);
        } else {
            const Products found = x_.products(j);
            xr = found.xr;
            xv_[k] = found.xv;
            h_[k] = std::max(found.xxv - (p_.intercept && total_ > 0.0 ? found.xv * found.xv / total_ : 0.0), 0.0);
            if (h_[k] < 1e-12 * found.xxv) h_[k] = 0.0;
            known_[k] = 1;
        }
        const double a = h_[k] + p_.ridge[k], old = theta_[k];
        if (!(a > 0.0)) return 0.0;
        const double now = shrink(xr - constant_ * xv_[k] + h_[k] * old, p_.lasso[k]) / a;
        const double d = now - old;
        if (d == 0.0) return 0.0;
        x_.change(j, d);
        if (p_.intercept && total_ > 0.0) constant_ -= d * xv_[k] / total_;
        theta_[k] = now;
        return a * d * d;
    }

    Columns &x_;
    const ColumnProblem &p_;
    double *theta_;
    std::vector<double> xv_, h_;
    std::vector<char> known_;
    double total_ = 0.0, constant_ = 0.0, step_ = 0.0;
    Anderson history_;
    std::vector<double> limit_;
};

double penalty(const ColumnProblem &p, const double *theta) {
    double sum = 0.0;
    for (int64_t k = 0; k < p.q; ++k) sum += p.lasso[k] * std::fabs(theta[k]) + 0.5 * p.ridge[k] * theta[k] * theta[k];
    return sum;
}

}  // namespace

void weigh_rows(const double *y, const double *w, const double *eta, int64_t n, double *residual, double *spread,
                double *loss) {
    weigh_rows_all(y, w, eta, n, residual, spread, loss);
}

Products DenseColumns::products(int64_t j) const {
    Products out;
    products_of(x_ + j * n_, residual_.data(), spread_.data(), n_, &out);
    return out;
}
double DenseColumns::inner(int64_t j, const double *r) const {
    double out;
    inner_product(x_ + j * n_, r, n_, &out);
    return out;
}
double DenseColumns::slope(int64_t j) const { return inner(j, residual_.data()); }
void DenseColumns::change(int64_t j, double by) { take_away(by, x_ + j * n_, spread_.data(), residual_.data(), n_); }
void DenseColumns::add(int64_t j, double by, double *to) const {
    const double *x = x_ + j * n_;
    for (int64_t i = 0; i < n_; ++i) to[i] += by * x[i];
}

namespace {

// One reweighted quadratic problem, solved as far as is worth it.
struct Inner {
    double first;  // the largest h d^2 of its first sweep
    bool solved;   // to the end, over the whole working set
};

template <typename Columns>
Inner solve_round(Round<Columns> &round, const ColumnProblem &p, const double *theta, double close, int64_t &sweeps) {
    std::vector<int64_t> all(p.q), active;
    for (int64_t k = 0; k < p.q; ++k) all[k] = k;
    const auto choose_active = [&] {
        active.clear();
        for (int64_t k = 0; k < p.q; ++k)
            if (theta[k] != 0.0 || p.lasso[k] == 0.0) active.push_back(k);
    };
    const double first = round.sweep(all);
    double largest = first;
    ++sweeps;
    choose_active();
    // Near the end a round is solved to the end, which may spare the next one.
    const double floor = 0.1 * close, target = first < NEAR * close ? floor : std::max(ENOUGH * first, floor);
    for (int64_t s = 0; s < SWEEPS; ++s) {
        ++sweeps;
        if (largest > target) {
            largest = round.sweep(active);
            round.accelerate(active);
        } else {
            if (target > floor || p.q == static_cast<int64_t>(active.size())) return {first, target <= floor};
            largest = round.sweep(all);
            if (!(largest > close)) return {first, true};
            choose_active();
            round.forget();
        }
    }
    return {first, false};
}

// Move eta by the step that was found, or by a half, a quarter ... of it where the value would rise.
template <typename Columns>
double take_step(Columns &columns, const ColumnProblem &p, ColumnState state, const std::vector<double> &before,
                 const std::vector<double> &rise, double &loss) {
    std::vector<double> there(p.n);
    const double value = loss + penalty(p, before.data());
    double part = 1.0;
    for (int halvings = 0; halvings < 30; ++halvings, part *= 0.5) {
        for (int64_t i = 0; i < p.n; ++i) there[i] = state.eta[i] + part * rise[i];
        if (part < 1.0)
            for (int64_t k = 0; k < p.q; ++k) state.theta[k] = before[k] + 0.5 * (state.theta[k] - before[k]);
        weigh_rows(p.y, p.w, there.data(), p.n, columns.residual(), columns.spread(), &loss);
        if (loss + penalty(p, state.theta) <= value + 1e-11 * std::fabs(value)) break;
    }
    std::copy(there.begin(), there.end(), state.eta);
    return part;
}

}  // namespace

template <typename Columns>
ColumnResult column_descent(Columns &columns, const ColumnProblem &problem, ColumnState state, double close,
                            int64_t most) {
    const int64_t n = problem.n, q = problem.q;
    columns.prepare();
    std::vector<double> before(q), rise(n);
    Round<Columns> round(columns, problem, state.theta);
    ColumnResult result{0.0, 0, 0, false};
    weigh_rows(problem.y, problem.w, state.eta, n, columns.residual(), columns.spread(), &result.loss);
    while (result.rounds < most && !result.converged) {
        ++result.rounds;
        std::copy(state.theta, state.theta + q, before.begin());
        round.begin();
        const Inner inner = solve_round(round, problem, state.theta, close, result.sweeps);
        if (inner.first != inner.first) break;
        std::fill(rise.begin(), rise.end(), round.constant());
        for (int64_t k = 0; k < q; ++k)
            if (state.theta[k] != before[k]) columns.add(problem.working[k], state.theta[k] - before[k], rise.data());
        double highest = 0.0, length = 0.0;
        for (int64_t i = 0; i < n; ++i) {
            highest = std::max(highest, std::fabs(rise[i]));
            length += columns.spread()[i] * rise[i] * rise[i];
        }
        const double part = take_step(columns, problem, state, before, rise, result.loss);
        *state.constant += part * round.constant();
        // The spreads change by about `highest` on the way, so that the next round would move by so much less.
        result.converged = !(inner.first > close) || (inner.solved && part == 1.0 && highest * highest * length <= close);
    }
    return result;
}

template ColumnResult column_descent(DenseColumns &, const ColumnProblem &, ColumnState, double, int64_t);
template ColumnResult column_descent(SparseColumns<double, int32_t> &, const ColumnProblem &, ColumnState, double, int64_t);
template ColumnResult column_descent(SparseColumns<double, int64_t> &, const ColumnProblem &, ColumnState, double, int64_t);
template ColumnResult column_descent(SparseColumns<float, int32_t> &, const ColumnProblem &, ColumnState, double, int64_t);
template ColumnResult column_descent(SparseColumns<float, int64_t> &, const ColumnProblem &, ColumnState, double, int64_t);

}  // namespace discrim
