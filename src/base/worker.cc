#include "base/worker.h"

namespace berth {

bool Worker::Job::wait(std::chrono::nanoseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  MutexLock lock(mutex_);
  while (!done_ && std::chrono::steady_clock::now() < deadline)
    changed_.wait_until(mutex_, deadline);
  return done_;
}

void Worker::Job::run() {
  if (!cancelled_) work_(cancelled_);
  MutexLock lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

Worker::~Worker() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    for (const std::shared_ptr<Job>& job : jobs_) job->cancel();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Worker::Job> Worker::start(Work work) {
  auto job = std::make_shared<Job>(std::move(work));
  {
    MutexLock lock(mutex_);
    jobs_.push_back(job);
    changed_.notify_all();
  }
  if (!thread_.joinable()) thread_ = Thread(name_, [this] { run(); });
  return job;
}

void Worker::run() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      MutexLock lock(mutex_);
      while (jobs_.empty() && !ending_) changed_.wait(mutex_);
      if (jobs_.empty()) return;
      job = jobs_.front();
    }
    job->run();
    MutexLock lock(mutex_);
    jobs_.pop_front();
  }
}

}  // namespace berth
