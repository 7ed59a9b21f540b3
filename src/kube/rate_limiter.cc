#include "kube/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace berth::kube {
namespace {

// Centuries: "never", and still small enough to be counted with.
constexpr double kLongestInterval = 1e18;
constexpr double kLongest = 8e18;

Duration nanoseconds(double count) {
  return Duration(static_cast<Duration::rep>(std::llround(std::min(count, kLongest))));
}

}  // namespace

RateLimiter::RateLimiter(float qps, int burst) : limited_(qps >= 0 && burst >= 0) {
  if (!limited_) return;
  const double rate = qps == 0 ? kDefaultQps : qps;
  const double tokens = burst == 0 ? kDefaultBurst : burst;
  interval_ = nanoseconds(std::min(1e9 / rate, kLongestInterval));
  depth_ = nanoseconds(static_cast<double>(interval_.count()) * (tokens - 1));
}

RateLimiter::Place RateLimiter::join(Urgency urgency) {
  const Place place{urgency, ++last_sequence_};
  waiting_.insert(place);
  return place;
}

std::optional<RateLimiter::Place> RateLimiter::next(TimePoint now) {
  if (waiting_.empty()) return std::nullopt;
  if (limited_) {
    if (now < token_time()) return std::nullopt;
    full_ = std::max(full_, now) + interval_;
  }
  const Place place = *waiting_.begin();
  waiting_.erase(waiting_.begin());
  return place;
}

std::optional<TimePoint> RateLimiter::next_time() const {
  if (waiting_.empty()) return std::nullopt;
  return limited_ ? token_time() : TimePoint();
}

// The bucket has a token as long as no more than the rest of it is missing.
TimePoint RateLimiter::token_time() const { return full_ + -depth_; }

}  // namespace berth::kube
