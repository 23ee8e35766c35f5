// Every lane is another theta, so that a number of X is read once for all of them. Rows are shifted into a block
// that stays in cache; there the linear predictors and the gradients are products of matrices.

#include "several.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "logistic_lanes.hpp"
#include "products.hpp"

namespace discrim {
namespace {

struct Block {
    const double *z;  // rows x p, shifted
    int64_t rows, p;
    const double *y, *w, *offset;
    const double *theta;  // (1 + p) x 8: the constants first
    double *gradient;     // likewise
    double *residual;     // rows x 8
    double *losses;       // 8
    bool weighted;
};

// eta of N rows from row r on: one vector a row.
template <int N>
DISCRIM_INLINE void predict(const Block &b, int64_t r, v8 eta[N]) {
    for (int s = 0; s < N; ++s) eta[s] = load(b.theta) + b.offset[r + s];
    const double *z = b.z + r * b.p;
    for (int64_t j = 0; j < b.p; ++j) {
        const v8 theta = load(b.theta + (j + 1) * LANES);
        for (int s = 0; s < N; ++s) eta[s] += z[s * b.p + j] * theta;
    }
}

// Loss and residual of a row. Without weights log(1 + exp(-|eta|)) is left to one logarithm of the product of many.
template <bool weighted>
DISCRIM_INLINE void weigh(const Block &b, int64_t r, v8 eta, v8 &loss, v8 &product) {
    if (weighted) {
        const Logistic at = logistic(eta);
        loss += b.w[r] * (at.log_sum - b.y[r] * eta);
        store(b.residual + r * LANES, b.w[r] * (at.mu * (1.0 - b.y[r]) - at.rest * b.y[r]));
    } else {
        const v8 zero = splat(0.0), e = exp_nonpositive(eta < zero ? eta : -eta), inverse = 1.0 / (1.0 + e);
        const v8 small = e * inverse;
        const v8i up = eta >= zero;
        loss += (up ? eta : zero) - b.y[r] * eta;
        product *= 1.0 + e;
        store(b.residual + r * LANES, (up ? inverse : small) * (1.0 - b.y[r]) - (up ? small : inverse) * b.y[r]);
    }
}

// Gradients of N neighbouring columns.
template <int N>
DISCRIM_INLINE void add_gradients(const Block &b, int64_t j) {
    v8 sum[N];
    for (int k = 0; k < N; ++k) sum[k] = splat(0.0);
    for (int64_t r = 0; r < b.rows; ++r) {
        const v8 residual = load(b.residual + r * LANES);
        const double *z = b.z + r * b.p + j;
        for (int k = 0; k < N; ++k) sum[k] += z[k] * residual;
    }
    for (int k = 0; k < N; ++k) {
        double *to = b.gradient + (j + k + 1) * LANES;
        store(to, load(to) + sum[k]);
    }
}

// A block has at most 512 rows, so that the product stays below 2^512.
template <bool weighted>
DISCRIM_INLINE v8 weigh_block(const Block &b) {
    v8 loss = splat(0.0), product = splat(1.0);
    int64_t r = 0;
    for (; r + 8 <= b.rows; r += 8) {
        v8 eta[8];
        predict<8>(b, r, eta);
        for (int s = 0; s < 8; ++s) weigh<weighted>(b, r + s, eta[s], loss, product);
    }
    for (; r < b.rows; ++r) {
        v8 eta[1];
        predict<1>(b, r, eta);
        weigh<weighted>(b, r, eta[0], loss, product);
    }
    if (!weighted)
        for (int64_t l = 0; l < LANES; ++l) loss[l] += std::log(product[l]);
    return loss;
}

template <int>
DISCRIM_INLINE void do_several_body(const Block &b) {
    const v8 loss = load(b.losses) + (b.weighted ? weigh_block<true>(b) : weigh_block<false>(b));
    v8 constant = load(b.gradient);
    int64_t r = 0;
    for (r = 0; r < b.rows; ++r) constant += load(b.residual + r * LANES);
    int64_t j = 0;
    for (; j + 8 <= b.p; j += 8) add_gradients<8>(b, j);
    for (; j < b.p; ++j) add_gradients<1>(b, j);
    store(b.losses, loss);
    store(b.gradient, constant);
}
DISCRIM_VERSIONS(do_several, (const Block &b), (b))

template <typename T>
void shift_row(const Rows<T> &x, int64_t i, const double *shift, double *z) {
    const T *row = x.data + i * x.row_stride;
    if (x.column_stride == 1)
        for (int64_t j = 0; j < x.p; ++j) z[j] = row[j] - shift[j];
    else
        for (int64_t j = 0; j < x.p; ++j) z[j] = row[j * x.column_stride] - shift[j];
}

}  // namespace

template <typename T>
void several_gradients(const Rows<T> &x, const Response &y, const double *shift, const double *theta, double *losses,
                       double *gradients) {
    const int64_t p = x.p, size = p + 1;
    const int64_t most = std::clamp<int64_t>(16384 / std::max<int64_t>(p, 1) / 8 * 8, 8, 512);
    std::vector<double> z(most * p), response(3 * most), lanes(size * LANES), gradient(size * LANES, 0.0),
        residual(most * LANES), loss(LANES, 0.0);
    for (int64_t k = 0; k < SEVERAL; ++k)
        for (int64_t j = 0; j < size; ++j) lanes[j * LANES + k] = theta[k * size + j];
    double *of = response.data(), *weight = of + most, *offset = weight + most;
    for (int64_t i = 0; i < x.n;) {
        int64_t rows = 0;
        for (; i < x.n && rows < most; ++i) {
            if (y.weight && !(y.weight[i] > 0)) continue;
            shift_row(x, i, shift, z.data() + rows * p);
            of[rows] = y.share ? y.share[i] : (y.codes[i] == 1 ? 1.0 : 0.0);
            weight[rows] = y.weight ? y.weight[i] : 1.0;
            offset[rows] = y.offset ? y.offset[i] : 0.0;
            ++rows;
        }
        do_several({z.data(), rows, p, of, weight, offset, lanes.data(), gradient.data(), residual.data(), loss.data(), y.weight != nullptr});
    }
    for (int64_t k = 0; k < SEVERAL; ++k) {
        losses[k] = loss[k];
        for (int64_t j = 0; j < size; ++j) gradients[k * size + j] = gradient[j * LANES + k];
    }
}

template void several_gradients<double>(const Rows<double> &, const Response &, const double *, const double *, double *,
                                        double *);
template void several_gradients<float>(const Rows<float> &, const Response &, const double *, const double *, double *,
                                       double *);

}  // namespace discrim
