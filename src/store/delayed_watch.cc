#include "store/delayed_watch.h"

#include <algorithm>

namespace berth {

void DelayedWatch::show(Delta delta) {
  const TimePoint when = std::max(shown_until_, loop_.now() + delay_ + lag_);
  if (to_show_.empty() || when != shown_until_)
    loop_.at(when, lifetime_.guard([this] { show_due(); }));
  shown_until_ = when;
  to_show_.emplace_back(when, std::move(delta));
}

void DelayedWatch::show_due() {
  while (!to_show_.empty() && to_show_.front().first <= loop_.now()) {
    const Delta delta = std::move(to_show_.front().second);
    to_show_.pop_front();
    for (const DeltaSink& watcher : watchers_) watcher(delta);
  }
}

}  // namespace berth
