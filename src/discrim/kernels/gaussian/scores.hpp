// Scores of rows under linear, quadratic and diagonal rules, and what is made of them.
#pragma once

#include <cstdint>

#include "gaussian/moments.hpp"

namespace discrim {

enum class Rule { linear = 0, diagonal = 1, quadratic = 2 };
enum class Output { scores = 0, best = 1, posterior = 2, log_posterior = 3 };

// linear:    offset_k + factor_k' (x - centre)                    factor K x p, one centre for all
// diagonal:  offset_k - sum_j factor_kj (x_j - centre_kj)^2 / 2   factor K x p
// quadratic: offset_k - |factor_k (x - centre_k)|^2 / 2           factor K x r x p; triangular: r = p, lower
struct RuleArrays {
    Rule rule;
    int64_t K, p, r;
    const double *centre, *factor, *offset;
    bool triangular;
};

// Writes n x K values of type Out, or n class numbers; returns false when some row has no finite best score.
template <typename T, typename Out>
bool score(const Rows<T> &x, const RuleArrays &rule, Output output, Out *values, int64_t *best);

}  // namespace discrim
