// What the update rules ask of one row, dense or compressed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lanes.hpp"

namespace discrim {

// Four lanes fit one register of every processor that has wide ones; eight would be kept in memory by some.
typedef double v4 __attribute__((vector_size(32)));
typedef double v4u __attribute__((vector_size(32), aligned(8)));
typedef float f4u __attribute__((vector_size(16), aligned(4)));

DISCRIM_INLINE v4 four(const double *p) { return *reinterpret_cast<const v4u *>(p); }
DISCRIM_INLINE v4 four(const float *p) { return __builtin_convertvector(*reinterpret_cast<const f4u *>(p), v4); }
DISCRIM_INLINE void put(double *p, v4 v) { *reinterpret_cast<v4u *>(p) = v; }
DISCRIM_INLINE double sum(v4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }

struct Norms {
    double square, absolute;
};

// One weight, drawn towards zero by what L1 owes it, but not across. q is what it was given so far.
DISCRIM_INLINE void truncate(double &w, double &q, double owed, double scale) {
    const double before = w;
    if (scale * w > 0.0)
        w = std::max(0.0, w - (owed + q) / scale);
    else if (scale * w < 0.0)
        w = std::min(0.0, w + (owed - q) / scale);
    q += scale * (w - before);
}

template <typename T>
struct DenseRow {
    const T *x;
    int64_t p;

    // The sum of term(j, lanes) over all columns: four sums at a time, since one alone would wait for each addition.
    template <typename Term, typename Single>
    DISCRIM_INLINE double total(Term term, Single single) const {
        v4 a = {}, b = {}, c = {}, d = {};
        int64_t j = 0;
        for (; j + 16 <= p; j += 16) {
            a += term(j);
            b += term(j + 4);
            c += term(j + 8);
            d += term(j + 12);
        }
        for (; j + 4 <= p; j += 4) a += term(j);
        double tail = 0.0;
        for (; j < p; ++j) tail += single(j);
        return sum((a + b) + (c + d)) + tail;
    }
    DISCRIM_INLINE double dot(const double *w) const {
        return total([&](int64_t j) { return four(x + j) * four(w + j); },
                     [&](int64_t j) { return static_cast<double>(x[j]) * w[j]; });
    }
    DISCRIM_INLINE double square() const {
        return total([&](int64_t j) { return four(x + j) * four(x + j); },
                     [&](int64_t j) { return static_cast<double>(x[j]) * x[j]; });
    }
    DISCRIM_INLINE void add(double *w, double c) const {
        const v4 factor = {c, c, c, c};
        int64_t j = 0;
        for (; j + 4 <= p; j += 4) put(w + j, four(w + j) + four(x + j) * factor);
        for (; j < p; ++j) w[j] += x[j] * c;
    }
    DISCRIM_INLINE Norms add_told(double *w, double c) const {
        const v4 factor = {c, c, c, c};
        v4 squares[2] = {}, sizes[2] = {};
        int64_t j = 0;
        const auto step = [&](int64_t at, int lane) {
            const v4 v = four(w + at) + four(x + at) * factor;
            put(w + at, v);
            squares[lane] += v * v;
            sizes[lane] += v > 0.0 ? v : -v;
        };
        for (; j + 8 <= p; j += 8) {
            step(j, 0);
            step(j + 4, 1);
        }
        if (j + 4 <= p) {
            step(j, 0);
            j += 4;
        }
        Norms norms{sum(squares[0] + squares[1]), sum(sizes[0] + sizes[1])};
        for (; j < p; ++j) {
            w[j] += x[j] * c;
            norms.square += w[j] * w[j];
            norms.absolute += std::fabs(w[j]);
        }
        return norms;
    }
    DISCRIM_INLINE void shrink(double *w, double *q, double owed, double scale) const {
        for (int64_t j = 0; j < p; ++j) truncate(w[j], q[j], owed, scale);
    }
    // sum_j x_j^2 v_j, and the step of AROW: w += a v x, v -= b (v x)^2.
    DISCRIM_INLINE double spread(const double *v) const {
        return total([&](int64_t j) { return four(x + j) * four(x + j) * four(v + j); },
                     [&](int64_t j) { return static_cast<double>(x[j]) * x[j] * v[j]; });
    }
    DISCRIM_INLINE void confide(double *w, double *v, double a, double b) const {
        const v4 up = {a, a, a, a}, down = {b, b, b, b};
        int64_t j = 0;
        for (; j + 4 <= p; j += 4) {
            const v4 vx = four(v + j) * four(x + j);
            put(w + j, four(w + j) + vx * up);
            put(v + j, four(v + j) - vx * vx * down);
        }
        for (; j < p; ++j) {
            const double vx = v[j] * x[j];
            w[j] += a * vx;
            v[j] -= b * vx * vx;
        }
    }
};

template <typename T, typename I>
struct CompressedRow {
    const T *value;
    const I *column;
    int64_t count;

    // Four sums at a time: one alone would wait for each addition.
    template <typename Term>
    DISCRIM_INLINE double total(Term term) const {
        double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
        int64_t k = 0;
        for (; k + 4 <= count; k += 4) {
            a += term(k);
            b += term(k + 1);
            c += term(k + 2);
            d += term(k + 3);
        }
        for (; k < count; ++k) a += term(k);
        return (a + c) + (b + d);
    }
    DISCRIM_INLINE double dot(const double *w) const {
        return total([&](int64_t k) { return static_cast<double>(value[k]) * w[column[k]]; });
    }
    DISCRIM_INLINE double square() const {
        return total([&](int64_t k) { return static_cast<double>(value[k]) * value[k]; });
    }
    DISCRIM_INLINE void add(double *w, double c) const {
        for (int64_t k = 0; k < count; ++k) w[column[k]] += value[k] * c;
    }
    // As in scikit-learn the norms of compressed rows are those of the row's columns: telling more would cost p.
    DISCRIM_INLINE Norms add_told(double *w, double c) const {
        add(w, c);
        return {total([&](int64_t k) { return w[column[k]] * w[column[k]]; }),
                total([&](int64_t k) { return std::fabs(w[column[k]]); })};
    }
    DISCRIM_INLINE void shrink(double *w, double *q, double owed, double scale) const {
        for (int64_t k = 0; k < count; ++k) truncate(w[column[k]], q[column[k]], owed, scale);
    }
    DISCRIM_INLINE double spread(const double *v) const {
        return total([&](int64_t k) { return static_cast<double>(value[k]) * value[k] * v[column[k]]; });
    }
    DISCRIM_INLINE void confide(double *w, double *v, double a, double b) const {
        for (int64_t k = 0; k < count; ++k) {
            const int64_t j = column[k];
            const double vx = v[j] * value[k];
            w[j] += a * vx;
            v[j] -= b * vx * vx;
        }
    }
};

}  // namespace discrim
