// Eight doubles at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "versions.hpp"

// Whatever takes or returns a vector is inlined: a function of its own would be compiled for the baseline, where vectors
// are passed in another way than the version that calls it passes them. DISCRIM_INLINED is for lambdas.
#if defined(__GNUC__)
#define DISCRIM_INLINE inline __attribute__((always_inline, unused))
#define DISCRIM_INLINED __attribute__((always_inline))
#else
#define DISCRIM_INLINE inline
#define DISCRIM_INLINED
#endif

namespace discrim {

constexpr int64_t LANES = 8;

typedef double v8 __attribute__((vector_size(64)));
typedef int64_t v8i __attribute__((vector_size(64)));
typedef double v8u __attribute__((vector_size(64), aligned(8)));

// Lanes of one vector, or of two behind each other, in another order.
#if defined(__clang__)
#define DISCRIM_REORDER(a, b, Integers, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define DISCRIM_REORDER(a, b, Integers, ...) __builtin_shuffle(a, b, Integers{__VA_ARGS__})
#endif

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

}  // namespace discrim
