// Where the values of one sorted list stand in another.
#pragma once

#include <cstdint>

namespace discrim {

// below_i: how many of `low` lie below high_i, above_j: how many of `high` lie above low_j; ties count half.
// Both lists ascend. Cost: one walk along both.
void placements(const double *high, int64_t m, const double *low, int64_t n, double *below, double *above);

}  // namespace discrim
