// Vectors as wide as the processor's: eight doubles with AVX-512, else four. A compiler keeps wider ones in memory and
// takes them through it at every step.
#pragma once

#include <cstring>

#include "lanes.hpp"

namespace discrim {

typedef double v4 __attribute__((vector_size(32)));
typedef int64_t v4i __attribute__((vector_size(32)));
typedef double v4u __attribute__((vector_size(32), aligned(8)));
typedef float f8u __attribute__((vector_size(32), aligned(4)));
typedef float f4u __attribute__((vector_size(16), aligned(4)));

// By the number that DISCRIM_VERSIONS gives to each of its versions.
template <int MI>
struct VectorOf {
    using type = v4;
};
template <>
struct VectorOf<8> {
    using type = v8;
};
template <int MI>
using Native = typename VectorOf<MI>::type;

template <typename V>
struct Kin;
template <>
struct Kin<v4> {
    using Integers = v4i;
    using Unaligned = v4u;
    using Floats = f4u;
    static DISCRIM_INLINE v4i numbered() { return v4i{0, 1, 2, 3}; }
};
template <>
struct Kin<v8> {
    using Integers = v8i;
    using Unaligned = v8u;
    using Floats = f8u;
    static DISCRIM_INLINE v8i numbered() { return v8i{0, 1, 2, 3, 4, 5, 6, 7}; }
};

template <typename V>
constexpr int64_t WIDTH = sizeof(V) / sizeof(double);

template <typename V>
DISCRIM_INLINE V get(const double *p) {
    return *reinterpret_cast<const typename Kin<V>::Unaligned *>(p);
}
template <typename V>
DISCRIM_INLINE V get(const float *p) {
    return __builtin_convertvector(*reinterpret_cast<const typename Kin<V>::Floats *>(p), V);
}
template <typename V>
DISCRIM_INLINE void put(double *p, V v) {
    *reinterpret_cast<typename Kin<V>::Unaligned *>(p) = v;
}
template <typename V>
DISCRIM_INLINE V every(double x) {
    return V{} + x;
}
template <typename V>
DISCRIM_INLINE double sum_of(V v) {
    double sum = 0.0;
    for (int64_t l = 0; l < WIDTH<V>; ++l) sum += v[l];
    return sum;
}

// exp(x) for x <= 0, to about one unit in the last place; results below 1e-307 become 0.
template <typename V>
DISCRIM_INLINE V exp_below_zero(V x) {
    using I = typename Kin<V>::Integers;
    const V magic = every<V>(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer
    const V floor = every<V>(-707.0);
    const V clamped = x > floor ? x : floor;
    const V shifted = clamped * 1.4426950408889634 + magic;
    const V n = shifted - magic;
    const V r = (clamped - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    // Even and odd powers by themselves, so that one need not wait for the other.
    const V square = r * r;
    V even = every<V>(1.0 / 479001600.0), odd = every<V>(1.0 / 6227020800.0);
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
    const V e = odd * r + even;
    I bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    const I power = (bits + 1023) << 52;
    V scale;
    std::memcpy(&scale, &power, sizeof scale);
    const V result = e * scale;
    return x > floor ? result : V{};
}

}  // namespace discrim
