#include "telemetry/process_metrics.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::telemetry {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

// The line that begins with `start`, without that.
std::string line_after(const std::string& text, std::string_view start) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(start)) return line.substr(start.size());
  return {};
}

// Field `n` of /proc/self/stat as proc(5) numbers them, from the third on: the second is the
// program's name, which may hold anything.
std::optional<double> stat_field(const std::string& proc, std::size_t n) {
  const std::string stat = read(proc + "/self/stat");
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = words(std::string_view(stat).substr(end_of_name + 1));
  return n - 3 < fields.size() ? number(fields[n - 3]) : std::nullopt;
}

double ticks_per_second() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::optional<double> start_time(const std::string& proc) {
  const std::optional<double> ticks = stat_field(proc, 22);
  const std::optional<double> boot =
      number(words(line_after(read(proc + "/stat"), "btime") + " x").front());
  if (!ticks || !boot) return std::nullopt;
  return *boot + *ticks / ticks_per_second();
}

std::optional<double> cpu_seconds(const std::string& proc) {
  const std::optional<double> user = stat_field(proc, 14), system = stat_field(proc, 15);
  if (!user || !system) return std::nullopt;
  return (*user + *system) / ticks_per_second();
}

std::optional<double> open_files(const std::string& proc) {
  std::error_code error;
  const std::filesystem::directory_iterator files(proc + "/self/fd", error);
  if (error) return std::nullopt;
  return static_cast<double>(std::distance(begin(files), end(files)));
}

// The soft limit of that name.
std::optional<double> limit(const std::string& proc, std::string_view name) {
  const std::vector<std::string> fields = words(line_after(read(proc + "/self/limits"), name));
  if (fields.empty()) return std::nullopt;
  // Parity: "no limit" is the largest number that upstream's reader can hold.
  if (fields.front() == "unlimited") return static_cast<double>(UINT64_MAX);
  return number(fields.front());
}

// A column of IpExt: names in one line, values in the next.
std::optional<double> ip_traffic(const std::string& proc, std::string_view column) {
  const std::string text = read(proc + "/self/net/netstat");
  const std::vector<std::string> names = words(line_after(text, "IpExt:"));
  const std::size_t second = text.rfind("IpExt:");
  if (names.empty() || second == std::string::npos) return std::nullopt;
  const std::vector<std::string> values = words(line_after(text.substr(second), "IpExt:"));
  for (std::size_t i = 0; i < names.size() && i < values.size(); ++i)
    if (names[i] == column) return number(values[i]);
  return std::nullopt;
}

using Reader = std::optional<double> (*)(const std::string& proc);

void add(Registry& registry, const std::string& proc, MetricSpec spec, Reader reader) {
  registry.add_computed(std::move(spec), [proc, reader] {
    std::vector<ComputedSample> samples;
    if (const std::optional<double> value = reader(proc)) samples.push_back({{}, *value});
    return samples;
  });
}

MetricSpec spec(std::string_view name, MetricType type, std::string_view help) {
  return {.name = name, .type = type, .stability = Stability::kNone, .help = help};
}

}  // namespace

double process_start_time(const std::string& proc) { return start_time(proc).value_or(0); }

void add_process_start_time(Registry& registry, Stability stability, std::string proc) {
  MetricSpec start = spec("process_start_time_seconds", MetricType::kGauge,
                          "Start time of the process since unix epoch in seconds.");
  start.stability = stability;
  add(registry, proc, std::move(start), start_time);
}

void add_process_metrics(Registry& registry, std::string proc) {
  constexpr MetricType kCounter = MetricType::kCounter, kGauge = MetricType::kGauge;
  add(registry, proc,
      spec("process_cpu_seconds_total", kCounter,
           "Total user and system CPU time spent in seconds."),
      cpu_seconds);
  add(registry, proc, spec("process_max_fds", kGauge, "Maximum number of open file descriptors."),
      [](const std::string& at) { return limit(at, "Max open files"); });
  add(registry, proc, spec("process_open_fds", kGauge, "Number of open file descriptors."),
      open_files);
  add(registry, proc, spec("process_virtual_memory_bytes", kGauge, "Virtual memory size in bytes."),
      [](const std::string& at) { return stat_field(at, 23); });
  add(registry, proc,
      spec("process_virtual_memory_max_bytes", kGauge,
           "Maximum amount of virtual memory available in bytes."),
      [](const std::string& at) { return limit(at, "Max address space"); });
  add(registry, proc,
      spec("process_resident_memory_bytes", kGauge, "Resident memory size in bytes."),
      [](const std::string& at) -> std::optional<double> {
        const std::optional<double> pages = stat_field(at, 24);
        if (!pages) return std::nullopt;
        return *pages * static_cast<double>(sysconf(_SC_PAGESIZE));
      });
  add(registry, proc,
      spec("process_network_receive_bytes_total", kCounter,
           "Number of bytes received by the process over the network."),
      [](const std::string& at) { return ip_traffic(at, "InOctets"); });
  add(registry, proc,
      spec("process_network_transmit_bytes_total", kCounter,
           "Number of bytes sent by the process over the network."),
      [](const std::string& at) { return ip_traffic(at, "OutOctets"); });
  add_process_start_time(registry, Stability::kNone, std::move(proc));
}

}  // namespace berth::telemetry
