// LoopThread: a RealLoop that runs on a thread of its own, for work that must not wait for the
// world: it is handed in with Loop::post.
#pragma once

#include <string>
#include <utility>

#include "base/thread.h"
#include "berth/loop.h"

namespace berth {

class LoopThread {
 public:
  // `loop` outlives this, and so does what runs on it.
  LoopThread(std::string name, RealLoop& loop)
      : loop_(loop), thread_(std::move(name), [&loop] { loop.run(); }) {}
  // Nothing runs on the loop any more when this returns.
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

 private:
  RealLoop& loop_;
  Thread thread_;
};

}  // namespace berth
