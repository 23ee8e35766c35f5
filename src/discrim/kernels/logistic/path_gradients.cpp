// Every lane is another theta, so that a number of X is read once for all of them. Rows are shifted into a block
// that stays in cache, or read where they are if there is nothing to shift; then the linear predictors and the
// gradients are products of matrices. Columns whose coefficients are all zero have no part in the predictors.

#include "logistic/path_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "logistic/logistic_lanes.hpp"

namespace discrim {
namespace {

struct Block {
    const double *z;  // rows x p, shifted
    int64_t rows, stride, p;
    const double *y, *w, *offset;
    const int64_t *used;  // columns with a coefficient
    int64_t count;
    const double *theta;  // (1 + count) x 8: the constants first, then those of the used columns
    double *gradient;     // (1 + p) x 8
    double *residual;     // rows x 8
    double *losses;       // 8
    bool weighted;
};

// A row's eight lanes as vectors of the processor's width.
template <typename V>
constexpr int PARTS = LANES / WIDTH<V>;

// eta of N rows from row r on.
template <typename V, int N>
DISCRIM_INLINE void predict(const Block &b, int64_t r, V eta[N][PARTS<V>]) {
    for (int s = 0; s < N; ++s)
        for (int h = 0; h < PARTS<V>; ++h) eta[s][h] = get<V>(b.theta + h * WIDTH<V>) + b.offset[r + s];
    const double *z = b.z + r * b.stride;
    for (int64_t k = 0; k < b.count; ++k) {
        const int64_t j = b.used[k];
        V theta[PARTS<V>];
        for (int h = 0; h < PARTS<V>; ++h) theta[h] = get<V>(b.theta + (k + 1) * LANES + h * WIDTH<V>);
        for (int s = 0; s < N; ++s)
            for (int h = 0; h < PARTS<V>; ++h) eta[s][h] += z[s * b.stride + j] * theta[h];
    }
}

// Loss and residual of a row. Without weights log(1 + exp(-|eta|)) is left to one logarithm of the product of many.
template <bool weighted, typename V>
DISCRIM_INLINE void weigh(const Block &b, int64_t r, double *residual, V eta, V &loss, V &product) {
    if (weighted) {
        const Logistic<V> at = logistic(eta);
        loss += b.w[r] * (at.log_sum - b.y[r] * eta);
        put(residual, b.w[r] * (at.mu * (1.0 - b.y[r]) - at.rest * b.y[r]));
    } else {
        const V zero{}, e = exp_below_zero(eta < zero ? eta : -eta), inverse = 1.0 / (1.0 + e);
        const V small = e * inverse;
        const auto up = eta >= zero;
        loss += (up ? eta : zero) - b.y[r] * eta;
        product *= 1.0 + e;
        put(residual, (up ? inverse : small) * (1.0 - b.y[r]) - (up ? small : inverse) * b.y[r]);
    }
}

// Gradients of N neighbouring columns.
template <typename V, int N>
DISCRIM_INLINE void add_gradients(const Block &b, int64_t j) {
    V sum[N][PARTS<V>];
    for (int k = 0; k < N; ++k)
        for (int h = 0; h < PARTS<V>; ++h) sum[k][h] = V{};
    for (int64_t r = 0; r < b.rows; ++r) {
        V residual[PARTS<V>];
        for (int h = 0; h < PARTS<V>; ++h) residual[h] = get<V>(b.residual + r * LANES + h * WIDTH<V>);
        const double *z = b.z + r * b.stride + j;
        for (int k = 0; k < N; ++k)
            for (int h = 0; h < PARTS<V>; ++h) sum[k][h] += z[k] * residual[h];
    }
    for (int k = 0; k < N; ++k)
        for (int h = 0; h < PARTS<V>; ++h) {
            double *to = b.gradient + (j + k + 1) * LANES + h * WIDTH<V>;
            put(to, get<V>(to) + sum[k][h]);
        }
}

template <bool weighted, typename V, int N>
DISCRIM_INLINE void weigh_rows_of(const Block &b, int64_t r, V *loss, V *product) {
    V eta[N][PARTS<V>];
    predict<V, N>(b, r, eta);
    for (int s = 0; s < N; ++s)
        for (int h = 0; h < PARTS<V>; ++h)
            weigh<weighted>(b, r + s, b.residual + (r + s) * LANES + h * WIDTH<V>, eta[s][h], loss[h], product[h]);
}

// A block has at most 512 rows, so that the product stays below 2^512.
template <bool weighted, typename V>
DISCRIM_INLINE void weigh_block(const Block &b) {
    constexpr int N = WIDTH<V>;
    V loss[PARTS<V>], product[PARTS<V>];
    for (int h = 0; h < PARTS<V>; ++h) {
        loss[h] = V{};
        product[h] = every<V>(1.0);
    }
    int64_t r = 0;
    for (; r + N <= b.rows; r += N) weigh_rows_of<weighted, V, N>(b, r, loss, product);
    for (; r < b.rows; ++r) weigh_rows_of<weighted, V, 1>(b, r, loss, product);
    for (int h = 0; h < PARTS<V>; ++h)
        for (int64_t l = 0; l < N; ++l) b.losses[h * N + l] += loss[h][l] + (weighted ? 0.0 : std::log(product[h][l]));
}

template <int MI>
DISCRIM_INLINE void do_several_body(const Block &b) {
    using V = Native<MI>;
    constexpr int N = WIDTH<V>;
    if (b.weighted) weigh_block<true, V>(b);
    else weigh_block<false, V>(b);
    for (int h = 0; h < PARTS<V>; ++h) {
        V constant = get<V>(b.gradient + h * N);
        for (int64_t r = 0; r < b.rows; ++r) constant += get<V>(b.residual + r * LANES + h * N);
        put(b.gradient + h * N, constant);
    }
    // As many columns as the processor has registers for their sums.
    constexpr int MOST = 12 / PARTS<V>, FEW = MOST / 3;
    int64_t j = 0;
    for (; j + MOST <= b.p; j += MOST) add_gradients<V, MOST>(b, j);
    for (; j + FEW <= b.p; j += FEW) add_gradients<V, FEW>(b, j);
    for (; j < b.p; ++j) add_gradients<V, 1>(b, j);
}
DISCRIM_VERSIONS(do_several, (const Block &b), (b))

// Rows whose numbers are neighbours, `stride` apart.
template <typename V, typename T>
DISCRIM_INLINE void shift_numbers(const T *x, int64_t stride, int64_t rows, const double *shift, int64_t p, double *z) {
    for (int64_t r = 0; r < rows; ++r, x += stride, z += p) {
        int64_t j = 0;
        for (; j + WIDTH<V> <= p; j += WIDTH<V>) put(z + j, get<V>(x + j) - get<V>(shift + j));
        for (; j < p; ++j) z[j] = x[j] - shift[j];
    }
}
template <int MI>
DISCRIM_INLINE void shift64_body(const double *x, int64_t stride, int64_t rows, const double *shift, int64_t p,
                                 double *z) {
    shift_numbers<Native<MI>>(x, stride, rows, shift, p, z);
}
template <int MI>
DISCRIM_INLINE void shift32_body(const float *x, int64_t stride, int64_t rows, const double *shift, int64_t p,
                                 double *z) {
    shift_numbers<Native<MI>>(x, stride, rows, shift, p, z);
}
DISCRIM_VERSIONS(shift64, (const double *x, int64_t stride, int64_t rows, const double *shift, int64_t p, double *z),
                 (x, stride, rows, shift, p, z))
DISCRIM_VERSIONS(shift32, (const float *x, int64_t stride, int64_t rows, const double *shift, int64_t p, double *z),
                 (x, stride, rows, shift, p, z))
inline void shift_neighbours(const double *x, int64_t stride, int64_t rows, const double *shift, int64_t p, double *z) {
    shift64(x, stride, rows, shift, p, z);
}
inline void shift_neighbours(const float *x, int64_t stride, int64_t rows, const double *shift, int64_t p, double *z) {
    shift32(x, stride, rows, shift, p, z);
}

template <typename T>
void shift_rows(const Rows<T> &x, int64_t first, int64_t rows, const double *shift, double *z) {
    const T *from = x.data + first * x.row_stride;
    if (x.column_stride == 1) return shift_neighbours(from, x.row_stride, rows, shift, x.p, z);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < x.p; ++j) z[r * x.p + j] = from[r * x.row_stride + j * x.column_stride] - shift[j];
}

// Rows that can be read where they are: nothing is to be shifted, converted, gathered or left out.
inline const double *in_place(const Rows<double> &x, const Response &y, const double *shift) {
    const bool ready = x.column_stride == 1 && !y.weight;
    return ready && std::all_of(shift, shift + x.p, [](double by) { return by == 0.0; }) ? x.data : nullptr;
}
inline const double *in_place(const Rows<float> &, const Response &, const double *) { return nullptr; }

struct Gathered {
    double *z, *y, *weight, *offset;  // z is null where rows are read in place
};

// The next rows from `i` on that count, at most `most`; returns how many there are.
template <typename T>
int64_t gather(const Rows<T> &x, const Response &y, const double *shift, int64_t most, int64_t &i, Gathered to) {
    int64_t rows = 0;
    if (!y.weight) {
        rows = std::min(most, x.n - i);
        if (to.z) shift_rows(x, i, rows, shift, to.z);
        for (int64_t r = 0; r < rows; ++r) to.y[r] = y.share ? y.share[i + r] : (y.codes[i + r] == 1 ? 1.0 : 0.0);
        if (y.offset) std::copy_n(y.offset + i, rows, to.offset);
        i += rows;
        return rows;
    }
    for (; i < x.n && rows < most; ++i) {
        if (!(y.weight[i] > 0)) continue;
        shift_rows(x, i, 1, shift, to.z + rows * x.p);
        to.y[rows] = y.share ? y.share[i] : (y.codes[i] == 1 ? 1.0 : 0.0);
        to.weight[rows] = y.weight[i];
        if (y.offset) to.offset[rows] = y.offset[i];
        ++rows;
    }
    return rows;
}

}  // namespace

