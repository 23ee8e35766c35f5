// The Python face of the kernels for the lasso and the elastic net.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <vector>

#include "arrays.hpp"
#include "logistic/columns.hpp"
#include "logistic/coordinate.hpp"
#include "logistic/path_gradients.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

using Dense = Aligned<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using Changed = Aligned<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Square = Aligned<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Cubes = Aligned<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ChangedCubes = Aligned<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ChangedRows = Aligned<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Mask = Aligned<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Coefficients of a problem that takes some microseconds.
constexpr size_t SMALL = 128;

nb::tuple descend_gram(Square hessian, Vector point, Vector gradient, Changed theta, Vector lasso, Vector ridge,
                       std::optional<Mask> fixed, double close, int64_t most) {
    const size_t q = theta.shape(0);
    require(hessian.shape(0) == q && hessian.shape(1) == q && point.shape(0) == q && gradient.shape(0) == q &&
                lasso.shape(0) == q && ridge.shape(0) == q && (!fixed || fixed->shape(0) == q),
            "the parts of the quadratic model differ in size");
    const QuadraticModel model{hessian.data(), lasso.data(), ridge.data(), fixed ? fixed->data() : nullptr,
                               static_cast<int64_t>(q)};
    Descended done;
    {
        // To hand the interpreter over and get it back takes longer than a small problem.
        std::optional<nb::gil_scoped_release> release;
        if (q > SMALL) release.emplace();
        done = gram_descent(model, point.data(), gradient.data(), theta.data(), close, most);
    }
    return nb::make_tuple(done.left, done.sweeps, done.converged);
}

Result<double> mend(Square hessian, Vector step, Vector change) {
    const size_t q = step.shape(0);
    require(hessian.shape(0) == q && hessian.shape(1) == q && change.shape(0) == q, "step, change and H differ in size");
    std::unique_ptr<double[]> mended(new double[q * q]);
    std::copy_n(hessian.data(), q * q, mended.get());
    secant(mended.get(), step.data(), change.data(), q);
    return give(std::move(mended), {q, q});
}

void require_lanes(const List<int64_t> &lanes, size_t count) {
    for (size_t i = 0; i < lanes.shape(0); ++i)
        require(lanes.data()[i] >= 0 && lanes.data()[i] < static_cast<int64_t>(count), "there is no such lane");
}

void mend_several(ChangedCubes hessians, List<int64_t> lanes, Square steps, Square changes) {
    const size_t q = hessians.shape(1);
    require(hessians.shape(2) == q && steps.shape(1) == q && changes.shape(1) == q && steps.shape(0) == lanes.shape(0) &&
                changes.shape(0) == lanes.shape(0),
            "steps, changes and H differ in size");
    require_lanes(lanes, hessians.shape(0));
    nb::gil_scoped_release release;
    for (size_t i = 0; i < lanes.shape(0); ++i)
        secant(hessians.data() + lanes.data()[i] * q * q, steps.data() + i * q, changes.data() + i * q, q);
}

void descend_several(Cubes hessians, List<int64_t> lanes, std::tuple<Square, Square, ChangedRows> places,
                     std::pair<Square, Square> penalties, std::optional<Mask> fixed, Changed left, double close,
                     int64_t most) {
    const auto &[point, gradient, theta] = places;
    const auto &[lasso, ridge] = penalties;
    const size_t count = hessians.shape(0), q = hessians.shape(1);
    const auto fits = [&](const auto &rows) { return rows.shape(0) == count && rows.shape(1) == q; };
    require(hessians.shape(2) == q && fits(point) && fits(gradient) && fits(theta) && fits(lasso) && fits(ridge) &&
                (!fixed || fixed->shape(0) == q) && left.shape(0) == count,
            "the parts of the quadratic models differ in size");
    require_lanes(lanes, count);
    nb::gil_scoped_release release;
    for (size_t i = 0; i < lanes.shape(0); ++i) {
        const int64_t lane = lanes.data()[i], row = lane * q;
        const QuadraticModel model{hessians.data() + row * q, lasso.data() + row, ridge.data() + row,
                                   fixed ? fixed->data() : nullptr, static_cast<int64_t>(q)};
        left.data()[lane] =
            gram_descent(model, point.data() + row, gradient.data() + row, theta.data() + row, close, most).left;
    }
}

