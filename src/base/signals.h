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
// the process. Programs that run_process starts are still ended by it.
void ignore_broken_pipes();

// While it exists, the calling thread and the threads that it starts take no signals.
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
  // Replaces the handling of `signals`: `on_signal` is called for each, one after the other, on the
  // watch's thread. Usually it posts to a Loop.
  SignalWatch(std::vector<int> signals, std::function<void(int)> on_signal);
  // Restores the handling of the signals. No call of on_signal is running when it returns; signals
  // that are still pending are dropped.
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
