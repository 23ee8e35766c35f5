// Products of packed rows, shared by the kernels that square what they read: rows are packed into panels of
// eight columns and multiplied in cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gaussian/moments.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// Memory that will be read next: fetched a line at a time while the multiplications run.
struct Ahead {
    const char *next, *end;
    DISCRIM_INLINE void fetch() {
        if (next < end) {
            __builtin_prefetch(next, 0, 2);
            next += 64;
        }
    }
};

// Four rows of C += A'B, over m packed rows of one panel each.
DISCRIM_INLINE void four_rows(const double *a, const double *b, int64_t m, double *c, int64_t ldc, Ahead &ahead) {
    v4 low[4], high[4];
    for (int i = 0; i < 4; ++i) low[i] = high[i] = v4{};
    for (int64_t r = 0; r < m; ++r) {
        ahead.fetch();
        const v4 left = get<v4>(b + r * LANES), right = get<v4>(b + r * LANES + 4);
        for (int i = 0; i < 4; ++i) {
            low[i] += a[r * LANES + i] * left;
            high[i] += a[r * LANES + i] * right;
        }
    }
    for (int i = 0; i < 4; ++i) {
        double *to = c + i * ldc;
        put(to, get<v4>(to) + low[i]);
        put(to + 4, get<v4>(to + 4) + high[i]);
    }
}

// Four rows of C += A'B for N neighbouring groups of four columns, the first of them `j`: twelve sums and what they
// are made of fill the sixteen registers. One group alone has so few sums that two rows each keep their own, else one
// would wait for the other.
template <int N>
DISCRIM_INLINE void four_columns(const double *packed, int64_t panel, int64_t m, int64_t i, int64_t j, double *c,
                                 int64_t ldc, Ahead &ahead) {
    const auto group = [&](int64_t g) { return packed + g / 2 * panel + g % 2 * 4; };
    const double *a = group(i), *b[N];
    for (int n = 0; n < N; ++n) b[n] = group(j + n);
    constexpr int ROWS = N == 1 ? 2 : 1;
    v4 sums[ROWS][4][N];
    for (auto &of_row : sums)
        for (auto &of_column : of_row)
            for (v4 &sum : of_column) sum = v4{};
    const auto add = [&](int64_t r, v4(&to)[4][N]) DISCRIM_INLINED {
        v4 right[N];
        for (int n = 0; n < N; ++n) right[n] = get<v4>(b[n] + r * LANES);
        for (int l = 0; l < 4; ++l)
            for (int n = 0; n < N; ++n) to[l][n] += a[r * LANES + l] * right[n];
    };
    int64_t r = 0;
    for (; r + ROWS <= m; r += ROWS) {
        ahead.fetch();
        for (int s = 0; s < ROWS; ++s) add(r + s, sums[s]);
    }
    if (r < m) add(r, sums[0]);
    for (int l = 0; l < 4; ++l)
        for (int n = 0; n < N; ++n) {
            double *to = c + (4 * i + l) * ldc + 4 * (j + n);
            v4 sum = sums[0][l][n];
            for (int s = 1; s < ROWS; ++s) sum += sums[s][l][n];
            put(to, get<v4>(to) + sum);
        }
}

// The upper triangle of C += B'B in squares of four by four.
DISCRIM_INLINE void four_by_four(const double *packed, int64_t panel, int64_t m, int64_t size, double *c, int64_t ldc,
                                 Ahead &ahead) {
    const int64_t groups = (size + 3) / 4;
    for (int64_t i = 0; i < groups; ++i) {
        int64_t j = i;
        for (; j + 3 <= groups; j += 3) four_columns<3>(packed, panel, m, i, j, c, ldc, ahead);
        if (groups - j == 2) four_columns<2>(packed, panel, m, i, j, c, ldc, ahead);
        if (groups - j == 1) four_columns<1>(packed, panel, m, i, j, c, ldc, ahead);
    }
}

