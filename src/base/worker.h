// Worker: a thread for work that would block the world thread for too long, one job after the
// other.
//
//   Worker worker("selectors");
//   std::shared_ptr<Worker::Job> job = worker.start([=](const std::atomic<bool>& cancelled) { … });
//   …
//   if (job->wait(std::chrono::milliseconds(5))) …   // done: what the work has written may be read
//
// The thread starts with the first job. start() may be called by one thread only, a Job be used by
// any.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/thread.h"

namespace berth {

class Worker {
 public:
  // The work reads the flag now and then, and ends early when it is set.
  using Work = std::function<void(const std::atomic<bool>& cancelled)>;

  class Job {
   public:
    explicit Job(Work work) : work_(std::move(work)) {}

    // Waits at most so long, and returns whether the work is done.
    bool wait(std::chrono::nanoseconds most);
    // The result is not needed any more: the work is not begun, or ends early. It may still be
    // running after this.
    void cancel() { cancelled_ = true; }

   private:
    friend class Worker;
    void run();

    Work work_;
    std::atomic<bool> cancelled_ = false;
    Mutex mutex_;
    Condition changed_;
    bool done_ GUARDED_BY(mutex_) = false;
  };

  explicit Worker(std::string name) : name_(std::move(name)) {}
  // Cancels what is left, and waits for the piece that is under way.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  std::shared_ptr<Job> start(Work work);

 private:
  void run();

  std::string name_;
  Mutex mutex_;
  Condition changed_;
  std::deque<std::shared_ptr<Job>> jobs_ GUARDED_BY(mutex_);  // the first is under way
  bool ending_ GUARDED_BY(mutex_) = false;
  Thread thread_;
};

}  // namespace berth
