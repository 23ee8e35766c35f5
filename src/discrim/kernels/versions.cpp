// Which versions of the kernels the processor can run, and the choice among them.

#include "versions.hpp"

#include <nanobind/nanobind.h>

#include <cstring>
#include <stdexcept>

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

constexpr const char *NAMES[] = {"baseline", "avx2", "avx512"};

// The best version; every one before it runs too.
Version best_version() {
#if DISCRIM_HAS_VERSIONS
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    return avx2 && avx512 ? Version::avx512 : avx2 ? Version::avx2 : Version::baseline;
#else
    return Version::baseline;
#endif
}

nb::tuple versions() {
    nb::list names;
    for (int v = 0; v <= static_cast<int>(best_version()); ++v) names.append(NAMES[v]);
    return nb::tuple(names);
}

const char *current() { return NAMES[static_cast<int>(version())]; }

void use(const char *name) {
    for (int v = 0; v <= static_cast<int>(best_version()); ++v)
        if (std::strcmp(NAMES[v], name) == 0) {
            version_in_use.store(static_cast<Version>(v), std::memory_order_relaxed);
            return;
        }
    throw std::invalid_argument("this processor has no such version of the kernels");
}

const char *compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown compiler";
#endif
}

}  // namespace

std::atomic<Version> version_in_use{best_version()};

void bind_versions(nb::module_ &m) {
    m.def("versions", &versions);
    m.def("version", &current);
    m.def("use", &use, "name"_a);
    m.def("compiler", &compiler);
}

}  // namespace discrim
