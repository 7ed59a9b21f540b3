#include "serve/background.h"

#include <utility>

namespace berth::serve {

Background::Background(std::string thread_name)
    : thread_(std::move(thread_name), [this] { run(); }) {}

void Background::post(std::function<void()> work) {
  MutexLock lock(mutex_);
  if (stopping_) return;
  work_.push_back(std::move(work));
  changed_.notify_one();
}

void Background::stop() {
  std::deque<std::function<void()>> dropped;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(work_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void Background::run() {
  for (;;) {
    std::function<void()> next;
    {
      MutexLock lock(mutex_);
      while (work_.empty() && !stopping_) changed_.wait(mutex_);
      if (stopping_) return;
      next = std::move(work_.front());
      work_.pop_front();
    }
    next();
  }
}

}  // namespace berth::serve
