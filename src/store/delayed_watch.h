// DelayedWatch: shows changes to watchers after a while, in their order. Changes that become
// visible at the same moment are shown in one go, so that nothing is decided between them. World
// thread.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "berth/loop.h"
#include "berth/object.h"

namespace berth {

using DeltaSink = std::function<void(const Delta&)>;

class DelayedWatch {
 public:
  DelayedWatch(Loop& loop, Duration delay) : loop_(loop), delay_(delay) {}

  void add(DeltaSink watcher) { watchers_.push_back(std::move(watcher)); }
  // How much later than usual changes are shown from now on.
  void set_lag(Duration lag) { lag_ = lag; }

  void show(Delta delta);
  // Forgets what is still to be shown.
  void clear() { to_show_.clear(); }

 private:
  void show_due();

  Loop& loop_;
  Duration delay_;
  Duration lag_{0};
  TimePoint shown_until_;  // a smaller lag does not let a change overtake an older one
  std::deque<std::pair<TimePoint, Delta>> to_show_;
  std::vector<DeltaSink> watchers_;
  Lifetime lifetime_;
};

}  // namespace berth
