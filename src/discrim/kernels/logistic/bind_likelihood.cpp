// The Python face of the likelihood kernels.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>

#include "arrays.hpp"
#include "logistic/likelihood.hpp"
#include "logistic/quasi_newton.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

using Table = Aligned<const double, nb::c_contig, nb::device::cpu>;
// Codes, shares, weights and offsets.
using Given = std::tuple<Codes, std::optional<Vector>, std::optional<Vector>, std::optional<Vector>>;

const double *data_of(const std::optional<Vector> &values) { return values ? values->data() : nullptr; }

// Everything beside the rows, checked against n and p.
struct Call {
    Response response;
    Point point;

    Call(size_t n, size_t p, const Given &given, const double *shift, const Table &theta,
         const std::optional<Table> &along, const Vector &steps, int order)
        : response{std::get<0>(given).data(), data_of(std::get<1>(given)), data_of(std::get<2>(given)),
                   data_of(std::get<3>(given))},
          point{static_cast<int64_t>(theta.ndim() == 2 ? theta.shape(0) : 1), shift, theta.data(),
                along ? along->data() : nullptr, steps.data(), static_cast<int64_t>(steps.shape(0)),
                static_cast<Order>(order)} {
        const auto &[codes, share, weight, offset] = given;
        require(order >= 0 && order <= (theta.ndim() == 2 ? 3 : 2), "depth must be 0, 1, 2, or 3 for more classes");
        require(codes.shape(0) == n, "codes and rows differ in length");
        for (const auto *values : {&share, &weight, &offset})
            require(!*values || (*values)->shape(0) == n, "share, weight, offset and rows differ in length");
        require(theta.size() == point.K * (p + 1), "theta has the wrong size");
        require(!along || along->size() == theta.size(), "along has the wrong size");
        if (theta.ndim() == 2)
            require(all_inside(codes.data(), codes.data() + n, point.K), "a code is not below the number of classes");
    }
};

struct Answer {
    std::unique_ptr<double[]> gradient, hessian, losses;
    double loss = 0.0, least = 0.0;
    size_t size;
    bool softmax;
    Order order;

    Answer(const Call &call, size_t p, bool softmax) : size(p + 1), softmax(softmax), order(call.point.order) {
        const size_t all = call.point.K * size;
        gradient.reset(new double[order == Order::loss ? 0 : all]());
        hessian.reset(new double[order == Order::curvature ? all * all : order == Order::blocks ? all * size : 0]());
        losses.reset(new double[call.point.S]());
    }
    Sums sums() { return {&loss, gradient.get(), hessian.get(), losses.get(), &least}; }
    nb::tuple python(const Call &call) {
        const size_t K = call.point.K, all = order == Order::curvature ? K * size : 0;
        const bool empty = order == Order::loss;
        nb::object slope = softmax ? nb::cast(give(std::move(gradient), {empty ? 0 : K, empty ? 0 : size}))
                                   : nb::cast(give(std::move(gradient), {empty ? 0 : size}));
        nb::object bend = order == Order::blocks ? nb::cast(give(std::move(hessian), {K, size, size}))
                                                 : nb::cast(give(std::move(hessian), {all, all}));
        return nb::make_tuple(loss, slope, bend,
                              give(std::move(losses), {static_cast<size_t>(call.point.S)}), least);
    }
};

template <typename T>
nb::tuple dense(Matrix<T> x, Given given, Vector shift, Table theta, std::optional<Table> along, Vector steps, int depth,
                bool softmax) {
    const Rows<T> rows = rows_of(x);
    require(theta.ndim() == (softmax ? 2 : 1), "theta must be one row, or one row a class");
    require(static_cast<int64_t>(shift.shape(0)) == rows.p, "shift and columns differ in length");
    const Call call(rows.n, rows.p, given, shift.data(), theta, along, steps, depth);
    Answer answer(call, rows.p, softmax);
    {
        nb::gil_scoped_release release;
        if (softmax)
            softmax_likelihood(rows, call.response, call.point, answer.sums());
        else
            binary_likelihood(rows, call.response, call.point, answer.sums());
    }
    return answer.python(call);
}

template <typename T>
nb::tuple binary(Matrix<T> x, Given given, Vector shift, Table theta, std::optional<Table> along, Vector steps,
                 int depth) {
    return dense(x, given, shift, theta, along, steps, depth, false);
}

