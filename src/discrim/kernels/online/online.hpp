// Rows taken one after another, each of which changes the weights: one pass, or a part of it.
#pragma once

#include <cstdint>

#include "lanes.hpp"
#include "logistic/likelihood.hpp"
#include "gaussian/moments.hpp"

namespace discrim {

enum class Loss { perceptron = 0, hinge, squared_hinge, log, modified_huber, squared_error, huber, epsilon, squared_epsilon };
enum class Rate { constant = 0, optimal, invscaling, adaptive, pa1, pa2 };
enum class Penalty { none = 0, l1 = 1, l2 = 2, elastic_net = 3 };
// How a row changes the weights: by the gradient of a loss in each problem by itself; the best class against the true
// one; by confidence.
enum class Update { gradient = 0, best_class = 1, confidence = 2 };

struct Settings {
    Update update;
    Loss loss;
    Rate rate;
    Penalty penalty;
    double alpha, l1_ratio, eta0, power, epsilon, start;  // start: what 'optimal' and 'invscaling' add to the time
    double intercept_step;                                // 0 without intercept
    double average;                                       // the time from which weights are averaged, 0 for never
    double cap;                                           // the largest rate times |x|^2, 0 for any
    bool told;                                            // are losses and norms asked for?
};

// What a problem remembers beside its weights. The weights are scale * w; their average is
// (averages + average_a * w) / average_b.
struct Memory {
    double intercept, average_intercept, t, eta, shrunk, scale, average_a, average_b, square, absolute, loss, updates,
        wrong, finite;
};
constexpr int64_t MEMORY = sizeof(Memory) / sizeof(double);
constexpr double SMALLEST_SCALE = 1e-9;  // below, the scale is multiplied into the weights

// K problems over p columns. Problem k is class positive[k] against the others; `averages`, and `second` (what L1 has
// taken from each weight so far, or the variances of AROW), may be null.
struct Problems {
    int64_t K, p;
    double *w, *averages, *second;
    Memory *memory;
    const int32_t *positive;
    const double *gain_positive, *gain_negative;
};

// Rows order[0], order[1], ... (all in turn where order is null). Classes and weights are those of the visits, not of
// the rows: they are then read one after another. weight may be null; without codes the highest bit of an order says
// whether the row is of the class of the only problem.
struct Visits {
    const int32_t *order;
    int64_t count;
    const int32_t *codes;
    const double *weight;

    DISCRIM_INLINE int64_t row(int64_t v) const { return order ? order[v] & 0x7fffffff : v; }
    // Is the row of the class with this code?
    DISCRIM_INLINE bool own(int64_t v, int32_t code) const { return codes ? codes[v] == code : order[v] < 0; }
    DISCRIM_INLINE int32_t code(int64_t v, int32_t positive) const { return codes ? codes[v] : order[v] < 0 ? positive : -1; }
    DISCRIM_INLINE int64_t row_after(int64_t v, int64_t lead) const { return row(v + lead < count ? v + lead : count - 1); }
};

void learn_dense(const Rows<double> &x, const Visits &visits, const Settings &settings, const Problems &problems);
void learn_dense(const Rows<float> &x, const Visits &visits, const Settings &settings, const Problems &problems);
// False if a row names a column that is not there; such rows are not learned from. `known`: all columns are there.
template <typename T, typename I>
bool learn_sparse(const SparseRows<T, I> &x, const Visits &visits, const Settings &settings, const Problems &problems,
                  bool known = false);
// Are all these numbers finite?
bool all_finite(const double *numbers, int64_t count);

}  // namespace discrim
