// Sums of compressed rows by class. Counts are small whole numbers as a rule: these are added up in 32 bits, so that
// half the cache is enough for them.

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "counts/counts.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// Sums up to this many lie in cache together, and rows are read as they come; else class by class.
constexpr int64_t NEAR = int64_t{1} << 19;
// Rows ahead that are asked for where they are not read as they come.
constexpr int64_t AHEAD = 2;
// Entries below BYTE are added up in 32 bits, and so many of them cannot overflow.
constexpr double BYTE = 256.0;
constexpr int64_t MOST = int64_t{1} << 24;

// A whole number below 2^32 that is added to ALIGN is found in the low bits of the sum.
constexpr double ALIGN = 4503599627370496.0;

// Rows that are added up before their sums are moved: those of all classes as they come, or of one class.
template <typename T, typename I>
struct Run {
    const SparseRows<T, I> &x;
    const int32_t *codes;
    const int64_t *order;  // null where rows are read as they come
    int64_t from, to;
    Entry entry;
    uint32_t *sums;
    int64_t stride;  // from the sums of a class to those of the next, 0 for one class
};

// How far the rows were read: up to the first that does not fit, or that has a column outside the matrix.
struct Reached {
    int64_t row;
    bool inside = true, fits = true;
    double least;
};

template <typename T, typename I>
struct Row {
    const T *value;
    const I *column;
    int64_t size;
};

template <typename T, typename I>
DISCRIM_INLINE Row<T, I> row_of(const SparseRows<T, I> &x, int64_t i) {
    const int64_t first = x.first[i];
    return {x.value + first, x.column + first, static_cast<int64_t>(x.first[i + 1]) - first};
}

template <typename T, typename I>
DISCRIM_INLINE bool is_inside(const Row<T, I> &row, int64_t p) {
    // A negative column becomes a large one.
    using U = std::make_unsigned_t<I>;
    U most = 0;
    for (int64_t at = 0; at < row.size; ++at) most = std::max(most, static_cast<U>(row.column[at]));
    return row.size == 0 || most < static_cast<U>(p);
}

// Adds what fits into a byte, as often as `sign` says, and tells whether all did; `least` is kept for binary entries.
template <bool BINARY, typename T, typename I>
DISCRIM_INLINE bool add_bytes(const Row<T, I> &row, Entry entry, uint32_t *sums, uint32_t sign, double &least) {
    v4 low = every<v4>(least);
    v4i wrong{};
    int64_t at = 0;
    for (; at + 4 <= row.size; at += 4) {
        const v4 v = get<v4>(row.value + at);
        v4i whole;
        if (BINARY) {
            low = v < low ? v : low;
            whole = (v > every<v4>(entry.threshold)) & 1;
            wrong |= v - v != v4{};
        } else {
            const v4 aligned = v + every<v4>(ALIGN);
            whole = reinterpret_cast<v4i>(aligned);
            wrong |= (aligned - every<v4>(ALIGN) != v) | (v < v4{}) | (v >= every<v4>(BYTE));
        }
        for (int l = 0; l < 4; ++l) sums[row.column[at + l]] += sign * static_cast<uint32_t>(whole[l]);
    }
    bool fits = !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
    if (BINARY) least = std::min(std::min(low[0], low[1]), std::min(low[2], low[3]));
    for (; at < row.size; ++at) {
        const double raw = static_cast<double>(row.value[at]), v = entry(raw);
        if (BINARY) least = raw < least ? raw : least;
        const uint32_t whole = v >= 0 && v < BYTE ? static_cast<uint32_t>(v) : 0;
        fits &= whole == v;
        sums[row.column[at]] += sign * whole;
    }
    return fits;
}

template <typename T, typename I>
DISCRIM_INLINE void ask_for(const Row<T, I> &row) {
    constexpr int64_t LINE = 64;
    for (int64_t at = 0; at < row.size; at += LINE / sizeof(T)) __builtin_prefetch(row.value + at);
    for (int64_t at = 0; at < row.size; at += LINE / sizeof(I)) __builtin_prefetch(row.column + at);
}

