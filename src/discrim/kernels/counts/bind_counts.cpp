// The Python face of the kernels for counts and for compressed rows.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>

#include "arrays.hpp"
#include "counts/counts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

template <typename T, typename I>
using Compressed = std::tuple<List<T>, List<I>, List<I>>;
using Square = Aligned<const double, nb::ndim<2>, nb::device::cpu>;

Entry entry_of(std::optional<double> threshold) { return {threshold.has_value(), threshold.value_or(0.0)}; }

const double *data_of(const std::optional<Vector> &values) { return values ? values->data() : nullptr; }

// The rows, once it is sure that their pointers stay inside; of the columns nothing is known.
template <typename T, typename I>
SparseRows<T, I> rows_unread(const Compressed<T, I> &compressed, int64_t p) {
    const auto &[value, column, first] = compressed;
    require(p >= 0, "there is a negative number of columns");
    require(value.shape(0) == column.shape(0), "values and columns differ in length");
    require_pointers(first, value.shape(0));
    const size_t n = first.shape(0) - 1;
    return {value.data(), column.data(), first.data(), static_cast<int64_t>(n), p};
}

constexpr char OUTSIDE[] = "a column lies outside the matrix";

// The same, once it is sure that every entry lies inside the matrix.
template <typename T, typename I>
SparseRows<T, I> compressed_rows(const Compressed<T, I> &compressed, int64_t p) {
    const auto rows = rows_unread(compressed, p);
    bool inside;
    {
        nb::gil_scoped_release release;
        inside = all_inside(rows.column + rows.first[0], rows.column + rows.first[rows.n], p);
    }
    require(inside, OUTSIDE);
    return rows;
}

void check_labels(const Codes &codes, const std::optional<Vector> &weight, int64_t n, int64_t K) {
    require(static_cast<int64_t>(codes.shape(0)) == n, "codes and rows differ in length");
    require(!weight || static_cast<int64_t>(weight->shape(0)) == n, "weights and rows differ in length");
    require(K >= 0, "there is a negative number of classes");
    require(all_inside(codes.data(), codes.data() + n, K), "a code is not below the number of classes");
}

// Long sums are met in any order: large pages are found faster, and given faster.
void on_large_pages(double *values, size_t size) {
#if defined(__linux__)
    constexpr size_t PAGE = size_t{1} << 21;
    char *from = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(values) + PAGE - 1) / PAGE * PAGE);
    char *to = reinterpret_cast<char *>(values + size);
    if (from + PAGE <= to) madvise(from, (to - from) / PAGE * PAGE, MADV_HUGEPAGE);
#endif
}

template <typename Run>
nb::tuple summed(size_t K, size_t p, Run run) {
    std::unique_ptr<double[]> weight(new double[K]), count(new double[K * p]);
    std::unique_ptr<int64_t[]> rows(new int64_t[K]);
    on_large_pages(count.get(), K * p);
    double least = 0.0;
    bool inside;
    {
        nb::gil_scoped_release release;
        inside = run(ClassSums{weight.get(), rows.get(), count.get(), &least});
    }
    require(inside, OUTSIDE);
    return nb::make_tuple(give(std::move(weight), {K}), give(std::move(rows), {K}), give(std::move(count), {K, p}),
                          least);
}

template <typename T>
nb::tuple dense(Matrix<T> x, Codes codes, std::optional<Vector> weight, int64_t K, std::optional<double> threshold) {
    const auto rows = rows_of(x);
    check_labels(codes, weight, rows.n, K);
    return summed(K, rows.p, [&](ClassSums out) {
        dense_sums(rows, codes.data(), data_of(weight), K, entry_of(threshold), out);
        return true;
    });
}

template <typename T, typename I>
nb::tuple sparse(Compressed<T, I> x, int64_t p, Codes codes, std::optional<Vector> weight, int64_t K,
                 std::optional<double> threshold) {
    const auto rows = rows_unread(x, p);
    check_labels(codes, weight, rows.n, K);
    return summed(K, p, [&](ClassSums out) {
        return sparse_sums(rows, codes.data(), data_of(weight), K, entry_of(threshold), out);
    });
}

