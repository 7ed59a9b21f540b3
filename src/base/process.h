// Running another program and reading what it prints. Blocks: not for the world thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth {

struct ProcessResult {
  int exit_code = 0;  // 128 and the signal's number if it was killed
  std::string out;
};

// `command` is looked for in PATH unless it has a slash. It inherits the environment, in which
// `environment` sets or replaces variables, and standard error; its standard input is empty.
// kNotFound: there is no such program.
Result<ProcessResult> run_process(
    const std::string& command, const std::vector<std::string>& arguments,
    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace berth