template <typename T>
nb::tuple softmax(Matrix<T> x, Given given, Vector shift, Table theta, std::optional<Table> along, Vector steps,
                  int depth) {
    return dense(x, given, shift, theta, along, steps, depth, true);
}

template <typename T>
nb::object newton(Matrix<T> x, Given given, Vector shift, Table theta, Vector ridge, bool held, double enough,
                  int64_t most) {
    const Rows<T> rows = rows_of(x);
    require(theta.ndim() == 1, "theta must be one row");
    require(static_cast<int64_t>(shift.shape(0)) == rows.p, "shift and columns differ in length");
    require(ridge.shape(0) == theta.size(), "ridge and theta differ in length");
    const double none = 0.0;
    const Call call(rows.n, rows.p, given, shift.data(), theta, std::nullopt, Vector(&none, {0}), 2);
    Answer answer(call, rows.p, false);
    std::unique_ptr<double[]> found(new double[theta.size()]);
    std::copy_n(theta.data(), theta.size(), found.get());
    NewtonResult result;
    {
        nb::gil_scoped_release release;
        result = binary_newton(rows, call.response, {shift.data(), ridge.data(), held, enough, most}, found.get(),
                               answer.sums());
    }
    if (!result.converged) return nb::none();
    return nb::make_tuple(give(std::move(found), {theta.size()}), result.value, result.gap, result.iterations,
                          answer.python(call));
}

template <typename T, typename I>
using Compressed = std::tuple<List<T>, List<I>, List<I>>;

// Compressed rows with as many columns as theta has, the constant aside.
template <typename T, typename I>
SparseRows<T, I> sparse_rows(const Compressed<T, I> &compressed, const Table &theta) {
    const auto &[value, column, first] = compressed;
    require(value.shape(0) == column.shape(0), "values and columns differ in length");
    require_pointers(first, value.shape(0));
    require(theta.ndim() == 1 || (theta.ndim() == 2 && theta.shape(0) > 0), "theta must be one row a class");
    const size_t n = first.shape(0) - 1, size = theta.ndim() == 2 ? theta.shape(1) : theta.shape(0);
    require(size >= 1, "theta has no intercept");
    return {value.data(), column.data(), first.data(), static_cast<int64_t>(n), static_cast<int64_t>(size - 1)};
}

template <typename T, typename I>
bool columns_inside(const SparseRows<T, I> &rows) {
    return all_inside(rows.column + rows.first[0], rows.column + rows.first[rows.n], rows.p);
}

template <typename T, typename I>
nb::tuple sparse(Compressed<T, I> compressed, Given given, Table theta, std::optional<Table> along, Vector steps,
                 int depth) {
    const SparseRows<T, I> rows = sparse_rows(compressed, theta);
    require(depth <= 1, "there is no curvature of sparse rows");
    const Call call(rows.n, rows.p, given, nullptr, theta, along, steps, depth);
    Answer answer(call, rows.p, theta.ndim() == 2);
    bool inside;
    {
        nb::gil_scoped_release release;
        inside = columns_inside(rows);
        if (inside) sparse_likelihood(rows, call.response, call.point, answer.sums());
    }
    require(inside, "a column lies outside the matrix");
    return answer.python(call);
}

// Theta, ridge and the inverse curvature; flat, enough, least, most and memory; loss and gradient at theta.
using Start = std::tuple<Table, Table, Table>;
using Rule = std::tuple<std::optional<Table>, double, double, int64_t, int64_t>;
using Known = std::optional<std::tuple<double, Table>>;

