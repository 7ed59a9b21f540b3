// SeenBefore: the hashes of recent pods. A class is kept from its second pod on.
//
// Eight hashes share a place; the one not seen for longest is replaced. With one hash per place,
// two of a hundred classes would sooner or later share a place and replace each other for ever, so
// that neither became a class.
//
// Part of ClassSearch.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace berth {

class SeenBefore {
 public:
  // Returns whether the hash is new, like std::set.
  bool insert(std::size_t hash) {
    Place& place = places_[hash % places_.size()];
    auto at = std::ranges::find(place, hash);
    const bool is_new = at == place.end();
    if (is_new) *--at = hash;
    std::rotate(place.begin(), at, at + 1);
    return is_new;
  }

 private:
  using Place = std::array<std::size_t, 8>;  // most recent first
  std::array<Place, 512> places_{};
};

}  // namespace berth
