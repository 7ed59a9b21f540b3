// The figures of a run, computed a second time from the timeline that `berth simulate -o json` prints
// and from the manifests, as docs/compare.md defines them.
#include "compare/figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/time_text.h"
#include "compare/side_run.h"
#include "compare/testing/manifests.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::compare {
namespace {

using testing::input;
using testing::node;
using testing::pod;
using testing::side;

double at(const JsonValue& figures, std::initializer_list<std::string_view> path) {
  const JsonValue* json = &figures;
  for (const std::string_view name : path) {
    json = json->find(name);
    if (!json) {
      ADD_FAILURE() << "no figure " << name;
      return -1;
    }
  }
  double value = -1;
  std::from_chars(json->text.data(), json->text.data() + json->text.size(), value);
  return value;
}

JsonValue figures_of(const Input& of, const Side& how = side("default")) {
  Result<SideResult> result = run_side({.input = of, .side = how}, plugins::make_plugin_table());
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(result->figures) : JsonValue::object();
}

// One line of the timeline.
struct Entry {
  double at = 0;
  std::string what, pod, node, queue;
};

std::vector<Entry> timeline_of(const Input& of, double& duration) {
  Interner interner;
  sim::SimulationOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.until = std::chrono::hours(24);
  auto scenario = sim::parse_scenario(of.scenario.text, "scenario.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  auto objects = read_manifest(of.files.front().text, "input.yaml", interner);
  EXPECT_TRUE(objects) << objects.error().message;
  EXPECT_TRUE(admit_all(*objects, interner, VirtualLoop::kDefaultStart));
  auto made = sim::Simulation::make(interner, plugins::make_plugin_table(), std::move(options),
                                    std::move(*scenario));
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_TRUE((*made)->load(*objects));
  const sim::SimulationReport report = (*made)->run();
  duration = seconds_of(report.duration);
  std::vector<Entry> entries;
  for (const std::string& line : report.timeline) {
    const JsonValue json = *parse_json(line);
    const auto text = [&json](std::string_view name) {
      const JsonValue* const member = json.find(name);
      return member ? member->text : std::string();
    };
    entries.push_back({seconds_of(*parse_go_duration(text("time"))), text("what"), text("pod"),
                       text("node"), text("queue")});
  }
  return entries;
}

// Three nodes, one of which comes later; pods that come, wait, and end.
const char kScenario[] = R"(
events:
- {at: 10s, finish: early}
- {at: 20s, create: {apiVersion: v1, kind: Node, metadata: {name: late, labels: {kubernetes.io/hostname: late, topology.kubernetes.io/zone: b}}, status: {capacity: {cpu: "8", memory: 8Gi, pods: "110"}}}}
- {at: 30s, create: {apiVersion: v1, kind: Pod, metadata: {name: last}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}}}
- {at: 50s, delete: {kind: Node, name: small}}
)";

Input changing_cluster() {
  return input(node("big", "4") + node("small", "2") + pod("early", "2") + pod("a", "2") +
                   pod("b", "2") + pod("waits", "3"),
               kScenario);
}

struct Interval {
  std::string node;
  double cpu = 0, from = 0, to = 1e9;
};

TEST(Figures, CountsAndTimesAreThoseOfTheTimeline) {
  double duration = 0;
  const std::vector<Entry> entries = timeline_of(changing_cluster(), duration);
  std::map<std::string, std::size_t> count;
  std::map<std::string, double> queued;
  std::vector<double> times;
  for (const Entry& entry : entries) {
    ++count[entry.what];
    if (entry.what == "queued" && entry.queue != "gated") queued.emplace(entry.pod, entry.at);
    if (entry.what == "bound") times.push_back(entry.at - queued.at(entry.pod));
  }
  std::ranges::sort(times);
  const JsonValue figures = figures_of(changing_cluster());
  EXPECT_EQ(at(figures, {"pods", "bound"}), 5);
  EXPECT_EQ(at(figures, {"pods", "bound"}), count["bound"]);
  EXPECT_EQ(at(figures, {"pods", "created"}), 5);
  EXPECT_EQ(at(figures, {"pods", "finished"}), 1);
  EXPECT_EQ(at(figures, {"attempts", "all"}), count["attempt"]);
  EXPECT_EQ(at(figures, {"attempts", "failed"}), count["failed"]);
  EXPECT_GT(count["failed"], 0);
  EXPECT_NEAR(at(figures, {"duration"}), duration, 1e-6);
  // Nearest rank: of five, the third and the fifth.
  EXPECT_NEAR(at(figures, {"timeToSchedule", "p50"}), times[2], 1e-6);
  EXPECT_NEAR(at(figures, {"timeToSchedule", "p99"}), times[4], 1e-6);
  EXPECT_GT(times[4], 1);
}

