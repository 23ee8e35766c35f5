// Categories: numbers read as codes, codes counted by class, and tables looked up by code.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "native_lanes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

// Rows that are put side by side where columns lie one behind the other, and that are scored at once.
constexpr int64_t BLOCK = 16, AT_ONCE = 4;
constexpr int32_t LARGEST = std::numeric_limits<int32_t>::max();

// Whole numbers are compared as such.
template <typename T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;

// Rows whose columns lie next to each other, and what is met in the columns besides the codes.
template <typename T>
struct Reading {
    const T *x;
    int64_t n, p, stride;
    int32_t *codes;
    Wide<T> *lo, *hi, *broken;
};

template <int MI, typename T>
DISCRIM_INLINE void read_rows_body(const Reading<T> &r) {
    for (int64_t i = 0; i < r.n; ++i) {
        const T *x = r.x + i * r.stride;
        int32_t *codes = r.codes + i * r.p;
        for (int64_t j = 0; j < r.p; ++j) {
            const Wide<T> v = static_cast<Wide<T>>(x[j]), zero = 0, most = LARGEST;
            // Every comparison with NaN is false.
            r.lo[j] = v < r.lo[j] ? v : r.lo[j];
            r.hi[j] = v > r.hi[j] ? v : r.hi[j];
            const Wide<T> inside = (v >= zero) & (v <= most) ? v : Wide<T>(-1);
            const int32_t code = static_cast<int32_t>(inside);
            r.broken[j] = static_cast<Wide<T>>(code) != inside ? Wide<T>(1) : r.broken[j];
            codes[j] = code;
        }
    }
}
DISCRIM_VERSIONS(read_rows, (const Reading<double> &r), (r))
DISCRIM_VERSIONS(read_rows, (const Reading<int64_t> &r), (r))
DISCRIM_VERSIONS(read_rows, (const Reading<int32_t> &r), (r))

template <typename T>
void read_all(const Rows<T> &x, Reading<T> r) {
    if (x.column_stride == 1 || x.p == 1) return read_rows(r);
    std::vector<T> block(BLOCK * x.p);
    for (int64_t first = 0; first < x.n; first += BLOCK) {
        const int64_t size = std::min(BLOCK, x.n - first);
        for (int64_t j = 0; j < x.p; ++j)
            for (int64_t i = 0; i < size; ++i)
                block[i * x.p + j] = x.data[(first + i) * x.row_stride + j * x.column_stride];
        read_rows(Reading<T>{block.data(), size, x.p, x.p, r.codes + first * x.p, r.lo, r.hi, r.broken});
    }
}

template <typename T>
nb::tuple read_codes(Matrix<T> x) {
    using W = Wide<T>;
    const auto rows = rows_of(x);
    const size_t n = rows.n, p = rows.p;
    constexpr double INF = std::numeric_limits<double>::infinity();
    constexpr W above = std::is_integral_v<T> ? std::numeric_limits<W>::max() : static_cast<W>(INF);
    constexpr W below = std::is_integral_v<T> ? std::numeric_limits<W>::min() : static_cast<W>(-INF);
    std::unique_ptr<int32_t[]> codes(new int32_t[n * p]);
    std::vector<W> least(p, above), largest(p, below), broken(p, 0);
    {
        nb::gil_scoped_release release;
        read_all(rows, {rows.data, rows.n, rows.p, rows.row_stride, codes.get(), least.data(), largest.data(),
                        broken.data()});
    }
    std::unique_ptr<double[]> lo(new double[p]), hi(new double[p]);
    std::unique_ptr<bool[]> whole(new bool[p]);
    for (size_t j = 0; j < p; ++j) {
        lo[j] = n ? static_cast<double>(least[j]) : INF;
        hi[j] = n ? static_cast<double>(largest[j]) : -INF;
        whole[j] = broken[j] == 0;
    }
    return nb::make_tuple(give(std::move(codes), {n, p}), give(std::move(lo), {p}), give(std::move(hi), {p}),
                          give(std::move(whole), {p}));
}

using CodeMatrix = Aligned<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Where the levels of each column begin among those of all columns, each with so many more; the last is their number.
std::vector<int64_t> starts_of(const List<int64_t> &sizes, int64_t p, int64_t more) {
    require(static_cast<int64_t>(sizes.shape(0)) == p, "there must be one number of levels a column");
    std::vector<int64_t> starts(p + 1, 0);
    for (int64_t j = 0; j < p; ++j) {
        require(sizes.data()[j] >= 0, "there is a negative number of classes or levels");
        starts[j + 1] = starts[j] + sizes.data()[j] + more;
    }
    return starts;
}