template <typename T, typename I>
nb::tuple moments(Compressed<T, I> x, int64_t p, Codes codes, std::optional<Vector> weight, int64_t K) {
    const auto rows = rows_unread(x, p);
    check_labels(codes, weight, rows.n, K);
    const size_t classes = K, columns = p;
    std::unique_ptr<double[]> total(new double[classes]), mean(new double[classes * columns]()),
        scatter(new double[classes * columns]()), low(new double[classes * columns]());
    std::unique_ptr<int64_t[]> count(new int64_t[classes]);
    bool inside;
    {
        nb::gil_scoped_release release;
        inside = sparse_moments(rows, codes.data(), data_of(weight), K,
                                Moments{total.get(), count.get(), mean.get(), low.get(), scatter.get()});
    }
    require(inside, OUTSIDE);
    return nb::make_tuple(give(std::move(total), {classes}), give(std::move(count), {classes}),
                          give(std::move(mean), {classes, columns}), give(std::move(scatter), {classes, columns}),
                          give(std::move(low), {classes, columns}));
}

void shares(Square count, std::optional<Square> whole, Vector added, Vector log_total, bool negative,
            Aligned<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const size_t K = count.shape(0), p = count.shape(1);
    const size_t classes = whole ? whole->shape(0) : 1, columns = whole ? whole->shape(1) : 1;
    require((classes == 1 || classes == K) && (columns == 1 || columns == p), "one whole a class, or one a column");
    require(columns <= 1 || whole->stride(1) == 1, "the wholes of columns must lie next to each other");
    require(added.shape(0) == 1 || added.shape(0) == p, "one number is added, or one a column");
    require(log_total.shape(0) == K, "there must be one total a class");
    require(out.shape(0) == K && out.shape(1) == p, "out has the wrong shape");
    const LogShares asked{count.data(),
                          static_cast<int64_t>(K),
                          static_cast<int64_t>(p),
                          count.stride(0),
                          count.stride(1),
                          whole ? whole->data() : nullptr,
                          classes > 1 ? whole->stride(0) : 0,
                          columns > 1 ? 1 : 0,
                          added.data(),
                          added.shape(0) == 1,
                          log_total.data(),
                          negative ? -1.0 : 1.0,
                          out.data()};
    nb::gil_scoped_release release;
    log_shares(asked);
}

Table table_of(const Square &table, const Vector &offset) {
    const int64_t K = offset.shape(0), stride = table.shape(1);
    require(K > 0, "there is no class to score");
    require(table.stride(1) == 1 && (table.stride(0) == stride || table.shape(0) == 0), "the table is not contiguous");
    require(stride >= K && (stride == 1 || stride == 2 || stride == 4 || stride % 8 == 0),
            "a row of the table must be as long as there are classes, rounded up to 1, 2, 4 or a multiple of 8");
    return {table.data(), offset.data(), K, stride};
}

template <typename Run>
bool scored(Run run) {
    bool inside, finite;
    {
        nb::gil_scoped_release release;
        finite = run(inside);
    }
    require(inside, OUTSIDE);
    return finite;
}

template <typename T, typename I, typename Out>
bool scores(Compressed<T, I> x, Square table, Vector offset, std::optional<double> threshold, int output,
            Aligned<Out, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const auto rows = rows_unread(x, table.shape(0));
    const Table arrays = table_of(table, offset);
    require(output == 0 || output == 2 || output == 3, "unknown output");
    require(static_cast<int64_t>(out.shape(0)) == rows.n && static_cast<int64_t>(out.shape(1)) == arrays.K,
            "out has the wrong shape");
    return scored([&](bool &inside) {
        return sparse_score<T, I, Out>(rows, arrays, entry_of(threshold), static_cast<Output>(output), out.data(),
                                       nullptr, inside);
    });
}

template <typename T, typename I>
bool best(Compressed<T, I> x, Square table, Vector offset, std::optional<double> threshold, int output,
          Aligned<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
    const auto rows = rows_unread(x, table.shape(0));
    const Table arrays = table_of(table, offset);
    require(output == 1, "unknown output");
    require(static_cast<int64_t>(out.shape(0)) == rows.n, "out has the wrong length");
    return scored([&](bool &inside) {
        return sparse_score<T, I, double>(rows, arrays, entry_of(threshold), Output::best, nullptr, out.data(), inside);
    });
}

