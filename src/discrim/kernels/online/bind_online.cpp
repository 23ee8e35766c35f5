// The Python face of the online kernels.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "online/online.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {
namespace {

using Changed = Aligned<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// Order (or None); the codes and weights (or None) of the visits.
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
    const size_t count = order ? order->shape(0) : n;
    require(codes.shape(0) == count, "codes and visits differ in length");
    require(!weight || weight->shape(0) == count, "weights and visits differ in length");
    require(!order || all_inside(order->data(), order->data() + count, n), "the order names a row that is not there");
    return {order ? order->data() : nullptr, static_cast<int64_t>(count), codes.data(), weight ? weight->data() : nullptr};
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
using Compressed = std::tuple<List<T>, List<I>, List<I>>;
constexpr char OUTSIDE[] = "a column lies outside the matrix";

// Columns are looked at in every call: arrays can change between two, and a column that is not there would be written to.
template <typename T, typename I>
SparseRows<T, I> compressed_rows(const Compressed<T, I> &compressed, size_t p) {
    const auto &[value, column, first] = compressed;
    require(value.shape(0) == column.shape(0), "values and columns differ in length");
    require_pointers(first, value.shape(0));
    return {value.data(), column.data(), first.data(), static_cast<int64_t>(first.shape(0)) - 1, static_cast<int64_t>(p)};
}

template <typename T, typename I>
void sparse(Compressed<T, I> compressed, Given given, Asked asked, State state) {
    const size_t p = std::get<0>(state).shape(1);
    const auto rows = compressed_rows(compressed, p);
    const Visits visits = visits_of(given, rows.n);
    const Settings settings = settings_of(asked);
    const Problems problems = problems_of(state, settings, p);
    nb::gil_scoped_release release;
    require(learn_sparse(rows, visits, settings, problems), OUTSIDE);
}

inline uint32_t next_random(uint32_t &state) {
    if (state == 0) state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state & 0x7fffffffu;
}

// Fisher and Yates with Marsaglia's 32-bit generator: the orders that scikit-learn's SGD takes its rows in.
void mix(int32_t *order, int64_t n, uint32_t seed) {
    // The places are drawn some time before they are needed, so that memory can be asked for them.
    constexpr int64_t BATCH = 64;
    uint32_t places[BATCH];
    for (int64_t start = 0; start + 1 < n; start += BATCH) {
        const int64_t count = std::min(BATCH, n - 1 - start);
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t i = start + k;
            places[k] = i + next_random(seed) % (static_cast<uint32_t>(n) - i);
            __builtin_prefetch(order + places[k], 1);
        }
        for (int64_t k = 0; k < count; ++k) std::swap(order[start + k], order[places[k]]);
    }
}

using Order = Aligned<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void shuffle(Order order, uint32_t seed) {
    nb::gil_scoped_release release;
    mix(order.data(), order.shape(0), seed);
}

// The order, which is shuffled before every epoch, and its seed, or None for rows in turn; codes and weights (or None)
// of the rows.
using Repeated = std::tuple<std::optional<std::tuple<Order, uint32_t>>, Codes, std::optional<Vector>>;
// At most so many epochs; the gain that counts as one (NaN: none is asked for), and how many epochs may be without; the
// least mean loss so far, and the epochs since.
using Until = std::tuple<int64_t, double, int64_t, double, int64_t>;
// Epochs that were learned; the least mean loss, and the epochs since.
using Ended = std::tuple<int64_t, double, int64_t>;

