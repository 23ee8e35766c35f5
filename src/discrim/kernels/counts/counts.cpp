// Rows by class, logarithms of counts, and what is left of sums without a row.

#include "counts/counts.hpp"

#include <algorithm>
#include <cmath>
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

#define DISCRIM_COMPRESSED(T, I)                                                                                     \
    template void held_out_logs(const SparseRows<T, I> &, const int32_t *, const double *, const HeldOut &, Entry,   \
                                double *);
DISCRIM_COMPRESSED(double, int32_t)
DISCRIM_COMPRESSED(double, int64_t)
DISCRIM_COMPRESSED(float, int32_t)
DISCRIM_COMPRESSED(float, int64_t)

}  // namespace discrim
