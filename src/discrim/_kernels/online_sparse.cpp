// Compressed rows, learned one after another: the cost of a row is its entries.
#include <algorithm>
#include <type_traits>

#include "online.hpp"
#include "online_rules.hpp"

namespace discrim {
namespace {

constexpr int64_t LEAD = 4;
constexpr int64_t LINE = 64;

template <typename E>
DISCRIM_INLINE void fetch(const E *begin, int64_t count) {
    const char *at = reinterpret_cast<const char *>(begin);
    for (int64_t b = 0; b < count * static_cast<int64_t>(sizeof(E)); b += LINE) __builtin_prefetch(at + b);
}

}  // namespace

template <typename T, typename I>
bool learn_sparse(const SparseRows<T, I> &x, const Visits &visits, const Settings &settings, const Problems &problems) {
    bool fine = true;
    visit(
        visits, settings, problems,
        [&](int64_t i) {
            const I *column = x.column + x.first[i];
            const int64_t count = x.first[i + 1] - x.first[i];
            // Looked at here, where the row is about to be read anyway.
            std::make_unsigned_t<I> largest = 0;
            for (int64_t k = 0; k < count; ++k)
                largest = std::max(largest, static_cast<std::make_unsigned_t<I>>(column[k]));
            const bool inside = count == 0 || static_cast<uint64_t>(largest) < static_cast<uint64_t>(x.p);
            fine &= inside;
            return CompressedRow<T, I>{x.value + x.first[i], column, inside ? count : 0};
        },
        [&](int64_t v) {
            if (!visits.order || v + 2 * LEAD >= visits.count) return;
            // Where a row begins has to be known before its entries can be asked for.
            __builtin_prefetch(x.first + visits.order[v + 2 * LEAD]);
            const int64_t next = visits.order[v + LEAD], count = x.first[next + 1] - x.first[next];
            fetch(x.value + x.first[next], count);
            fetch(x.column + x.first[next], count);
            __builtin_prefetch(visits.codes + next);
        });
    return fine;
}

#define DISCRIM_LEARN(T, I)                                                                                          \
    template bool learn_sparse<T, I>(const SparseRows<T, I> &, const Visits &, const Settings &, const Problems &);
DISCRIM_LEARN(double, int32_t)
DISCRIM_LEARN(double, int64_t)
DISCRIM_LEARN(float, int32_t)
DISCRIM_LEARN(float, int64_t)

}  // namespace discrim
