// What a program that runs for long does about signals.
//
// SignalWatch: signals as calls, on a thread of its own, where anything may be done.
//
// Build it before any other thread is started: threads inherit that the signals are not theirs. One
// watch per signal and process.
#pragma once

#include <csignal>
#include <functional>
#include <vector>

#include "base/thread.h"

namespace berth {

// From now on a write to a pipe or socket whose reader has gone fails with EPIPE, and does not end
// the process. Programs that run_process starts are ended by it as ever.
void ignore_broken_pipes();

// While it lives the calling thread takes no signals, nor do the threads that it starts.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

class SignalWatch {
 public:
  // From now on `signals` no longer do what they did; each one that comes is told to `on_signal`,
  // one after the other, on the watch's thread. Usually that posts to a Loop.
  SignalWatch(std::vector<int> signals, std::function<void(int)> on_signal);
  // When it returns nothing is being told any more, and signals do again what they did before.
  // Those that came and were not told yet are dropped.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void listen();

  const std::vector<int> signals_;
  const std::function<void(int)> on_signal_;
  int arrivals_;  // signals, as a file
  int end_;       // readable: the watch goes
  Thread thread_;
};

}  // namespace berth
