// Every entry is read once and added to the sum of its class and column; and what is left of sums without a row.

#include "counts/counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace discrim {
namespace {

// What a difference leaves of two equal numbers.
constexpr double ROUNDING = 1e-12;

// Most counts are small and whole, and the logarithms of these are looked up.
double log_left(const HeldOut &h, double left, int64_t j) {
    if (left < h.looked_up) {
        const int64_t m = static_cast<int64_t>(left);
        if (static_cast<double>(m) == left) return h.logs[m];
    }
    return std::log(left + h.prior[h.one_prior ? 0 : j]);
}

}  // namespace

void count_rows(const int32_t *codes, const double *weight, int64_t n, int64_t K, ClassSums out) {
    std::fill(out.weight, out.weight + K, 0.0);
    std::fill(out.rows, out.rows + K, int64_t{0});
    for (int64_t i = 0; i < n; ++i) {
        const double w = weight ? weight[i] : 1.0;
        out.weight[codes[i]] += w;
        out.rows[codes[i]] += w > 0;
    }
}

std::vector<int64_t> by_class(const int32_t *codes, int64_t n, int64_t K) {
    std::vector<int64_t> place(K + 1, 0), order(n);
    for (int64_t i = 0; i < n; ++i) ++place[codes[i] + 1];
    for (int64_t k = 0; k < K; ++k) place[k + 1] += place[k];
    for (int64_t i = 0; i < n; ++i) order[place[codes[i]]++] = i;
    return order;
}

void remembered_logs(const double *values, int64_t n, double *out) {
    // A place for every value, by a product whose high bits depend on all its bits; one that comes later takes it over.
    constexpr int BITS = 10;
    struct Known {
        double value = 1.0, log = 0.0;
    };
    std::vector<Known> known(size_t{1} << BITS);
    for (int64_t i = 0; i < n; ++i) {
        uint64_t bits;
        std::memcpy(&bits, values + i, sizeof bits);
        Known &here = known[(bits * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BITS)];
        if (here.value != values[i]) here = {values[i], std::log(values[i])};
        out[i] = here.log;
    }
}

template <typename T>
void dense_sums(const Rows<T> &x, const int32_t *codes, const double *weight, int64_t K, Entry entry, ClassSums out) {
    count_rows(codes, weight, x.n, K, out);
    std::fill(out.count, out.count + K * x.p, 0.0);
    double least = 0.0;
    const auto add = [&](int64_t i, int64_t j) {
        const double v = static_cast<double>(x.data[i * x.row_stride + j * x.column_stride]);
        least = v < least ? v : least;
        out.count[codes[i] * x.p + j] += (weight ? weight[i] : 1.0) * entry(v);
    };
    if (x.column_stride <= x.row_stride || x.n == 1)
        for (int64_t i = 0; i < x.n; ++i)
            for (int64_t j = 0; j < x.p; ++j) add(i, j);
    else
        for (int64_t j = 0; j < x.p; ++j)
            for (int64_t i = 0; i < x.n; ++i) add(i, j);
    *out.least = least;
}

template <typename T, typename I>
void held_out_logs(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, const HeldOut &h, Entry entry,
                   double *out) {
    for (const int64_t i : by_class(codes, x.n, h.K)) {
        const double w = weight ? weight[i] : 1.0;
        const int64_t own = codes[i];
        double *sum = h.own ? out + i : out + i * h.K;
        std::fill(sum, sum + (h.own ? 1 : h.K), 0.0);
        for (int64_t at = x.first[i]; at < static_cast<int64_t>(x.first[i + 1]); ++at) {
            const double v = entry(static_cast<double>(x.value[at]));
            if (v == 0) continue;
            const int64_t j = x.column[at];
            const double gone = w * v, power = h.plain ? 1.0 : v;
            const auto term = [&](int64_t k) {
                const double all = h.count[k * h.class_stride + j * h.column_stride];
                double left = all - gone;
                if (std::fabs(left) <= ROUNDING * all) left = 0.0;
                // A count that does not reach has nothing to lose to this row.
                return left < 0 ? 0.0 : power * log_left(h, left, j);
            };
            if (h.own) {
                *sum += term(own);
                continue;
            }
            for (int64_t k = 0; k < h.K; ++k)
                if (k != own) sum[k] += term(k);
        }
    }
}

#define DISCRIM_ROWS(T)                                                                                              \
    template void dense_sums(const Rows<T> &, const int32_t *, const double *, int64_t, Entry, ClassSums);           \
    DISCRIM_COMPRESSED(T, int32_t)                                                                                   \
    DISCRIM_COMPRESSED(T, int64_t)
#define DISCRIM_COMPRESSED(T, I)                                                                                     \
    template void held_out_logs(const SparseRows<T, I> &, const int32_t *, const double *, const HeldOut &, Entry,   \
                                double *);
DISCRIM_ROWS(double)
DISCRIM_ROWS(float)

}  // namespace discrim
