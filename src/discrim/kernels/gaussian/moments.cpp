// One read of the rows. A block of rows is shifted by a pilot mean of each class, packed into panels of eight columns
// (ordered by class where each has its own product), and multiplied with itself in cache.

#include "gaussian/moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "lanes.hpp"
#include "products.hpp"

namespace discrim {
namespace {

DISCRIM_VERSIONS(self_product, (const double *packed, int64_t panel, int64_t m, int64_t size, double *c, Ahead &ahead),
                 (packed, panel, m, size, c, ahead))

// A block of rows: which of them count, and where each of them goes.
template <typename T>
struct Block {
    const Rows<T> *x;
    const int32_t *codes;      // class by position
    const double *weights;     // by position, or null
    const int32_t *index;      // positions of the rows that count
    const int32_t *place;      // their rows in the packed panels
    int64_t m;                 // how many count
    int64_t readable;          // rows below this one may be read past their end: the next row is there
    int64_t padded;            // columns, rounded up to whole panels
    int64_t classes;
    const double *pilot;       // K x padded
    double *packed;            // or null when only sums are wanted
    int64_t panel;             // doubles between panels
    double *sum;               // sum of w (x - pilot), K x padded
    double *square;            // sum of w (x - pilot)^2 likewise, or null
    int64_t *rows;             // by class
    double *weight;            // sum of w by class, or untouched
};

// What one vector of a row adds.
template <typename V, bool weighted, bool pack>
DISCRIM_INLINE void add_up(V v, double root, double *sum, double *square, double *packed) {
    if (weighted) v *= root;
    put(sum, get<V>(sum) + (weighted ? root * v : v));
    if (pack)
        put(packed, v);
    else
        put(square, get<V>(square) + v * v);
}

// Visit columns `from` to `to` of every row that counts: shift, weigh, add up, and store where asked. The rows are
// taken as they lie in memory; the sums of their classes are close at hand.
template <typename V, bool contiguous, bool weighted, bool pack, typename T>
DISCRIM_INLINE void visit_columns(const Block<T> &block, int64_t from, int64_t to) {
    constexpr int64_t W = WIDTH<V>;
    const int64_t row_stride = block.x->row_stride, column_stride = block.x->column_stride;
    const int64_t rest = (to - from) % W, whole = to - rest;
    const auto inside = Kin<V>::numbered() < rest;
    for (int64_t s = 0; s < block.m; ++s) {
        const int64_t i = block.index[s], of_class = block.codes[i] * block.padded;
        const T *row = block.x->data + i * row_stride;
        const double *pilot = block.pilot + of_class;
        double *sum = block.sum + of_class, *square = pack ? nullptr : block.square + of_class;
        double *packed = pack ? block.packed + block.place[s] * LANES : nullptr;
        const double root = weighted ? std::sqrt(block.weights[i]) : 1.0;
        if (from == 0) {
            ++block.rows[block.codes[i]];
            if (weighted) block.weight[block.codes[i]] += block.weights[i];
        }
        const auto to_panel = [&](int64_t j) { return pack ? packed + j / LANES * block.panel + j % LANES : nullptr; };
        for (int64_t j = from; j < whole; j += W) {
            const V v = contiguous ? get<V>(row + j) : strided<V>(row + j * column_stride, column_stride, W);
            add_up<V, weighted, pack>(v - get<V>(pilot + j), root, sum + j, pack ? nullptr : square + j, to_panel(j));
        }
        if (rest > 0) {
            const int64_t j = whole;
            const V v = contiguous && i < block.readable ? get<V>(row + j)
                                                         : strided<V>(row + j * column_stride, column_stride, rest);
            add_up<V, weighted, pack>(inside ? v - get<V>(pilot + j) : V{}, root, sum + j,
                                      pack ? nullptr : square + j, to_panel(j));
        }
    }
}

// Rows of a block that is not packed; pilots, sums and squares that lie in the nearest cache together, and the fewest
// columns that are worth a visit of the rows.
constexpr int64_t MOST_ROWS = 2048, NEAR = 1536, FEWEST = 64;

// Rows that lie together are taken whole, or where nothing is packed so many columns at a time that what is kept of all
// classes stays close; others by so many columns as a vector holds: a line of memory then serves several rows before
// another takes its place.
template <typename V, bool weighted, bool pack, typename T>
DISCRIM_INLINE void visit_rows(const Block<T> &block) {
    const int64_t p = block.x->p;
    const int64_t strip = pack ? p : std::max(FEWEST, NEAR / std::max<int64_t>(block.classes, 1) / LANES * LANES);
    if (p == 0) return visit_columns<V, true, weighted, pack>(block, 0, 0);
    if (block.x->column_stride == 1)
        for (int64_t from = 0; from < p; from += strip)
            visit_columns<V, true, weighted, pack>(block, from, std::min(from + strip, p));
    else
        for (int64_t from = 0; from < p; from += WIDTH<V>)
            visit_columns<V, false, weighted, pack>(block, from, std::min(from + WIDTH<V>, p));
}

template <typename V, typename T>
DISCRIM_INLINE void visit(const Block<T> &block) {
    if (block.packed && block.weights) visit_rows<V, true, true>(block);
    if (block.packed && !block.weights) visit_rows<V, false, true>(block);
    if (!block.packed && block.weights) visit_rows<V, true, false>(block);
    if (!block.packed && !block.weights) visit_rows<V, false, false>(block);
}
template <int MI>
DISCRIM_INLINE void visit64_body(const Block<double> &block) { visit<Native<MI>>(block); }
template <int MI>
DISCRIM_INLINE void visit32_body(const Block<float> &block) { visit<Native<MI>>(block); }
DISCRIM_VERSIONS(visit64, (const Block<double> &block), (block))
DISCRIM_VERSIONS(visit32, (const Block<float> &block), (block))
inline void visit_block(const Block<double> &block) { visit64(block); }
inline void visit_block(const Block<float> &block) { visit32(block); }

// The rows of a block that count, and for each its place: by class where every class has a product of its own
// (`start[k]` being where class k begins), else one behind the other.
struct Order {
    std::vector<int64_t> start, next;
    std::vector<int32_t> index, place;
    int64_t m = 0;

