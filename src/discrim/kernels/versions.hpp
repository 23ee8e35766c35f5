// One function compiled for several instruction sets, and which of them runs.
#pragma once

#include <atomic>

namespace discrim {

enum class Version : int { baseline = 0, avx2 = 1, avx512 = 2 };

// The version that every kernel runs in. Set when the module is loaded; tests go through all that the processor has.
extern std::atomic<Version> version_in_use;

inline Version version() { return version_in_use.load(std::memory_order_relaxed); }

}  // namespace discrim

// DISCRIM_VERSIONS defines `name`, which calls the body in the version that is in use: name_body<8> has vectors of eight
// doubles, name_body<4> of four. Elsewhere than on x86 there is the baseline alone. An explicit choice instead of the
// loader's: it works with gcc and clang, with every loader, and can be made by the user.
#if defined(__x86_64__) && defined(__GNUC__)
#define DISCRIM_HAS_VERSIONS 1
#define DISCRIM_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define DISCRIM_AVX2 __attribute__((target("avx2,fma")))
#define DISCRIM_VERSIONS(name, parameters, arguments)                                                                  \
    DISCRIM_AVX512 void name##_avx512 parameters { name##_body<8> arguments; }                                         \
    DISCRIM_AVX2 void name##_avx2 parameters { name##_body<4> arguments; }                                             \
    inline void name##_baseline parameters { name##_body<4> arguments; }                                               \
    inline void name parameters {                                                                                      \
        switch (::discrim::version()) {                                                                                \
            case ::discrim::Version::avx512: return name##_avx512 arguments;                                           \
            case ::discrim::Version::avx2: return name##_avx2 arguments;                                               \
            default: return name##_baseline arguments;                                                                 \
        }                                                                                                              \
    }
#else
#define DISCRIM_HAS_VERSIONS 0
#define DISCRIM_VERSIONS(name, parameters, arguments)                                                                  \
    inline void name parameters { name##_body<4> arguments; }
#endif