template <typename T>
void several_gradients(const Rows<T> &x, const Response &y, const double *shift, const double *theta, double *losses,
                       double *gradients) {
    const int64_t p = x.p, size = p + 1;
    const int64_t most = std::clamp<int64_t>(16384 / std::max<int64_t>(p, 1) / 8 * 8, 8, 512);
    const double *there = in_place(x, y, shift);
    std::vector<double> z(there ? 0 : most * p), response(3 * most), lanes, gradient(size * LANES, 0.0),
        residual(most * LANES), loss(LANES, 0.0);
    std::vector<int64_t> used;
    const auto add_lanes = [&](int64_t j) {
        for (int64_t k = 0; k < SEVERAL; ++k) lanes.push_back(theta[k * size + j]);
    };
    add_lanes(0);
    for (int64_t j = 0; j < p; ++j) {
        int64_t k = 0;
        while (k < SEVERAL && theta[k * size + j + 1] == 0.0) ++k;
        if (k == SEVERAL) continue;
        used.push_back(j);
        add_lanes(j + 1);
    }
    double *of = response.data(), *weight = of + most, *offset = weight + most;
    for (int64_t i = 0; i < x.n;) {
        const double *block = there ? there + i * x.row_stride : z.data();
        const int64_t rows = gather(x, y, shift, most, i, {there ? nullptr : z.data(), of, weight, offset});
        do_several({block, rows, there ? x.row_stride : p, p, of, weight, offset, used.data(),
                    static_cast<int64_t>(used.size()), lanes.data(), gradient.data(), residual.data(), loss.data(),
                    y.weight != nullptr});
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
