// Extrapolation of a few sweeps to their limit (Anderson's method): between changes of sign a sweep is an affine map.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace discrim {

// Remembers coefficients and residuals after each sweep. Both are affine in each other, so that the residual of
// a combination is the combination of the residuals.
class Anderson {
public:
    static constexpr int DEPTH = 3;

    void restart() { count_ = 0; }
    bool full() const { return count_ == DEPTH + 1; }

    // Room for the next iterate.
    std::vector<double> &next() { return iterate_[count_++]; }

    // Factors c, summing to one, for which sum c_i (iterate_{i+1} - iterate_i) is least over the first `size` numbers.
    bool weights(size_t size, double c[DEPTH]) const {
        double gram[DEPTH][DEPTH + 1], trace = 0.0;
        for (int a = 0; a < DEPTH; ++a)
            for (int b = 0; b <= a; ++b) {
                double sum = 0.0;
                for (size_t i = 0; i < size; ++i)
                    sum += (iterate_[a + 1][i] - iterate_[a][i]) * (iterate_[b + 1][i] - iterate_[b][i]);
                gram[a][b] = gram[b][a] = sum;
                if (a == b) trace += sum;
            }
        for (int a = 0; a < DEPTH; ++a) {
            gram[a][a] += 1e-12 * trace;
            gram[a][DEPTH] = 1.0;
        }
        for (int a = 0; a < DEPTH; ++a) {
            if (!(gram[a][a] > 0.0)) return false;
            for (int b = a + 1; b < DEPTH; ++b) {
                const double factor = gram[b][a] / gram[a][a];
                for (int k = a; k <= DEPTH; ++k) gram[b][k] -= factor * gram[a][k];
            }
        }
        double total = 0.0;
        for (int a = DEPTH - 1; a >= 0; --a) {
            c[a] = gram[a][DEPTH];
            for (int b = a + 1; b < DEPTH; ++b) c[a] -= gram[a][b] * c[b];
            c[a] /= gram[a][a];
            total += c[a];
        }
        for (int a = 0; a < DEPTH; ++a) c[a] /= total;
        return std::isfinite(c[0]) && total != 0.0;
    }

    void combine(const double c[DEPTH], std::vector<double> &out) const {
        out.assign(iterate_[0].size(), 0.0);
        for (int a = 0; a < DEPTH; ++a)
            for (size_t i = 0; i < out.size(); ++i) out[i] += c[a] * iterate_[a + 1][i];
    }

    const std::vector<double> &last() const { return iterate_[DEPTH]; }

private:
    std::vector<double> iterate_[DEPTH + 1];
    int count_ = 0;
};

}  // namespace discrim
