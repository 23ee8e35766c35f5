// The Python face of the online kernels.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "arrays.hpp"
#include "online.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

template <typename T>
using List = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Changed = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Order (or None), codes, weights (or None).
using Given = std::tuple<std::optional<Codes>, Codes, std::optional<Vector>>;
// The names of update, loss, rate and penalty as numbers; then the numbers in the order of `Settings`; then told.
using Asked = std::tuple<std::tuple<int, int, int, int>, Vector, bool>;
// Weights, averages, second, memory; positive codes and the gains of positive and negative rows.
using State = std::tuple<Changed, std::optional<Changed>, std::optional<Changed>, Changed, Codes, Vector, Vector>;

Settings settings_of(const Asked &asked) {
    const auto &[names, numbers, told] = asked;
    const auto [update, loss, rate, penalty] = names;
    require(update >= 0 && update <= 2 && loss >= 0 && loss <= 8 && rate >= 0 && rate <= 5 && penalty >= 0 && penalty <= 3,
            "there is no such update, loss, rate or penalty");
    require(numbers.shape(0) == 9, "there are nine numbers in the settings");
    const double *n = numbers.data();
    return {static_cast<Update>(update), static_cast<Loss>(loss), static_cast<Rate>(rate), static_cast<Penalty>(penalty),
            n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], told};
}

Problems problems_of(const State &state, const Settings &settings, size_t p) {
    const auto &[w, averages, second, memory, positive, gain_positive, gain_negative] = state;
    const size_t K = w.shape(0);
    require(w.shape(1) == p, "weights and columns differ in length");
    for (const auto *like : {&averages, &second})
        require(!*like || ((*like)->shape(0) == K && (*like)->shape(1) == p), "the arrays of the weights differ in shape");
    require(averages || settings.average <= 0.0, "there is no room for the averages");
    const bool needs_second = settings.update == Update::confidence || settings.penalty == Penalty::l1 ||
                              settings.penalty == Penalty::elastic_net;
    require(second || !needs_second, "there is no room for the second array");
    require(memory.shape(0) == K && static_cast<int64_t>(memory.shape(1)) == MEMORY, "memory has the wrong shape");
    require(positive.shape(0) == K && gain_positive.shape(0) == K && gain_negative.shape(0) == K,
            "classes, gains and weights differ in length");
    return {static_cast<int64_t>(K), static_cast<int64_t>(p), w.data(), averages ? averages->data() : nullptr,
            second ? second->data() : nullptr, reinterpret_cast<Memory *>(memory.data()), positive.data(),
            gain_positive.data(), gain_negative.data()};
}

Visits visits_of(const Given &given, size_t n) {
    const auto &[order, codes, weight] = given;
    require(codes.shape(0) == n, "codes and rows differ in length");
    require(!weight || weight->shape(0) == n, "weights and rows differ in length");
    if (order)
        for (size_t v = 0; v < order->shape(0); ++v)
            require(order->data()[v] >= 0 && static_cast<size_t>(order->data()[v]) < n, "the order names a row that is not there");
    return {order ? order->data() : nullptr, static_cast<int64_t>(order ? order->shape(0) : n), codes.data(),
            weight ? weight->data() : nullptr};
}

template <typename T>
void dense(Matrix<T> x, Given given, Asked asked, State state) {
    const Rows<T> rows = rows_of(x);
    const Visits visits = visits_of(given, rows.n);
    const Settings settings = settings_of(asked);
    const Problems problems = problems_of(state, settings, rows.p);
    nb::gil_scoped_release release;
    learn_dense(rows, visits, settings, problems);
}

template <typename T, typename I>
void sparse(std::tuple<List<T>, List<I>, List<I>> compressed, Given given, Asked asked, State state) {
    const auto &[value, column, first] = compressed;
    require(first.shape(0) >= 1, "there is no row pointer");
    require(value.shape(0) == column.shape(0), "values and columns differ in length");
    const size_t n = first.shape(0) - 1, p = std::get<0>(state).shape(1);
    for (size_t i = 0; i < n; ++i) require(first.data()[i] <= first.data()[i + 1], "row pointers must not fall");
    require(first.data()[0] >= 0 && static_cast<size_t>(first.data()[n]) <= value.shape(0), "row pointers leave the values");
    const Visits visits = visits_of(given, n);
    const Settings settings = settings_of(asked);
    const Problems problems = problems_of(state, settings, p);
    bool inside;
    {
        nb::gil_scoped_release release;
        inside = learn_sparse(SparseRows<T, I>{value.data(), column.data(), first.data(), static_cast<int64_t>(n),
                                               static_cast<int64_t>(p)},
                              visits, settings, problems);
    }
    require(inside, "a column lies outside the matrix");
}

uint32_t next_random(uint32_t &state) {
    if (state == 0) state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state & 0x7fffffffu;
}

// Fisher and Yates with Marsaglia's 32-bit generator: the orders that scikit-learn's SGD takes its rows in.
void shuffle(nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> order, uint32_t seed) {
    nb::gil_scoped_release release;
    const int64_t n = order.shape(0);
    int32_t *at = order.data();
    // The places are drawn some time before they are needed, so that memory can be asked for them.
    constexpr int64_t BATCH = 64;
    uint32_t places[BATCH];
    for (int64_t start = 0; start + 1 < n; start += BATCH) {
        const int64_t count = std::min(BATCH, n - 1 - start);
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t i = start + k;
            places[k] = i + next_random(seed) % (static_cast<uint32_t>(n) - i);
            __builtin_prefetch(at + places[k], 1);
        }
        for (int64_t k = 0; k < count; ++k) std::swap(at[start + k], at[places[k]]);
    }
}

}  // namespace

void bind_online(nb::module_ &m) {
    const auto add_dense = [&m](auto function) {
        m.def("learn_dense", function, "x"_a.noconvert(), "given"_a, "settings"_a, "state"_a);
    };
    add_dense(&dense<double>);
    add_dense(&dense<float>);
    const auto add_sparse = [&m](auto function) {
        m.def("learn_sparse", function, "rows"_a, "given"_a, "settings"_a, "state"_a);
    };
    add_sparse(&sparse<double, int32_t>);
    add_sparse(&sparse<double, int64_t>);
    add_sparse(&sparse<float, int32_t>);
    add_sparse(&sparse<float, int64_t>);
    m.def("shuffle", &shuffle, "order"_a.noconvert(), "seed"_a);
}

}  // namespace discrim