// The orders of one epoch after another. All are shuffled by the same seed, so that the places are exchanged in the same
// way each time: what the first shuffle does to places is kept, and does the next ones too. In the highest bit of an order
// is whether the row is of the class that is learned.
class Shuffled {
public:
    Shuffled(int32_t *order, uint32_t seed, const Codes &codes, int32_t positive, int64_t epochs)
        : order_(order), now_(order), seed_(seed), n_(codes.shape(0)), other_(epochs > 1 ? n_ : 0), from_(other_.size()) {
        before_ = other_.data();
        for (int64_t v = 0; v < n_; ++v) {
            const uint32_t own = codes.data()[order[v]] == positive;
            order[v] = static_cast<int32_t>(static_cast<uint32_t>(order[v]) | own << 31);
        }
        std::iota(from_.begin(), from_.end(), 0);
        mix(from_.data(), from_.size(), seed);
    }
    Shuffled(const Shuffled &) = delete;
    // The caller keeps the last order.
    ~Shuffled() {
        for (int64_t v = 0; v < n_; ++v) order_[v] = now_[v] & 0x7fffffff;
    }
    const int32_t *next() {
        if (from_.empty()) {
            mix(now_, n_, seed_);
        } else {
            std::swap(now_, before_);
            for (int64_t v = 0; v < n_; ++v) now_[v] = before_[from_[v]];
        }
        return now_;
    }

private:
    int32_t *order_, *now_, *before_;
    uint32_t seed_;
    int64_t n_;
    std::vector<int32_t> other_, from_;
};

// learn(visits) for epoch after epoch of one problem, until its mean loss gains nothing any more or is not finite.
template <typename Learn>
Ended repeat(const Repeated &given, const Until &until, int64_t n, const Problems &of, Learn learn) {
    const auto &[shuffled, codes, weight] = given;
    auto [most, tol, patience, best, stale] = until;
    int32_t *order = shuffled ? std::get<0>(*shuffled).data() : nullptr;
    require(of.K == 1, "epochs are those of one problem");
    require(!shuffled || static_cast<int64_t>(std::get<0>(*shuffled).shape(0)) == n, "order and rows differ in length");
    require(!order || all_inside(order, order + n, n), "the order names a row that is not there");
    require(static_cast<int64_t>(codes.shape(0)) == n, "codes and rows differ in length");
    require(!weight || static_cast<int64_t>(weight->shape(0)) == n, "weights and rows differ in length");
    nb::gil_scoped_release release;
    std::optional<Shuffled> orders;
    if (order) orders.emplace(order, std::get<1>(*shuffled), codes, of.positive[0], most);
    std::vector<double> ordered_weight(order && weight ? n : 0);
    Visits visits{nullptr, n, order ? nullptr : codes.data(), weight ? weight->data() : nullptr};
    Memory &m = of.memory[0];
    int64_t epochs = 0;
    while (epochs < most) {
        if (order) visits.order = orders->next();
        if (order && weight) {
            for (int64_t v = 0; v < n; ++v) ordered_weight[v] = weight->data()[visits.row(v)];
            visits.weight = ordered_weight.data();
        }
        require(learn(visits), OUTSIDE);
        ++epochs;
        const double value = m.loss / static_cast<double>(n);
        m.loss = 0.0;
        stale = value > best - tol ? stale + 1 : 0;
        best = std::min(best, value);
        if (stale >= patience || m.finite == 0.0 || !std::isfinite(m.intercept) || !all_finite(of.w, of.p)) break;
    }
    return {epochs, best, stale};
}

template <typename T>
Ended dense_epochs(Matrix<T> x, Repeated given, Asked asked, State state, Until until) {
    const Rows<T> rows = rows_of(x);
    const Settings settings = settings_of(asked);
    const Problems problems = problems_of(state, settings, rows.p);
    return repeat(given, until, rows.n, problems, [&](const Visits &visits) {
        learn_dense(rows, visits, settings, problems);
        return true;
    });
}

template <typename T, typename I>
Ended sparse_epochs(Compressed<T, I> compressed, Repeated given, Asked asked, State state, Until until) {
    const size_t p = std::get<0>(state).shape(1);
    const auto rows = compressed_rows(compressed, p);
    const Settings settings = settings_of(asked);
    const Problems problems = problems_of(state, settings, p);
    // Looked at once for all epochs.
    require(all_inside(rows.column + rows.first[0], rows.column + rows.first[rows.n], rows.p), OUTSIDE);
    return repeat(given, until, rows.n, problems,
                  [&](const Visits &visits) { return learn_sparse(rows, visits, settings, problems, true); });
}

