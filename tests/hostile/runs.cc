// hostile_runs FOLDER SECONDS: runs commands, each in a process of its own, and says what they
// cost.
//
// A line of stdin is a command, its words separated by tabs: `codecs FILE` (codecs.h), or one of
// berth's. The answer is a line on stdout:
//
//   PID EXIT_CODE BYTES CPU_SECONDS
//
// BYTES is the most memory that the process had. What it said on stderr is in FOLDER/PID.err; its
// stdout is dropped. One that takes longer than SECONDS is killed: its exit code is 128 and the
// signal.
//
// A command that begins with the word `here` runs in this process. Under valgrind that translates
// the code once for all the processes that are forked after it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli.h"
#include "codecs.h"

namespace {

std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    out.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Takes what is printed, and forgets it.
struct Nowhere final : std::streambuf {
  int overflow(int c) override { return c; }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

int run(std::string_view line) {
  const std::vector<std::string> command = words(line);
  if (command.size() == 2 && command[0] == "codecs") return berth::hostile::run_codecs(command[1]);
  Nowhere nowhere;
  std::ostream out(&nowhere);
  return berth::app::run(command, out, std::cerr);
}

[[noreturn]] void run_child(std::string_view command, const std::string& folder, unsigned seconds) {
  const std::string path = fmt::format("{}/{}.err", folder, getpid());
  const int errors = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (errors < 0 || dup2(errors, STDERR_FILENO) < 0) _exit(127);
  alarm(seconds);
  const int code = run(command);
  std::cerr.flush();
  _exit(code);  // what the parent has yet to print is the parent's
}

// Processes begin with the instructions that are counted here: as few as possible, and as many for
// every command.
void run_apart(std::string_view command, const std::string& folder, unsigned seconds) {
  const pid_t child = fork();
  if (child == 0) run_child(command, folder, seconds);
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) < 0) {
    std::perror("hostile_runs");
    std::exit(1);
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const auto spent = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  fmt::print("{} {} {} {}\n", child, code, used.ru_maxrss * 1024,
             spent(used.ru_utime) + spent(used.ru_stime));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string folder = argv[1];
  const auto seconds = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  constexpr std::string_view kHere = "here\t";
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t size = 0; (size = getline(&line, &room, stdin)) > 0;) {
    const std::string_view command(line, static_cast<std::size_t>(size) - 1);
    if (command.starts_with(kHere))
      fmt::print("{} {} 0 0\n", getpid(), run(command.substr(kHere.size())));
    else
      run_apart(command, folder, seconds);
    std::fflush(stdout);
  }
  std::free(line);
  return 0;
}