// C[i-panel, j-panel] += A' B over m packed rows, for NJ neighbouring j-panels, MI rows of C at a time.
template <int MI, int NJ>
DISCRIM_INLINE void tile(const double *a, const double *b, int64_t panel, int64_t m, double *c, int64_t ldc,
                         Ahead &ahead) {
    using V = Native<MI>;
    constexpr int64_t W = WIDTH<V>;
    if constexpr (W == LANES) {
        V acc[MI][NJ];
        for (int i = 0; i < MI; ++i)
            for (int j = 0; j < NJ; ++j) acc[i][j] = V{};
        for (int64_t r = 0; r < m; ++r) {
            ahead.fetch();
            V right[NJ];
            for (int j = 0; j < NJ; ++j) right[j] = get<V>(b + j * panel + r * LANES);
            for (int i = 0; i < MI; ++i)
                for (int j = 0; j < NJ; ++j) acc[i][j] += a[r * LANES + i] * right[j];
        }
        for (int i = 0; i < MI; ++i)
            for (int j = 0; j < NJ; ++j) {
                double *to = c + i * ldc + j * LANES;
                put(to, get<V>(to) + acc[i][j]);
            }
    } else {
        // Half as many registers of half the width: a panel at a time.
        for (int j = 0; j < NJ; ++j) four_rows(a, b + j * panel, m, c + j * LANES, ldc, ahead);
    }
}

// Upper block triangle of C += B'B, B packed as panels of m rows x 8 columns, `panel` doubles apart; the first `size`
// columns count, the others hold nothing.
template <int MI>
DISCRIM_INLINE void self_product_body(const double *packed, int64_t panel, int64_t m, int64_t size, double *c,
                                      Ahead &shared) {
    Ahead ahead = shared;
    const int64_t panels = (size + LANES - 1) / LANES, ldc = panels * LANES;
    if constexpr (WIDTH<Native<MI>> < LANES) {
        four_by_four(packed, panel, m, size, c, ldc, ahead);
        shared = ahead;
        return;
    }
    for (int64_t i = 0; i < size; i += MI) {
        const double *a = packed + i / LANES * panel + i % LANES;
        double *row = c + i * ldc;
        int64_t j = i / LANES;
        for (; j + 2 <= panels; j += 2) tile<MI, 2>(a, packed + j * panel, panel, m, row + j * LANES, ldc, ahead);
        if (j < panels) tile<MI, 1>(a, packed + j * panel, panel, m, row + j * LANES, ldc, ahead);
    }
    shared = ahead;
}

// As many values as a vector holds, `stride` apart, of which the first `count` are there.
template <typename V, typename T>
DISCRIM_INLINE V strided(const T *row, int64_t stride, int64_t count) {
    V v{};
    if (count == WIDTH<V>) {
        for (int64_t l = 0; l < WIDTH<V>; ++l) v[l] = static_cast<double>(row[l * stride]);
    } else {
        for (int64_t l = 0; l < count; ++l) v[l] = static_cast<double>(row[l * stride]);
    }
    return v;
}

// The memory of the block that begins at row `first`, where rows lie one behind the other.
template <typename T>
DISCRIM_INLINE Ahead following(const Rows<T> &x, int64_t first, int64_t m_max) {
    if (x.column_stride != 1 || x.row_stride != x.p || first >= x.n) return {nullptr, nullptr};
    const T *begin = x.data + first * x.p;
    return {reinterpret_cast<const char *>(begin), reinterpret_cast<const char *>(begin + std::min(m_max, x.n - first) * x.p)};
}

// Few enough rows that a packed block and the next one stay in the second-level cache.
inline int64_t block_rows(int64_t p) {
    return std::clamp<int64_t>((1 << 18) / (8 * std::max<int64_t>(p, 1)), 16, 2048);
}

}  // namespace
}  // namespace discrim
