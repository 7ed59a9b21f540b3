// RecentAnswers: what was last computed about shared parts of pods (specs, metadata), found by
// their address. A fixed number of them; what was not used lately is dropped, and with it the part
// of a pod that may be gone. World thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "berth/ref.h"

namespace berth::plugins {

template <typename Part, typename Answer>
class RecentAnswers {
 public:
  // Null when there is none. Good until the next call.
  Answer* find(const Ref<const Part>& part) {
    forget_one();
    Place& place = place_of(part);
    if (place.part != part) return nullptr;
    place.last_use = calls_;
    return &place.answer;
  }
  // In place of another one, perhaps.
  Answer& keep(const Ref<const Part>& part, Answer answer) {
    Place& place = place_of(part);
    place = {part, std::move(answer), calls_};
    return place.answer;
  }

 private:
  static constexpr std::uint64_t kLongAgo = 1024;  // calls

  struct Place {
    Ref<const Part> part;  // keeps the address from being used again
    Answer answer;
    std::uint64_t last_use = 0;  // in which call
  };

  Place& place_of(const Ref<const Part>& part) {
    const auto address = reinterpret_cast<std::uintptr_t>(part.get());
    return places_[(address >> 4 ^ address >> 10) % places_.size()];
  }
  // Looks at one place after the other, one per call.
  void forget_one() {
    Place& place = places_[++calls_ % places_.size()];
    if (place.part && place.last_use + kLongAgo < calls_) place = {};
  }

  std::array<Place, 64> places_;
  std::uint64_t calls_ = 0;
};

}  // namespace berth::plugins