template <typename T>
nb::tuple several(Matrix<T> x, Codes codes, std::optional<Vector> share, std::optional<Vector> weight,
                  std::optional<Vector> offset, Vector shift, Square theta) {
    const auto rows = rows_of(x);
    const size_t n = rows.n, size = rows.p + 1;
    require(codes.shape(0) == n && shift.shape(0) == size - 1, "codes or shift have the wrong length");
    for (const auto *values : {&share, &weight, &offset})
        require(!*values || (*values)->shape(0) == n, "share, weight, offset and rows differ in length");
    require(theta.shape(0) == SEVERAL && theta.shape(1) == size, "theta has the wrong shape");
    std::unique_ptr<double[]> losses(new double[SEVERAL]), gradients(new double[SEVERAL * size]);
    const auto data = [](const std::optional<Vector> &values) { return values ? values->data() : nullptr; };
    {
        nb::gil_scoped_release release;
        several_gradients(rows, {codes.data(), data(share), data(weight), data(offset)}, shift.data(), theta.data(),
                          losses.get(), gradients.get());
    }
    return nb::make_tuple(give(std::move(losses), {static_cast<size_t>(SEVERAL)}),
                          give(std::move(gradients), {static_cast<size_t>(SEVERAL), size}));
}

ColumnProblem problem_of(const Vector &y, const std::optional<Vector> &w, const List<int64_t> &working,
                         const Vector &lasso, const Vector &ridge, bool intercept, int64_t p) {
    const size_t q = working.shape(0);
    require(lasso.shape(0) == q && ridge.shape(0) == q, "lasso, ridge and the working columns differ in length");
    require(!w || w->shape(0) == y.shape(0), "weights and rows differ in length");
    for (size_t k = 0; k < q; ++k) require(working.data()[k] >= 0 && working.data()[k] < p, "there is no such column");
    return {y.data(), w ? w->data() : nullptr, static_cast<int64_t>(y.shape(0)), working.data(), lasso.data(),
            ridge.data(), static_cast<int64_t>(q), intercept};
}

template <typename Columns>
nb::tuple descend(Columns &columns, const ColumnProblem &problem, const Changed &eta, const Changed &theta,
                  const Changed &constant, double close, int64_t most) {
    require(static_cast<int64_t>(eta.shape(0)) == problem.n, "eta and rows differ in length");
    require(static_cast<int64_t>(theta.shape(0)) == problem.q && constant.shape(0) == 1, "theta has the wrong size");
    ColumnResult done;
    {
        nb::gil_scoped_release release;
        done = column_descent(columns, problem, {eta.data(), theta.data(), constant.data()}, close, most);
    }
    return nb::make_tuple(done.loss, done.rounds, done.sweeps, done.converged);
}

nb::tuple dense_descent(Dense x, Vector y, std::optional<Vector> w, Changed eta, Changed theta, Changed constant,
                        List<int64_t> working, Vector lasso, Vector ridge, bool intercept, double close, int64_t most) {
    require(x.shape(0) == y.shape(0), "y and rows differ in length");
    DenseColumns columns(x.data(), x.shape(0));
    return descend(columns, problem_of(y, w, working, lasso, ridge, intercept, x.shape(1)), eta, theta, constant, close,
                   most);
}

constexpr char OUTSIDE[] = "a row lies outside the matrix";

// Compressed columns, the rows of the transpose, whose pointers stay inside; of the row numbers nothing is known.
template <typename T, typename I>
void require_columns(const List<T> &value, const List<I> &row, const List<I> &first) {
    require(value.shape(0) == row.shape(0), "values and row numbers differ in length");
    require_pointers(first, value.shape(0));
}

template <typename I>
bool rows_inside(const List<I> &row, const List<I> &first, int64_t j, int64_t n) {
    return all_inside(row.data() + first.data()[j], row.data() + first.data()[j + 1], n);
}

template <typename T, typename I>
nb::tuple sparse_descent(List<T> value, List<I> row, List<I> first, Vector y, std::optional<Vector> w, Changed eta,
                         Changed theta, Changed constant, List<int64_t> working, Vector lasso, Vector ridge,
                         bool intercept, double close, int64_t most) {
    require_columns(value, row, first);
    SparseColumns<T, I> columns(value.data(), row.data(), first.data(), y.shape(0));
    const ColumnProblem problem = problem_of(y, w, working, lasso, ridge, intercept, first.shape(0) - 1);
    bool inside = true;
    for (int64_t k = 0; k < problem.q; ++k) inside &= rows_inside(row, first, problem.working[k], problem.n);
    require(inside, OUTSIDE);
    return descend(columns, problem, eta, theta, constant, close, most);
}

// sum_i x_ij r_i for the columns j from begin to end; false where a column is not `fit`.
template <typename Columns, typename Fit>
bool slopes(const Columns &columns, int64_t begin, int64_t end, const Vector &r, double *out, Fit fit) {
    nb::gil_scoped_release release;
    for (int64_t j = begin; j < end; ++j) {
        if (!fit(j)) return false;
        out[j] = columns.inner(j, r.data());
    }
    return true;
}

