// Dense rows, learned one after another.
#include "online/online.hpp"

#include <vector>

#include "online/online_ahead.hpp"
#include "online/online_rules.hpp"

namespace discrim {
namespace {

// Bytes that are asked for ahead of their use: rows in random order are not foreseen by the processor.
constexpr int64_t AHEAD = 4096;
// Bytes that are near anyway.
constexpr int64_t NEAR = 1 << 18;

template <typename V, typename T>
DISCRIM_INLINE void learn(const Rows<T> &x, const Visits &visits, const Settings &settings, const Problems &problems) {
    const int64_t lead = std::max<int64_t>(1, AHEAD / std::max<int64_t>(1, x.p * sizeof(T)));
    const bool jumps = visits.order && x.column_stride == 1 && x.n * x.p * static_cast<int64_t>(sizeof(T)) > NEAR;
    const auto fetched = [&](int64_t v) DISCRIM_INLINED {
        if (jumps) fetch(x.data + visits.row_after(v, lead) * x.row_stride, std::min<int64_t>(x.p, AHEAD / sizeof(T)));
        return x.data + visits.row(v) * x.row_stride;
    };
    if (suits_ahead(settings, problems)) return learn_ahead<V>(x, visits, settings, problems, fetched);
    std::vector<T> gathered(x.column_stride == 1 ? 0 : x.p);
    visit(visits, settings, problems, [&](int64_t v) DISCRIM_INLINED {
        const T *at = fetched(v);
        if (x.column_stride != 1) {
            for (int64_t j = 0; j < x.p; ++j) gathered[j] = at[j * x.column_stride];
            at = gathered.data();
        }
        return DenseRow<T, V>{at, x.p};
    });
}

template <int W>
DISCRIM_INLINE void learn_double_body(const Rows<double> &x, const Visits &visits, const Settings &settings,
                                      const Problems &problems) {
    learn<Native<W>>(x, visits, settings, problems);
}
template <int W>
DISCRIM_INLINE void learn_float_body(const Rows<float> &x, const Visits &visits, const Settings &settings,
                                     const Problems &problems) {
    learn<Native<W>>(x, visits, settings, problems);
}

// A number times zero is zero, unless it is not finite.
template <int W>
DISCRIM_INLINE void no_number_body(const double *numbers, int64_t count, double &sum) {
    using V = Native<W>;
    V a{}, b{};
    int64_t j = 0;
    for (; j + 2 * WIDTH<V> <= count; j += 2 * WIDTH<V>) {
        a += get<V>(numbers + j) * 0.0;
        b += get<V>(numbers + j + WIDTH<V>) * 0.0;
    }
    sum = sum_of(a + b);
    for (; j < count; ++j) sum += numbers[j] * 0.0;
}

DISCRIM_VERSIONS(no_number, (const double *numbers, int64_t count, double &sum), (numbers, count, sum))
DISCRIM_VERSIONS(learn_double, (const Rows<double> &x, const Visits &visits, const Settings &settings, const Problems &problems),
                 (x, visits, settings, problems))
DISCRIM_VERSIONS(learn_float, (const Rows<float> &x, const Visits &visits, const Settings &settings, const Problems &problems),
                 (x, visits, settings, problems))

}  // namespace

bool all_finite(const double *numbers, int64_t count) {
    double sum;
    no_number(numbers, count, sum);
    return sum == 0.0;
}

void learn_dense(const Rows<double> &x, const Visits &visits, const Settings &settings, const Problems &problems) {
    learn_double(x, visits, settings, problems);
}
void learn_dense(const Rows<float> &x, const Visits &visits, const Settings &settings, const Problems &problems) {
    learn_float(x, visits, settings, problems);
}

}  // namespace discrim
