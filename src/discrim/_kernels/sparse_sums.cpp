// Sums of compressed rows by class. Counts are small whole numbers as a rule: these are added up in 32 bits, so that
// half the cache is enough for them.

#include <algorithm>
#include <type_traits>
#include <vector>

#include "counts.hpp"
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

typedef int32_t i4 __attribute__((vector_size(16)));

template <typename T, typename I>
struct Work {
    const T *value;
    const I *column;
    int64_t size;  // entries of the row
    Entry entry;
    uint32_t *sums;
};

// Adds what fits into a byte, as often as `sign` says, and tells whether all did; `least` is kept for binary entries.
template <bool BINARY, typename T, typename I>
DISCRIM_INLINE void add_bytes(const Work<T, I> &w, uint32_t sign, bool &all, double &least) {
    v4 low = every<v4>(least);
    v4i wrong{};
    int64_t at = 0;
    for (; at + 4 <= w.size; at += 4) {
        v4 v = get<v4>(w.value + at);
        if (BINARY) {
            low = v < low ? v : low;
            v = (v > every<v4>(w.entry.threshold) ? every<v4>(1.0) : v4{}) + (v - v);
        }
        const v4 safe = (v >= v4{}) & (v < every<v4>(BYTE)) ? v : v4{};
        const i4 whole = __builtin_convertvector(safe, i4);
        wrong |= __builtin_convertvector(whole, v4) != v;
        for (int l = 0; l < 4; ++l) w.sums[w.column[at + l]] += sign * static_cast<uint32_t>(whole[l]);
    }
    bool fits = !(wrong[0] | wrong[1] | wrong[2] | wrong[3]);
    if (BINARY) least = std::min(std::min(low[0], low[1]), std::min(low[2], low[3]));
    for (; at < w.size; ++at) {
        const double raw = static_cast<double>(w.value[at]), v = w.entry(raw);
        if (BINARY) least = raw < least ? raw : least;
        const uint32_t whole = v >= 0 && v < BYTE ? static_cast<uint32_t>(v) : 0;
        fits &= whole == v;
        w.sums[w.column[at]] += sign * whole;
    }
    all = fits;
}

template <int MI, typename T, typename I>
DISCRIM_INLINE void add_whole_body(const Work<T, I> &w, uint32_t sign, bool &all, double &least) {
    if (w.entry.binary)
        add_bytes<true>(w, sign, all, least);
    else
        add_bytes<false>(w, sign, all, least);
}

// A negative column becomes a large one.
template <int MI, typename I, typename U>
DISCRIM_INLINE void last_column_body(const I *column, int64_t size, U &last) {
    U most = 0;
    for (int64_t at = 0; at < size; ++at) most = std::max(most, static_cast<U>(column[at]));
    last = most;
}

using D32 = Work<double, int32_t>;
using D64 = Work<double, int64_t>;
using F32 = Work<float, int32_t>;
using F64 = Work<float, int64_t>;
DISCRIM_VERSIONS(add_whole, (const D32 &w, uint32_t sign, bool &all, double &least), (w, sign, all, least))
DISCRIM_VERSIONS(add_whole, (const D64 &w, uint32_t sign, bool &all, double &least), (w, sign, all, least))
DISCRIM_VERSIONS(add_whole, (const F32 &w, uint32_t sign, bool &all, double &least), (w, sign, all, least))
DISCRIM_VERSIONS(add_whole, (const F64 &w, uint32_t sign, bool &all, double &least), (w, sign, all, least))
DISCRIM_VERSIONS(last_column, (const int32_t *column, int64_t size, uint32_t &last), (column, size, last))
DISCRIM_VERSIONS(last_column, (const int64_t *column, int64_t size, uint64_t &last), (column, size, last))

// The sums of whole numbers beside those of all others: of all classes, or of one after the other.
struct Whole {
    std::vector<uint32_t> sums;
    double *count;
    int64_t entries = 0;

    void move() {
        for (size_t at = 0; at < sums.size(); ++at) count[at] += static_cast<double>(sums[at]);
        std::fill(sums.begin(), sums.end(), 0u);
        entries = 0;
    }
};

template <typename T, typename I>
void ask_for(const SparseRows<T, I> &x, int64_t i) {
    constexpr int64_t LINE = 64;
    for (int64_t at = x.first[i]; at < x.first[i + 1]; at += LINE / sizeof(T)) __builtin_prefetch(x.value + at);
    for (int64_t at = x.first[i]; at < x.first[i + 1]; at += LINE / sizeof(I)) __builtin_prefetch(x.column + at);
}

}  // namespace

template <typename T, typename I>
bool sparse_sums(const SparseRows<T, I> &x, const int32_t *codes, const double *weight, int64_t K, Entry entry,
                 ClassSums out) {
    count_rows(codes, weight, x.n, K, out);
    std::fill(out.count, out.count + K * x.p, 0.0);
    const bool near = K * x.p <= NEAR;
    const std::vector<int64_t> order = near ? std::vector<int64_t>() : by_class(codes, x.n, K);
    bool fits = !weight;
    Whole whole{std::vector<uint32_t>(fits ? (near ? K : 1) * x.p : 0), out.count};
    double least = 0.0;
    for (int64_t q = 0; q < x.n; ++q) {
        const int64_t i = near ? q : order[q];
        if (!near && q + AHEAD < x.n) ask_for(x, order[q + AHEAD]);
        const int64_t first = x.first[i], size = static_cast<int64_t>(x.first[i + 1]) - first;
        std::make_unsigned_t<I> last;
        last_column(x.column + first, size, last);
        if (size && last >= static_cast<std::make_unsigned_t<I>>(x.p)) return false;
        double *count = out.count + codes[i] * x.p;
        if (fits && size <= MOST) {
            if (whole.entries + size > MOST || (!near && whole.count != count)) whole.move();
            if (!near) whole.count = count;
            whole.entries += size;
            const Work<T, I> row{x.value + first, x.column + first, size, entry, whole.sums.data() + (count - whole.count)};
            add_whole(row, 1u, fits, least);
            if (fits) continue;
            // What was added of this row is taken away again, and no other row is tried.
            bool again;
            add_whole(row, ~0u, again, least);
        }
        const double w = weight ? weight[i] : 1.0;
        for (int64_t at = first; at < first + size; ++at) {
            const double v = static_cast<double>(x.value[at]);
            least = v < least ? v : least;
            count[x.column[at]] += w * entry(v);
        }
    }
    whole.move();
    *out.least = least;
    return true;
}

#define DISCRIM_COMPRESSED(T, I) \
    template bool sparse_sums(const SparseRows<T, I> &, const int32_t *, const double *, int64_t, Entry, ClassSums);
DISCRIM_COMPRESSED(double, int32_t)
DISCRIM_COMPRESSED(double, int64_t)
DISCRIM_COMPRESSED(float, int32_t)
DISCRIM_COMPRESSED(float, int64_t)

}  // namespace discrim