// Rows that come one by one, as dicts of feature to number; `columns` says where a feature is kept. Arrays are looked at
// once, when the stream is made, and not for every row.
class Stream {
public:
    Stream(Asked asked, State state)
        : state_(std::move(state)), settings_(settings_of(asked)),
          problems_(problems_of(state_, settings_, std::get<0>(state_).shape(1))) {}

    // 0; or, and nothing is learned: 1 where a feature has no place or is not a finite number, 2 where a score is not
    // finite or a weight would not be.
    int learn(nb::dict x, nb::dict columns, int32_t code, double weight) {
        if (!read(x, columns, false)) return 1;
        keep();
        const int32_t first[2] = {0, static_cast<int32_t>(values_.size())};
        learn_sparse(SparseRows<double, int32_t>{values_.data(), places_.data(), first, 1, problems_.p},
                     Visits{nullptr, 1, &code, &weight}, settings_, problems_);
        ++learned_;
        if (finite()) return 0;
        undo();
        return 2;
    }

    // Rows learned so far.
    int64_t learned() const { return learned_; }

    // As it was before the row that was learned last; to be called once.
    void undo() {
        visit_kept([](double &now, const double &before) { now = before; });
        --learned_;
    }

    // The K scores by the weights or by their average, features without a place left out; None where one is not a number.
    nb::object scores(nb::dict x, nb::dict columns, bool averaged) {
        if (!read(x, columns, true)) return nb::none();
        require(!averaged || problems_.averages, "there are no averages");
        nb::list out;
        for (int64_t k = 0; k < problems_.K; ++k) {
            const Memory &m = problems_.memory[k];
            const double eta = product(problems_.w + k * problems_.p);
            if (averaged)
                out.append((product(problems_.averages + k * problems_.p) + m.average_a * eta) / m.average_b +
                           m.average_intercept);
            else
                out.append(m.scale * eta + m.intercept);
        }
        return out;
    }

private:
    bool read(const nb::dict &x, const nb::dict &columns, bool leave_out) {
        values_.clear();
        places_.clear();
        PyObject *name, *number;
        Py_ssize_t position = 0;
        double total = 0.0;
        while (PyDict_Next(x.ptr(), &position, &name, &number)) {
            PyObject *place = PyDict_GetItemWithError(columns.ptr(), name);
            if (!place && PyErr_Occurred()) throw nb::python_error();
            if (!place && leave_out) continue;
            const double value = PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number) : PyFloat_AsDouble(number);
            if (value == -1.0 && PyErr_Occurred()) {
                PyErr_Clear();
                return false;
            }
            const int64_t at = place ? whole_number(place) : -1;
            if (at < 0 || at >= problems_.p) return false;
            total += value;
            values_.push_back(value);
            places_.push_back(static_cast<int32_t>(at));
        }
        return leave_out || std::isfinite(total);
    }
    // Where a feature is kept; a number that is too large for any array stays too large.
    static int64_t whole_number(PyObject *place) {
        if (PyLong_CheckExact(place)) {
            int beyond;
            const long long at = PyLong_AsLongLongAndOverflow(place, &beyond);
            return beyond == 0 ? at : beyond * std::numeric_limits<int64_t>::max();
        }
        if (!PyIndex_Check(place)) throw nb::type_error("the place of a feature is not a whole number");
        const Py_ssize_t at = PyNumber_AsSsize_t(place, nullptr);
        if (at == -1 && PyErr_Occurred()) throw nb::python_error();
        return at;
    }
    double product(const double *w) const {
        double sum = 0.0;
        for (size_t k = 0; k < values_.size(); ++k) sum += values_[k] * w[places_[k]];
        return sum;
    }
    // Remembers what a row may change: the memory and the weights of its columns; of all columns where the scale is
    // about to be multiplied into them.
    void keep() {
        whole_ = false;
        if (settings_.penalty == Penalty::l2 || settings_.penalty == Penalty::elastic_net)
            for (int64_t k = 0; k < problems_.K; ++k) {
                const Memory &m = problems_.memory[k];
                whole_ |= !(m.scale * (1.0 - 1.01 * settings_.alpha * m.eta) > 1.01 * SMALLEST_SCALE);
            }
        const size_t columns = whole_ ? static_cast<size_t>(problems_.p) : places_.size();
        const size_t arrays = 1 + (problems_.averages != nullptr) + (problems_.second != nullptr);
        kept_.resize(problems_.K * (MEMORY + arrays * columns));
        visit_kept([](const double &now, double &before) { before = now; });
    }
    template <typename Do>
    void visit_kept(Do &&each) {
        double *kept = kept_.data();
        for (int64_t k = 0; k < problems_.K; ++k) {
            double *memory = reinterpret_cast<double *>(problems_.memory + k);
            for (int64_t j = 0; j < MEMORY; ++j) each(memory[j], *kept++);
            for (double *array : {problems_.w, problems_.averages, problems_.second}) {
                if (!array) continue;
                double *row = array + k * problems_.p;
                if (whole_)
                    for (int64_t j = 0; j < problems_.p; ++j) each(row[j], *kept++);
                else
                    for (const int32_t j : places_) each(row[j], *kept++);
            }
        }
    }
    bool finite() {
        // Comparisons, unlike sums, need not wait for each other.
        constexpr double most = std::numeric_limits<double>::max();
        bool all = true;
        for (int64_t k = 0; k < problems_.K; ++k) {
            const Memory &m = problems_.memory[k];
            if (m.finite == 0.0) return false;
            all &= std::abs(m.intercept) <= most;
            for (const double *array : {problems_.w, problems_.averages}) {
                if (!array) continue;
                const double *row = array + k * problems_.p;
                for (const int32_t j : places_) all &= std::abs(row[j]) <= most;
            }
        }
        return all;
    }

    State state_;
    Settings settings_;
    Problems problems_;
    std::vector<double> values_;
    std::vector<int32_t> places_;
    std::vector<double> kept_;
    bool whole_ = false;
    int64_t learned_ = 0;
};

}  // namespace

