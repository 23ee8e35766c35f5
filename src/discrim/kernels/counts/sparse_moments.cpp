// Means and variances of compressed rows by class. Zeros are counted, not visited: the cost is that of the entries.

#include <cmath>
#include <vector>

#include "counts/counts.hpp"

namespace discrim {
namespace {

// Sums over the entries of one column in one class, about the mean once that is known.
struct Cell {
    double mean = 0.0, first = 0.0, square = 0.0, weight = 0.0;
    int64_t rows = 0;
    bool met = false;
};

struct Found {
    double mean, low, scatter;
};

// S = sum over stored w (x - mu)^2 + (weight of the zeros) mu^2, about a mean that is corrected by what it missed.
Found finished(const Cell &cell, double weight, int64_t rows) {
    // Where there are no zeros the two weights differ by rounding, which the mean would blow up.
    const double zeros = cell.rows < rows ? weight - cell.weight : 0.0, by = weight > 0 ? weight : 1.0;
    const double missed = (cell.first - zeros * cell.mean) / by;
    const double scatter = cell.square + zeros * (cell.mean * cell.mean) - weight * (missed * missed);
    const double mean = cell.mean + missed, moved = mean - cell.mean;
    return {mean, (cell.mean - (mean - moved)) + (missed - moved), scatter < 0.0 ? 0.0 : scatter};
}

}  // namespace

template <typename T, typename I>
bool sparse_moments(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, int64_t K, Moments out) {
    count_rows(codes, weight, x.n, K, ClassSums{out.weight, out.rows, nullptr, nullptr});
    const std::vector<int64_t> order = by_class(codes, x.n, K);
    std::vector<Cell> cells(x.p);
    std::vector<int64_t> met;
    for (int64_t from = 0, to; from < x.n; from = to) {
        const int64_t k = codes[order[from]];
        const double total = out.weight[k];
        for (to = from; to < x.n && codes[order[to]] == k; ++to) {
            const int64_t i = order[to];
            const double w = weight ? weight[i] : 1.0;
            for (int64_t at = x.first[i]; at < static_cast<int64_t>(x.first[i + 1]); ++at) {
                const int64_t j = x.column[at];
                if (j < 0 || j >= x.p) return false;
                Cell &cell = cells[j];
                if (!cell.met) met.push_back(j);
                cell.met = true;
                cell.mean += w * static_cast<double>(x.value[at]);
            }
        }
        for (const int64_t j : met) cells[j].mean /= total > 0 ? total : 1.0;
        for (int64_t q = from; q < to; ++q) {
            const int64_t i = order[q];
            const double w = weight ? weight[i] : 1.0;
            for (int64_t at = x.first[i]; at < static_cast<int64_t>(x.first[i + 1]); ++at) {
                Cell &cell = cells[x.column[at]];
                const double d = static_cast<double>(x.value[at]) - cell.mean;
                cell.first += w * d;
                cell.square += w * d * d;
                cell.weight += w;
                cell.rows += w > 0;
            }
        }
        for (const int64_t j : met) {
            const Found found = finished(cells[j], total, out.rows[k]);
            out.mean[k * x.p + j] = found.mean;
            out.low[k * x.p + j] = found.low;
            out.scatter[k * x.p + j] = found.scatter;
            cells[j] = Cell{};
        }
        met.clear();
    }
    return true;
}

#define DISCRIM_COMPRESSED(T, I) \
    template bool sparse_moments(const SparseRows<T, I> &, const int32_t *, const double *, int64_t, Moments);
DISCRIM_COMPRESSED(double, int32_t)
DISCRIM_COMPRESSED(double, int64_t)
DISCRIM_COMPRESSED(float, int32_t)
DISCRIM_COMPRESSED(float, int64_t)

}  // namespace discrim
