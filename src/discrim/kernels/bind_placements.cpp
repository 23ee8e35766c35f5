// The Python face of the placements.

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "placements.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace discrim {

static nb::tuple placements_of(Vector high, Vector low) {
    const size_t m = high.shape(0), n = low.shape(0);
    // NaN equals nothing: the walk would never pass it.
    const auto is_nan = [](double value) { return std::isnan(value); };
    require(std::none_of(high.data(), high.data() + m, is_nan) && std::none_of(low.data(), low.data() + n, is_nan),
            "a value is NaN");
    std::unique_ptr<double[]> below(new double[m]), above(new double[n]);
    {
        nb::gil_scoped_release release;
        placements(high.data(), m, low.data(), n, below.get(), above.get());
    }
    return nb::make_tuple(give(std::move(below), {m}), give(std::move(above), {n}));
}

void bind_placements(nb::module_ &m) { m.def("placements", &placements_of, "high"_a, "low"_a); }

}  // namespace discrim
