// DescriptorSink: writes log records to a file descriptor whose reader may stall: a pipe that is
// not read, a terminal that is paused. A thread that logs never waits for it.
//
// A record that the descriptor takes at once is written by the thread that logs it, so that a crash
// loses nothing. While it takes no more, records wait in a buffer of limited size, and a thread
// writes them when it does again. What does not fit is dropped and counted; a line reports the
// count when all that waited is written. At the end what waits is still written, for as long as the
// reader goes on reading.
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/thread.h"
#include "telemetry/log.h"

namespace berth::telemetry {

class DescriptorSink final : public LogSink {
 public:
  // Bytes; as many again may be on their way out.
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

  // The sink does not own the descriptor.
  explicit DescriptorSink(int descriptor, std::size_t most_waiting = kMostWaiting)
      : descriptor_(descriptor), most_waiting_(most_waiting) {}
  ~DescriptorSink() override;

  void write(std::string_view record) override EXCLUDES(mutex_);
  void on_dropped(std::function<std::string(std::uint64_t)> line) override {
    line_ = std::move(line);
  }

 private:
  bool takes_more(int patience_ms) const;
  std::size_t write_piece(std::string_view bytes) const;
  void wait_or_drop(std::string_view record) REQUIRES(mutex_);
  void write_waiting() EXCLUDES(mutex_);
  bool take_waiting(std::string& taken) EXCLUDES(mutex_);

  const int descriptor_;
  const std::size_t most_waiting_;
  std::function<std::string(std::uint64_t)> line_;  // set before the first record

  Mutex mutex_;
  Condition changed_;
  bool stalled_ GUARDED_BY(mutex_) = false;  // only the sink's thread writes
  std::string waiting_ GUARDED_BY(mutex_);
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  bool ending_ GUARDED_BY(mutex_) = false;
  Thread thread_ GUARDED_BY(mutex_);  // since the first stall
};

}  // namespace berth::telemetry
