// NumPy arrays in and out of the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "gaussian/moments.hpp"
#include "inside.hpp"

namespace discrim {

// An array whose numbers lie where the processor may read them. One that is read but lies at an odd address, as a field
// of packed records does, is copied first; one that is written to is refused there.
template <typename... Kind>
struct Aligned : nanobind::ndarray<Kind...> {
    using nanobind::ndarray<Kind...>::ndarray;
    Aligned() = default;
    Aligned(nanobind::ndarray<Kind...> &&other) : nanobind::ndarray<Kind...>(std::move(other)) {}
};

using Codes = Aligned<const int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Vector = Aligned<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename T>
using List = Aligned<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename T>
using Matrix = Aligned<const T, nanobind::ndim<2>, nanobind::device::cpu>;
template <typename T>
using Result = nanobind::ndarray<nanobind::numpy, T>;

template <typename T>
Result<T> give(std::unique_ptr<T[]> values, std::initializer_list<size_t> shape) {
    T *data = values.release();
    nanobind::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return Result<T>(data, shape, owner);
}

template <typename T>
Rows<T> rows_of(const Matrix<T> &x) {
    return {x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)), x.stride(0), x.stride(1)};
}

inline void require(bool condition, const char *message) {
    if (!condition) throw std::invalid_argument(message);
}

// Where rows begin, and the last one ends: pointers that neither fall nor leave the values.
template <typename I>
void require_pointers(const List<I> &first, size_t entries) {
    require(first.shape(0) >= 1, "there is no row pointer");
    const I *at = first.data();
    const size_t n = first.shape(0) - 1;
    bool rising = at[0] >= 0;
    for (size_t i = 0; i < n; ++i) rising &= at[i] <= at[i + 1];
    require(rising && static_cast<size_t>(at[n]) <= entries, "row pointers must not fall, nor leave the values");
}

}  // namespace discrim

namespace nanobind::detail {

template <typename... Kind>
struct type_caster<discrim::Aligned<Kind...>> {
    using Inner = make_caster<ndarray<Kind...>>;
    using Scalar = typename ndarray<Kind...>::Scalar;
    NB_TYPE_CASTER(discrim::Aligned<Kind...>, Inner::Name)

    template <typename Flags>
    bool from_python(handle src, Flags flags, cleanup_list *cleanup) noexcept {
        Inner inner;
        if (!inner.from_python(src, flags, cleanup)) return false;
        if (reinterpret_cast<uintptr_t>(inner.value.data()) % alignof(Scalar) != 0) {
            if (!std::is_const_v<Scalar>) return false;
            const object copy = steal(PyObject_CallMethod(src.ptr(), "copy", nullptr));
            if (!copy.is_valid()) {
                PyErr_Clear();
                return false;
            }
            if (!inner.from_python(copy, flags, cleanup)) return false;
        }
        value = discrim::Aligned<Kind...>(std::move(inner.value));
        return true;
    }
};

}  // namespace nanobind::detail
