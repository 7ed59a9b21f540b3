#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/thread.h"

namespace berth {

std::size_t hardware_threads() {
  return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

void run_jobs(std::size_t count, std::size_t threads,
              const std::function<bool(std::size_t job)>& job) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  const auto work = [&] {
    while (!stopped) {
      const std::size_t mine = next++;
      if (mine >= count) return;
      if (!job(mine)) stopped = true;
    }
  };
  if (threads <= 1) return work();
  std::vector<Thread> others;
  for (std::size_t i = 0; i < std::min(threads, count); ++i) others.emplace_back("job", work);
  for (Thread& thread : others) thread.join();
}

}  // namespace berth
