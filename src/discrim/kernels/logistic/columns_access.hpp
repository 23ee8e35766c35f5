// What coordinate descent asks of a matrix: inner products with one column, and adding a multiple of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace discrim {

// Inner products of a column x with the residuals r and the spreads v: sum x r, sum x v, sum x^2 v.
struct Products {
    double xr, xv, xxv;
};

// Columns one behind the other.
class DenseColumns {
public:
    DenseColumns(const double *x, int64_t n) : x_(x), n_(n) {}
    double *residual() { return residual_.data(); }
    double *spread() { return spread_.data(); }
    // Room for residuals and spreads; inner products alone need none.
    void prepare() {
        residual_.resize(n_);
        spread_.resize(n_);
    }
    void begin() {}
    void copy_residual(double *to) const { std::copy(residual_.begin(), residual_.end(), to); }
    void set_residual(const double *from) { std::copy(from, from + n_, residual_.begin()); }
    Products products(int64_t j) const;
    double slope(int64_t j) const;
    void change(int64_t j, double by);                // r -= by v x
    void add(int64_t j, double by, double *to) const;  // to += by x
    double inner(int64_t j, const double *r) const;

private:
    const double *x_;
    int64_t n_;
    std::vector<double> residual_, spread_;
};

// Compressed columns: the entries of column j are first[j] to first[j + 1].
template <typename T, typename I>
class SparseColumns {
public:
    SparseColumns(const T *value, const I *row, const I *first, int64_t n)
        : value_(value), row_(row), first_(first), n_(n) {}
    double *residual() { return residual_.data(); }
    double *spread() { return spread_.data(); }

    void prepare() {
        residual_.resize(n_);
        spread_.resize(n_);
        pair_.resize(2 * n_);
    }

    // A row's residual and spread lie side by side, since both are fetched for the same few rows.
    void begin() {
        for (int64_t i = 0; i < n_; ++i) {
            pair_[2 * i] = residual_[i];
            pair_[2 * i + 1] = spread_[i];
        }
    }

    void copy_residual(double *to) const {
        for (int64_t i = 0; i < n_; ++i) to[i] = pair_[2 * i];
    }
    void set_residual(const double *from) {
        for (int64_t i = 0; i < n_; ++i) pair_[2 * i] = from[i];
    }

    Products products(int64_t j) const {
        // Sums of x (r, v) and of x^2 (r, v), four of each, so that no entry waits for the one before it.
        v2 once[4] = {}, twice[4] = {};
        const auto add = [&](int k, I e) {
            const double x = value_[e];
            const v2 product = x * *reinterpret_cast<const v2 *>(pair_.data() + 2 * static_cast<int64_t>(row_[e]));
            once[k] += product;
            twice[k] += x * product;
        };
        I e = first_[j];
        const I end = first_[j + 1];
        for (; e + 4 <= end; e += 4)
            for (int k = 0; k < 4; ++k) add(k, e + k);
        for (; e < end; ++e) add(0, e);
        const v2 sum = (once[0] + once[1]) + (once[2] + once[3]);
        return {sum[0], sum[1], ((twice[0] + twice[1]) + (twice[2] + twice[3]))[1]};
    }

    double slope(int64_t j) const {
        double sum[4] = {0.0, 0.0, 0.0, 0.0};
        I e = first_[j];
        const I end = first_[j + 1];
        for (; e + 4 <= end; e += 4)
            for (int k = 0; k < 4; ++k) sum[k] += value_[e + k] * pair_[2 * static_cast<int64_t>(row_[e + k])];
        for (; e < end; ++e) sum[0] += value_[e] * pair_[2 * static_cast<int64_t>(row_[e])];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    void change(int64_t j, double by) {
        for (I e = first_[j]; e < first_[j + 1]; ++e) {
            double *pair = pair_.data() + 2 * static_cast<int64_t>(row_[e]);
            pair[0] -= by * value_[e] * pair[1];
        }
    }

    void add(int64_t j, double by, double *to) const {
        for (I e = first_[j]; e < first_[j + 1]; ++e) to[row_[e]] += by * value_[e];
    }

    double inner(int64_t j, const double *r) const {
        double sum[4] = {0.0, 0.0, 0.0, 0.0};
        I e = first_[j];
        const I end = first_[j + 1];
        for (; e + 4 <= end; e += 4)
            for (int k = 0; k < 4; ++k) sum[k] += value_[e + k] * r[row_[e + k]];
        for (; e < end; ++e) sum[0] += value_[e] * r[row_[e]];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

private:
    typedef double v2 __attribute__((vector_size(16), aligned(8), may_alias));

    const T *value_;
    const I *row_, *first_;
    int64_t n_;
    std::vector<double> residual_, spread_, pair_;
};

}  // namespace discrim