TEST(Figures, UseAndImbalanceAreWeightedWithTime) {
  double duration = 0;
  const std::vector<Entry> entries = timeline_of(changing_cluster(), duration);
  const std::map<std::string, double> cpus{
      {"early", 2}, {"a", 2}, {"b", 2}, {"waits", 3}, {"last", 2}};
  std::vector<Interval> intervals;
  std::set<double> changes{0, 20, 50, duration};
  for (const Entry& entry : entries) {
    if (entry.what != "bound") continue;
    const std::string name = entry.pod.substr(entry.pod.find('/') + 1);
    intervals.push_back({entry.node, cpus.at(name), entry.at});
    if (name == "early") intervals.back().to = 10;
    changes.insert(entry.at);
    changes.insert(std::min(intervals.back().to, duration));
  }
  const auto capacity = [](const std::string& name, double when) {
    if (name == "big") return 4.0;
    if (name == "small") return when < 50 ? 2.0 : 0.0;
    return when >= 20 ? 8.0 : 0.0;
  };
  double use = 0, imbalance = 0, used = 0, peak = 0;
  for (auto begin = changes.begin(); std::next(begin) != changes.end(); ++begin) {
    const double from = *begin, length = *std::next(begin) - from;
    double requested = 0, all = 0, nodes = 0, sum = 0, squares = 0, with_pods = 0;
    for (const char* name : {"big", "small", "late"}) {
      const double offered = capacity(name, from);
      if (offered == 0) continue;
      double taken = 0;
      for (const Interval& interval : intervals)
        if (interval.node == name && interval.from <= from && from < interval.to)
          taken += interval.cpu;
      requested += taken, all += offered, ++nodes;
      sum += taken / offered, squares += taken / offered * taken / offered;
      with_pods += taken > 0 ? 1 : 0;
    }
    use += requested / all * length;
    peak = std::max(peak, requested / all);
    imbalance += std::sqrt(std::max(0.0, squares / nodes - sum / nodes * sum / nodes)) * length;
    used += with_pods * length;
  }
  const JsonValue figures = figures_of(changing_cluster());
  EXPECT_NEAR(at(figures, {"use", "cpu", "mean"}), use / duration, 1e-6);
  EXPECT_NEAR(at(figures, {"use", "cpu", "peak"}), peak, 1e-6);
  EXPECT_NEAR(at(figures, {"imbalance", "cpu", "mean"}), imbalance / duration, 1e-6);
  EXPECT_NEAR(at(figures, {"nodes", "used", "mean"}), used / duration, 1e-6);
  EXPECT_GT(duration, 49);
  EXPECT_GT(use, 0);
}

TEST(Figures, WhatWouldFitAtTheEndAndWhatNobodyCanUse) {
  // a has 1 cpu left, b has 2: no further pod of 3 fits, one of 1 fits three times.
  const JsonValue figures =
      figures_of(input(node("a", "4") + node("b", "5", "b") + pod("big-1", "3") +
                       pod("big-2", "3") + pod("small", "1", "nodeName: elsewhere, ", "other")));
  EXPECT_EQ(at(figures, {"fits", "default/big-1"}), 0);
  EXPECT_EQ(at(figures, {"fits", "default/small"}), 3);
  EXPECT_EQ(at(figures, {"stranded", "cpu"}), 0);
  const JsonValue packed = figures_of(
      input(node("a", "4") + node("b", "5", "b") + pod("big-1", "3") + pod("big-2", "3")));
  EXPECT_EQ(at(packed, {"stranded", "cpu"}), 3);
  EXPECT_EQ(at(packed, {"spreadSkew", "topology.kubernetes.io/zone", "max"}), 0);
  EXPECT_EQ(at(packed, {"spreadSkew", "kubernetes.io/hostname", "groups"}), 1);
}

TEST(Figures, DevicesThatNoShapeCanUseAreStranded) {
  const char kDevices[] = R"(---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two, namespace: default}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: a}
spec:
  driver: d
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  devices: [{name: g0}, {name: g1}, {name: g2}]
)";
  const JsonValue figures = figures_of(
      input(node("a") + kDevices +
            pod("train", "1", "resourceClaims: [{name: g, resourceClaimTemplateName: two}], ")));
  EXPECT_EQ(at(figures, {"pods", "bound"}), 1);
  EXPECT_EQ(at(figures, {"devices", "d", "all"}), 3);
  EXPECT_EQ(at(figures, {"devices", "d", "idle"}), 1);
  EXPECT_EQ(at(figures, {"devices", "d", "stranded"}), 1);
  EXPECT_EQ(at(figures, {"fits", "default/train"}), 0);
}

TEST(Figures, ManyChangesLeaveNoErrorBehind) {
  CompensatedSum sum;
  for (int i = 0; i < 100'000; ++i) {
    sum.add(1.0 / 3);
    sum.add(1e6);
    sum.add(-1e6);
    sum.add(-1.0 / 3);
  }
  EXPECT_NEAR(sum.value(), 0, 1e-12);
}

}  // namespace
}  // namespace berth::compare
