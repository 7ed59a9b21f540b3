#include "base/thread.h"

#include <pthread.h>

#include <chrono>
#include <utility>

namespace berth {

void Condition::wait(Mutex& mutex) {
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  condition_.wait(lock);
  lock.release();
}

void Condition::wait_until(Mutex& mutex, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex.mutex_, std::adopt_lock);
  condition_.wait_until(lock, deadline);
  lock.release();
}

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());  // the kernel's limit
        body();
      }) {}

}  // namespace berth
