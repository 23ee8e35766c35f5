// Two classes. A block of rows is packed while its linear predictor is summed, then weighted in cache by the
// curvature of its rows and multiplied with itself.

#include "likelihood.hpp"

#include <limits>
#include <vector>

#include "logistic_lanes.hpp"
#include "packing.hpp"

namespace discrim {
namespace {

struct Work {
    Lined shift, beta, along, packed, eta, slope, y, w, residual, curvature;
    std::vector<int32_t> index;
    Lined gradient, product;
    v8 loss, least;
    Lined losses;  // eight lanes a step
};

// Pack the rows, and take their products with beta and, if asked, with along.
template <bool contiguous, bool line, typename T>
DISCRIM_INLINE void predict(const Packing<T> &in, int64_t panels, const double *beta, const double *along,
                            double *eta, double *slope) {
    for (int64_t r = 0; r < in.m; r += LANES) {
        int64_t i[LANES];
        next_eight(in, r, i);
        v8 sum[LANES], rise[LANES];
        for (int s = 0; s < LANES; ++s) sum[s] = rise[s] = splat(0.0);
        for (int64_t q = 0; q < panels; ++q) {
            const v8 slopes = load(beta + q * LANES), towards = line ? load(along + q * LANES) : splat(0.0);
            double *to = in.packed + q * in.panel + r * LANES;
            v8 rows[LANES];
            take_panel<contiguous>(in, i, q, rows);
            for (int s = 0; s < LANES; ++s) {
                store(to + s * LANES, rows[s]);
                sum[s] += rows[s] * slopes;
                if (line) rise[s] += rows[s] * towards;
            }
        }
        store(eta + r, lane_sums(sum));
        if (line) store(slope + r, lane_sums(rise));
    }
}

// Loss, residual and curvature of every row; rows past the end have weight 0.
DISCRIM_INLINE void weigh(Work &work, int64_t m, const double *steps, int64_t S) {
    v8 loss = work.loss, least = work.least;
    const v8 nothing = splat(0.0), endless = splat(std::numeric_limits<double>::infinity());
    for (int64_t r = 0; r < m; r += LANES) {
        const v8 eta = load(work.eta.data() + r), y = load(work.y.data() + r), w = load(work.w.data() + r);
        const Logistic at = logistic(eta);
        loss += w * (at.log_sum - y * eta);
        store(work.residual.data() + r, w * (at.mu * (1.0 - y) - at.rest * y));
        const v8 curvature = w * at.spread;
        store(work.curvature.data() + r, curvature);
        const v8 counted = w > nothing ? curvature : endless;
        least = counted < least ? counted : least;
        for (int64_t s = 0; s < S; ++s) {
            const v8 there = eta + steps[s] * load(work.slope.data() + r);
            double *sum = work.losses.data() + s * LANES;
            store(sum, load(sum) + w * (logistic(there).log_sum - y * there));
        }
    }
    work.loss = loss;
    work.least = least;
}

// gradient += residual'Z.
DISCRIM_INLINE void add_gradient(Work &work, int64_t m, int64_t panels, int64_t panel) {
    for (int64_t q = 0; q < panels; ++q) {
        v8 sum[4] = {splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
        const double *z = work.packed.data() + q * panel;
        int64_t r = 0;
        for (; r + 4 <= m; r += 4)
            for (int s = 0; s < 4; ++s) sum[s] += work.residual[r + s] * load(z + (r + s) * LANES);
        for (; r < m; ++r) sum[0] += work.residual[r] * load(z + r * LANES);
        double *to = work.gradient.data() + q * LANES;
        store(to, load(to) + ((sum[0] + sum[1]) + (sum[2] + sum[3])));
    }
}

// gradient += residual'Z, while the rows are multiplied by the root of their curvature.
DISCRIM_INLINE void add_gradient_and_scale(Work &work, int64_t m, int64_t panels, int64_t panel) {
    for (int64_t r = 0; r < m; r += LANES) {
        v8 root = load(work.curvature.data() + r);
        for (int64_t l = 0; l < LANES; ++l) root[l] = __builtin_sqrt(root[l]);
        store(work.curvature.data() + r, root);
    }
    for (int64_t q = 0; q < panels; ++q) {
        v8 sum[4] = {splat(0.0), splat(0.0), splat(0.0), splat(0.0)};
        double *z = work.packed.data() + q * panel;
        for (int64_t r = 0; r < m; r += 4)
            for (int64_t s = r; s < r + 4; ++s) {
                const v8 v = load(z + s * LANES);
                sum[s - r] += work.residual[s] * v;
                store(z + s * LANES, work.curvature[s] * v);
            }
        double *to = work.gradient.data() + q * LANES;
        store(to, load(to) + ((sum[0] + sum[1]) + (sum[2] + sum[3])));
    }
}

template <typename T>
struct Job {
    Packing<T> in;
    int64_t panels;
    const double *along, *steps;
    int64_t S;
    Order order;
    Ahead ahead;
};

template <int MI, typename T>
DISCRIM_INLINE void do_block(Job<T> &job, Work &work) {
    const double *beta = work.beta.data();
    double *eta = work.eta.data(), *slope = work.slope.data();
    const bool contiguous = job.in.x->column_stride == 1;
    if (contiguous && !job.along) predict<true, false>(job.in, job.panels, beta, job.along, eta, slope);
    if (contiguous && job.along) predict<true, true>(job.in, job.panels, beta, job.along, eta, slope);
    if (!contiguous && !job.along) predict<false, false>(job.in, job.panels, beta, job.along, eta, slope);
    if (!contiguous && job.along) predict<false, true>(job.in, job.panels, beta, job.along, eta, slope);
    for (int64_t r = 0; r < job.in.m; ++r) work.eta[r] += work.residual[r];  // the offsets lie there
    weigh(work, job.in.m, job.steps, job.along ? job.S : 0);
    if (job.order == Order::gradient) add_gradient(work, job.in.m, job.panels, job.in.panel);
    if (job.order != Order::curvature) return;
    add_gradient_and_scale(work, job.in.m, job.panels, job.in.panel);
    self_product_body<MI>(work.packed.data(), job.in.panel, job.in.m, job.panels * LANES, work.product.data(), job.ahead);
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
    for (int64_t r = 0; r < m; ++r) {
        const int64_t i = first + work.index[r];
        work.y[r] = y.share ? y.share[i] : (y.codes[i] == 1 ? 1.0 : 0.0);
        work.w[r] = y.weight ? y.weight[i] : 1.0;
        work.residual[r] = y.offset ? y.offset[i] : 0.0;
    }
    for (int64_t r = m; r < (m + LANES - 1) / LANES * LANES; ++r) work.y[r] = work.w[r] = 0.0;
}

void finish(const Work &work, int64_t p, const Point &at, Sums out) {
    const int64_t padded = panels_for(p) * LANES, size = p + 1;
    *out.loss = sum_lanes(work.loss);
    *out.least = work.least[0];
    for (int64_t l = 1; l < LANES; ++l) *out.least = std::min(*out.least, work.least[l]);
    for (int64_t s = 0; s < at.S; ++s) out.losses[s] = sum_lanes(load(work.losses.data() + s * LANES));
    if (at.order != Order::loss)
        for (int64_t j = 0; j < size; ++j) out.gradient[place(j, p)] = work.gradient[j];
    if (at.order != Order::curvature) return;
    for (int64_t i = 0; i < size; ++i)
        for (int64_t j = i; j < size; ++j) {
            const double h = work.product[i * padded + j];
            out.hessian[place(i, p) * size + place(j, p)] = h;
            out.hessian[place(j, p) * size + place(i, p)] = h;
        }
}

}  // namespace

template <typename T>
void binary_likelihood(const Rows<T> &x, const Response &y, const Point &at, Sums out) {
    const int64_t panels = panels_for(x.p), padded = panels * LANES;
    const int64_t m_max = std::min({block_rows(x.p + 1), MOST_ROWS, std::max<int64_t>(x.n, 1)}), room = m_max + LANES;
    const bool products = at.order == Order::curvature;
    Lined zero(room, 0.0);
    Work work{Lined(padded, 0.0), columns_then_constant(at.theta, x.p), columns_then_constant(at.along, x.p),
              Lined(room * padded), zero, zero, zero, zero, zero, zero, std::vector<int32_t>(m_max),
              Lined(padded, 0.0), Lined(products ? padded * padded : 0, 0.0), splat(0.0),
              splat(std::numeric_limits<double>::infinity()), Lined(at.S * LANES, 0.0)};
    std::copy(at.shift, at.shift + x.p, work.shift.begin());
    for (int64_t first = 0; first < x.n; first += m_max) {
        const int64_t m = std::min(m_max, x.n - first);
        const Rows<T> block{x.data + first * x.row_stride, m, x.p, x.row_stride, x.column_stride};
        const int64_t count = rows_that_count(y.weight, first, m, work.index.data());
        gather(y, first, count, work);
        // Whole vectors may run past the end of a row as long as they stay inside the array.
        const int64_t readable = x.row_stride < x.p ? 0 : m - LANES;
        Job<T> job{{&block, work.index.data(), count, readable, work.shift.data(), work.packed.data(), room * LANES},
                   panels, at.along ? work.along.data() : nullptr, at.steps, at.S, at.order, following(x, first + m, m_max)};
        run_block(job, work);
    }
    finish(work, x.p, at, out);
}

template void binary_likelihood<double>(const Rows<double> &, const Response &, const Point &, Sums);
template void binary_likelihood<float>(const Rows<float> &, const Response &, const Point &, Sums);

}  // namespace discrim
