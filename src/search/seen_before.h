// SeenBefore: pods seen lately, by hash. A class is worth its memory from the second pod on.
//
// Eight hashes share a place, and the one not seen for longest goes. Were they alone in theirs,
// then of a hundred classes two would meet sooner or later, and taking turns drive each other out
// for ever: neither would become a class.
//
// Part of ClassSearch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth {

class SeenBefore {
 public:
  // Whether it is new, as a std::set says it.
  bool insert(std::size_t hash) {
    Place& place = places_[hash % places_.size()];
    auto at = std::ranges::find(place, hash);
    const bool is_new = at == place.end();
    if (is_new) *--at = hash;
    std::rotate(place.begin(), at, at + 1);
    return is_new;
  }

 private:
  using Place = std::array<std::size_t, 8>;  // the last seen first
  std::array<Place, 512> places_{};
};

}  // namespace berth
