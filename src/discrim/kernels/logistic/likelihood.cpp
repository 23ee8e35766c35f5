// Two classes. A block of rows is packed while its linear predictor is summed, then weighted in cache by the
// curvature of its rows and multiplied with itself. The constant is no column of these products: its own are sums that
// come by the way.

#include "logistic/likelihood.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include "logistic/logistic_lanes.hpp"
#include "logistic/packing.hpp"

namespace discrim {
namespace {

// Rows of a block at most, so that few columns of them stay in the first-level cache.
constexpr int64_t NEAR_ROWS = 128;

struct Work {
    Lined shift, beta, along, packed, eta, slope, y, w, residual, curvature;
    std::vector<int32_t> index;
    Lined gradient, across, product;           // across: the constant's curvature with the columns
    Lined loss, least, level, spread, losses;  // eight lanes, and eight for each of the steps; level and spread are
                                               // the constant's gradient and curvature
};

// Pack the rows, and take their products with beta and, if asked, with along, whose constants lie behind the columns.
template <typename V, bool contiguous, bool line, typename T>
DISCRIM_INLINE void predict(const Packing<T> &in, const double *beta, const double *along, double *eta,
                            double *slope) {
    constexpr int64_t W = WIDTH<V>, PARTS = LANES / W;
    const int64_t parts = (in.x->p + W - 1) / W;
    const double constant = beta[in.x->p], towards_constant = line ? along[in.x->p] : 0.0;
    for (int64_t r = 0; r < in.m; r += W) {
        int64_t i[W];
        next_rows<W>(in, r, i);
        V sum[W], rise[W];
        for (int s = 0; s < W; ++s) sum[s] = rise[s] = V{};
        for (int64_t q = 0; q < parts; ++q) {
            const V slopes = get<V>(beta + q * W), towards = line ? get<V>(along + q * W) : V{};
            double *to = in.packed + q / PARTS * in.panel + r * LANES + q % PARTS * W;
            V rows[W];
            take_panel<contiguous>(in, i, q, rows);
            for (int s = 0; s < W; ++s) {
                put(to + s * LANES, rows[s]);
                sum[s] += rows[s] * slopes;
                if (line) rise[s] += rows[s] * towards;
            }
        }
        put(eta + r, lane_sums(sum) + constant);
        if (line) put(slope + r, lane_sums(rise) + towards_constant);
    }
}

// Loss, residual and curvature of every row; rows past the end have weight 0.
template <typename V>
DISCRIM_INLINE void weigh(Work &work, int64_t m, const double *steps, int64_t S) {
    V loss = get<V>(work.loss.data()), least = get<V>(work.least.data());
    V level = get<V>(work.level.data()), spread = get<V>(work.spread.data());
    const V nothing{}, endless = every<V>(std::numeric_limits<double>::infinity());
    for (int64_t r = 0; r < m; r += WIDTH<V>) {
        const V eta = get<V>(work.eta.data() + r), y = get<V>(work.y.data() + r), w = get<V>(work.w.data() + r);
        const Logistic<V> at = logistic(eta);
        loss += w * (at.log_sum - y * eta);
        const V residual = w * (at.mu * (1.0 - y) - at.rest * y), curvature = w * at.spread;
        put(work.residual.data() + r, residual);
        put(work.curvature.data() + r, curvature);
        level += residual;
        spread += curvature;
        const V counted = w > nothing ? curvature : endless;
        least = counted < least ? counted : least;
        for (int64_t s = 0; s < S; ++s) {
            const V there = eta + steps[s] * get<V>(work.slope.data() + r);
            double *sum = work.losses.data() + s * LANES;
            put(sum, get<V>(sum) + w * (logistic(there).log_sum - y * there));
        }
    }
    put(work.loss.data(), loss);
    put(work.least.data(), least);
    put(work.level.data(), level);
    put(work.spread.data(), spread);
}

// gradient += residual'Z; with `scale` also across += curvature'Z, and the rows are then multiplied by the root of
// their curvature.
template <typename V, bool scale>
DISCRIM_INLINE void add_gradient(Work &work, int64_t m, int64_t p, int64_t panel) {
    constexpr int64_t W = WIDTH<V>, PARTS = LANES / W;
    const double *residual = work.residual.data();
    double *root = work.curvature.data();
    if (scale)
        for (int64_t r = 0; r < m; ++r) root[r] = __builtin_sqrt(root[r]);
    const auto add = [](double *to, const V sum[4]) DISCRIM_INLINED { put(to, get<V>(to) + ((sum[0] + sum[1]) + (sum[2] + sum[3]))); };
    for (int64_t q = 0; q * W < p; ++q) {
        V sum[4] = {V{}, V{}, V{}, V{}}, bend[4] = {V{}, V{}, V{}, V{}};
        double *z = work.packed.data() + q / PARTS * panel + q % PARTS * W;
        // There is room for rows past the end, whose residuals and curvatures are zero.
        for (int64_t r = 0; r < m; r += 4)
            for (int64_t s = 0; s < 4; ++s) {
                const V v = get<V>(z + (r + s) * LANES);
                sum[s] += residual[r + s] * v;
                if (!scale) continue;
                const V scaled = root[r + s] * v;
                bend[s] += root[r + s] * scaled;
                put(z + (r + s) * LANES, scaled);
            }
        add(work.gradient.data() + q * W, sum);
        if (scale) add(work.across.data() + q * W, bend);
    }
}

template <typename T>
struct Job {
    Packing<T> in;
    const double *along, *steps;
    int64_t S;
    Order order;
    Ahead ahead;
};

template <typename V, bool contiguous, typename T>
DISCRIM_INLINE void predict_block(const Job<T> &job, Work &work) {
    const double *beta = work.beta.data();
    double *eta = work.eta.data(), *slope = work.slope.data();
    if (job.along) predict<V, contiguous, true>(job.in, beta, job.along, eta, slope);
    else predict<V, contiguous, false>(job.in, beta, job.along, eta, slope);
}

template <int MI, typename T>
DISCRIM_INLINE void do_block(Job<T> &job, Work &work) {
    using V = Native<MI>;
    const int64_t m = job.in.m, p = job.in.x->p, panel = job.in.panel;
    if (job.in.x->column_stride == 1) predict_block<V, true>(job, work);
    else predict_block<V, false>(job, work);
    for (int64_t r = 0; r < m; ++r) work.eta[r] += work.residual[r];  // the offsets lie there
    weigh<V>(work, m, job.steps, job.along ? job.S : 0);
    if (job.order == Order::gradient) add_gradient<V, false>(work, m, p, panel);
    if (job.order != Order::curvature) return;
    add_gradient<V, true>(work, m, p, panel);
    self_product_body<MI>(work.packed.data(), panel, m, p, work.product.data(), job.ahead);
}
template <int MI>
DISCRIM_INLINE void do_block64_body(Job<double> &job, Work &work) { do_block<MI>(job, work); }
template <int MI>
DISCRIM_INLINE void do_block32_body(Job<float> &job, Work &work) { do_block<MI>(job, work); }
DISCRIM_VERSIONS(do_block64, (Job<double> &job, Work &work), (job, work))
DISCRIM_VERSIONS(do_block32, (Job<float> &job, Work &work), (job, work))
inline void run_block(Job<double> &job, Work &work) { do_block64(job, work); }
inline void run_block(Job<float> &job, Work &work) { do_block32(job, work); }

// The y, weights and offsets of the rows that count; those past the end weigh nothing.
void gather(const Response &y, int64_t first, int64_t m, Work &work) {
    const int32_t *index = work.index.data();
    const auto pick = [&](const double *values, double otherwise, Lined &to) {
        if (!values) std::fill_n(to.begin(), m, otherwise);
        else for (int64_t r = 0; r < m; ++r) to[r] = values[first + index[r]];
    };
    pick(y.weight, 1.0, work.w);
    pick(y.offset, 0.0, work.residual);
    pick(y.share, 0.0, work.y);
    if (!y.share)
        // Without a branch: nobody could guess which way it goes.
        for (int64_t r = 0; r < m; ++r) work.y[r] = static_cast<double>(y.codes[first + index[r]] == 1);
    for (int64_t r = m; r < (m + LANES - 1) / LANES * LANES; ++r) work.y[r] = work.w[r] = 0.0;
}

void finish(const Work &work, int64_t p, const Point &at, Sums out) {
    const int64_t padded = work.gradient.size(), size = p + 1;
    const auto sum = [](const double *lanes) { return std::accumulate(lanes, lanes + LANES, 0.0); };
    *out.loss = sum(work.loss.data());
    *out.least = *std::min_element(work.least.begin(), work.least.end());
    for (int64_t s = 0; s < at.S; ++s) out.losses[s] = sum(work.losses.data() + s * LANES);
    if (at.order == Order::loss) return;
    out.gradient[0] = sum(work.level.data());
    std::copy_n(work.gradient.begin(), p, out.gradient + 1);
    if (at.order != Order::curvature) return;
    out.hessian[0] = sum(work.spread.data());
    for (int64_t i = 0; i < p; ++i) {
        double *row = out.hessian + (i + 1) * size;
        row[0] = out.hessian[i + 1] = work.across[i];
        for (int64_t j = i; j < p; ++j) row[j + 1] = out.hessian[(j + 1) * size + i + 1] = work.product[i * padded + j];
    }
}

}  // namespace

template <typename T>
void binary_likelihood(const Rows<T> &x, const Response &y, const Point &at, Sums out) {
    const int64_t padded = std::max<int64_t>((x.p + LANES - 1) / LANES, 1) * LANES;
    const int64_t m_max = std::min({block_rows(x.p + 1), NEAR_ROWS, std::max<int64_t>(x.n, 1)}), room = m_max + LANES;
    const bool products = at.order == Order::curvature;
    const Lined zero(room, 0.0), columns(padded, 0.0), lanes(LANES, 0.0);
    Work work{columns, columns_then_constant(at.theta, x.p), columns_then_constant(at.along, x.p),
              Lined(room * padded, 0.0), zero, zero, zero, zero, zero, zero, std::vector<int32_t>(m_max),
              columns, columns, Lined(products ? padded * padded : 0, 0.0),
              lanes, Lined(LANES, std::numeric_limits<double>::infinity()), lanes, lanes, Lined(at.S * LANES, 0.0)};
    std::copy(at.shift, at.shift + x.p, work.shift.begin());
    for (int64_t first = 0; first < x.n; first += m_max) {
        const int64_t m = std::min(m_max, x.n - first);
        const Rows<T> block{x.data + first * x.row_stride, m, x.p, x.row_stride, x.column_stride};
        const int64_t count = rows_that_count(y.weight, first, m, work.index.data());
        gather(y, first, count, work);
        // Whole vectors may run past the end of a row as long as they stay inside the array.
        const int64_t readable = x.row_stride < x.p ? 0 : m - LANES;
        Job<T> job{{&block, work.index.data(), count, readable, work.shift.data(), work.packed.data(), room * LANES,
                    0.0},
                   at.along ? work.along.data() : nullptr, at.steps, at.S, at.order, following(x, first + m, m_max)};
        run_block(job, work);
    }
    finish(work, x.p, at, out);
}

template void binary_likelihood<double>(const Rows<double> &, const Response &, const Point &, Sums);
template void binary_likelihood<float>(const Rows<float> &, const Response &, const Point &, Sums);

}  // namespace discrim
