#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace berth {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> merged_environment(
    const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> all;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view variable(*entry);
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool replaced = std::ranges::any_of(
        additions, [&](const auto& addition) { return addition.first == name; });
    if (!replaced) all.emplace_back(variable);
  }
  for (const auto& [name, value] : additions) all.push_back(name + "=" + value);
  return all;
}

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What ends a program before it has ended by itself.
struct Limits {
  const ProcessStop& stop;
  Clock::time_point deadline;
};

// Waits until there is something to read.
Result<void> wait_for(int pipe, const Limits& limits) {
  pollfd ready[] = {{limits.stop.descriptor(), POLLIN, 0}, {pipe, POLLIN, 0}};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(limits.deadline - Clock::now()).count();
    const int patience = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
    if (::poll(ready, 2, patience) < 0 && errno == EINTR) continue;
    if (ready[0].revents != 0) return fail(ErrorKind::kCancelled, "the program was stopped");
    if (ready[1].revents != 0) return {};
    if (Clock::now() >= limits.deadline)
      return fail(ErrorKind::kTimeout, "the program took too long and was killed");
  }
}

// Until the other end is closed; an error if that was not waited for.
Result<void> read_all(int pipe, const std::optional<Limits>& limits, std::string& out) {
  char chunk[1 << 12];
  while (true) {
    if (limits)
      if (Result<void> ready = wait_for(pipe, *limits); !ready) return ready;
    const ssize_t size = ::read(pipe, chunk, sizeof(chunk));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    out.append(chunk, static_cast<std::size_t>(size));
  }
}

Result<ProcessResult> run(const std::optional<Limits>& limits, const std::string& command,
                          const std::vector<std::string>& arguments,
                          const std::vector<std::pair<std::string, std::string>>& environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return fail(ErrorKind::kInternal, "pipe: " + std::generic_category().message(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> words{command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = merged_environment(environment);
  // Signals that this process blocks (SignalWatch) must still end the child.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t ignored;  // by ignore_broken_pipes()
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  // A group of its own, so that what it starts can be killed with it. A program that runs without
  // limits stays in ours, where the terminal's Ctrl-C finds it.
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = limits ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, command.c_str(), &actions, &attributes,
                                   pointers(words).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return fail(error == ENOENT ? ErrorKind::kNotFound : ErrorKind::kInternal,
                std::generic_category().message(error));
  }
  ProcessResult result;
  const Result<void> ended = read_all(ends[0], limits, result.out);
  ::close(ends[0]);
  if (!ended) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return fail(ended.error());
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace

ProcessStop::ProcessStop() : descriptor_(::eventfd(0, EFD_CLOEXEC)) {
  BERTH_CHECK(descriptor_ >= 0);
}
ProcessStop::~ProcessStop() { ::close(descriptor_); }

void ProcessStop::stop() {
  const std::uint64_t one = 1;
  while (::write(descriptor_, &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

Result<ProcessResult> run_process(
    const std::string& command, const std::vector<std::string>& arguments,
    const std::vector<std::pair<std::string, std::string>>& environment) {
  return run(std::nullopt, command, arguments, environment);
}

Result<ProcessResult> run_process_until(
    const ProcessStop& stop, std::chrono::milliseconds most, const std::string& command,
    const std::vector<std::string>& arguments,
    const std::vector<std::pair<std::string, std::string>>& environment) {
  return run(Limits{stop, Clock::now() + most}, command, arguments, environment);
}

std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

Duration cpu_time() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

}  // namespace berth