void dense_slopes(Dense x, Vector r, int64_t begin, int64_t end, Changed out) {
    require(x.shape(0) == r.shape(0) && x.shape(1) == out.shape(0), "x, r and out differ in size");
    require(begin >= 0 && end <= static_cast<int64_t>(x.shape(1)), "there is no such column");
    slopes(DenseColumns(x.data(), x.shape(0)), begin, end, r, out.data(), [](int64_t) { return true; });
}

template <typename T, typename I>
void sparse_slopes(List<T> value, List<I> row, List<I> first, Vector r, int64_t begin, int64_t end, Changed out) {
    require_columns(value, row, first);
    require(first.shape(0) == out.shape(0) + 1, "first and out differ in length");
    require(begin >= 0 && end <= static_cast<int64_t>(out.shape(0)), "there is no such column");
    const int64_t n = r.shape(0);
    // A column's row numbers are looked at just before they are used.
    const bool inside = slopes(SparseColumns<T, I>(value.data(), row.data(), first.data(), n), begin, end, r, out.data(),
                               [&](int64_t j) { return rows_inside(row, first, j, n); });
    require(inside, OUTSIDE);
}

// Residuals w (y - mu) of the rows; the loss is returned.
double residuals(Vector y, std::optional<Vector> w, Vector eta, Changed out) {
    const int64_t n = y.shape(0);
    require(static_cast<int64_t>(eta.shape(0)) == n && static_cast<int64_t>(out.shape(0)) == n && (!w || static_cast<int64_t>(w->shape(0)) == n),
            "y, weights, eta and out differ in length");
    double loss;
    std::vector<double> spread(n);
    weigh_rows(y.data(), w ? w->data() : nullptr, eta.data(), n, out.data(), spread.data(), &loss);
    return loss;
}

}  // namespace
}  // namespace discrim

void bind_coordinate(nb::module_ &m) {
    using namespace discrim;
    m.def("gram_descent", &descend_gram, "hessian"_a, "point"_a, "gradient"_a, "theta"_a.noconvert(), "lasso"_a,
          "ridge"_a, "fixed"_a.none(), "close"_a, "most"_a);
    m.def("secant", &mend, "hessian"_a, "step"_a, "change"_a);
    m.def("several_secants", &mend_several, "hessians"_a.noconvert(), "lanes"_a, "steps"_a, "changes"_a);
    m.def("several_descents", &descend_several, "hessians"_a, "lanes"_a, "places"_a.noconvert(), "penalties"_a,
          "fixed"_a.none(), "left"_a.noconvert(), "close"_a, "most"_a);
    const auto add_several = [&m](auto function) {
        m.def("several_gradients", function, "x"_a.noconvert(), "codes"_a, "share"_a.none(), "weight"_a.none(),
              "offset"_a.none(), "shift"_a, "theta"_a);
    };
    add_several(&several<double>);
    add_several(&several<float>);
    m.def("dense_descent", &dense_descent, "x"_a.noconvert(), "y"_a, "w"_a.none(), "eta"_a.noconvert(),
          "theta"_a.noconvert(), "constant"_a.noconvert(), "working"_a, "lasso"_a, "ridge"_a, "intercept"_a, "close"_a,
          "most"_a);
    const auto add_sparse = [&m](auto function) {
        m.def("sparse_descent", function, "value"_a.noconvert(), "row"_a.noconvert(), "first"_a.noconvert(), "y"_a,
              "w"_a.none(), "eta"_a.noconvert(), "theta"_a.noconvert(), "constant"_a.noconvert(), "working"_a, "lasso"_a,
              "ridge"_a, "intercept"_a, "close"_a, "most"_a);
    };
    add_sparse(&sparse_descent<double, int32_t>);
    add_sparse(&sparse_descent<double, int64_t>);
    add_sparse(&sparse_descent<float, int32_t>);
    add_sparse(&sparse_descent<float, int64_t>);
    m.def("dense_slopes", &dense_slopes, "x"_a.noconvert(), "r"_a, "begin"_a, "end"_a, "out"_a.noconvert());
    const auto add_slopes = [&m](auto function) {
        m.def("sparse_slopes", function, "value"_a.noconvert(), "row"_a.noconvert(), "first"_a.noconvert(), "r"_a,
              "begin"_a, "end"_a, "out"_a.noconvert());
    };
    add_slopes(&sparse_slopes<double, int32_t>);
    add_slopes(&sparse_slopes<double, int64_t>);
    add_slopes(&sparse_slopes<float, int32_t>);
    add_slopes(&sparse_slopes<float, int64_t>);
    m.def("residuals", &residuals, "y"_a, "w"_a.none(), "eta"_a, "out"_a.noconvert());
}
