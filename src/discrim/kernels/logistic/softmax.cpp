// K classes. Classes lie in lanes: linear predictors are products of packed rows with theta', the gradient is a
// product of the residuals with the packed rows, and the curvature a product of rows weighted for each pair of classes.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "logistic/logistic_lanes.hpp"
#include "logistic/packing.hpp"

namespace discrim {
namespace {

// A predictor that no class beyond the last can beat.
constexpr double NEVER = -1e300;

struct Work {
    int64_t K, panels, class_panels;
    Lined shift, beta, along, packed, eta, slope, scaled, root, w;
    Lined own, top, total;  // eta of the own class; the largest, and the sum of exp(eta - top)
    std::vector<int32_t> index, code;
    Lined gradient, product;  // class panels x padded x 8; pairs x padded x padded
    double loss;
    Lined losses, least;  // least: the smallest w mu of every class
};

// Where lane j of row 0 lies, eight lanes a panel.
DISCRIM_INLINE int64_t in_panels(int64_t j, int64_t panel) { return j / LANES * panel + j % LANES; }

// Coefficients with classes in lanes: row j of column j, for every class panel.
Lined classes_in_lanes(const double *theta, int64_t K, int64_t p, double beyond) {
    const int64_t padded = panels_for(p) * LANES, wide = (K + LANES - 1) / LANES * LANES;
    Lined lanes(padded * wide, 0.0);
    if (!theta) return lanes;
    for (int64_t k = 0; k < K; ++k)
        for (int64_t j = 0; j <= p; ++j) lanes[j * wide + k] = theta[k * (p + 1) + place(j, p)];
    for (int64_t k = K; k < wide; ++k) lanes[p * wide + k] = beyond;
    return lanes;
}

template <typename V, bool contiguous, typename T>
DISCRIM_INLINE void pack(const Packing<T> &in, int64_t panels) {
    constexpr int64_t W = WIDTH<V>;
    for (int64_t r = 0; r < in.m; r += W) {
        int64_t i[W];
        next_rows<W>(in, r, i);
        for (int64_t q = 0; q * W < panels * LANES; ++q) {
            double *to = in.packed + in_panels(q * W, in.panel) + r * LANES;
            V rows[W];
            take_panel<contiguous>(in, i, q, rows);
            for (int s = 0; s < W; ++s) put(to + s * LANES, rows[s]);
        }
    }
}

// eta of MI rows and NJ class panels.
template <int MI, int NJ>
DISCRIM_INLINE void predict_tile(const double *z, int64_t panel, int64_t panels, const double *beta, int64_t wide,
                                 double *eta) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    constexpr int NV = NJ * LANES / W;
    V acc[MI][NV];
    for (int i = 0; i < MI; ++i)
        for (int j = 0; j < NV; ++j) acc[i][j] = V{};
    for (int64_t q = 0; q < panels; ++q)
        for (int64_t l = 0; l < LANES; ++l) {
            V right[NV];
            for (int j = 0; j < NV; ++j) right[j] = get<V>(beta + (q * LANES + l) * wide + j * W);
            for (int i = 0; i < MI; ++i)
                for (int j = 0; j < NV; ++j) acc[i][j] += z[q * panel + i * LANES + l] * right[j];
        }
    for (int i = 0; i < MI; ++i)
        for (int j = 0; j < NV; ++j) put(eta + in_panels(j * W, panel) + i * LANES, acc[i][j]);
}

// eta in class panels; rows are rounded up to whole tiles, for which there is room.
template <int MI>
DISCRIM_INLINE void predict(const Work &work, int64_t m, int64_t panel, const double *beta, double *eta) {
    const int64_t wide = work.class_panels * LANES;
    for (int64_t r = 0; r < m; r += MI) {
        const double *z = work.packed.data() + r * LANES;
        int64_t j = 0;
        // Two panels at once where the registers have room for them.
        for (; MI == LANES && j + 2 <= work.class_panels; j += 2)
            predict_tile<MI, 2>(z, panel, work.panels, beta + j * LANES, wide, eta + j * panel + r * LANES);
        for (; j < work.class_panels; ++j)
            predict_tile<MI, 1>(z, panel, work.panels, beta + j * LANES, wide, eta + j * panel + r * LANES);
    }
}

DISCRIM_INLINE double largest_lane(v4 v) {
    const v4 other = DISCRIM_REORDER(v, v, v4i, 2, 3, 0, 1);
    v = v > other ? v : other;
    return v[0] > v[1] ? v[0] : v[1];
}
DISCRIM_INLINE double largest_lane(v8 v) {
    v8 other = DISCRIM_REORDER(v, v, v8i, 4, 5, 6, 7, 0, 1, 2, 3);
    v = v > other ? v : other;
    other = DISCRIM_REORDER(v, v, v8i, 2, 3, 0, 1, 6, 7, 4, 5);
    v = v > other ? v : other;
    return v[0] > v[1] ? v[0] : v[1];
}

DISCRIM_INLINE double all_lanes(v4 v) {
    v += DISCRIM_REORDER(v, v, v4i, 2, 3, 0, 1);
    return v[0] + v[1];
}
DISCRIM_INLINE double all_lanes(v8 v) {
    v += DISCRIM_REORDER(v, v, v8i, 4, 5, 6, 7, 0, 1, 2, 3);
    v += DISCRIM_REORDER(v, v, v8i, 2, 3, 0, 1, 6, 7, 4, 5);
    return v[0] + v[1];
}

// The largest of eta + s slope over the classes of row r, and the sum of exp beyond it; with `keep` the shares replace eta.
template <typename V, bool keep>
DISCRIM_INLINE void sum_up(Work &work, int64_t r, int64_t panel, double s) {
    double *eta = work.eta.data() + r * LANES;
    // Nobody has written slopes where the shares are kept.
    const double *slope = keep ? nullptr : work.slope.data() + r * LANES;
    const auto at = [&](int64_t k) DISCRIM_INLINED {
        const V v = get<V>(eta + in_panels(k, panel));
        if constexpr (keep) return v;
        else return v + s * get<V>(slope + in_panels(k, panel));
    };
    V top = every<V>(NEVER);
    for (int64_t k = 0; k < work.K; k += WIDTH<V>) {
        const V v = at(k);
        top = v > top ? v : top;
    }
    const double most = largest_lane(top);
    V total{};
    for (int64_t k = 0; k < work.K; k += WIDTH<V>) {
        const V e = exp_below_zero(at(k) - most);
        total += e;
        if (keep) put(eta + in_panels(k, panel), e);
    }
    const double sum = all_lanes(total);
    work.top[r] = most;
    work.total[r] = sum;
    if (!keep) return;
    for (int64_t k = 0; k < work.K; k += WIDTH<V>)
        put(eta + in_panels(k, panel), get<V>(eta + in_panels(k, panel)) * (1.0 / sum));
}

// The loss at eta + s slope, from what `sum_up` left. Logarithms are taken apart from it: a call in between would send
// all that its vectors hold to memory.
DISCRIM_INLINE double loss_of(const Work &work, int64_t m, int64_t panel, double s) {
    double loss = 0.0;
    for (int64_t r = 0; r < m; ++r) {
        const double eta = s != 0.0 ? work.own[r] + s * work.slope[in_panels(work.code[r], panel) + r * LANES] : work.own[r];
        loss += work.w[r] * (work.top[r] + std::log(work.total[r]) - eta);
    }
    return loss;
}

// Losses, and mu in the place of eta.
template <typename V>
DISCRIM_INLINE void weigh(Work &work, int64_t m, int64_t panel, const double *steps, int64_t S) {
    for (int64_t r = 0; r < m; ++r) work.own[r] = work.eta[in_panels(work.code[r], panel) + r * LANES];
    for (int64_t s = 0; s < S; ++s) {
        for (int64_t r = 0; r < m; ++r) sum_up<V, false>(work, r, panel, steps[s]);
        work.losses[s] += loss_of(work, m, panel, steps[s]);
    }
    for (int64_t r = 0; r < m; ++r) {
        sum_up<V, true>(work, r, panel, 0.0);
        for (int64_t k = 0; k < work.K; k += WIDTH<V>) {
            const V mu = work.w[r] * get<V>(work.eta.data() + in_panels(k, panel) + r * LANES);
            const V before = get<V>(work.least.data() + k);
            put(work.least.data() + k, mu < before ? mu : before);
        }
    }
    work.loss += loss_of(work, m, panel, 0.0);
}

// Rows weighted by the root of the pair's curvature, multiplied with themselves. mu is in eta's place.
template <int MI>
DISCRIM_INLINE void add_curvature(Work &work, int64_t m, int64_t panel, int64_t size, bool pairs, Ahead &ahead) {
    using V = Native<MI>;
    const int64_t padded = work.panels * LANES;
    int64_t pair = 0;
    for (int64_t k = 0; k < work.K; ++k)
        for (int64_t l = k; l < (pairs ? work.K : k + 1); ++l, ++pair) {
            const double *mu_k = work.eta.data() + in_panels(k, panel), *mu_l = work.eta.data() + in_panels(l, panel);
            for (int64_t r = 0; r < m; ++r) {
                const double a = mu_k[r * LANES], b = k == l ? 1.0 - a : mu_l[r * LANES];
                work.root[r] = std::sqrt(work.w[r] * a * (b > 0 ? b : 0.0));
            }
            for (int64_t j = 0; j < size; j += WIDTH<V>) {
                const int64_t at = in_panels(j, panel);
                for (int64_t r = 0; r < m; ++r)
                    put(work.scaled.data() + at + r * LANES, work.root[r] * get<V>(work.packed.data() + at + r * LANES));
            }
            self_product_body<MI>(work.scaled.data(), panel, m, size, work.product.data() + pair * padded * padded, ahead);
        }
}

// gradient += Z'(w (mu - y)); the residuals take the place of mu.
template <int MI>
DISCRIM_INLINE void add_gradient(Work &work, int64_t m, int64_t panel, Ahead &ahead) {
    using V = Native<MI>;
    for (int64_t r = 0; r < m; ++r) {
        work.eta[in_panels(work.code[r], panel) + r * LANES] -= 1.0;
        for (int64_t k = 0; k < work.K; k += WIDTH<V>) {
            double *at = work.eta.data() + in_panels(k, panel) + r * LANES;
            put(at, work.w[r] * get<V>(at));
        }
    }
    const int64_t wide = work.class_panels * LANES;
    for (int64_t q = 0; q < work.panels; ++q)
        for (int64_t half = 0; half < LANES; half += MI) {
            const double *a = work.packed.data() + q * panel + half;
            double *row = work.gradient.data() + (q * LANES + half) * wide;
            int64_t j = 0;
            for (; j + 2 <= work.class_panels; j += 2)
                tile<MI, 2>(a, work.eta.data() + j * panel, panel, m, row + j * LANES, wide, ahead);
            if (j < work.class_panels)
                tile<MI, 1>(a, work.eta.data() + j * panel, panel, m, row + j * LANES, wide, ahead);
        }
}

template <typename T>
struct Job {
    Packing<T> in;
    const Point *at;
    Ahead ahead;
};

template <int MI, typename T>
DISCRIM_INLINE void do_block(Job<T> &job, Work &work) {
    using V = Native<MI>;
    const int64_t m = job.in.m, panel = job.in.panel;
    if (job.in.x->column_stride == 1)
        pack<V, true>(job.in, work.panels);
    else
        pack<V, false>(job.in, work.panels);
    predict<MI>(work, m, panel, work.beta.data(), work.eta.data());
    if (job.at->along) predict<MI>(work, m, panel, work.along.data(), work.slope.data());
    weigh<V>(work, m, panel, job.at->steps, job.at->along ? job.at->S : 0);
    const bool pairs = job.at->order == Order::curvature;
    if (pairs || job.at->order == Order::blocks) add_curvature<MI>(work, m, panel, job.in.x->p + 1, pairs, job.ahead);
    if (job.at->order != Order::loss) add_gradient<MI>(work, m, panel, job.ahead);
}
template <int MI>
DISCRIM_INLINE void softmax_block64_body(Job<double> &job, Work &work) { do_block<MI>(job, work); }
template <int MI>
DISCRIM_INLINE void softmax_block32_body(Job<float> &job, Work &work) { do_block<MI>(job, work); }
DISCRIM_VERSIONS(softmax_block64, (Job<double> &job, Work &work), (job, work))
DISCRIM_VERSIONS(softmax_block32, (Job<float> &job, Work &work), (job, work))
inline void run_block(Job<double> &job, Work &work) { softmax_block64(job, work); }
inline void run_block(Job<float> &job, Work &work) { softmax_block32(job, work); }

void finish(const Work &work, int64_t p, const Point &at, Sums out) {
    const int64_t K = work.K, size = p + 1, padded = work.panels * LANES, wide = work.class_panels * LANES;
    *out.loss = work.loss;
    // Along a pair of classes the curvature of a row is at least w over the sum of 1 / mu.
    *out.least = 0.5 * *std::min_element(work.least.begin(), work.least.begin() + K);
    std::copy(work.losses.begin(), work.losses.end(), out.losses);
    if (at.order != Order::loss)
        for (int64_t k = 0; k < K; ++k)
            for (int64_t j = 0; j < size; ++j) out.gradient[k * size + place(j, p)] = work.gradient[j * wide + k];
    const double *c = work.product.data();
    if (at.order == Order::blocks)
        for (int64_t k = 0; k < K; ++k, c += padded * padded)
            for (int64_t i = 0; i < size; ++i)
                for (int64_t j = i; j < size; ++j) {
                    out.hessian[(k * size + place(i, p)) * size + place(j, p)] = c[i * padded + j];
                    out.hessian[(k * size + place(j, p)) * size + place(i, p)] = c[i * padded + j];
                }
    if (at.order != Order::curvature) return;
    for (int64_t k = 0; k < K; ++k)
        for (int64_t l = k; l < K; ++l, c += padded * padded)
            for (int64_t i = 0; i < size; ++i)
                for (int64_t j = i; j < size; ++j) {
                    const double h = k == l ? c[i * padded + j] : -c[i * padded + j];
                    const int64_t a = place(i, p), b = place(j, p), all = K * size;
                    out.hessian[(k * size + a) * all + l * size + b] = h;
                    out.hessian[(k * size + b) * all + l * size + a] = h;
                    out.hessian[(l * size + a) * all + k * size + b] = h;
                    out.hessian[(l * size + b) * all + k * size + a] = h;
                }
}

}  // namespace

