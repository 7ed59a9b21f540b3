#include "app/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "perf/workload_run.h"
#include "plugins/table.h"

namespace berth::app {
namespace {

using perf::TestCase;
using perf::Workload;
using perf::WorkloadResult;

constexpr const char* kThisProgram = "/proc/self/exe";

// Where the workloads are that come with berth: in its source tree, or beside the installed
// program.
Result<std::vector<std::string>> own_files() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink(kThisProgram, error);
  for (const fs::path& folder :
       {fs::path("bench/workloads"), program.parent_path() / "../share/berth/workloads"}) {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::ranges::sort(files);
    if (!files.empty()) return files;
  }
  return fail(ErrorKind::kNotFound,
              "no workloads found in bench/workloads or beside the program: name a file");
}

struct Chosen {
  std::string file;
  const TestCase* test_case;
  const Workload* workload;

  std::string name() const { return fmt::format("{}/{}", test_case->name, workload->name); }
};

std::string exactly(std::string_view name) {
  std::string pattern = "^";
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) pattern += '\\';
    pattern += c;
  }
  return pattern + '$';
}

Result<WorkloadResult> run_here(const Chosen& chosen, const BenchOptions& options) {
  const PluginTable plugins = plugins::make_plugin_table();
  return perf::WorkloadRun(*chosen.test_case, *chosen.workload, plugins,
                           {.seed = options.seed, .verify_increments = options.verify_increments})
      .run();
}

// In a process of its own, so that its memory is its own.
Result<WorkloadResult> run_apart(const Chosen& chosen, const BenchOptions& options) {
  std::vector<std::string> arguments = {"bench",        chosen.file,
                                        "--in-process", "--json",
                                        "--filter",     exactly(chosen.name()),
                                        "--seed",       std::to_string(options.seed)};
  if (options.verify_increments) arguments.emplace_back("--verify-increments");
  const Result<ProcessResult> ran = run_process(kThisProgram, arguments, {});
  if (!ran) return fail(ran.error());
  const auto results = perf::results_from_json(ran->out);
  if (ran->exit_code != 0 || !results || results->size() != 1)
    return fail(ErrorKind::kInternal,
                fmt::format("{} failed (exit code {})", chosen.name(), ran->exit_code));
  return results->front();
}

using Read = std::vector<std::pair<std::string, std::vector<TestCase>>>;  // by file

Result<Read> read_cases(const BenchOptions& options) {
  std::vector<std::string> files = options.files;
  if (files.empty()) {
    Result<std::vector<std::string>> own = own_files();
    if (!own) return fail(own.error());
    files = std::move(*own);
  }
  Read read;
  for (const std::string& file : files) {
    const Result<std::string> text = read_file(file);
    if (!text) return fail(text.error());
    Result<std::vector<TestCase>> cases = perf::parse_test_cases(*text, file);
    if (!cases) return fail(cases.error());
    read.emplace_back(file, std::move(*cases));
  }
  return read;
}

Result<std::vector<Chosen>> choose(const Read& read, const BenchOptions& options) {
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error& wrong) {
    return fail(ErrorKind::kInvalid, fmt::format("--filter: \"{}\" is not a regular expression: {}",
                                                 options.filter, wrong.what()));
  }
  std::vector<Chosen> chosen;
  for (const auto& [file, cases] : read)
    for (const TestCase& test_case : cases)
      for (const Workload& workload : test_case.workloads) {
        const Chosen one{file, &test_case, &workload};
        const bool labelled = std::ranges::all_of(
            options.labels, [&](const std::string& label) { return workload.has_label(label); });
        if (labelled && std::regex_search(one.name(), filter)) chosen.push_back(one);
      }
  if (chosen.empty()) return fail(ErrorKind::kNotFound, "no workload fits --filter and --label");
  return chosen;
}

}  // namespace

Result<void> bench(const BenchOptions& options, std::ostream& out, std::ostream& err) {
  const Result<Read> read = read_cases(options);
  if (!read) return fail(read.error());
  const Result<std::vector<Chosen>> chosen = choose(*read, options);
  if (!chosen) return fail(chosen.error());
  if (options.list) {
    for (const Chosen& one : *chosen) out << one.name() << '\n';
    return {};
  }
  std::vector<WorkloadResult> results;
  std::size_t done = 0, failed = 0;
  for (const Chosen& one : *chosen) {
    ++done;
    Result<WorkloadResult> result =
        options.in_process ? run_here(one, options) : run_apart(one, options);
    if (!result && options.in_process) return fail(result.error());
    if (!result) {
      // The others are worth running all the same.
      err << fmt::format("[{}/{}] {}\n", done, chosen->size(), result.error().message);
      ++failed;
      continue;
    }
    if (!options.in_process && !result->skipped)
      err << fmt::format("[{}/{}] {}: {:.0f} pods/s\n", done, chosen->size(), result->name,
                         result->pods_per_second);
    results.push_back(std::move(*result));
  }
  if (!results.empty()) out << (options.json ? perf::to_json(results) : perf::to_table(results));
  if (failed > 0)
    return fail(ErrorKind::kInternal,
                fmt::format("{} of {} workloads failed", failed, chosen->size()));
  return {};
}

}  // namespace berth::app
