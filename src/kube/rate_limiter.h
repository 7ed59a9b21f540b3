// RateLimiter: a bucket of tokens, and those who wait for one (shell.md §6.1). The bucket holds
// `burst` tokens, starts full and gets `qps` more per second; the most urgent goes first, among
// equals who came first.
//
// Knows no clock and calls nobody: whoever owns it says what time it is. World thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

#include "base/loop.h"
#include "kube/api_client.h"

namespace berth::kube {

class RateLimiter {
 public:
  // A rate or a burst below 0: no limit. 0: what a client has that nobody configured.
  static constexpr float kDefaultQps = 5;
  static constexpr int kDefaultBurst = 10;

  RateLimiter(float qps, int burst);

  bool limited() const { return limited_; }

  // In the order of turns.
  struct Place {
    Urgency urgency = Urgency::kNormal;
    std::uint64_t sequence = 0;

    friend auto operator<=>(const Place&, const Place&) = default;
  };

  Place join(Urgency urgency);
  void leave(Place place) { waiting_.erase(place); }  // without its turn

  // Whose turn it is, if it is anybody's: he has left the queue with a token.
  std::optional<Place> next(TimePoint now);
  // When to ask again. Nothing: nobody waits.
  std::optional<TimePoint> next_time() const;

 private:
  TimePoint token_time() const;

  bool limited_ = true;
  Duration interval_{0};  // between two tokens
  Duration depth_{0};     // what it takes to fill all of the bucket but its last token
  TimePoint full_;        // when the bucket will be full if nobody takes any more
  std::uint64_t last_sequence_ = 0;
  std::set<Place> waiting_;
};

}  // namespace berth::kube
