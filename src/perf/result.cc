#include "perf/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "wire/json_tree.h"

namespace berth::perf {
namespace {

using Seconds = std::chrono::duration<double>;

// Of sorted numbers: the smallest that so many percent of them do not exceed.
double percentile(const std::vector<double>& sorted, double percent) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

Percentiles percentiles(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  return {percentile(numbers, 50), percentile(numbers, 90), percentile(numbers, 95),
          percentile(numbers, 99)};
}

// Pods bound per second in each slice: whole seconds when there are many, else tenths of the whole.
std::vector<double> rates(const Progress::Measured& measured) {
  constexpr double kManySeconds = 10;
  const double all = Seconds(measured.took).count();
  const double slice = all >= kManySeconds ? 1 : all / kManySeconds;
  if (slice <= 0) return {};
  std::vector<double> counts(static_cast<std::size_t>(std::floor(all / slice + 1e-9)));
  for (const Duration when : measured.when) {
    const auto at = static_cast<std::size_t>(Seconds(when).count() / slice);
    if (at < counts.size()) ++counts[at];
  }
  for (double& count : counts) count /= slice;
  return counts;
}

std::string to_json(const Percentiles& p) {
  return fmt::format(R"({{"p50":{},"p90":{},"p95":{},"p99":{}}})", p.p50, p.p90, p.p95, p.p99);
}

std::string json_text(const std::string& text) { return berth::to_json(JsonValue::of_text(text)); }

// A number of an object; 0 when it is not there.
double number_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value ? std::strtod(value->text.c_str(), nullptr) : 0;
}

std::size_t count_in(const JsonValue& object, std::string_view name) {
  return static_cast<std::size_t>(number_in(object, name));
}

Percentiles percentiles_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  if (!value) return {};
  return {number_in(*value, "p50"), number_in(*value, "p90"), number_in(*value, "p95"),
          number_in(*value, "p99")};
}

std::string one_to_json(const WorkloadResult& r) {
  if (r.skipped)
    return fmt::format(R"({{"name":{},"skipped":{}}})", json_text(r.name), json_text(*r.skipped));
  return fmt::format(
      R"({{"name":{},"pods":{},"seconds":{},"pods_per_second":{},"pods_per_cpu_second":{},)"
      R"("throughput":{},"attempts":{},)"
      R"("attempt_seconds":{},"decided_from_kept":{},"peak_rss_bytes":{},"nodes_checked":{}}})",
      json_text(r.name), r.pods, r.seconds, r.pods_per_second, r.pods_per_cpu_second,
      to_json(r.throughput), r.attempts, to_json(r.attempt_seconds), r.from_kept, r.peak_rss_bytes,
      r.nodes_checked);
}

std::string microseconds(double seconds) { return fmt::format("{:.1f}", seconds * 1e6); }

}  // namespace

WorkloadResult summarize(std::string name, const Progress::Measured& measured) {
  WorkloadResult result;
  result.name = std::move(name);
  result.pods = measured.pods;
  result.seconds = Seconds(measured.took).count();
  if (result.seconds > 0)
    result.pods_per_second = static_cast<double>(result.pods) / result.seconds;
  if (measured.computed > Duration(0))
    result.pods_per_cpu_second =
        static_cast<double>(result.pods) / Seconds(measured.computed).count();
  result.throughput = percentiles(rates(measured));
  std::vector<double> attempts;
  attempts.reserve(measured.attempts.size());
  for (const Duration took : measured.attempts) attempts.push_back(Seconds(took).count());
  result.attempts = attempts.size();
  result.attempt_seconds = percentiles(std::move(attempts));
  return result;
}

std::string to_json(const std::vector<WorkloadResult>& results) {
  std::string text = R"({"results":[)";
  for (const WorkloadResult& result : results) {
    if (&result != &results.front()) text += ',';
    text += one_to_json(result);
  }
  return text + "]}\n";
}

Result<std::vector<WorkloadResult>> results_from_json(std::string_view text) {
  const Result<JsonValue> tree = parse_json(text);
  const JsonValue* entries = tree ? tree->find("results") : nullptr;
  if (!entries) return fail(ErrorKind::kInvalid, "these are no results");
  std::vector<WorkloadResult> results;
  for (const JsonValue& entry : entries->items) {
    WorkloadResult& read = results.emplace_back();
    if (const JsonValue* name = entry.find("name")) read.name = name->text;
    if (const JsonValue* why = entry.find("skipped")) read.skipped = why->text;
    read.pods = count_in(entry, "pods");
    read.seconds = number_in(entry, "seconds");
    read.pods_per_second = number_in(entry, "pods_per_second");
    read.pods_per_cpu_second = number_in(entry, "pods_per_cpu_second");
    read.throughput = percentiles_in(entry, "throughput");
    read.attempts = count_in(entry, "attempts");
    read.attempt_seconds = percentiles_in(entry, "attempt_seconds");
    read.from_kept = count_in(entry, "decided_from_kept");
    read.peak_rss_bytes = count_in(entry, "peak_rss_bytes");
    read.nodes_checked = count_in(entry, "nodes_checked");
  }
  return results;
}

std::string to_table(const std::vector<WorkloadResult>& results) {
  std::size_t width = 8;
  for (const WorkloadResult& result : results) width = std::max(width, result.name.size());
  std::string text = fmt::format("{:<{}}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {:>8}\n",
                                 "WORKLOAD", width, "PODS", "PODS/S", "/CPU-S", "P50", "P99",
                                 "ATTEMPT", "P99 (µs)", "PEAK MB");
  for (const WorkloadResult& r : results) {
    if (r.skipped) {
      text += fmt::format("{:<{}}  skipped: {}\n", r.name, width, *r.skipped);
      continue;
    }
    text += fmt::format(
        "{:<{}}  {:>8}  {:>9.0f}  {:>9.0f}  {:>9.0f}  {:>9.0f}  {:>9}  {:>9}  {:>8.1f}\n", r.name,
        width, r.pods, r.pods_per_second, r.pods_per_cpu_second, r.throughput.p50, r.throughput.p99,
        microseconds(r.attempt_seconds.p50), microseconds(r.attempt_seconds.p99),
        static_cast<double>(r.peak_rss_bytes) / 1e6);
  }
  return text;
}

}  // namespace berth::perf
