// run_jobs(): many independent pieces of work on several threads, each begun in the order of its
// number. What they give does not depend on which thread did what, if each writes its own place.
#pragma once

#include <cstddef>
#include <functional>

namespace berth {

// How many threads this machine runs at a time; at least 1.
std::size_t hardware_threads();

// Calls `job` with 0, 1, … up to `count` - 1, on at most `threads` threads, and returns when all have
// ended. Once a job has returned false no further ones are begun. With one thread everything happens
// on the caller's.
void run_jobs(std::size_t count, std::size_t threads,
              const std::function<bool(std::size_t job)>& job);

}  // namespace berth
