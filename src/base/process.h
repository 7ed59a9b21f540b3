// Running another program and reading what it prints, which blocks: not for the world thread. And
// what this process has used.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"

namespace berth {

struct ProcessResult {
  int exit_code = 0;  // 128 and the signal's number if it was killed
  std::string out;
};

// Ends programs from another thread: one that runs, and any that would be started later.
class ProcessStop {
 public:
  ProcessStop();
  ~ProcessStop();
  ProcessStop(const ProcessStop&) = delete;
  ProcessStop& operator=(const ProcessStop&) = delete;

  // Any thread.
  void stop();
  int descriptor() const { return descriptor_; }  // can be read from once it is stopped

 private:
  int descriptor_;
};

// `command` is looked for in PATH unless it has a slash. It inherits the environment, in which
// `environment` sets or replaces variables, and standard error; its standard input is empty.
// kNotFound: there is no such program.
Result<ProcessResult> run_process(
    const std::string& command, const std::vector<std::string>& arguments,
    const std::vector<std::pair<std::string, std::string>>& environment);
// The same, until `stop` is used (kCancelled) or the time is over (kTimeout): then the program and
// its process group are killed.
Result<ProcessResult> run_process_until(
    const ProcessStop& stop, std::chrono::milliseconds most, const std::string& command,
    const std::vector<std::string>& arguments,
    const std::vector<std::pair<std::string, std::string>>& environment);

// The most memory that this process has had, in bytes.
std::size_t peak_memory();
// How long this process has been computing, on all its cores: a measure that does not grow while
// others have the machine.
Duration cpu_time();

}  // namespace berth
