// The Python face of the kernels. Every call runs on the caller's thread and releases the interpreter lock.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "arrays.hpp"
#include "gaussian/moments.hpp"
#include "gaussian/scores.hpp"
#include "gaussian/spheres.hpp"

void bind_coordinate(nanobind::module_ &m);

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
void bind_labels(nb::module_ &m);
void bind_levels(nb::module_ &m);
void bind_likelihood(nb::module_ &m);
void bind_counts(nb::module_ &m);
void bind_online(nb::module_ &m);
void bind_placements(nb::module_ &m);
void bind_versions(nb::module_ &m);
}

namespace {

using discrim::Codes;
using discrim::give;
using discrim::Matrix;
using discrim::require;
using discrim::rows_of;
using discrim::Vector;

using Low = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::tuple class_moments(Matrix<T> x, Codes codes, std::optional<Vector> weight, int64_t K, int depth_number,
                        std::optional<Low> low) {
    const auto rows = rows_of(x);
    const auto depth = static_cast<discrim::Depth>(depth_number);
    require(depth_number >= 0 && depth_number <= 2, "depth must be 0, 1 or 2");
    require(K >= 0, "there is a negative number of classes");
    require(static_cast<int64_t>(codes.shape(0)) == rows.n, "codes and rows differ in length");
    require(!weight || static_cast<int64_t>(weight->shape(0)) == rows.n, "weights and rows differ in length");
    require(!low || (static_cast<int64_t>(low->shape(0)) == K && static_cast<int64_t>(low->shape(1)) == rows.p),
            "low has the wrong shape");
    int32_t largest = -1;
    for (int64_t i = 0; i < rows.n; ++i) largest = std::max(largest, codes.data()[i]);
    require(largest < K, "a code is not below the number of classes");
    const size_t p = rows.p, k = K;
    const size_t size = depth == discrim::Depth::diagonal ? k * p : depth == discrim::Depth::pooled ? p * p : k * p * p;
    std::unique_ptr<double[]> total(new double[k]), mean(new double[k * p]), scatter(new double[size]);
    std::unique_ptr<int64_t[]> count(new int64_t[k]);
    {
        nb::gil_scoped_release release;
        discrim::class_moments(rows, codes.data(), weight ? weight->data() : nullptr, K, depth,
                               discrim::Moments{total.get(), count.get(), mean.get(), low ? low->data() : nullptr,
                                                scatter.get()});
    }
    nb::object spread = depth == discrim::Depth::diagonal ? nb::cast(give(std::move(scatter), {k, p}))
                        : depth == discrim::Depth::pooled ? nb::cast(give(std::move(scatter), {p, p}))
                                                          : nb::cast(give(std::move(scatter), {k, p, p}));
    return nb::make_tuple(give(std::move(total), {k}), give(std::move(count), {k}), give(std::move(mean), {k, p}),
                          spread);
}

using Array = discrim::Aligned<const double, nb::c_contig, nb::device::cpu>;

discrim::RuleArrays rule_of(int64_t p, int number, const Array &centre, const Array &factor, const Vector &offset,
                            bool triangular) {
    require(number >= 0 && number <= 2, "unknown rule");
    const auto rule = static_cast<discrim::Rule>(number);
    require(offset.shape(0) > 0, "there is no class to score");
    require(rule != discrim::Rule::quadratic || factor.ndim() == 3, "factor must be classes x rank x columns");
    const int64_t K = offset.shape(0), r = rule == discrim::Rule::quadratic ? factor.shape(1) : 1;
    require(static_cast<int64_t>(factor.size()) == K * r * p, "factor has the wrong size");
    require(static_cast<int64_t>(centre.size()) == (rule == discrim::Rule::linear ? 1 : K) * p, "centre has the wrong size");
    require(!triangular || r == p, "a triangular factor is square");
    return {rule, K, p, r, centre.data(), factor.data(), offset.data(), triangular};
}

template <typename T, typename Out>
bool score(Matrix<T> x, int rule, Array centre, Array factor, Vector offset, bool triangular, int output,
           discrim::Aligned<Out, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const auto rows = rows_of(x);
    const auto arrays = rule_of(rows.p, rule, centre, factor, offset, triangular);
    require(output == 0 || output == 2 || output == 3, "unknown output");
    require(static_cast<int64_t>(out.shape(0)) == rows.n && static_cast<int64_t>(out.shape(1)) == arrays.K,
            "out has the wrong shape");
    nb::gil_scoped_release release;
    return discrim::score<T, Out>(rows, arrays, static_cast<discrim::Output>(output), out.data(), nullptr);
}

template <typename T>
bool best(Matrix<T> x, int rule, Array centre, Array factor, Vector offset, bool triangular, int output,
          discrim::Aligned<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
    const auto rows = rows_of(x);
    const auto arrays = rule_of(rows.p, rule, centre, factor, offset, triangular);
    require(output == 1, "unknown output");
    require(static_cast<int64_t>(out.shape(0)) == rows.n, "out has the wrong length");
    nb::gil_scoped_release release;
    return discrim::score<T, double>(rows, arrays, discrim::Output::best, nullptr, out.data());
}

nb::tuple sphere(discrim::Aligned<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> sigma, Vector noise) {
    const size_t p = noise.shape(0);
    require(sigma.shape(0) == p && sigma.shape(1) == p, "the matrix must have a row and a column for each of the noise");
    std::unique_ptr<double[]> scale(new double[p]), inverse(new double[p * p]);
    const auto found = discrim::sphere(sigma.data(), noise.data(), p, scale.get(), inverse.get());
    return nb::make_tuple(give(std::move(scale), {p}), give(std::move(inverse), {p, p}), found.log_det, found.rcond);
}

// A number of Python's own, exact as a double; false for any other object. Truth values are whole numbers of another type.
bool read_number(PyObject *item, double &to) {
    if (PyFloat_Check(item)) {
        to = PyFloat_AS_DOUBLE(item);
        return true;
    }
    if (!PyLong_CheckExact(item)) return false;
    constexpr long long EXACT = 1LL << 53;
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(item, &overflow);
    to = static_cast<double>(whole);
    return overflow == 0 && -EXACT <= whole && whole <= EXACT;
}

bool is_sequence(PyObject *thing) { return PyList_CheckExact(thing) || PyTuple_CheckExact(thing); }

// Nested lists as float64. No code of the user's runs meanwhile, so that no list changes.
nb::object read_lists(nb::handle rows) {
    if (!is_sequence(rows.ptr()) || PySequence_Fast_GET_SIZE(rows.ptr()) == 0) return nb::none();
    PyObject **row = PySequence_Fast_ITEMS(rows.ptr());
    if (!is_sequence(row[0])) return nb::none();
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(rows.ptr()), p = PySequence_Fast_GET_SIZE(row[0]);
    if (p == 0) return nb::none();
    std::unique_ptr<double[]> values(new double[n * p]);
    double *to = values.get();
    for (Py_ssize_t i = 0; i < n; ++i) {
        if (!is_sequence(row[i]) || PySequence_Fast_GET_SIZE(row[i]) != p) return nb::none();
        PyObject **item = PySequence_Fast_ITEMS(row[i]);
        for (Py_ssize_t j = 0; j < p; ++j)
            if (!read_number(item[j], *to++)) return nb::none();
    }
    return nb::cast(give(std::move(values), {static_cast<size_t>(n), static_cast<size_t>(p)}));
}

}  // namespace

