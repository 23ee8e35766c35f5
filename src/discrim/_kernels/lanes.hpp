// Eight doubles at a time, and one function compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#if defined(__GNUC__)
#define DISCRIM_INLINE inline __attribute__((always_inline))
#else
#define DISCRIM_INLINE inline
#endif

// The loader picks the best version for the running processor, so that one build runs everywhere.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define DISCRIM_VERSIONS(name, parameters, arguments)                                                        \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma"))) void name parameters {            \
        name##_body<8> arguments;                                                                            \
    }                                                                                                        \
    __attribute__((target("avx2,fma"))) void name parameters { name##_body<4> arguments; }                   \
    __attribute__((target("default"))) void name parameters { name##_body<4> arguments; }
#else
#define DISCRIM_VERSIONS(name, parameters, arguments)                                                        \
    void name parameters { name##_body<4> arguments; }
#endif

namespace discrim {

constexpr int64_t LANES = 8;

typedef double v8 __attribute__((vector_size(64)));
typedef int64_t v8i __attribute__((vector_size(64)));
typedef double v8u __attribute__((vector_size(64), aligned(8)));

DISCRIM_INLINE v8 load(const double *p) { return *reinterpret_cast<const v8u *>(p); }
DISCRIM_INLINE void store(double *p, v8 v) { *reinterpret_cast<v8u *>(p) = v; }
DISCRIM_INLINE v8 splat(double x) { return v8{x, x, x, x, x, x, x, x}; }

// Memory in which eight lanes never straddle two cache lines.
template <typename T>
struct OnLines {
    using value_type = T;
    OnLines() = default;
    template <typename U>
    OnLines(const OnLines<U> &) {}
    T *allocate(std::size_t n) { return static_cast<T *>(::operator new(n * sizeof(T), std::align_val_t(64))); }
    void deallocate(T *p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
    bool operator==(const OnLines &) const { return true; }
    bool operator!=(const OnLines &) const { return false; }
};
using Lined = std::vector<double, OnLines<double>>;

// exp(x) for x <= 0, to about one unit in the last place; results below 1e-307 become 0.
DISCRIM_INLINE v8 exp_nonpositive(v8 x) {
    const v8 magic = splat(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer
    const v8 floor = splat(-707.0);
    const v8 clamped = x > floor ? x : floor;
    const v8 shifted = clamped * splat(1.4426950408889634) + magic;
    const v8 n = shifted - magic;
    const v8 r = (clamped - n * splat(6.93147180369123816490e-01)) - n * splat(1.90821492927058770002e-10);
    // Even and odd powers by themselves, so that one need not wait for the other.
    const v8 square = r * r;
    v8 even = splat(1.0 / 479001600.0), odd = splat(1.0 / 6227020800.0);
    odd = odd * square + 1.0 / 39916800.0;
    even = even * square + 1.0 / 3628800.0;
    odd = odd * square + 1.0 / 362880.0;
    even = even * square + 1.0 / 40320.0;
    odd = odd * square + 1.0 / 5040.0;
    even = even * square + 1.0 / 720.0;
    odd = odd * square + 1.0 / 120.0;
    even = even * square + 1.0 / 24.0;
    odd = odd * square + 1.0 / 6.0;
    even = even * square + 0.5;
    odd = odd * square + 1.0;
    even = even * square + 1.0;
    const v8 e = odd * r + even;
    v8i bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    const v8i power = (bits + 1023) << 52;
    v8 scale;
    std::memcpy(&scale, &power, sizeof scale);
    const v8 result = e * scale;
    return x > floor ? result : splat(0.0);
}

}  // namespace discrim