    Order(int64_t K, int64_t m_max) : start(K + 1), next(K), index(m_max), place(m_max) {
        std::iota(place.begin(), place.end(), 0);
    }

    void set(const int32_t *codes, const double *weight, int64_t rows) {
        m = 0;
        for (int64_t r = 0; r < rows; ++r) {
            index[m] = static_cast<int32_t>(r);
            m += codes[r] >= 0 && (!weight || weight[r] > 0);
        }
    }

    void sort(const int32_t *codes) {
        std::fill(start.begin(), start.end(), 0);
        for (int64_t s = 0; s < m; ++s) ++start[codes[index[s]] + 1];
        for (size_t k = 0; k < next.size(); ++k) start[k + 1] += start[k];
        std::copy(start.begin(), start.end() - 1, next.begin());
        for (int64_t s = 0; s < m; ++s) place[s] = static_cast<int32_t>(next[codes[index[s]]]++);
    }
};

// One row of a pilot.
template <typename T>
struct PilotRow {
    const T *row;
    int64_t p, stride;
    double weight;
    double *pilot;
};
template <int MI, typename T>
DISCRIM_INLINE void add_to_pilot_body(const PilotRow<T> &r) {
    using V = Native<MI>;
    int64_t j = 0;
    for (; r.stride == 1 && j + WIDTH<V> <= r.p; j += WIDTH<V>)
        put(r.pilot + j, get<V>(r.pilot + j) + r.weight * get<V>(r.row + j));
    for (; j < r.p; ++j) r.pilot[j] += r.weight * static_cast<double>(r.row[j * r.stride]);
}
DISCRIM_VERSIONS(add_to_pilot, (const PilotRow<double> &r), (r))
DISCRIM_VERSIONS(add_to_pilot, (const PilotRow<float> &r), (r))

// Pilot of a class: the mean of its first rows in the first block where it appears. It is weighted, as a row that
// hardly counts must not pull it away from all that do; then all rows of the block have a part in it.
template <typename T>
void set_pilots(const Rows<T> &x, const int32_t *codes, const double *weight, const Order &order, int64_t padded,
                std::vector<char> &seen, double *pilot) {
    constexpr int64_t FIRST = 16;
    if (std::find(seen.begin(), seen.end(), 0) == seen.end()) return;
    std::vector<double> total(seen.size(), 0.0);
    for (int64_t s = 0; s < order.m; ++s) {
        const int64_t i = order.index[s], k = codes[i];
        if (seen[k] || (!weight && total[k] >= FIRST)) continue;
        const double w = weight ? weight[i] : 1.0;
        total[k] += w;
        add_to_pilot(PilotRow<T>{x.data + i * x.row_stride, x.p, x.column_stride, w, pilot + k * padded});
    }
    for (size_t k = 0; k < seen.size(); ++k) {
        if (!(total[k] > 0)) continue;
        seen[k] = 1;
        for (int64_t j = 0; j < x.p; ++j) pilot[k * padded + j] /= total[k];
    }
}

// Turn sums about the pilot into means and centred scatter.
void finish(int64_t K, int64_t p, int64_t padded, Depth depth, const Lined &pilot,
            const Lined &sum, const Lined &square, const Lined &product,
            Moments out) {
    for (int64_t k = 0; k < K; ++k) {
        const double n = out.weight[k];
        const double *d = sum.data() + k * padded;
        for (int64_t j = 0; j < p; ++j) {
            const double from = n > 0 ? pilot[k * padded + j] : 0.0, by = n > 0 ? d[j] / n : 0.0;
            const double mean = from + by, moved = mean - from;
            out.mean[k * p + j] = mean;
            if (out.low) out.low[k * p + j] = (from - (mean - moved)) + (by - moved);
        }
        if (depth == Depth::diagonal)
            for (int64_t j = 0; j < p; ++j) {
                const double s = n > 0 ? square[k * padded + j] - d[j] * (d[j] / n) : 0.0;
                out.scatter[k * p + j] = s < 0 ? 0.0 : s;
            }
    }
    if (depth == Depth::diagonal) return;
    const int64_t matrices = depth == Depth::full ? K : 1;
    for (int64_t g = 0; g < matrices; ++g) {
        const double *c = product.data() + g * padded * padded;
        double *s = out.scatter + g * p * p;
        const int64_t k0 = depth == Depth::full ? g : 0, k1 = depth == Depth::full ? g + 1 : K;
        for (int64_t i = 0; i < p; ++i) {
            for (int64_t j = i; j < p; ++j) s[i * p + j] = c[i * padded + j];
            for (int64_t k = k0; k < k1; ++k) {
                if (!(out.weight[k] > 0)) continue;
                const double *d = sum.data() + k * padded;
                const double di = d[i] / out.weight[k];
                for (int64_t j = i; j < p; ++j) s[i * p + j] -= di * d[j];
            }
        }
        for (int64_t i = 0; i < p; ++i) {
            if (s[i * p + i] < 0) s[i * p + i] = 0.0;
            for (int64_t j = i + 1; j < p; ++j) s[j * p + i] = s[i * p + j];
        }
    }
}

}  // namespace

template <typename T>
void class_moments(const Rows<T> &x, const int32_t *codes, const double *weight, int64_t K, Depth depth,
                   Moments out) {
    const int64_t panels = (x.p + LANES - 1) / LANES, padded = panels * LANES;
    const bool products = depth != Depth::diagonal;
    const int64_t m_max = std::min(products ? block_rows(x.p) : MOST_ROWS, std::max<int64_t>(x.n, 1));
    Lined pilot(K * padded, 0.0), sum(K * padded, 0.0), square(products ? 0 : K * padded, 0.0);
    Lined packed(products ? m_max * padded : 0, 0.0);
    Lined product(products ? (depth == Depth::full ? K : 1) * padded * padded : 0, 0.0);
    Order order(K, m_max);
    std::vector<char> seen(K, 0);
    const int64_t panel = m_max * LANES;
    std::fill(out.weight, out.weight + K, 0.0);
    std::fill(out.rows, out.rows + K, 0);

    for (int64_t first = 0; first < x.n; first += m_max) {
        const int64_t m = std::min(m_max, x.n - first);
        const Rows<T> rows{x.data + first * x.row_stride, m, x.p, x.row_stride, x.column_stride};
        const int32_t *of = codes + first;
        const double *w = weight ? weight + first : nullptr;
        // Whole vectors may run past the end of a row as long as they stay inside the array.
        const int64_t readable = x.row_stride < x.p ? 0 : m - LANES;
        order.set(of, w, m);
        if (depth == Depth::full) order.sort(of);
        set_pilots(rows, of, w, order, padded, seen, pilot.data());
        visit_block(Block<T>{&rows, of, w, order.index.data(), order.place.data(),
                             order.m, readable, padded, K, pilot.data(), products ? packed.data() : nullptr, panel,
                             sum.data(), products ? nullptr : square.data(), out.rows, out.weight});
        Ahead ahead = following(x, first + m, m_max);
        if (depth == Depth::pooled) self_product(packed.data(), panel, order.m, x.p, product.data(), ahead);
        for (int64_t k = 0; depth == Depth::full && x.p > 0 && k < K; ++k)
            if (const int64_t from = order.start[k], count = order.start[k + 1] - from; count > 0)
                self_product(packed.data() + from * LANES, panel, count, x.p, product.data() + k * padded * padded,
                             ahead);
    }
    if (!weight) std::copy(out.rows, out.rows + K, out.weight);
    finish(K, x.p, padded, depth, pilot, sum, square, product, out);
}

template void class_moments<double>(const Rows<double> &, const int32_t *, const double *, int64_t, Depth, Moments);
template void class_moments<float>(const Rows<float> &, const int32_t *, const double *, int64_t, Depth, Moments);

}  // namespace discrim
