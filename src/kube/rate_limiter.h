// RateLimiter: a token bucket and its queue of waiting requests (shell.md §6.1). The bucket holds
// `burst` tokens, starts full and gets `qps` more per second; the most urgent goes first, among
// equals who came first.
//
// Reads no clock and calls nothing: its owner passes the time. World thread.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>

#include "berth/loop.h"
#include "kube/api_client.h"

namespace berth::kube {

class RateLimiter {
 public:
  // A rate or a burst below 0: no limit. 0: the default of an unconfigured client.
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

  // The request whose turn it is, if any; it has left the queue with a token.
  std::optional<Place> next(TimePoint now);
  // When to call again; nullopt when no request waits.
  std::optional<TimePoint> next_time() const;

 private:
  TimePoint token_time() const;

  bool limited_ = true;
  Duration interval_{0};  // between two tokens
  Duration depth_{0};     // what it takes to fill all of the bucket but its last token
  TimePoint full_;        // when the bucket will be full if no more tokens are taken
  std::uint64_t last_sequence_ = 0;
  std::set<Place> waiting_;
};

}  // namespace berth::kube