NB_MODULE(_native, m) {
    m.def("class_moments", &class_moments<double>, "x"_a.noconvert(), "codes"_a, "weight"_a.none(), "classes"_a, "depth"_a,
          "low"_a.noconvert().none() = nb::none());
    m.def("class_moments", &class_moments<float>, "x"_a.noconvert(), "codes"_a, "weight"_a.none(), "classes"_a, "depth"_a,
          "low"_a.noconvert().none() = nb::none());
    const auto add_score = [&m](auto function) {
        m.def("score", function, "x"_a.noconvert(), "rule"_a, "centre"_a, "factor"_a, "offset"_a, "triangular"_a,
              "output"_a, "out"_a.noconvert());
    };
    // Tried in this order: predictions come first.
    add_score(&best<double>);
    add_score(&best<float>);
    add_score(&score<double, double>);
    add_score(&score<float, float>);
    add_score(&score<float, double>);
    m.def("sphere", &sphere, "sigma"_a, "noise"_a);
    m.def("read_lists", &read_lists, "rows"_a.none());
    discrim::bind_labels(m);
    discrim::bind_levels(m);
    discrim::bind_likelihood(m);
    discrim::bind_counts(m);
    discrim::bind_online(m);
    discrim::bind_placements(m);
    discrim::bind_versions(m);
    bind_coordinate(m);
}
