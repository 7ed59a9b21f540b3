// Scenario: what happens over time, read from a file. docs/scenario.md has the format.
//
//   kind: Scenario
//   events:
//   - {at: 30s, cordon: node-3}
//   - {at: 1m, create: {apiVersion: v1, kind: Pod, …}}
//   faults:
//   - {call: bind, pods: "web-*", times: 2, error: Timeout}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "berth/loop.h"
#include "berth/node_selector.h"
#include "berth/result.h"
#include "sim/sim_cluster.h"
#include "sim/volume_controller.h"

namespace berth::sim {

// What can happen. Nodes and pods are named as `kubectl` names them.
struct ApplyManifest {
  std::string json;  // one object
};
struct DeleteObject {
  ObjectKind kind = ObjectKind::kPod;
  std::string namespace_name;
  std::string name;
};
struct CordonNode {
  std::string node;
  bool cordoned = true;
};
struct TaintNode {
  std::string node, key, value, effect;
  bool remove = false;
};
struct LabelObject {
  ObjectKind kind = ObjectKind::kNode;  // nodes and pods
  std::string namespace_name, name, key;
  std::optional<std::string> value;  // absent: the label goes
};
struct RemoveGate {
  std::string namespace_name, pod, gate;
};
struct FinishPod {
  std::string namespace_name, pod;
  bool succeeded = true;
};
struct JumpWallClock {
  Duration by{0};
};
struct LagWatch {
  Duration by{0};  // from now on
};
struct SettleWaitingPod {
  std::string namespace_name, pod, plugin;
  bool allow = true;
  std::string message;  // of a rejection
};

using ScenarioAction =
    std::variant<ApplyManifest, DeleteObject, CordonNode, TaintNode, LabelObject, RemoveGate,
                 FinishPod, JumpWallClock, LagWatch, SettleWaitingPod>;

struct ScenarioEvent {
  Duration at{0};
  ScenarioAction action;
};

// Calls that go wrong.
struct FaultRule {
  ApiCall call = ApiCall::kBind;
  std::string pods = "*";     // namespace/name or name, with * and ?; of calls about pods
  std::string objects = "*";  // likewise; of calls about volumes and claims
  Duration from{0};
  std::optional<Duration> until;
  std::optional<std::int64_t> times;  // absent: every time
  double probability = 1;
  CallFate fate;
};

// Pods that wait at Permit until enough of their group have arrived.
struct QuorumRule {
  std::string plugin = "Quorum";  // the name under which it holds pods
  std::string label;              // its value names the group
  std::int64_t quorum = 2;
  Duration timeout = std::chrono::minutes(5);
};

// Many nodes alike.
struct NodePool {
  std::string name;  // nodes are called <name>-1, <name>-2, …
  std::int64_t count = 1;
  std::vector<std::string> zones;  // taken in turn
  std::string node_json;           // a Node without a name
};

// Pods that come one after the other, evenly over a time.
struct Arrivals {
  std::string name;  // pods are called <name>-1, <name>-2, …
  std::int64_t count = 1;
  Duration from{0};
  Duration over{0};
  std::vector<Duration> runs;  // how long a pod runs after it was bound, drawn from these; none: on
  std::vector<std::string> pods;  // Pods without names, taken in turn
};

struct Scenario {
  SimTiming timing;
  std::vector<NodePool> node_pools;
  std::vector<Arrivals> arrivals;
  std::vector<ScenarioEvent> events;
  std::vector<FaultRule> faults;
  std::vector<QuorumRule> quorums;
  VolumeRules volumes;
};

// Errors name file and field: `scenario.yaml: events[2].at: time: invalid duration "soon"`.
Result<Scenario> parse_scenario(std::string_view text, const std::string& file_name);

// "web-*" and the like.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace berth::sim
