// What the update rules ask of one row, dense or compressed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native_lanes.hpp"

namespace discrim {

// Four lanes fit one register of every processor that has wide ones; eight would be kept in memory by some. What is
// left of a row is a pair and a single: a weight is then always read in the width it was written in, and one row need
// not wait until memory has what the last has written.
typedef double v2 __attribute__((vector_size(16)));
typedef double v2u __attribute__((vector_size(16), aligned(8)));
typedef float f2u __attribute__((vector_size(8), aligned(4)));

template <>
struct Kin<v2> {
    using Unaligned = v2u;
    using Floats = f2u;
};

template <typename V>
struct Lanes {
    static constexpr int64_t count = WIDTH<V>;
    static DISCRIM_INLINE V at(const double *p) { return get<V>(p); }
    static DISCRIM_INLINE V at(const float *p) { return get<V>(p); }
    static DISCRIM_INLINE void put(double *p, V v) { discrim::put(p, v); }
};
template <>
struct Lanes<double> {
    static constexpr int64_t count = 1;
    static DISCRIM_INLINE double at(const double *p) { return *p; }
    static DISCRIM_INLINE double at(const float *p) { return *p; }
    static DISCRIM_INLINE void put(double *p, double v) { *p = v; }
};

DISCRIM_INLINE double sum(v4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }
DISCRIM_INLINE double sum(v2 v) { return v[0] + v[1]; }

// Ask memory for every line that holds some of these; the first may begin anywhere in its line.
template <typename E>
DISCRIM_INLINE void fetch(const E *begin, int64_t count) {
    constexpr uintptr_t LINE = 64;
    const uintptr_t end = reinterpret_cast<uintptr_t>(begin + count);
    for (uintptr_t at = reinterpret_cast<uintptr_t>(begin) & ~(LINE - 1); at < end; at += LINE)
        __builtin_prefetch(reinterpret_cast<const char *>(at));
}

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

    // The sum of term(Lanes, j) over all columns: four sums at a time, since one alone would wait for each addition.
    template <typename Term>
    DISCRIM_INLINE auto total(Term term) const {
        const Lanes<v4> wide;
        decltype(term(wide, 0)) a = {}, b = {}, c = {}, d = {};
        int64_t j = 0;
        for (; j + 16 <= p; j += 16) {
            a += term(wide, j);
            b += term(wide, j + 4);
            c += term(wide, j + 8);
            d += term(wide, j + 12);
        }
        if (p & 8) {
            a += term(wide, j);
            b += term(wide, j + 4);
            j += 8;
        }
        if (p & 4) {
            c += term(wide, j);
            j += 4;
        }
        decltype(term(Lanes<double>(), 0)) tail = {};
        if (p & 2) {
            tail += sum(term(Lanes<v2>(), j));
            j += 2;
        }
        if (p & 1) tail += term(Lanes<double>(), j);
        return sum((a + b) + (c + d)) + tail;
    }
    // step(Lanes, j) for all columns.
    template <typename Step>
    DISCRIM_INLINE void each(Step step) const {
        const Lanes<v4> wide;
        int64_t j = 0;
        for (; j + 8 <= p; j += 8) {
            step(wide, j);
            step(wide, j + 4);
        }
        if (p & 4) {
            step(wide, j);
            j += 4;
        }
        if (p & 2) {
            step(Lanes<v2>(), j);
            j += 2;
        }
        if (p & 1) step(Lanes<double>(), j);
    }
    DISCRIM_INLINE double dot(const double *w) const {
        return total([&](auto lanes, int64_t j) DISCRIM_INLINED { return lanes.at(x + j) * lanes.at(w + j); });
    }
    DISCRIM_INLINE double square() const {
        return total([&](auto lanes, int64_t j) DISCRIM_INLINED { return lanes.at(x + j) * lanes.at(x + j); });
    }
    DISCRIM_INLINE void add(double *w, double c) const {
        each([&](auto lanes, int64_t j) DISCRIM_INLINED { lanes.put(w + j, lanes.at(w + j) + lanes.at(x + j) * c); });
    }
    DISCRIM_INLINE Norms add_told(double *w, double c) const {
        double absolute = 0.0;
        v4 sizes = {};
        const double square = total([&](auto lanes, int64_t j) DISCRIM_INLINED {
            const auto v = lanes.at(w + j) + lanes.at(x + j) * c;
            lanes.put(w + j, v);
            const auto size = v > 0.0 ? v : -v;
            if constexpr (lanes.count == 4)
                sizes += size;
            else if constexpr (lanes.count == 2)
                absolute += size[0] + size[1];
            else
                absolute += size;
            return v * v;
        });
        return {square, sum(sizes) + absolute};
    }
    DISCRIM_INLINE void shrink(double *w, double *q, double owed, double scale) const {
        for (int64_t j = 0; j < p; ++j) truncate(w[j], q[j], owed, scale);
    }
    // sum_j x_j^2 v_j, and the step of AROW: w += a v x, v -= b (v x)^2.
    DISCRIM_INLINE double spread(const double *v) const {
        return total([&](auto lanes, int64_t j) DISCRIM_INLINED {
            const auto entry = lanes.at(x + j);
            return entry * entry * lanes.at(v + j);
        });
    }
    DISCRIM_INLINE void confide(double *w, double *v, double a, double b) const {
        each([&](auto lanes, int64_t j) DISCRIM_INLINED {
            const auto vx = lanes.at(v + j) * lanes.at(x + j);
            lanes.put(w + j, lanes.at(w + j) + vx * a);
            lanes.put(v + j, lanes.at(v + j) - vx * vx * b);
        });
    }
};

