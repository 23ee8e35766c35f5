// Equal rows of bytes by a hash table with open places. The hash is a sum of the words of a row, each times an odd
// number of its own, so that the products do not wait for each other.

#include "labels.hpp"

#include <cstring>

namespace discrim {
namespace {

inline uint64_t word_at(const unsigned char *row) {
    uint64_t word;
    std::memcpy(&word, row, 8);
    return word;
}

// What is left of a row after its whole words. The last one may overlap the one before it.
inline uint64_t last_word(const unsigned char *row, int64_t width) {
    if (width >= 8) return word_at(row + width - 8);
    uint64_t word = 0;
    for (int64_t at = 0; at < width; ++at) word = word << 8 | row[at];
    return word;
}

std::vector<uint64_t> odd_numbers(int64_t count) {
    std::vector<uint64_t> odd(count);
    uint64_t state = 0x9e3779b97f4a7c15ULL;
    for (uint64_t &value : odd) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        value = state | 1;
    }
    return odd;
}

struct Place {
    uint64_t hash;
    int32_t code = -1;
};

class Table {
public:
    Table(const unsigned char *bytes, int64_t width) : bytes(bytes), width(width), odd(odd_numbers((width + 7) / 8)) {}

    int32_t code(int64_t i) {
        const unsigned char *row = bytes + i * width;
        const uint64_t hash = hash_of(row);
        uint64_t at = hash >> shift;
        for (; places[at].code >= 0; at = (at + 1) & (places.size() - 1))
            if (places[at].hash == hash && same(row, bytes + first[places[at].code] * width)) return places[at].code;
        places[at] = {hash, static_cast<int32_t>(first.size())};
        first.push_back(i);
        if (2 * first.size() > places.size()) grow();
        return static_cast<int32_t>(first.size()) - 1;
    }

    std::vector<int64_t> first;

private:
    const unsigned char *bytes;
    int64_t width;
    std::vector<uint64_t> odd;
    int shift = 58;
    std::vector<Place> places = std::vector<Place>(64);

    uint64_t hash_of(const unsigned char *row) const {
        uint64_t sum = 0;
        int64_t at = 0;
        for (; at + 8 <= width; at += 8) sum += odd[at / 8] * word_at(row + at);
        if (at < width) sum += odd[at / 8] * last_word(row, width);
        // The upper bits of a sum of products depend on all bits, the lower ones do not.
        return (sum ^ (sum >> 32)) * 0xd6e8feb86659fd93ULL;
    }

    bool same(const unsigned char *one, const unsigned char *other) const {
        uint64_t differ = 0;
        int64_t at = 0;
        for (; at + 8 <= width; at += 8) differ |= word_at(one + at) ^ word_at(other + at);
        if (at < width) differ |= last_word(one, width) ^ last_word(other, width);
        return differ == 0;
    }

    void grow() {
        std::vector<Place> old = std::move(places);
        --shift;
        places = std::vector<Place>(2 * old.size());
        for (const Place &place : old) {
            if (place.code < 0) continue;
            uint64_t at = place.hash >> shift;
            while (places[at].code >= 0) at = (at + 1) & (places.size() - 1);
            places[at] = place;
        }
    }
};

}  // namespace

std::vector<int64_t> code_rows(const unsigned char *bytes, int64_t n, int64_t width, int32_t *codes) {
    Table table(bytes, width);
    for (int64_t i = 0; i < n; ++i) codes[i] = table.code(i);
    return std::move(table.first);
}

}  // namespace discrim
