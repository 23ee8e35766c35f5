// Compressed rows, learned one after another: the cost of a row is its entries.
//
// No version fuses multiplications with additions: a score that is exactly zero in two roundings, as scores of
// perceptrons are, would not be so in one. (The build switches contraction off for this file.)
#include <algorithm>
#include <limits>
#include <type_traits>

#include "online/online.hpp"
#include "online/online_rules.hpp"

#if DISCRIM_HAS_VERSIONS
#define DISCRIM_UNFUSED(name, parameters, arguments)                                              \
    __attribute__((target("avx2"))) void name##_avx2 parameters { learn_body arguments; }         \
    inline void name##_baseline parameters { learn_body arguments; }                              \
    inline void name parameters {                                                                 \
        if (version() == Version::baseline) return name##_baseline arguments;                     \
        return name##_avx2 arguments;                                                             \
    }
#else
#define DISCRIM_UNFUSED(name, parameters, arguments) \
    inline void name parameters { learn_body arguments; }
#endif

namespace discrim {
namespace {

// Rows that are asked for ahead of their use: in random order they are not foreseen by the processor.
constexpr int64_t LEAD = 4;
// Bytes that are near anyway.
constexpr int64_t NEAR = 1 << 19;

template <typename T, typename I>
DISCRIM_INLINE Entries<T, I> entries_of(const SparseRows<T, I> &x, int64_t i) {
    return {x.value + x.first[i], x.column + x.first[i], x.first[i + 1] - x.first[i]};
}

// Do all columns lie between 0 and p? The sign of a column, or of its distance to the last, would tell.
template <typename T, typename I>
DISCRIM_INLINE bool inside(const Entries<T, I> &row, int64_t p) {
    using Bits = std::make_unsigned_t<I>;
    const Bits last = static_cast<Bits>(std::min<int64_t>(p - 1, std::numeric_limits<I>::max()));
    Bits signs = 0;
    for (int64_t k = 0; k < row.count; ++k) {
        const Bits column = static_cast<Bits>(row.column[k]);
        signs |= column | (last - column);
    }
    return static_cast<I>(signs) >= 0;
}

template <typename T, typename I>
DISCRIM_INLINE void learn_body(const SparseRows<T, I> &x, const Visits &visits, const Settings &settings,
                               const Problems &problems, bool known, bool &fine) {
    const int64_t entries = x.first[x.n] - x.first[0];
    const bool far = visits.order && entries * static_cast<int64_t>(sizeof(T) + sizeof(I)) > NEAR;
    const T *end = x.value + x.first[x.n];
    visit(visits, settings, problems, [&](int64_t v) DISCRIM_INLINED {
        Entries<T, I> row = entries_of(x, visits.row(v)), later{nullptr, nullptr, 0};
        // Looked at here, where the row is about to be read anyway.
        if (!known && !inside(row, x.p)) {
            fine = false;
            row.count = 0;
        }
        if (far) {
            // Where a row begins has to be known before its entries can be asked for.
            __builtin_prefetch(x.first + visits.row_after(v, 2 * LEAD));
            later = entries_of(x, visits.row_after(v, LEAD));
        }
        const bool followed = known && end - row.value >= ((row.count + 7) & ~INT64_C(7));
        return CompressedRow<T, I>{row.value, row.column, row.count, followed, later};
    });
}

#define DISCRIM_LEARN(T, I)                                                                                            \
    DISCRIM_UNFUSED(learn,                                                                                             \
                    (const SparseRows<T, I> &x, const Visits &visits, const Settings &settings,            \
                     const Problems &problems, bool known, bool &fine),                                                          \
                    (x, visits, settings, problems, known, fine))
DISCRIM_LEARN(double, int32_t)
DISCRIM_LEARN(double, int64_t)
DISCRIM_LEARN(float, int32_t)
DISCRIM_LEARN(float, int64_t)

}  // namespace

template <typename T, typename I>
bool learn_sparse(const SparseRows<T, I> &x, const Visits &visits, const Settings &settings,
                  const Problems &problems, bool known) {
    bool fine = true;
    learn(x, visits, settings, problems, known, fine);
    return fine;
}

#define DISCRIM_INSTANCE(T, I) \
    template bool learn_sparse<T, I>(const SparseRows<T, I> &, const Visits &, const Settings &, const Problems &, \
                                     bool);
DISCRIM_INSTANCE(double, int32_t)
DISCRIM_INSTANCE(double, int64_t)
DISCRIM_INSTANCE(float, int32_t)
DISCRIM_INSTANCE(float, int64_t)

}  // namespace discrim