template <typename T, typename I>
struct Entries {
    const T *value;
    const I *column;
    int64_t count;
};

template <typename T, typename I>
struct CompressedRow {
    const T *value;
    const I *column;
    int64_t count;
    Entries<T, I> later;  // of a row that is learned from a little later

    // The numbers of w at the columns of entries k, k + 1, ...: fetched one by one, which is as fast as being gathered.
    DISCRIM_INLINE v4 of(Lanes<v4>, const double *w, int64_t k) const {
        return v4{w[column[k]], w[column[k + 1]], w[column[k + 2]], w[column[k + 3]]};
    }
    DISCRIM_INLINE double of(Lanes<double>, const double *w, int64_t k) const { return w[column[k]]; }

    // The sum of term(Lanes, k) over all entries: two sums at a time, since one alone would wait for each addition.
    // meanwhile(k) is called at every eighth entry.
    template <typename Term, typename Meanwhile>
    DISCRIM_INLINE double total(Term term, Meanwhile meanwhile) const {
        const Lanes<v4> wide;
        v4 a = {}, b = {};
        int64_t k = 0;
        for (; k + 8 <= count; k += 8) {
            meanwhile(k);
            a += term(wide, k);
            b += term(wide, k + 4);
        }
        if (k + 4 <= count) {
            a += term(wide, k);
            k += 4;
        }
        double tail = 0.0;
        for (; k < count; ++k) tail += term(Lanes<double>(), k);
        return sum(a + b) + tail;
    }
    template <typename Term>
    DISCRIM_INLINE double total(Term term) const {
        return total(term, [](int64_t) {});
    }
    // The later row is asked for line by line on the way: all at once, they would hold up the weights.
    DISCRIM_INLINE double dot(const double *w) const {
        const auto ask = [&](int64_t k) DISCRIM_INLINED {
            __builtin_prefetch(later.value + k);
            __builtin_prefetch(later.column + k);
        };
        const double product = total(
            [&](auto lanes, int64_t k) DISCRIM_INLINED { return lanes.at(value + k) * of(lanes, w, k); }, ask);
        for (int64_t k = count & ~INT64_C(7); k < later.count; k += 8) ask(k);
        if (later.count > 0) ask(later.count - 1);
        return product;
    }
    DISCRIM_INLINE double square() const {
        return total([&](auto lanes, int64_t k) DISCRIM_INLINED { return lanes.at(value + k) * lanes.at(value + k); });
    }
    DISCRIM_INLINE void add(double *w, double c) const {
        for (int64_t k = 0; k < count; ++k) w[column[k]] += value[k] * c;
    }
    // As in scikit-learn the norms of compressed rows are those of the row's columns: telling more would cost p.
    DISCRIM_INLINE Norms add_told(double *w, double c) const {
        add(w, c);
        return {total([&](auto lanes, int64_t k) DISCRIM_INLINED { return of(lanes, w, k) * of(lanes, w, k); }),
                total([&](auto lanes, int64_t k) DISCRIM_INLINED {
                    const auto v = of(lanes, w, k);
                    return v > 0.0 ? v : -v;
                })};
    }
    DISCRIM_INLINE void shrink(double *w, double *q, double owed, double scale) const {
        for (int64_t k = 0; k < count; ++k) truncate(w[column[k]], q[column[k]], owed, scale);
    }
    DISCRIM_INLINE double spread(const double *v) const {
        return total([&](auto lanes, int64_t k) DISCRIM_INLINED {
            return lanes.at(value + k) * lanes.at(value + k) * of(lanes, v, k);
        });
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
