// NameTable: which of a few names, known to the compiler, a text is. One hash and one comparison,
// by a hash without collisions that is found at compile time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth {

template <std::size_t Count>
class NameTable {
 public:
  // Empty names are never found.
  consteval explicit NameTable(const std::array<std::string_view, Count>& names) : names_(names) {
    constexpr std::uint64_t kTries = 5000;
    for (std::uint64_t attempt = 1; attempt <= kTries; ++attempt) {
      factor_ = attempt * 0x9e3779b97f4a7c15ULL | 1U;
      if (place_all()) return;
    }
    throw "two names are alike in all that is looked at";
  }

  // Its place among the names; Count: it is none of them.
  constexpr std::size_t find(std::string_view text) const {
    if (text.empty()) return Count;
    const std::size_t at = places_[hash(text)];
    return at < Count && names_[at] == text ? at : Count;
  }

 private:
  static constexpr std::size_t kSlots = std::bit_ceil(Count * 4 + 1);
  static_assert(Count < 255);

  constexpr std::size_t hash(std::string_view text) const {
    const auto at = [&](std::size_t i) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(text[i]));
    };
    const std::size_t size = text.size();
    const std::uint64_t parts =
        size ^ at(0) << 8U ^ at(size / 2) << 16U ^ at(size * 3 / 4) << 24U ^ at(size - 1) << 32U;
    return parts * factor_ >> (64U - static_cast<std::uint32_t>(std::countr_zero(kSlots)));
  }

  consteval bool place_all() {
    places_.fill(static_cast<std::uint8_t>(Count));
    for (std::size_t i = 0; i < Count; ++i) {
      if (names_[i].empty()) continue;
      std::uint8_t& place = places_[hash(names_[i])];
      if (place != Count) return false;
      place = static_cast<std::uint8_t>(i);
    }
    return true;
  }

  std::array<std::string_view, Count> names_;
  std::uint64_t factor_ = 1;
  std::array<std::uint8_t, kSlots> places_{};
};

}  // namespace berth
