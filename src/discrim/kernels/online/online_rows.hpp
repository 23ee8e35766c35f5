// What the update rules ask of one row, dense or compressed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native_lanes.hpp"

namespace discrim {

// Lanes fit one register of the version that runs. What is left of a row is four, a pair and a single: a weight is then
// always read in the width it was written in, and one row need not wait until memory has what the last has written.
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
DISCRIM_INLINE double sum(v8 v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }
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
// The products of a row with the weights and with itself.
struct Both {
    double dot, square;
};
template <typename V>
struct BothLanes {
    V dot, square;
    DISCRIM_INLINE BothLanes operator+(const BothLanes &o) const { return {dot + o.dot, square + o.square}; }
    DISCRIM_INLINE void operator+=(const BothLanes &o) { *this = *this + o; }
};
template <typename V>
DISCRIM_INLINE BothLanes<double> sum(const BothLanes<V> &v) {
    return {sum(v.dot), sum(v.square)};
}

// One weight, drawn towards zero by what L1 owes it, but not across. q is what it was given so far.
DISCRIM_INLINE void truncate(double &w, double &q, double owed, double scale) {
    const double before = w;
    if (scale * w > 0.0)
        w = std::max(0.0, w - (owed + q) / scale);
    else if (scale * w < 0.0)
        w = std::min(0.0, w + (owed - q) / scale);
    q += scale * (w - before);
}

template <typename T, typename V = v4>
struct DenseRow {
    static constexpr int64_t W = WIDTH<V>;
    const T *x;
    int64_t p;