Result<double> count_codes(Codes classes, CodeMatrix codes, std::optional<Vector> weight, int64_t K, List<int64_t> sizes) {
    const int64_t n = codes.shape(0), p = codes.shape(1);
    require(static_cast<int64_t>(classes.shape(0)) == n, "classes and codes differ in length");
    require(!weight || static_cast<int64_t>(weight->shape(0)) == n, "weights and codes differ in length");
    require(K >= 0, "there is a negative number of classes or levels");
    const auto starts = starts_of(sizes, p, 0);
    require(all_inside(classes.data(), classes.data() + n, K), "a class is negative, or not below its number");
    const int64_t total = starts[p];
    std::unique_ptr<double[]> count(new double[K * total]());
    bool below = true;
    {
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i) {
            const int32_t *code = codes.data() + i * p;
            double *sums = count.get() + classes.data()[i] * total;
            const double w = weight ? weight->data()[i] : 1.0;
            for (int64_t j = 0; j < p; ++j) {
                if (code[j] >= 0 && code[j] < sizes.data()[j])
                    sums[starts[j] + code[j]] += w;
                else
                    below &= code[j] < 0;
            }
        }
    }
    require(below, "a code is not below its number");
    return give(std::move(count), {static_cast<size_t>(K), static_cast<size_t>(total)});
}

// Rows of codes, and where the sums of the columns of the table from `first` on go.
struct Adding {
    const double *table;
    int64_t width, first;
    const int64_t *starts;
    const int32_t *codes;
    int64_t p, rows;
    double *sums;  // rows x width
};

// R rows at once, so that none waits for its last addition; S classes stay in registers.
template <int S, int R>
DISCRIM_INLINE void add_rows(const Adding &a, int64_t row) {
    constexpr int wide = S < 4 ? S : 4, blocks = S / wide;
    typedef double lanes __attribute__((vector_size(8 * wide), aligned(8)));
    lanes sum[R][blocks];
    for (int r = 0; r < R; ++r)
        for (int b = 0; b < blocks; ++b)
            sum[r][b] = *reinterpret_cast<const lanes *>(a.sums + (row + r) * a.width + a.first + b * wide);
    for (int64_t j = 0; j < a.p; ++j) {
        const double *levels = a.table + a.starts[j] * a.width + a.first;
        const int64_t unseen = a.starts[j + 1] - a.starts[j] - 1;
        for (int r = 0; r < R; ++r) {
            const int64_t code = a.codes[(row + r) * a.p + j];
            if (code < 0) continue;
            const double *there = levels + std::min(code, unseen) * a.width;
            for (int b = 0; b < blocks; ++b) sum[r][b] += *reinterpret_cast<const lanes *>(there + b * wide);
        }
    }
    for (int r = 0; r < R; ++r)
        for (int b = 0; b < blocks; ++b)
            *reinterpret_cast<lanes *>(a.sums + (row + r) * a.width + a.first + b * wide) = sum[r][b];
}

template <int S>
DISCRIM_INLINE void add_all(const Adding &a) {
    int64_t row = 0;
    for (; row + AT_ONCE <= a.rows; row += AT_ONCE) add_rows<S, AT_ONCE>(a, row);
    for (; row < a.rows; ++row) add_rows<S, 1>(a, row);
}

template <int MI>
DISCRIM_INLINE void add_block_body(Adding a) {
    if (a.width == 1) return add_all<1>(a);
    if (a.width == 2) return add_all<2>(a);
    if (a.width == 4) return add_all<4>(a);
    for (a.first = 0; a.first < a.width; a.first += LANES) add_all<LANES>(a);
}
DISCRIM_VERSIONS(add_block, (const Adding &a), (a))

void add_levels(Aligned<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> table, List<int64_t> sizes,
                CodeMatrix codes, Aligned<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> scores) {
    const int64_t n = codes.shape(0), p = codes.shape(1), K = scores.shape(0), width = table.shape(1);
    require(static_cast<int64_t>(scores.shape(1)) == n && K <= width, "scores must be classes x rows");
    require(width == 1 || width == 2 || width == 4 || width % LANES == 0,
            "a row of the table must be 1, 2, 4 or a multiple of 8 numbers long");
    const auto starts = starts_of(sizes, p, 1);
    require(static_cast<int64_t>(table.shape(0)) == starts[p], "the table must have a row a level, and one more a column");
    nb::gil_scoped_release release;
    std::vector<double> sums(BLOCK * width);
    for (int64_t start = 0; start < n; start += BLOCK) {
        const int64_t size = std::min(BLOCK, n - start);
        double *there = scores.data() + start;
        for (int64_t i = 0; i < size; ++i)
            for (int64_t k = 0; k < K; ++k) sums[i * width + k] = there[k * n + i];
        add_block(Adding{table.data(), width, 0, starts.data(), codes.data() + start * p, p, size, sums.data()});
        for (int64_t i = 0; i < size; ++i)
            for (int64_t k = 0; k < K; ++k) there[k * n + i] = sums[i * width + k];
    }
}

}  // namespace

void bind_levels(nb::module_ &m) {
    m.def("read_codes", &read_codes<double>, "x"_a.noconvert());
    m.def("read_codes", &read_codes<int64_t>, "x"_a.noconvert());
    m.def("read_codes", &read_codes<int32_t>, "x"_a.noconvert());
    m.def("count_codes", &count_codes, "classes"_a, "codes"_a, "weight"_a.none(), "n_classes"_a, "sizes"_a);
    m.def("add_levels", &add_levels, "table"_a, "sizes"_a, "codes"_a, "scores"_a.noconvert());
}

}  // namespace discrim
