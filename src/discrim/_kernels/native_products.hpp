// Products of packed rows with themselves, in vectors as wide as the processor's.
#pragma once

#include "native_lanes.hpp"
#include "products.hpp"

namespace discrim {
namespace {

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

// Upper block triangle of C += B'B, B packed as panels of m rows x 8 columns, `panel` doubles apart; the first `size`
// columns count, the others hold nothing.
template <int MI>
DISCRIM_INLINE void own_product(const double *packed, int64_t panel, int64_t m, int64_t size, double *c, Ahead &shared) {
    const int64_t panels = (size + LANES - 1) / LANES, ldc = panels * LANES;
    if (MI == LANES) {
        self_product_body<MI>(packed, panel, m, panels, c, shared);
        return;
    }
    Ahead ahead = shared;
    for (int64_t i = 0; i < size; i += 4)
        for (int64_t j = i / LANES; j < panels; ++j)
            four_rows(packed + i / LANES * panel + i % LANES, packed + j * panel, m, c + i * ldc + j * LANES, ldc, ahead);
    shared = ahead;
}

}  // namespace
}  // namespace discrim