void bind_online(nb::module_ &m) {
    const auto add_dense = [&m](auto one, auto epochs) {
        m.def("learn_dense", one, "x"_a.noconvert(), "given"_a, "settings"_a, "state"_a);
        m.def("learn_epochs", epochs, "rows"_a.noconvert(), "given"_a, "settings"_a, "state"_a, "until"_a);
    };
    add_dense(&dense<double>, &dense_epochs<double>);
    add_dense(&dense<float>, &dense_epochs<float>);
    const auto add_sparse = [&m](auto one, auto epochs) {
        m.def("learn_sparse", one, "rows"_a, "given"_a, "settings"_a, "state"_a);
        m.def("learn_epochs", epochs, "rows"_a, "given"_a, "settings"_a, "state"_a, "until"_a);
    };
    add_sparse(&sparse<double, int32_t>, &sparse_epochs<double, int32_t>);
    add_sparse(&sparse<double, int64_t>, &sparse_epochs<double, int64_t>);
    add_sparse(&sparse<float, int32_t>, &sparse_epochs<float, int32_t>);
    add_sparse(&sparse<float, int64_t>, &sparse_epochs<float, int64_t>);
    nb::class_<Stream>(m, "Stream")
        .def(nb::init<Asked, State>(), "settings"_a, "state"_a)
        .def("learn", &Stream::learn, "x"_a, "columns"_a, "code"_a, "weight"_a)
        .def("scores", &Stream::scores, "x"_a, "columns"_a, "averaged"_a)
        .def("undo", &Stream::undo)
        .def_prop_ro("learned", &Stream::learned);
    m.def("shuffle", &shuffle, "order"_a.noconvert(), "seed"_a);
}

}  // namespace discrim
