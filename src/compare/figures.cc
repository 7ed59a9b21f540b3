#include "compare/figures.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json_text.h"

namespace berth::compare {
namespace {

constexpr std::size_t kSeriesLength = 400;

JsonValue number(std::size_t value) { return JsonValue::of_int(static_cast<std::int64_t>(value)); }

std::size_t count_status(const sim::SimulationReport& report,
                         std::initializer_list<std::string_view> statuses) {
  return static_cast<std::size_t>(std::ranges::count_if(report.pods, [&](const auto& pod) {
    return std::ranges::find(statuses, pod.status) != statuses.end();
  }));
}

JsonValue pods_json(const RunMeter& meter, const sim::SimulationReport& report) {
  JsonValue json = JsonValue::object();
  json.add("created", number(meter.pods_created()));
  json.add("bound", number(static_cast<std::size_t>(std::ranges::count_if(
                        meter.log().pods, [](const DecisionLog::PodEntry& pod) {
                          return pod.node != DecisionLog::kNone;
                        }))));
  json.add("running", number(count_status(report, {"Bound", "Terminating"})));
  json.add("pending", number(count_status(report, {"Pending", "Waiting"})));
  json.add("gated", number(count_status(report, {"Gated"})));
  json.add("finished", number(count_status(report, {"Finished"})));
  json.add("evicted", number(meter.evictions()));
  return json;
}

// The smallest time that at least this part of all does not exceed.
double percentile(const std::vector<Duration>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return seconds_of(sorted[std::max<std::size_t>(rank, 1) - 1]);
}

JsonValue times_json(std::vector<Duration> times) {
  JsonValue json = JsonValue::object();
  if (times.empty()) return json;
  std::ranges::sort(times);
  double sum = 0;
  for (const Duration time : times) sum += seconds_of(time);
  json.add("p50", rounded(percentile(times, 0.5)));
  json.add("p99", rounded(percentile(times, 0.99)));
  json.add("max", rounded(seconds_of(times.back())));
  json.add("mean", rounded(sum / static_cast<double>(times.size())));
  return json;
}

JsonValue over_time_json(const ResourceMeter::OverTime& over_time) {
  JsonValue json = JsonValue::object();
  json.add("mean", rounded(over_time.mean));
  json.add("peak", rounded(over_time.peak));
  json.add("end", rounded(over_time.end));
  return json;
}

JsonValue devices_json(const EndState& end) {
  JsonValue json = JsonValue::object();
  for (const auto& [driver, figures] : end.devices) {
    JsonValue of_driver = JsonValue::object();
    of_driver.add("all", rounded(figures.all));
    of_driver.add("idle", rounded(figures.idle));
    of_driver.add("stranded", rounded(figures.stranded));
    json.add(driver, std::move(of_driver));
  }
  return json;
}

JsonValue skew_json(const EndState& end) {
  JsonValue json = JsonValue::object();
  for (const auto& [key, figures] : end.skew) {
    JsonValue of_key = JsonValue::object();
    of_key.add("groups", number(figures.groups));
    of_key.add("mean", rounded(figures.mean));
    of_key.add("max", rounded(figures.max));
    json.add(key, std::move(of_key));
  }
  return json;
}

void add_unless_empty(JsonValue& json, std::string_view name, JsonValue part) {
  if (!part.members.empty()) json.add(name, std::move(part));
}

JsonValue amounts_json(const std::map<std::string, double>& amounts) {
  JsonValue json = JsonValue::object();
  for (const auto& [name, amount] : amounts) json.add(name, rounded(amount));
  return json;
}

}  // namespace

JsonValue rounded(double value) {
  const double text = std::round(value * 1e6) / 1e6;
  return JsonValue::of_number(go_float(text == 0 ? 0 : text));  // never "-0"
}

JsonValue figures_json(const RunMeter& meter, const EndState& end,
                       const sim::SimulationReport& report) {
  JsonValue json = JsonValue::object();
  json.add("duration", rounded(seconds_of(report.duration)));
  json.add("pods", pods_json(meter, report));
  JsonValue attempts = JsonValue::object();
  attempts.add("all", number(meter.attempts()));
  attempts.add("failed", number(meter.failed_attempts()));
  json.add("attempts", std::move(attempts));
  add_unless_empty(json, "timeToSchedule", times_json(meter.times_to_schedule()));
  JsonValue nodes = JsonValue::object();
  nodes.add("all", number(meter.resources().node_count()));
  nodes.add("used", over_time_json(meter.resources().nodes_used()));
  json.add("nodes", std::move(nodes));
  JsonValue use = JsonValue::object(), imbalance = JsonValue::object();
  for (const ResourceMeter::ResourceFigures& resource : meter.resources().resources()) {
    use.add(resource.name, over_time_json(resource.use));
    imbalance.add(resource.name, over_time_json(resource.imbalance));
  }
  add_unless_empty(json, "use", std::move(use));
  add_unless_empty(json, "imbalance", std::move(imbalance));
  JsonValue fits = JsonValue::object();
  for (const auto& [shape, pods] : end.fits) fits.add(shape, JsonValue::of_int(pods));
  add_unless_empty(json, "fits", std::move(fits));
  add_unless_empty(json, "stranded", amounts_json(end.stranded));
  add_unless_empty(json, "devices", devices_json(end));
  add_unless_empty(json, "spreadSkew", skew_json(end));
  json.add("shapesLeftOut", number(end.shapes_left_out));
  json.add("ended", JsonValue::of_text(report.cut_short ? "cutShort"
                                       : report.stuck   ? "stuck"
                                                        : "atRest"));
  return json;
}

JsonValue series_json(const RunMeter& meter) {
  JsonValue at = JsonValue::array(), used = JsonValue::array();
  JsonValue use = JsonValue::object(), imbalance = JsonValue::object();
  const std::vector<ResourceMeter::Sample> samples = meter.resources().samples(kSeriesLength);
  for (const ResourceMeter::Sample& sample : samples) {
    at.items.push_back(rounded(seconds_of(sample.at)));
    used.items.push_back(number(sample.nodes_used));
  }
  for (const ResourceMeter::ResourceFigures& resource : meter.resources().resources()) {
    JsonValue uses = JsonValue::array(), imbalances = JsonValue::array();
    for (const ResourceMeter::Sample& sample : samples) {
      const auto found = sample.use.find(resource.name);
      uses.items.push_back(rounded(found == sample.use.end() ? 0 : found->second));
      const auto other = sample.imbalance.find(resource.name);
      imbalances.items.push_back(rounded(other == sample.imbalance.end() ? 0 : other->second));
    }
    use.add(resource.name, std::move(uses));
    imbalance.add(resource.name, std::move(imbalances));
  }
  JsonValue counts_at = JsonValue::array(), bound = JsonValue::array(),
            pending = JsonValue::array();
  const std::vector<CountSample>& counts = meter.counts();
  const std::size_t step = std::max<std::size_t>(1, counts.size() / kSeriesLength);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i % step != 0 && i + 1 != counts.size()) continue;
    counts_at.items.push_back(rounded(seconds_of(counts[i].at)));
    bound.items.push_back(number(counts[i].bound));
    pending.items.push_back(number(counts[i].pending));
  }
  JsonValue json = JsonValue::object();
  json.add("at", std::move(at));
  json.add("nodesUsed", std::move(used));
  json.add("use", std::move(use));
  json.add("imbalance", std::move(imbalance));
  json.add("podsAt", std::move(counts_at));
  json.add("bound", std::move(bound));
  json.add("pending", std::move(pending));
  return json;
}

}  // namespace berth::compare
