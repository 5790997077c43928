// Stand-in for the header of Vitis HLS: as much of ap_uint as the pipeline uses.
#pragma once
#include <bitset>
#include <cstdint>

template <int WIDTH>
class ap_uint {
    std::bitset<WIDTH> bits;

public:
    ap_uint(uint64_t value = 0) : bits(value) {}
    ap_uint operator<<(int count) const { ap_uint made(*this); made.bits <<= count; return made; }
    ap_uint operator>>(int count) const { ap_uint made(*this); made.bits >>= count; return made; }
    ap_uint &operator|=(const ap_uint &other) { bits |= other.bits; return *this; }
    uint64_t to_uint64() const { return (bits & std::bitset<WIDTH>(~0ULL)).to_ullong(); }
};
