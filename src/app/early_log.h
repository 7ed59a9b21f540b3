// Log lines of a command that is still setting itself up, in klog's text form or as JSON, on
// standard error (shell.md §8).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "base/loop.h"
#include "config/flags/command.h"

namespace berth::app {

class EarlyLog {
 public:
  // Text until use_format says otherwise.
  EarlyLog(std::ostream& out, const Loop& clock) : out_(out), clock_(clock) {}

  void use_format(const std::string& format) { json_ = format == "json"; }
  void write(const config::EarlyRecord& record, int verbosity = 0);
  // "command failed", with the reason.
  void write_failure(const config::CommandFailure& failure);

 private:
  std::string header(const config::EarlyRecord& record) const;

  std::ostream& out_;
  const Loop& clock_;
  bool json_ = false;
};

}  // namespace berth::app
