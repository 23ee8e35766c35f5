// Eight doubles at a time, and one function compiled for several instruction sets.
#pragma once

#include <cstdint>
#include <cstring>

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

// exp(x) for x <= 0, to about one unit in the last place; results below 1e-307 become 0.
DISCRIM_INLINE v8 exp_nonpositive(v8 x) {
    const v8 magic = splat(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer
    const v8 floor = splat(-707.0);
    const v8 clamped = x > floor ? x : floor;
    const v8 shifted = clamped * splat(1.4426950408889634) + magic;
    const v8 n = shifted - magic;
    const v8 r = (clamped - n * splat(6.93147180369123816490e-01)) - n * splat(1.90821492927058770002e-10);
    v8 e = splat(1.0 / 6227020800.0);
    e = e * r + splat(1.0 / 479001600.0);
    e = e * r + splat(1.0 / 39916800.0);
    e = e * r + splat(1.0 / 3628800.0);
    e = e * r + splat(1.0 / 362880.0);
    e = e * r + splat(1.0 / 40320.0);
    e = e * r + splat(1.0 / 5040.0);
    e = e * r + splat(1.0 / 720.0);
    e = e * r + splat(1.0 / 120.0);
    e = e * r + splat(1.0 / 24.0);
    e = e * r + splat(1.0 / 6.0);
    e = e * r + splat(0.5);
    e = e * r + splat(1.0);
    e = e * r + splat(1.0);
    v8i bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    const v8i power = (bits + 1023) << 52;
    v8 scale;
    std::memcpy(&scale, &power, sizeof scale);
    const v8 result = e * scale;
    return x > floor ? result : splat(0.0);
}

}  // namespace discrim
