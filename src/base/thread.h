// Thread, Mutex and the annotations with which clang checks what may be used under which lock.
//
// The only place that starts threads. The world is one thread; the others decode bytes, talk to
// sockets, or filter ranges of nodes, and hand their results to the world through its Loop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#if defined(__clang__)
#define BERTH_ANNOTATE(x) __attribute__((x))
#else
#define BERTH_ANNOTATE(x)
#endif
#define CAPABILITY(x) BERTH_ANNOTATE(capability(x))
#define SCOPED_CAPABILITY BERTH_ANNOTATE(scoped_lockable)
#define GUARDED_BY(x) BERTH_ANNOTATE(guarded_by(x))
#define REQUIRES(...) BERTH_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) BERTH_ANNOTATE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) BERTH_ANNOTATE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) BERTH_ANNOTATE(release_capability(__VA_ARGS__))

namespace berth {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class Condition {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  // May wake without cause: call it in a loop that looks at what it waits for.
  void wait(Mutex& mutex) REQUIRES(mutex);
  void wait_until(Mutex& mutex, std::chrono::steady_clock::time_point deadline) REQUIRES(mutex);

 private:
  std::condition_variable condition_;
};

// A thread with a name (seen in debuggers and `top -H`) that is joined when it goes out of scope.
class Thread {
 public:
  Thread() = default;
  Thread(std::string name, std::function<void()> body);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&&) = default;

  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }

 private:
  std::jthread thread_;
};

}  // namespace berth