template <typename T, typename I>
Result<double> held_out(Compressed<T, I> x, std::tuple<Codes, std::optional<Vector>> labels, Square count,
                        std::tuple<Vector, Vector> priors, std::optional<double> threshold, bool own, bool plain) {
    const auto &[codes, weight] = labels;
    const auto &[prior, logs] = priors;
    const int64_t K = count.shape(0), p = count.shape(1);
    const auto rows = compressed_rows(x, p);
    check_labels(codes, weight, rows.n, K);
    require(prior.shape(0) == 1 || static_cast<int64_t>(prior.shape(0)) == p, "one prior, or one a column");
    require(prior.shape(0) == 1 || logs.shape(0) == 0, "logarithms are those of one prior");
    const HeldOut left{count.data(),          K,           count.stride(0),
                       count.stride(1),       prior.data(), prior.shape(0) == 1,
                       logs.data(),           static_cast<int64_t>(logs.shape(0)), own, plain};
    const size_t n = rows.n, width = own ? 1 : K;
    std::unique_ptr<double[]> out(new double[n * width]);
    {
        nb::gil_scoped_release release;
        held_out_logs(rows, codes.data(), data_of(weight), left, entry_of(threshold), out.get());
    }
    return give(std::move(out), {n, width});
}

template <typename T, typename I>
Result<double> grid(Compressed<T, I> x, Aligned<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> which,
                    Aligned<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> logs,
                    std::optional<double> threshold) {
    const auto rows = compressed_rows(x, which.shape(0));
    require(logs.shape(1) % 8 == 0, "a row of logarithms must be a multiple of 8 long");
    bool inside = true;
    for (size_t at = 0; at < which.size(); ++at)
        inside &= which.data()[at] >= 0 && static_cast<size_t>(which.data()[at]) < logs.shape(0);
    require(inside, "a count has no logarithm");
    const size_t n = rows.n, K = which.shape(1), width = logs.shape(1);
    std::unique_ptr<double[]> out(new double[n * K * width]);
    {
        nb::gil_scoped_release release;
        grid_sums(rows, Grid{which.data(), logs.data(), static_cast<int64_t>(K), static_cast<int64_t>(width)},
                  entry_of(threshold), out.get());
    }
    return give(std::move(out), {n, K, width});
}

template <typename T, typename I>
void bind_compressed(nb::module_ &m) {
    m.def("sparse_class_sums", &sparse<T, I>, "rows"_a, "columns"_a, "codes"_a, "weight"_a.none(), "classes"_a,
          "threshold"_a.none());
    m.def("sparse_class_moments", &moments<T, I>, "rows"_a, "columns"_a, "codes"_a, "weight"_a.none(), "classes"_a);
    const auto add_score = [&m](auto function) {
        m.def("sparse_score", function, "rows"_a, "table"_a, "offset"_a, "threshold"_a.none(), "output"_a,
              "out"_a.noconvert());
    };
    add_score(&scores<T, I, T>);
    if constexpr (!std::is_same_v<T, double>) add_score(&scores<T, I, double>);
    add_score(&best<T, I>);
    m.def("grid_sums", &grid<T, I>, "rows"_a, "which"_a, "logs"_a, "threshold"_a.none());
    m.def("held_out_logs", &held_out<T, I>, "rows"_a, "labels"_a, "count"_a, "priors"_a, "threshold"_a.none(), "own"_a,
          "plain"_a);
}

}  // namespace

void bind_counts(nb::module_ &m) {
    m.def("log_shares", &shares, "count"_a, "whole"_a.none(), "added"_a, "log_total"_a, "negative"_a,
          "out"_a.noconvert());
    m.def("class_sums", &dense<double>, "x"_a.noconvert(), "codes"_a, "weight"_a.none(), "classes"_a,
          "threshold"_a.none());
    m.def("class_sums", &dense<float>, "x"_a.noconvert(), "codes"_a, "weight"_a.none(), "classes"_a,
          "threshold"_a.none());
    bind_compressed<double, int32_t>(m);
    bind_compressed<double, int64_t>(m);
    bind_compressed<float, int32_t>(m);
    bind_compressed<float, int64_t>(m);
}

}  // namespace discrim
