// The logistic function for several rows at a time, with both mu and 1 - mu kept.
#pragma once

#include "native_lanes.hpp"

namespace discrim {
namespace {

// log(1 + e) for 0 <= e <= 1, as 2 artanh(f / (2 + f)): small e keep their digits. Above sqrt(2) - 1, f is what is left
// of 1 + e over the root of two.
template <typename V>
DISCRIM_INLINE V log1p_unit(V e) {
    const auto large = e > every<V>(0.41421356237309503);
    const V f = large ? (e + 1.0) * 0.70710678118654757 - 1.0 : e;
    const V s = f / (f + 2.0), z = s * s, square = z * z;
    V even = every<V>(1.0 / 21.0), odd = every<V>(1.0 / 19.0);
    for (int k = 17; k >= 1; k -= 4) even = even * square + 1.0 / k;
    for (int k = 15; k >= 3; k -= 4) odd = odd * square + 1.0 / k;
    return (large ? every<V>(0.34657359027997264) : V{}) + 2.0 * s * (even + z * odd);
}

template <typename V>
struct Logistic {
    V mu, rest, spread, log_sum;  // mu, 1 - mu, mu (1 - mu), log(1 + exp(eta))
};

template <typename V>
DISCRIM_INLINE Logistic<V> logistic(V eta) {
    const V zero{};
    const V magnitude = eta < zero ? eta : -eta;
    const V e = exp_below_zero(magnitude), inverse = 1.0 / (1.0 + e), small = e * inverse;
    const auto up = eta >= zero;
    return {up ? inverse : small, up ? small : inverse, small * inverse, (up ? eta : zero) + log1p_unit(e)};
}

// Sums of the lanes of as many vectors, one in each lane.
DISCRIM_INLINE v8 lane_sums(const v8 a[8]) {
    v8 pair[4], four[2];
    for (int i = 0; i < 4; ++i)
        pair[i] = DISCRIM_REORDER(a[2 * i], a[2 * i + 1], v8i, 0, 8, 2, 10, 4, 12, 6, 14) +
                  DISCRIM_REORDER(a[2 * i], a[2 * i + 1], v8i, 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; ++i)
        four[i] = DISCRIM_REORDER(pair[2 * i], pair[2 * i + 1], v8i, 0, 1, 8, 9, 4, 5, 12, 13) +
                  DISCRIM_REORDER(pair[2 * i], pair[2 * i + 1], v8i, 2, 3, 10, 11, 6, 7, 14, 15);
    return DISCRIM_REORDER(four[0], four[1], v8i, 0, 1, 2, 3, 8, 9, 10, 11) +
           DISCRIM_REORDER(four[0], four[1], v8i, 4, 5, 6, 7, 12, 13, 14, 15);
}
DISCRIM_INLINE v4 lane_sums(const v4 a[4]) {
    v4 pair[2];
    for (int i = 0; i < 2; ++i)
        pair[i] = DISCRIM_REORDER(a[2 * i], a[2 * i + 1], v4i, 0, 4, 2, 6) +
                  DISCRIM_REORDER(a[2 * i], a[2 * i + 1], v4i, 1, 5, 3, 7);
    return DISCRIM_REORDER(pair[0], pair[1], v4i, 0, 1, 4, 5) + DISCRIM_REORDER(pair[0], pair[1], v4i, 2, 3, 6, 7);
}

}  // namespace
}  // namespace discrim
