// The Python face of the coding of labels.

#include <limits>
#include <vector>

#include "arrays.hpp"
#include "labels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {

// Ranks of integers among the values that occur, for labels within [lo, lo + size).
static nb::tuple code_integers(List<int64_t> y, int64_t lo, int64_t size) {
    const int64_t n = y.shape(0);
    require(size >= 0, "the stated range is negative");
    std::unique_ptr<bool[]> present(new bool[size]());
    std::unique_ptr<int32_t[]> codes(new int32_t[n]);
    const int64_t *values = y.data();
    bool inside = true;
    {
        nb::gil_scoped_release release;
        for (int64_t i = 0; i < n; ++i) {
            // Below lo it becomes a large number.
            const uint64_t at = static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(lo);
            if (at >= static_cast<uint64_t>(size)) {
                inside = false;
                break;
            }
            present[at] = true;
        }
        if (inside) {
            std::vector<int32_t> rank(size);
            int32_t next = 0;
            for (int64_t v = 0; v < size; ++v) rank[v] = present[v] ? next++ : -1;
            for (int64_t i = 0; i < n; ++i) codes[i] = rank[values[i] - lo];
        }
    }
    require(inside, "a label lies outside the stated range");
    return nb::make_tuple(give(std::move(present), {static_cast<size_t>(size)}),
                          give(std::move(codes), {static_cast<size_t>(n)}));
}

using Bytes = nb::ndarray<const uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static nb::tuple code_equal_rows(Bytes rows) {
    const size_t n = rows.shape(0);
    require(n <= std::numeric_limits<int32_t>::max(), "there are too many rows to number");
    std::unique_ptr<int32_t[]> codes(new int32_t[n]);
    std::vector<int64_t> found;
    {
        nb::gil_scoped_release release;
        found = code_rows(rows.data(), rows.shape(0), rows.shape(1), codes.get());
    }
    std::unique_ptr<int64_t[]> first(new int64_t[found.size()]);
    std::copy(found.begin(), found.end(), first.get());
    return nb::make_tuple(give(std::move(first), {found.size()}), give(std::move(codes), {n}));
}

static Result<int64_t> identities(nb::list items) {
    const size_t n = nb::len(items);
    std::unique_ptr<int64_t[]> found(new int64_t[n]);
    for (size_t i = 0; i < n; ++i)
        found[i] = static_cast<int64_t>(reinterpret_cast<intptr_t>(PyList_GET_ITEM(items.ptr(), i)));
    return give(std::move(found), {n});
}

void bind_labels(nb::module_ &m) {
    m.def("code_integers", &code_integers, "y"_a, "lo"_a, "size"_a);
    m.def("code_rows", &code_equal_rows, "rows"_a.noconvert());
    m.def("identities", &identities, "items"_a);
}

}  // namespace discrim
