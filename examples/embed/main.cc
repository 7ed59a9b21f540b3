// Embedding berth: two plugins of our own, a small cluster, and what happens to it.
//
//   SameTeam   a Filter: a node with a label `team` takes only that team's pods
//   Quorum     a Permit: pods of a group wait until enough of them have a node; a group that does
//              not come together in time gives its places back, and others take them
//
// Time is virtual: the minute that the lonely pod waits takes no time at all.
#include <berth/scheduler.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using berth::Cycle;
using berth::Handle;
using berth::NodeRow;
using berth::Outcome;
using berth::Pod;
using berth::Symbol;
using berth::Uid;

// One node at a time is enough for a simple rule.
class SameTeam final : public berth::PerNodeFilter {
 public:
  explicit SameTeam(const Handle& handle) : symbols_(handle.cluster.symbol_table()) {
    team_ = symbols_.intern("team");
  }
  std::string_view name() const override { return "SameTeam"; }

  // What may help a pod that it rejected: another node, or another label on one. A plugin that does
  // not say is asked again whatever happens.
  std::optional<std::vector<berth::EventRegistration>> events_to_register() const override {
    using berth::EventResource;
    namespace action = berth::action;
    return {{{{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}}, {}}}};
  }

  Outcome filter_node(const Cycle& cycle, NodeRow row) const override {
    const Symbol* wanted = cycle.nodes().node(row).labels.find(team_);
    if (!wanted || cycle.pod().labels().get(team_) == *wanted) return {};
    return Outcome::of(berth::Code::kUnschedulableAndUnresolvable,
                       "node(s) belonged to another team");
  }

 private:
  berth::SymbolHold symbols_;
  Symbol team_;
};

class Quorum final : public berth::PermitPlugin, public berth::ReservePlugin {
 public:
  explicit Quorum(const Handle& handle) : handle_(handle), symbols_(handle.cluster.symbol_table()) {
    group_ = symbols_.intern("group");
  }
  std::string_view name() const override { return "Quorum"; }

  // No event helps by itself: pods that it rejected are tried again after five minutes.
  std::optional<std::vector<berth::EventRegistration>> events_to_register() const override {
    return std::vector<berth::EventRegistration>();
  }

  Outcome reserve(Cycle&, std::string_view) override { return {}; }

  // Gives up the places of the whole group when one of its pods loses its own.
  void unreserve(Cycle& cycle, std::string_view) override {
    for (const Uid& uid : waiting_members(cycle.pod()))
      handle_.waiting_pods.reject(uid, name(), "the group did not come together");
  }

  berth::PermitResult permit(Cycle& cycle, std::string_view) override {
    const Pod& pod = cycle.pod();
    if (pod.labels().get(group_).empty()) return {};
    std::size_t placed = 0;  // assumed ones among them, and so this pod itself
    cycle.cluster().for_each_placed(
        [&](const Pod& other, NodeRow, bool) { placed += same_group(pod, other) ? 1 : 0; });
    if (placed < kQuorum)
      return berth::PermitResult::wait(std::chrono::minutes(1), "waiting for the group");
    for (const Uid& uid : waiting_members(pod)) handle_.waiting_pods.allow(uid, name());
    return {};
  }

 private:
  static constexpr std::size_t kQuorum = 3;

  bool same_group(const Pod& pod, const Pod& other) const {
    const Symbol group = pod.labels().get(group_);
    return !group.empty() && other.labels().get(group_) == group &&
           other.namespace_name() == pod.namespace_name();
  }
  std::vector<Uid> waiting_members(const Pod& pod) const {
    std::vector<Uid> members;
    for (const berth::WaitingPod& waiting : handle_.waiting_pods.list())
      if (same_group(pod, *waiting.pod)) members.push_back(waiting.pod->uid());
    return members;
  }

  Handle handle_;
  berth::SymbolHold symbols_;
  Symbol group_;
};

// Prints what the scheduler does, with the virtual second in which it does.
class Narrator final : public berth::Observer {
 public:
  const berth::Loop* loop = nullptr;

  void wait_started(const Pod& pod, std::span<const berth::PermitHold> holds) override {
    say() << pod.name() << " waits at " << holds.front().plugin << '\n';
  }
  void bound(const Pod& pod, std::string_view node, std::int32_t) override {
    say() << pod.name() << " runs on " << node << '\n';
  }
  void failed(const Pod& pod, const Outcome& outcome) override {
    say() << pod.name() << " has to wait: " << outcome.message() << '\n';
  }

 private:
  std::ostream& say() const {
    const auto now = std::chrono::floor<std::chrono::seconds>(loop->now().since_start);
    return std::cout << now.count() << "s  ";
  }
};

template <typename PluginType>
berth::PluginEntry entry(std::string name, std::string points, std::string description) {
  berth::PluginEntry result;
  result.name = std::move(name);
  result.create = [](const berth::config::PluginArgs&,
                     const Handle& handle) -> berth::Result<std::unique_ptr<berth::Plugin>> {
    return std::make_unique<PluginType>(handle);
  };
  result.extension_points = std::move(points);
  result.description = std::move(description);
  return result;
}

std::string node(const std::string& name, const std::string& labels, const std::string& cpu) {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {" + labels +
         "}}\nstatus: {capacity: {cpu: '" + cpu + "', memory: 8Gi, pods: '10'}}\n";
}

std::string pod(const std::string& name, const std::string& labels) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {" + labels +
         "}}\nspec: {containers: [{name: main, image: app, resources: {requests: {cpu: '1'}}}]}\n";
}

constexpr char kConfiguration[] = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: SameTeam}, {name: Quorum}]
)";

}  // namespace

int main() {
  Narrator narrator;
  berth::Scheduler::Options options;
  options.configuration = kConfiguration;
  options.observer = &narrator;
  options.plugins = berth::Scheduler::built_in_plugins();
  const auto added =
      options.plugins.add(entry<SameTeam>("SameTeam", "Filter", "Keeps teams to their nodes."));
  const auto added_too = options.plugins.add(
      entry<Quorum>("Quorum", "Reserve, Permit", "Holds pods until their group is there."));
  if (!added || !added_too) return 1;

  auto made = berth::Scheduler::make(std::move(options));
  if (!made) {
    std::cerr << made.error().message << '\n';
    return 1;
  }
  berth::Scheduler& scheduler = **made;
  narrator.loop = &scheduler.loop();
  const auto applied = scheduler.apply(
      node("red-1", "team: red", "8") + node("shared-1", "", "5") + pod("red-web", "team: red") +
      pod("blue-web", "team: blue") + pod("trio-a", "group: trio") + pod("trio-b", "group: trio") +
      pod("trio-c", "group: trio") + pod("lonely", "group: two") + pod("late-blue", "team: blue"));
  if (!applied) {
    std::cerr << applied.error().message << '\n';
    return 1;
  }
  scheduler.start();
  scheduler.run_until(std::chrono::minutes(2));
  std::cout << scheduler.pending() << " pods are still pending\n";
  scheduler.stop();
}