template <bool BINARY, typename T, typename I>
DISCRIM_INLINE void add_rows(const Run<T, I> &run, Reached &reached) {
    double least = reached.least;
    for (int64_t q = run.from; q < run.to; ++q) {
        if (run.order && q + AHEAD < run.to) ask_for(row_of(run.x, run.order[q + AHEAD]));
        const int64_t i = run.order ? run.order[q] : q;
        const auto row = row_of(run.x, i);
        uint32_t *sums = run.sums + run.codes[i] * run.stride;
        reached.row = q;
        if (!(reached.inside = is_inside(row, run.x.p))) return;
        if (!(reached.fits = add_bytes<BINARY>(row, run.entry, sums, 1u, least))) {
            // What was added of this row is taken away again.
            add_bytes<BINARY>(row, run.entry, sums, ~0u, least);
            break;
        }
        reached.row = run.to;
    }
    reached.least = least;
}

template <int MI, typename T, typename I>
DISCRIM_INLINE void add_run_body(const Run<T, I> &run, Reached &reached) {
    if (run.entry.binary)
        add_rows<true>(run, reached);
    else
        add_rows<false>(run, reached);
}

using D32 = Run<double, int32_t>;
using D64 = Run<double, int64_t>;
using F32 = Run<float, int32_t>;
using F64 = Run<float, int64_t>;
DISCRIM_VERSIONS(add_run, (const D32 &run, Reached &reached), (run, reached))
DISCRIM_VERSIONS(add_run, (const D64 &run, Reached &reached), (run, reached))
DISCRIM_VERSIONS(add_run, (const F32 &run, Reached &reached), (run, reached))
DISCRIM_VERSIONS(add_run, (const F64 &run, Reached &reached), (run, reached))

// Where the run that starts at `from` ends: before another class unless all are near, and before MOST entries.
template <typename T, typename I>
int64_t end_of_run(const SparseRows<T, I> &x, const int32_t *codes, const std::vector<int64_t> &order, int64_t from) {
    int64_t to = from, entries = 0;
    for (; to < x.n; ++to) {
        const int64_t i = order.empty() ? to : order[to];
        entries += row_of(x, i).size;
        if (entries > MOST || (!order.empty() && codes[i] != codes[order[from]])) break;
    }
    return to;
}

void move(std::vector<uint32_t> &sums, double *count, bool first) {
    if (first)
        std::copy(sums.begin(), sums.end(), count);
    else
        for (size_t at = 0; at < sums.size(); ++at) count[at] += static_cast<double>(sums[at]);
    std::fill(sums.begin(), sums.end(), 0u);
}

}  // namespace

template <typename T, typename I>
bool sparse_sums(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, int64_t K, Entry entry,
                 ClassSums out) {
    count_rows(codes, weight, x.n, K, out);
    const bool near = K * x.p <= NEAR;
    // What is written by the first move need not be cleared before.
    bool first = near && !weight && x.n > 0;
    if (!first) std::fill(out.count, out.count + K * x.p, 0.0);
    const std::vector<int64_t> order = near ? std::vector<int64_t>() : by_class(codes, x.n, K);
    std::vector<uint32_t> sums(weight ? 0 : (near ? K : 1) * x.p);
    Reached reached{0, true, !weight, 0.0};
    for (int64_t q = 0; q < x.n;) {
        const int64_t to = reached.fits ? end_of_run(x, codes, order, q) : q;
        if (to > q) {
            const int64_t *rows = near ? nullptr : order.data();
            const Run<T, I> run{x, codes, rows, q, to, entry, sums.data(), near ? x.p : 0};
            add_run(run, reached);
            if (!reached.inside) return false;
            move(sums, near ? out.count : out.count + codes[order[q]] * x.p, first);
            first = false;
            q = reached.row;
            if (reached.fits) continue;
        }
        if (std::exchange(first, false)) std::fill(out.count, out.count + K * x.p, 0.0);
        // One after another where weights, fractions or large counts are to be added.
        const int64_t i = near ? q : order[q];
        ++q;
        const auto row = row_of(x, i);
        if (!is_inside(row, x.p)) return false;
        double *count = out.count + codes[i] * x.p;
        const double w = weight ? weight[i] : 1.0;
        for (int64_t at = 0; at < row.size; ++at) {
            const double v = static_cast<double>(row.value[at]);
            reached.least = v < reached.least ? v : reached.least;
            count[row.column[at]] += w * entry(v);
        }
    }
    *out.least = reached.least;
    return true;
}

#define DISCRIM_COMPRESSED(T, I) \
    template bool sparse_sums(const SparseRows<T, I> &, const int32_t *, const double *, int64_t, Entry, ClassSums);
DISCRIM_COMPRESSED(double, int32_t)
DISCRIM_COMPRESSED(double, int64_t)
DISCRIM_COMPRESSED(float, int32_t)
DISCRIM_COMPRESSED(float, int64_t)

}  // namespace discrim