// The steps of `quasi_newton` with what `evaluate` tells at a point.
nb::tuple descend(const Evaluate &evaluate, const Call &call, const Start &start, const Rule &rule, const Known &known) {
    const auto &[theta, ridge, inverse] = start;
    const auto &[flat, enough, least, most, memory] = rule;
    const size_t all = theta.size(), size = all / call.point.K;
    require(ridge.size() == all, "ridge and theta differ in length");
    require(inverse.size() == all || inverse.size() == all * size, "the inverse is neither a diagonal nor blocks");
    require(!flat || flat->size() == all, "flat and theta differ in length");
    require(!known || std::get<1>(*known).size() == all, "gradient and theta differ in length");
    require(most >= 0 && memory >= 1, "most must be at least 0 and memory at least 1");
    const DescentProblem problem{call.point.K, static_cast<int64_t>(size), call.point.shift, ridge.data(), inverse.data(),
                                 flat ? flat->data() : nullptr, inverse.ndim() > theta.ndim(), enough, least, most, memory};
    Answer answer(call, size - 1, theta.ndim() == 2);
    std::unique_ptr<double[]> found(new double[all]);
    std::copy_n(theta.data(), all, found.get());
    if (known) {
        answer.loss = std::get<0>(*known);
        std::copy_n(std::get<1>(*known).data(), all, answer.gradient.get());
    }
    DescentResult result;
    {
        nb::gil_scoped_release release;
        result = quasi_newton(evaluate, problem, known.has_value(), found.get(), answer.sums());
    }
    nb::object at = theta.ndim() == 2 ? nb::cast(give(std::move(found), {all / size, size}))
                                      : nb::cast(give(std::move(found), {all}));
    return nb::make_tuple(at, result.value, result.gap, result.iterations, result.passes, result.converged,
                          answer.python(call));
}

template <typename T>
nb::tuple dense_descent(Matrix<T> x, Given given, Vector shift, Start start, Rule rule, Known known) {
    const Rows<T> rows = rows_of(x);
    const Table &theta = std::get<0>(start);
    const double none = 0.0;
    require(theta.ndim() == 1 || (theta.ndim() == 2 && theta.shape(0) > 0), "theta must be one row, or one row a class");
    require(static_cast<int64_t>(shift.shape(0)) == rows.p, "shift and columns differ in length");
    const Call call(rows.n, rows.p, given, shift.data(), theta, std::nullopt, Vector(&none, {0}), 1);
    const bool softmax = theta.ndim() == 2;
    const Evaluate evaluate = [&](const Point &at, Sums out) {
        if (softmax) softmax_likelihood(rows, call.response, at, out);
        else binary_likelihood(rows, call.response, at, out);
    };
    return descend(evaluate, call, start, rule, known);
}

template <typename T, typename I>
nb::tuple sparse_descent(Compressed<T, I> compressed, Given given, Vector, Start start, Rule rule, Known known) {
    const Table &theta = std::get<0>(start);
    const SparseRows<T, I> rows = sparse_rows(compressed, theta);
    const double none = 0.0;
    require(columns_inside(rows), "a column lies outside the matrix");
    const Call call(rows.n, rows.p, given, nullptr, theta, std::nullopt, Vector(&none, {0}), 1);
    const Evaluate evaluate = [&](const Point &at, Sums out) { sparse_likelihood(rows, call.response, at, out); };
    return descend(evaluate, call, start, rule, known);
}

}  // namespace

void bind_likelihood(nb::module_ &m) {
    const auto add_dense = [&m](const char *name, auto function) {
        m.def(name, function, "x"_a.noconvert(), "response"_a, "shift"_a, "theta"_a, "along"_a.none(), "steps"_a,
              "depth"_a);
    };
    add_dense("binary_likelihood", &binary<double>);
    add_dense("binary_likelihood", &binary<float>);
    add_dense("softmax_likelihood", &softmax<double>);
    add_dense("softmax_likelihood", &softmax<float>);
    const auto add_newton = [&m](auto function) {
        m.def("binary_newton", function, "x"_a.noconvert(), "response"_a, "shift"_a, "theta"_a, "ridge"_a, "held"_a,
              "enough"_a, "most"_a);
    };
    add_newton(&newton<double>);
    add_newton(&newton<float>);
    const auto add_descent = [&m](auto function) {
        m.def("quasi_newton", function, "x"_a.noconvert(), "response"_a, "shift"_a, "start"_a, "rule"_a, "known"_a.none());
    };
    add_descent(&dense_descent<double>);
    add_descent(&dense_descent<float>);
    add_descent(&sparse_descent<double, int32_t>);
    add_descent(&sparse_descent<double, int64_t>);
    add_descent(&sparse_descent<float, int32_t>);
    add_descent(&sparse_descent<float, int64_t>);
    const auto add_sparse = [&m](auto function) {
        m.def("sparse_likelihood", function, "rows"_a, "response"_a, "theta"_a, "along"_a.none(), "steps"_a, "depth"_a);
    };
    add_sparse(&sparse<double, int32_t>);
    add_sparse(&sparse<double, int64_t>);
    add_sparse(&sparse<float, int32_t>);
    add_sparse(&sparse<float, int64_t>);
}

}  // namespace discrim
