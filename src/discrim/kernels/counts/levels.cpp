// Categories: numbers read as codes, codes counted by class, and tables looked up by code.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

// Rows of a block that are read column by column while they are in cache.
constexpr int64_t BLOCK = 512;
constexpr double LARGEST = std::numeric_limits<int32_t>::max();

// What was met in a column besides the codes.
struct Range {
    double lo = std::numeric_limits<double>::infinity(), hi = -std::numeric_limits<double>::infinity();
    bool whole = true;
};

template <typename T>
void read_column(const T *x, int64_t stride, int64_t n, int32_t *codes, Range &range) {
    for (int64_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i * stride]);
        codes[i] = -1;
        if (std::isnan(v)) continue;
        range.lo = std::min(range.lo, v);
        range.hi = std::max(range.hi, v);
        if (v < 0 || v > LARGEST) continue;
        const auto code = static_cast<int32_t>(v);
        range.whole &= static_cast<double>(code) == v;
        codes[i] = code;
    }
}

template <typename T>
nb::tuple read_codes(Matrix<T> x) {
    const auto rows = rows_of(x);
    const size_t n = rows.n, p = rows.p;
    std::unique_ptr<int32_t[]> codes(new int32_t[n * p]);
    std::unique_ptr<Range[]> ranges(new Range[p]);
    {
        nb::gil_scoped_release release;
        for (int64_t start = 0; start < rows.n; start += BLOCK) {
            const int64_t size = std::min(BLOCK, rows.n - start);
            for (int64_t j = 0; j < rows.p; ++j)
                read_column(x.data() + start * x.stride(0) + j * x.stride(1), x.stride(0), size,
                            codes.get() + j * rows.n + start, ranges[j]);
        }
    }
    std::unique_ptr<double[]> lo(new double[p]), hi(new double[p]);
    std::unique_ptr<bool[]> whole(new bool[p]);
    for (size_t j = 0; j < p; ++j) {
        lo[j] = ranges[j].lo;
        hi[j] = ranges[j].hi;
        whole[j] = ranges[j].whole;
    }
    return nb::make_tuple(give(std::move(codes), {p, n}), give(std::move(lo), {p}), give(std::move(hi), {p}),
                          give(std::move(whole), {p}));
}

bool all_below(const int32_t *codes, int64_t n, int64_t size) {
    int32_t largest = -1;
    for (int64_t i = 0; i < n; ++i) largest = std::max(largest, codes[i]);
    return largest < size;
}

Result<double> count_codes(Codes classes, Codes codes, std::optional<Vector> weight, int64_t K, int64_t L) {
    const int64_t n = codes.shape(0);
    require(static_cast<int64_t>(classes.shape(0)) == n, "classes and codes differ in length");
    require(!weight || static_cast<int64_t>(weight->shape(0)) == n, "weights and codes differ in length");
    require(K >= 0 && L >= 0, "there is a negative number of classes or levels");
    require(all_inside(classes.data(), classes.data() + n, K), "a class is negative, or not below its number");
    require(all_below(codes.data(), n, L), "a code is not below its number");
    std::unique_ptr<double[]> count(new double[K * L]());
    {
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i)
            if (codes.data()[i] >= 0)
                count[classes.data()[i] * L + codes.data()[i]] += weight ? weight->data()[i] : 1.0;
    }
    return give(std::move(count), {static_cast<size_t>(K), static_cast<size_t>(L)});
}

void add_levels(Aligned<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> table, Codes codes,
                Aligned<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores) {
    const int64_t n = codes.shape(0), K = table.shape(0), L = table.shape(1);
    require(static_cast<int64_t>(scores.shape(0)) == K && static_cast<int64_t>(scores.shape(1)) == n,
            "scores must be classes x rows");
    require(L > 0 && all_below(codes.data(), n, L), "a code is not below its number");
    nb::gil_scoped_release release;
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t stop = std::min(start + BLOCK, n);
        for (int64_t k = 0; k < K; ++k) {
            const double *row = table.data() + k * L;
            double *out = scores.data() + k * n;
            for (int64_t i = start; i < stop; ++i) {
                const int32_t code = codes.data()[i];
                out[i] += row[code < 0 ? L - 1 : code];
            }
        }
    }
}

}  // namespace

void bind_levels(nb::module_ &m) {
    m.def("read_codes", &read_codes<double>, "x"_a.noconvert());
    m.def("read_codes", &read_codes<int64_t>, "x"_a.noconvert());
    m.def("read_codes", &read_codes<int32_t>, "x"_a.noconvert());
    m.def("count_codes", &count_codes, "classes"_a, "codes"_a, "weight"_a.none(), "n_classes"_a, "n_levels"_a);
    m.def("add_levels", &add_levels, "table"_a, "codes"_a, "scores"_a.noconvert());
}

}  // namespace discrim
