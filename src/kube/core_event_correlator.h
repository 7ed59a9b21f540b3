// CoreEventCorrelator: what becomes of one more event of core/v1 (shell.md §6.6): a new one, one
// more of the same, one of many that are nearly the same, or one too many. World thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "api/requests.h"
#include "berth/loop.h"
#include "kube/lru_map.h"

namespace berth::kube {

class CoreEventCorrelator {
 public:
  struct Write {
    CoreEventRequest event;
    std::string patch;  // of the event by that name, if it is still there; empty: it is a new one
  };
  // Nothing: there were too many about this object of late. `now` is the monotonic clock; the
  // event has the other.
  std::optional<Write> add(CoreEventRequest event, TimePoint now);

 private:
  static constexpr std::size_t kMostRemembered = 4096;

  // Events that differ in nothing but their message.
  struct Similar {
    std::set<std::string> messages;
    TimePoint last;
  };
  struct Seen {
    std::int32_t count = 0;
    WallTime first;
    std::string name;
  };
  struct Allowance {
    double left = 0;
    TimePoint since;
  };

  std::string combine(CoreEventRequest& event, TimePoint now);
  std::string observe(CoreEventRequest& event, const std::string& key);
  bool allowed(const CoreEventRequest& event, TimePoint now);

  LruMap<std::string, Similar> similar_{kMostRemembered};
  LruMap<std::string, Seen> seen_{kMostRemembered};
  LruMap<std::string, Allowance> allowances_{kMostRemembered};
};

}  // namespace berth::kube
