#include "telemetry/descriptor_sink.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/signals.h"

namespace berth::telemetry {
namespace {

// A write of at most this size to a pipe that is ready is taken whole, without blocking.
constexpr std::size_t kPiece = PIPE_BUF;
// How long the thread waits for the reader until it looks whether the program ends, and how often
// it waits for a reader that takes nothing when it does.
constexpr int kPatienceMs = 100;
constexpr int kLastWaits = 10;

}  // namespace

std::unique_ptr<LogSink> descriptor_sink(int descriptor) {
  return std::make_unique<DescriptorSink>(descriptor);
}

DescriptorSink::~DescriptorSink() {
  Thread thread;
  {
    const MutexLock lock(mutex_);
    ending_ = true;
    changed_.notify_one();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

bool DescriptorSink::takes_more(int patience_ms) const {
  pollfd file{descriptor_, POLLOUT, 0};
  const int found = ::poll(&file, 1, patience_ms);
  return found > 0 && file.revents != 0;
}

// How much of it was handled. What cannot be written at all is lost: the error cannot be logged.
std::size_t DescriptorSink::write_piece(std::string_view bytes) const {
  for (;;) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kPiece));
    if (written > 0) return static_cast<std::size_t>(written);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    return bytes.size();
  }
}

void DescriptorSink::write(std::string_view record) {
  const MutexLock lock(mutex_);
  if (stalled_) return wait_or_drop(record);
  while (!record.empty() && takes_more(0)) {
    const std::size_t written = write_piece(record);
    if (written == 0) break;
    record.remove_prefix(written);
  }
  if (record.empty()) return;
  stalled_ = true;
  waiting_ += record;  // the rest of a record is never dropped
  if (thread_.joinable()) return changed_.notify_one();
  const SignalsBlocked blocked;  // they are for others
  thread_ = Thread("log-writer", [this] { write_waiting(); });
}

void DescriptorSink::wait_or_drop(std::string_view record) {
  if (dropped_ > 0 || waiting_.size() + record.size() > most_waiting_)
    ++dropped_;
  else
    waiting_ += record;
}

// The thread: waits for a stall, and ends it.
void DescriptorSink::write_waiting() {
  std::string taken;
  int waits = 0;
  while (take_waiting(taken)) {
    for (std::string_view rest = taken; !rest.empty();) {
      const std::size_t written = takes_more(kPatienceMs) ? write_piece(rest) : 0;
      rest.remove_prefix(written);
      if (written > 0) {
        waits = 0;
      } else {
        const MutexLock lock(mutex_);
        if (ending_ && ++waits >= kLastWaits) return;
      }
    }
  }
}

// What the thread writes next; false: there is nothing more, and there will not be.
bool DescriptorSink::take_waiting(std::string& taken) {
  taken.clear();
  const MutexLock lock(mutex_);
  for (;;) {
    if (waiting_.empty() && dropped_ > 0 && line_) waiting_ = line_(std::exchange(dropped_, 0));
    if (!waiting_.empty()) {
      taken.swap(waiting_);
      return true;
    }
    stalled_ = false;
    if (ending_) return false;
    changed_.wait(mutex_);
  }
}

}  // namespace berth::telemetry
