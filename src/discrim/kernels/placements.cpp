// One walk along two sorted lists, a group of equal values at a time.

#include "placements.hpp"

namespace discrim {

void placements(const double *high, int64_t m, const double *low, int64_t n, double *below, double *above) {
    int64_t i = 0, j = 0;
    while (i < m || j < n) {
        const double value = j == n || (i < m && high[i] < low[j]) ? high[i] : low[j];
        const int64_t first_i = i, first_j = j;
        while (i < m && high[i] == value) ++i;
        while (j < n && low[j] == value) ++j;
        const double smaller = 0.5 * static_cast<double>(first_j + j);
        const double larger = static_cast<double>(m) - 0.5 * static_cast<double>(first_i + i);
        for (int64_t at = first_i; at < i; ++at) below[at] = smaller;
        for (int64_t at = first_j; at < j; ++at) above[at] = larger;
    }
}

}  // namespace discrim
