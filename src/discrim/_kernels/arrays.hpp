// NumPy arrays in and out of the kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <stdexcept>

#include "moments.hpp"

namespace discrim {

using Codes = nanobind::ndarray<const int32_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Vector = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <typename T>
using Matrix = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::device::cpu>;
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

}  // namespace discrim