    // The sum of term(Lanes, j) over all columns: four sums at a time, since one alone would wait for each addition.
    template <typename Term>
    DISCRIM_INLINE auto total(Term term) const {
        const Lanes<V> wide;
        decltype(term(wide, 0)) a = {}, b = {}, c = {}, d = {};
        int64_t j = 0;
        for (; j + 4 * W <= p; j += 4 * W) {
            a += term(wide, j);
            b += term(wide, j + W);
            c += term(wide, j + 2 * W);
            d += term(wide, j + 3 * W);
        }
        if (p & (2 * W)) {
            a += term(wide, j);
            b += term(wide, j + W);
            j += 2 * W;
        }
        if (p & W) {
            c += term(wide, j);
            j += W;
        }
        decltype(term(Lanes<double>(), 0)) tail = {};
        if (W > 4 && (p & 4)) {
            tail += sum(term(Lanes<v4>(), j));
            j += 4;
        }
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
        const Lanes<V> wide;
        int64_t j = 0;
        for (; j + 2 * W <= p; j += 2 * W) {
            step(wide, j);
            step(wide, j + W);
        }
        if (p & W) {
            step(wide, j);
            j += W;
        }
        if (W > 4 && (p & 4)) {
            step(Lanes<v4>(), j);
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
    DISCRIM_INLINE Both both(const double *w) const {
        const auto found = total([&](auto lanes, int64_t j) DISCRIM_INLINED {
            const auto entry = lanes.at(x + j);
            return BothLanes<decltype(entry + entry)>{entry * lanes.at(w + j), entry * entry};
        });
        return {found.dot, found.square};
    }
    DISCRIM_INLINE double square() const {
        return total([&](auto lanes, int64_t j) DISCRIM_INLINED { return lanes.at(x + j) * lanes.at(x + j); });
    }
    DISCRIM_INLINE void add(double *w, double c) const {
        each([&](auto lanes, int64_t j) DISCRIM_INLINED { lanes.put(w + j, lanes.at(w + j) + lanes.at(x + j) * c); });
    }
    DISCRIM_INLINE Norms add_told(double *w, double c) const {
        double absolute = 0.0;
        V sizes = {};
        const double square = total([&](auto lanes, int64_t j) DISCRIM_INLINED {
            const auto v = lanes.at(w + j) + lanes.at(x + j) * c;
            lanes.put(w + j, v);
            const auto size = v > 0.0 ? v : -v;
            if constexpr (lanes.count == W)
                sizes += size;
            else if constexpr (lanes.count == 1)
                absolute += size;
            else
                absolute += sum(size);
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

// All ones, then all zeros: four or eight from 8 - r on let r lanes through.
alignas(64) inline constexpr int64_t LET_THROUGH[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

template <typename T, typename I>
struct CompressedRow {
    const T *value;
    const I *column;
    int64_t count;
    bool followed;        // can eight entries be read wherever one of the row can? Their columns are there, too.
    Entries<T, I> later;  // of a row that is learned from a little later; none if all are near

    // The numbers of w at four columns: fetched one by one, which is as fast as being gathered.
    static DISCRIM_INLINE v4 of(const double *w, const I *at) { return v4{w[at[0]], w[at[1]], w[at[2]], w[at[3]]}; }

    // The sum of term(values, numbers of w) over all entries, eight at a time and in two sums, since one alone would wait
    // for each addition; the last eight are made up with zeros, because a loop over what is left would end where no
    // processor foresees it. meanwhile(k) is called at every eighth entry.
    template <typename Term, typename Meanwhile>
    DISCRIM_INLINE double total(const double *w, Term term, Meanwhile meanwhile) const {
        v4 a = {}, b = {};
        int64_t k = 0;
        for (; k + 8 <= count; k += 8) {
            meanwhile(k);
            a += term(get<v4>(value + k), of(w, column + k));
            b += term(get<v4>(value + k + 4), of(w, column + k + 4));
        }
        if (k < count) {
            meanwhile(k);
            const int64_t left = count - k;
            const int64_t *through = LET_THROUGH + 8 - left;
            T values[8];
            I columns[8];
            const T *there = value + k;
            const I *at = column + k;
            if (!followed) {
                for (int64_t l = 0; l < 8; ++l) {
                    values[l] = there[std::min(l, left - 1)];
                    columns[l] = at[std::min(l, left - 1)];
                }
                there = values;
                at = columns;
            }
            const v4 first = kept(get<v4>(there), through), second = kept(get<v4>(there + 4), through + 4);
            a += term(first, of(w, at));
            b += term(second, of(w, at + 4));
        }
        return sum(a + b);
    }
    static DISCRIM_INLINE v4 kept(v4 v, const int64_t *through) {
        typedef int64_t v4iu __attribute__((vector_size(32), aligned(8)));
        return reinterpret_cast<v4>(reinterpret_cast<v4i>(v) & static_cast<v4i>(*reinterpret_cast<const v4iu *>(through)));
    }
    // The later row is asked for line by line on the way: all at once, they would hold up the weights.
    DISCRIM_INLINE double dot(const double *w) const {
        const auto ask = [&](int64_t k) DISCRIM_INLINED {
            if (later.count > 0) {
                __builtin_prefetch(later.value + k);
                __builtin_prefetch(later.column + k);
            }
        };
        const double product = total(w, [](v4 x, v4 of_w) DISCRIM_INLINED { return x * of_w; }, ask);
        for (int64_t k = (count + 7) & ~INT64_C(7); k < later.count; k += 8) ask(k);
        if (later.count > 0) ask(later.count - 1);
        return product;
    }
    DISCRIM_INLINE Both both(const double *w) const { return {dot(w), square()}; }
    DISCRIM_INLINE double square() const {
        double product = 0.0;
        for (int64_t k = 0; k < count; ++k) product += static_cast<double>(value[k]) * value[k];
        return product;
    }
    DISCRIM_INLINE void add(double *w, double c) const {
        for (int64_t k = 0; k < count; ++k) w[column[k]] += value[k] * c;
    }
    // As in scikit-learn the norms of compressed rows are those of the row's columns: telling more would cost p.
    DISCRIM_INLINE Norms add_told(double *w, double c) const {
        Norms norms{0.0, 0.0};
        for (int64_t k = 0; k < count; ++k) {
            double &of_column = w[column[k]];
            const double v = of_column + value[k] * c;
            of_column = v;
            norms.square += v * v;
            norms.absolute += std::fabs(v);
        }
        return norms;
    }
    DISCRIM_INLINE void shrink(double *w, double *q, double owed, double scale) const {
        for (int64_t k = 0; k < count; ++k) truncate(w[column[k]], q[column[k]], owed, scale);
    }
    DISCRIM_INLINE double spread(const double *v) const {
        return total(v, [](v4 x, v4 of_v) DISCRIM_INLINED { return x * x * of_v; }, [](int64_t) {});
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