template <typename T>
void softmax_likelihood(const Rows<T> &x, const Response &y, const Point &at, Sums out) {
    const int64_t panels = panels_for(x.p), padded = panels * LANES, K = at.K;
    const int64_t class_panels = (K + LANES - 1) / LANES, wide = class_panels * LANES;
    const int64_t m_max = std::min({block_rows(x.p + 1 + K), MOST_ROWS, std::max<int64_t>(x.n, 1)});
    const int64_t room = (m_max + LANES - 1) / LANES * LANES, panel = room * LANES;
    const bool products = at.order == Order::curvature || at.order == Order::blocks;
    const int64_t matrices = at.order == Order::blocks ? K : K * (K + 1) / 2;
    const auto zeros = [](int64_t n) { return Lined(n, 0.0); };
    Work work{K, panels, class_panels, zeros(padded), classes_in_lanes(at.theta, K, x.p, NEVER),
              classes_in_lanes(at.along, K, x.p, 0.0), zeros(panels * panel), zeros(class_panels * panel),
              zeros(at.along ? class_panels * panel : 0), zeros(products ? panels * panel : 0), zeros(room), zeros(room),
              zeros(room), zeros(room), zeros(room),
              std::vector<int32_t>(m_max), std::vector<int32_t>(m_max), zeros(padded * wide),
              zeros(products ? matrices * padded * padded : 0), 0.0, zeros(at.S),
              Lined(wide, std::numeric_limits<double>::infinity())};
    std::copy(at.shift, at.shift + x.p, work.shift.begin());
    for (int64_t first = 0; first < x.n; first += m_max) {
        const int64_t m = std::min(m_max, x.n - first);
        const Rows<T> block{x.data + first * x.row_stride, m, x.p, x.row_stride, x.column_stride};
        const int64_t count = rows_that_count(y.weight, first, m, work.index.data());
        for (int64_t r = 0; r < count; ++r) {
            work.code[r] = y.codes[first + work.index[r]];
            work.w[r] = y.weight ? y.weight[first + work.index[r]] : 1.0;
        }
        const int64_t readable = x.row_stride < x.p ? 0 : m - LANES;
        Job<T> job{{&block, work.index.data(), count, readable, work.shift.data(), work.packed.data(), panel}, &at,
                   following(x, first + m, m_max)};
        run_block(job, work);
    }
    finish(work, x.p, at, out);
}

template void softmax_likelihood<double>(const Rows<double> &, const Response &, const Point &, Sums);
template void softmax_likelihood<float>(const Rows<float> &, const Response &, const Point &, Sums);

}  // namespace discrim
