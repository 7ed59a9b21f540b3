// Background: a thread for work that takes a while, one piece after the other, away from the world
// and from the threads of connections.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "base/thread.h"

namespace berth::serve {

class Background {
 public:
  explicit Background(std::string thread_name);
  ~Background() { stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Any thread. After stop() it is dropped.
  void post(std::function<void()> work) EXCLUDES(mutex_);

  // Finishes the current job and drops the others. Not from its own thread.
  void stop() EXCLUDES(mutex_);

 private:
  void run() EXCLUDES(mutex_);

  Mutex mutex_;
  Condition changed_;
  std::deque<std::function<void()>> work_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace berth::serve
