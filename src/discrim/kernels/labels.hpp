// Labels as small integers.
#pragma once

#include <cstdint>
#include <vector>

namespace discrim {

// Which rows of n x width bytes are equal: the place of each among the distinct ones in order of their first rows, which
// are returned. Cost: one read, and a table of a few numbers for each distinct row.
std::vector<int64_t> code_rows(const unsigned char *bytes, int64_t n, int64_t width, int32_t *codes);

}  // namespace discrim
