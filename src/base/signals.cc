#include "base/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "base/check.h"

namespace berth {
namespace {

sigset_t set_of(const std::vector<int>& signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  BERTH_CHECK(pthread_sigmask(SIG_SETMASK, &all, &before_) == 0);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

SignalWatch::SignalWatch(std::vector<int> signals, std::function<void(int)> on_signal)
    : signals_(std::move(signals)), on_signal_(std::move(on_signal)) {
  const sigset_t set = set_of(signals_);
  // A signal that every thread blocks stays pending until it is read.
  BERTH_CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  arrivals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  BERTH_CHECK(arrivals_ >= 0 && end_ >= 0);
  thread_ = Thread("signals", [this] { listen(); });
}

SignalWatch::~SignalWatch() {
  const std::uint64_t one = 1;
  while (::write(end_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  signalfd_siginfo unread;
  while (::read(arrivals_, &unread, sizeof(unread)) == sizeof(unread)) {
  }
  ::close(arrivals_);
  ::close(end_);
  const sigset_t set = set_of(signals_);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void SignalWatch::listen() {
  while (true) {
    pollfd files[] = {{arrivals_, POLLIN, 0}, {end_, POLLIN, 0}};
    if (::poll(files, 2, -1) < 0) continue;
    if (files[1].revents != 0) return;
    signalfd_siginfo arrived;
    if (::read(arrivals_, &arrived, sizeof(arrived)) != sizeof(arrived)) continue;
    on_signal_(static_cast<int>(arrived.ssi_signo));
  }
}

}  // namespace berth
