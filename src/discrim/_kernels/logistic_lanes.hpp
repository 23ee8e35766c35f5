// The logistic function for eight rows at a time, with both mu and 1 - mu kept.
#pragma once

#include "lanes.hpp"

namespace discrim {
namespace {

// log(1 + e) for 0 <= e <= 1, as 2 artanh(f / (2 + f)): small e keep their digits. Above sqrt(2) - 1, f is what is left
// of 1 + e over the root of two.
DISCRIM_INLINE v8 log1p_unit(v8 e) {
    const v8i large = e > splat(0.41421356237309503);
    const v8 f = large ? (e + 1.0) * 0.70710678118654757 - 1.0 : e;
    const v8 s = f / (f + 2.0), z = s * s, square = z * z;
    v8 even = splat(1.0 / 21.0), odd = splat(1.0 / 19.0);
    for (int k = 17; k >= 1; k -= 4) even = even * square + 1.0 / k;
    for (int k = 15; k >= 3; k -= 4) odd = odd * square + 1.0 / k;
    return (large ? splat(0.34657359027997264) : splat(0.0)) + 2.0 * s * (even + z * odd);
}

struct Logistic {
    v8 mu, rest, spread, log_sum;  // mu, 1 - mu, mu (1 - mu), log(1 + exp(eta))
};

DISCRIM_INLINE Logistic logistic(v8 eta) {
    const v8 zero = splat(0.0);
    const v8 magnitude = eta < zero ? eta : -eta;
    const v8 e = exp_nonpositive(magnitude), inverse = 1.0 / (1.0 + e), small = e * inverse;
    const v8i up = eta >= zero;
    return {up ? inverse : small, up ? small : inverse, small * inverse, (up ? eta : zero) + log1p_unit(e)};
}

// Sums of the lanes of eight vectors, one in each lane.
DISCRIM_INLINE v8 lane_sums(const v8 a[8]) {
    v8 pair[4], four[2];
    for (int i = 0; i < 4; ++i)
        pair[i] = __builtin_shuffle(a[2 * i], a[2 * i + 1], v8i{0, 8, 2, 10, 4, 12, 6, 14}) +
                  __builtin_shuffle(a[2 * i], a[2 * i + 1], v8i{1, 9, 3, 11, 5, 13, 7, 15});
    for (int i = 0; i < 2; ++i)
        four[i] = __builtin_shuffle(pair[2 * i], pair[2 * i + 1], v8i{0, 1, 8, 9, 4, 5, 12, 13}) +
                  __builtin_shuffle(pair[2 * i], pair[2 * i + 1], v8i{2, 3, 10, 11, 6, 7, 14, 15});
    return __builtin_shuffle(four[0], four[1], v8i{0, 1, 2, 3, 8, 9, 10, 11}) +
           __builtin_shuffle(four[0], four[1], v8i{4, 5, 6, 7, 12, 13, 14, 15});
}

DISCRIM_INLINE double sum_lanes(v8 v) {
    double sum = 0.0;
    for (int l = 0; l < LANES; ++l) sum += v[l];
    return sum;
}

}  // namespace
}  // namespace discrim
