// Eight doubles at a time, and one function compiled for several instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
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
