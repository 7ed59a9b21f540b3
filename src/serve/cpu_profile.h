// CpuProfile: where this process spends its time, sampled a hundred times per second of CPU, in the
// form that pprof reads (shell.md §4.1). Addresses only: pprof finds names and lines in the
// program's own file.
//
// One at a time in a process: the timer and the signal SIGPROF are the process's. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"

namespace berth::serve {

// A stack, the innermost address first, and how often it was seen.
struct ProfiledStack {
  std::vector<std::uint64_t> addresses;
  std::uint64_t count = 0;
};

struct ProfileTimes {
  WallTime started;
  Duration duration{0};
};

// A profile.proto message. `maps` is /proc/self/maps.
std::string encode_profile(const std::vector<ProfiledStack>& stacks, const ProfileTimes& times,
                           std::string_view maps);

class CpuProfile {
 public:
  // Starts sampling. An error: a profile is being taken already.
  static Result<std::unique_ptr<CpuProfile>> start(WallTime now);
  ~CpuProfile();
  CpuProfile(const CpuProfile&) = delete;
  CpuProfile& operator=(const CpuProfile&) = delete;

  // How many samples there are so far.
  std::size_t samples() const;

  // Ends the sampling. Stacks that were seen several times are one.
  std::vector<ProfiledStack> stop();

  WallTime started() const { return started_; }

 private:
  explicit CpuProfile(WallTime now) : started_(now) {}

  const WallTime started_;
  bool running_ = true;
};

}  // namespace berth::serve
