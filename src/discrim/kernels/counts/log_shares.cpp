// Logarithms of smoothed counts as shares of a whole.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "counts/counts.hpp"
#include "native_lanes.hpp"

namespace discrim {
namespace {

// What a difference leaves of two equal numbers.
constexpr double ROUNDING = 1e-12;
// Columns that are looked at one by one if any of them has to be; a multiple of all widths.
constexpr int64_t TOGETHER = 128;

// log(x) of positive normal numbers, to about one unit in the last place: x = 2^e (1 + f) with 1 + f between the root of
// one half and that of two, log(1 + f) = 2 artanh(f / (2 + f)).
template <typename V>
DISCRIM_INLINE V log_of(V x) {
    using I = typename Kin<V>::Integers;
    I bits;
    std::memcpy(&bits, &x, sizeof bits);
    // The exponent, counted from where the mantissa passes the root of one half.
    const I moved = bits - INT64_C(0x3FE6A09E667F3BCD), power = moved >> 52;
    const I mantissa = bits - (moved & ~((INT64_C(1) << 52) - 1));
    V m;
    std::memcpy(&m, &mantissa, sizeof m);
    const V e = __builtin_convertvector(power, V), f = m - 1.0, s = f / (f + 2.0), z = s * s, w = z * z;
    const V odd = w * (w * (w * 1.531383769920937332e-01 + 2.222219843214978396e-01) + 3.999999999940941908e-01);
    const V even = z * (w * (w * (w * 1.479819860511658591e-01 + 1.818357216161805012e-01) + 2.857142874366239149e-01) +
                        6.666666666666735130e-01);
    const V half = 0.5 * f * f;
    return e * 6.93147180369123816490e-01 -
           ((half - (s * (half + odd + even) + e * 1.90821492927058770002e-10)) - f);
}

template <typename V>
struct Filling {
    const LogShares &s;

    DISCRIM_INLINE double one(int64_t k, int64_t j) const {
        const double part = s.count[k * s.class_stride + j * s.column_stride];
        double left = part;
        if (s.whole) {
            left = s.whole[k * s.whole_class_stride + j * s.whole_column_stride] - part;
            left = std::fabs(left) <= ROUNDING * std::fabs(part) ? 0.0 : left;
        }
        const double v = left + s.added[s.one_added ? 0 : j];
        return s.sign * ((v == 0.0 ? 0.0 : std::log(v)) - s.log_total[k]);
    }

    // Columns that lie next to each other; `strange` keeps where one has to be looked at by itself.
    DISCRIM_INLINE V several(int64_t k, int64_t j, V &strange) const {
        const V part = get<V>(s.count + k * s.class_stride + j);
        V left = part;
        if (s.whole) {
            const double *whole = s.whole + k * s.whole_class_stride;
            left = (s.whole_column_stride == 0 ? every<V>(*whole) : get<V>(whole + j)) - part;
            const V size = left < V{} ? -left : left, of_part = ROUNDING * (part < V{} ? -part : part);
            left = size <= of_part ? V{} : left;
        }
        const V v = left + (s.one_added ? every<V>(s.added[0]) : get<V>(s.added + j));
        // Comparisons that are joined would be made one by one.
        const V none{}, some = every<V>(1.0);
        strange = v >= every<V>(std::numeric_limits<double>::min()) ? strange : some;
        strange += v <= every<V>(std::numeric_limits<double>::max()) ? none : some;
        return s.sign * (log_of(v) - every<V>(s.log_total[k]));
    }
};

template <int MI>
DISCRIM_INLINE void fill_shares_body(const LogShares &s) {
    using V = Native<MI>;
    const Filling<V> filling{s};
    for (int64_t k = 0; k < s.K; ++k) {
        double *out = s.out + k * s.p;
        int64_t j = 0;
        while (s.column_stride == 1 && j + WIDTH<V> <= s.p) {
            const int64_t from = j, to = std::min(j + TOGETHER, s.p);
            V strange{};
            for (; j + WIDTH<V> <= to; j += WIDTH<V>) put(out + j, filling.several(k, j, strange));
            for (int64_t of = sum_of(strange) > 0.0 ? from : j; of < j; ++of) out[of] = filling.one(k, of);
        }
        for (; j < s.p; ++j) out[j] = filling.one(k, j);
    }
}
DISCRIM_VERSIONS(fill_shares, (const LogShares &s), (s))

}  // namespace

void log_shares(const LogShares &s) { fill_shares(s); }

}  // namespace discrim
