// Progress: one line on a terminal about work that takes longer than a second. It is written over
// again and again, and erased at the end; to a file or a pipe nothing is written.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

#include "berth/loop.h"

namespace berth::app {

// Whether somebody sees what is written there as it is written.
bool is_terminal(const std::ostream& stream);

class Progress {
 public:
  // `clock` has the real time; null: nobody watches, and nothing is written.
  Progress(const Loop* clock, std::ostream& out)
      : clock_(clock),
        out_(out),
        begun_(clock ? clock->now() : TimePoint{}),
        next_(begun_ + kPatience) {}
  ~Progress() { erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows what `line` says, if it is time to; asked often, it rarely is. `line` is told how long the
  // work has taken.
  void update(const std::function<std::string(Duration)>& line);
  void erase();

 private:
  static constexpr Duration kPatience = std::chrono::seconds(1);  // until the first line
  static constexpr Duration kInterval = std::chrono::milliseconds(200);

  const Loop* clock_;
  std::ostream& out_;
  TimePoint begun_;
  TimePoint next_;
  bool written_ = false;
};

}  // namespace berth::app
