// Whether indices stay inside of what they are indices of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lanes.hpp"

namespace discrim {

// Are the numbers from `begin` to `end` between 0 and `size`? The sign of one, or of its distance to the last, would tell.
template <typename I>
DISCRIM_INLINE bool all_inside(const I *begin, const I *end, int64_t size) {
    using Bits = std::make_unsigned_t<I>;
    const Bits last = static_cast<Bits>(std::min<int64_t>(size - 1, std::numeric_limits<I>::max()));
    Bits signs = 0;
    for (const I *at = begin; at < end; ++at) signs |= static_cast<Bits>(*at) | (last - static_cast<Bits>(*at));
    return begin >= end || (size > 0 && static_cast<I>(signs) >= 0);
}

}  // namespace discrim
