#include "app/progress.h"

#include <unistd.h>

#include <iostream>

namespace berth::app {
namespace {

// Back to the beginning of the line, and nothing after that.
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

bool is_terminal(const std::ostream& stream) {
  if (&stream == &std::cout) return ::isatty(STDOUT_FILENO) != 0;
  return &stream == &std::cerr && ::isatty(STDERR_FILENO) != 0;
}

void Progress::update(const std::function<std::string(Duration)>& line) {
  if (clock_ == nullptr) return;
  const TimePoint now = clock_->now();
  if (now < next_) return;
  next_ = now + kInterval;
  out_ << kEraseLine << line(now - begun_) << std::flush;
  written_ = true;
}

void Progress::erase() {
  if (!written_) return;
  out_ << kEraseLine << std::flush;
  written_ = false;
}

}  // namespace berth::app
