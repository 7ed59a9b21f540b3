#include "sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "api/decode.h"
#include "base/time_text.h"
#include "wire/json_reader.h"
#include "wire/yaml.h"

namespace berth::sim {
namespace {

// A slip of the finger, beyond that.
constexpr std::int64_t kMostNodes = 1'000'000;       // in one pool
constexpr std::int64_t kMostArrivals = 100'000'000;  // of one rule

// Reads one scenario. Unlike manifests, unknown fields are errors: a misspelt event would otherwise
// silently not happen.
class ScenarioReader {
 public:
  explicit ScenarioReader(std::string_view json) : json_(json) {}

  Result<Scenario> read() {
    Scenario scenario;
    bool is_scenario = false;
    json_.fields([&](std::string_view name) {
      if (name == "apiVersion")
        json_.text();
      else if (name == "kind")
        is_scenario = json_.text() == "Scenario";
      else if (name == "timing")
        read_timing(scenario.timing);
      else if (name == "nodePools")
        json_.items([&] { scenario.node_pools.push_back(read_node_pool()); });
      else if (name == "arrivals")
        json_.items([&] { scenario.arrivals.push_back(read_arrivals()); });
      else if (name == "events")
        json_.items([&] { scenario.events.push_back(read_event()); });
      else if (name == "faults")
        json_.items([&] { scenario.faults.push_back(read_fault()); });
      else if (name == "quorums")
        json_.items([&] { scenario.quorums.push_back(read_quorum()); });
      else if (name == "volumes")
        read_volumes(scenario.volumes);
      else
        unknown();
    });
    if (json_.error()) return fail(*json_.error());
    if (!is_scenario) return fail(ErrorKind::kInvalid, "kind: must be Scenario");
    return scenario;
  }

 private:
  void unknown() { json_.fail("unknown field"); }

  Duration duration() {
    const Result<Duration> parsed = parse_go_duration(json_.text());
    if (!parsed) json_.fail(parsed.error().message);
    return parsed.value_or(Duration{0});
  }

  void read_timing(SimTiming& timing) {
    json_.fields([&](std::string_view name) {
      if (name == "call")
        timing.call = duration();
      else if (name == "watch")
        timing.watch = duration();
      else
        unknown();
    });
  }

  ObjectKind kind() {
    static constexpr std::array kKinds{ObjectKind::kPod,
                                       ObjectKind::kNode,
                                       ObjectKind::kNamespace,
                                       ObjectKind::kService,
                                       ObjectKind::kReplicationController,
                                       ObjectKind::kReplicaSet,
                                       ObjectKind::kStatefulSet,
                                       ObjectKind::kDeployment,
                                       ObjectKind::kDaemonSet,
                                       ObjectKind::kJob,
                                       ObjectKind::kPriorityClass,
                                       ObjectKind::kPodDisruptionBudget,
                                       ObjectKind::kPersistentVolume,
                                       ObjectKind::kPersistentVolumeClaim,
                                       ObjectKind::kStorageClass,
                                       ObjectKind::kCSINode,
                                       ObjectKind::kCSIDriver,
                                       ObjectKind::kCSIStorageCapacity,
                                       ObjectKind::kVolumeAttachment,
                                       ObjectKind::kResourceClaim,
                                       ObjectKind::kResourceClaimTemplate,
                                       ObjectKind::kResourceSlice,
                                       ObjectKind::kDeviceClass,
                                       ObjectKind::kDeviceTaintRule,
                                       ObjectKind::kPodGroup};
    const std::string_view text = json_.text();
    for (const ObjectKind known : kKinds)
      if (to_string(known) == text) return known;
    json_.fail(fmt::format("unknown kind \"{}\"", text));
    return ObjectKind::kPod;
  }

  // "namespace/name", or a name in the namespace default.
  static std::pair<std::string, std::string> split_name(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return {"default", std::string(text)};
    return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  }

  ScenarioEvent read_event() {
    ScenarioEvent event;
    int actions = 0;
    bool has_time = false;
    json_.fields([&](std::string_view name) {
      if (name == "at") {
        event.at = duration();
        has_time = true;
        return;
      }
      ++actions;
      event.action = read_action(name);
    });
    if (json_.error()) return event;
    if (!has_time) json_.fail("has no time; say `at: 30s`");
    if (actions != 1) json_.fail("must have exactly one action, such as create, delete or cordon");
    return event;
  }

  ScenarioAction read_action(std::string_view name) {
    if (name == "create" || name == "apply") return ApplyManifest{std::string(json_.raw())};
    if (name == "delete") return read_delete();
    if (name == "cordon") return CordonNode{std::string(json_.text()), true};
    if (name == "uncordon") return CordonNode{std::string(json_.text()), false};
    if (name == "taint") return read_taint(false);
    if (name == "untaint") return read_taint(true);
    if (name == "label") return read_label();
    if (name == "removeGate") return read_gate();
    if (name == "finish" || name == "fail") {
      auto [where, pod] = split_name(json_.text());
      return FinishPod{std::move(where), std::move(pod), name == "finish"};
    }
    if (name == "jumpWallClock") return JumpWallClock{duration()};
    if (name == "lagWatch") return LagWatch{duration()};
    if (name == "allow" || name == "reject") return read_settle(name == "allow");
    json_.fail(
        "unknown action; there are create, apply, delete, cordon, uncordon, taint, untaint, label, "
        "removeGate, finish, fail, jumpWallClock, lagWatch, allow and reject");
    return JumpWallClock{};
  }

  // Reads the fields of an object with a table of what to do with each.
  using Field = std::pair<std::string_view, std::function<void()>>;
  void read_fields(std::initializer_list<Field> known) {
    json_.fields([&](std::string_view name) {
      for (const auto& [field, read] : known)
        if (field == name) return read();
      unknown();
    });
  }
  std::function<void()> into(std::string& target) {
    return [this, &target] { target = json_.text(); };
  }

  DeleteObject read_delete() {
    DeleteObject action;
    read_fields({{"kind", [&] { action.kind = kind(); }},
                 {"namespace", into(action.namespace_name)},
                 {"name", into(action.name)}});
    if (action.namespace_name.empty() && is_namespaced(action.kind))
      action.namespace_name = "default";
    if (action.name.empty()) json_.fail("has no name");
    return action;
  }

  TaintNode read_taint(bool remove) {
    TaintNode action;
    action.remove = remove;
    read_fields({{"node", into(action.node)},
                 {"key", into(action.key)},
                 {"value", into(action.value)},
                 {"effect", into(action.effect)}});
    if (action.node.empty() || action.key.empty()) json_.fail("needs node and key");
    if (!remove && action.effect != "NoSchedule" && action.effect != "PreferNoSchedule" &&
        action.effect != "NoExecute")
      json_.fail("effect must be NoSchedule, PreferNoSchedule or NoExecute");
    return action;
  }

  LabelObject read_label() {
    LabelObject action;
    std::string value;
    bool remove = false;
    bool has_value = false;
    read_fields({{"kind", [&] { action.kind = kind(); }},
                 {"namespace", into(action.namespace_name)},
                 {"name", into(action.name)},
                 {"key", into(action.key)},
                 {"value",
                  [&] {
                    value = json_.text();
                    has_value = true;
                  }},
                 {"remove", [&] { remove = json_.boolean(); }}});
    if (action.kind != ObjectKind::kNode && action.kind != ObjectKind::kPod)
      json_.fail("only the kinds Node and Pod can be labelled");
    if (action.kind == ObjectKind::kPod && action.namespace_name.empty())
      action.namespace_name = "default";
    if (action.name.empty() || action.key.empty() || remove == has_value)
      json_.fail("needs name, key, and either value or `remove: true`");
    if (!remove) action.value = std::move(value);
    return action;
  }

  RemoveGate read_gate() {
    RemoveGate action;
    std::string pod;
    read_fields({{"pod", into(pod)}, {"gate", into(action.gate)}});
    std::tie(action.namespace_name, action.pod) = split_name(pod);
    if (pod.empty() || action.gate.empty()) json_.fail("needs pod and gate");
    return action;
  }

  SettleWaitingPod read_settle(bool allow) {
    SettleWaitingPod action;
    action.allow = allow;
    std::string pod;
    read_fields(
        {{"pod", into(pod)}, {"plugin", into(action.plugin)}, {"message", into(action.message)}});
    std::tie(action.namespace_name, action.pod) = split_name(pod);
    if (pod.empty() || action.plugin.empty()) json_.fail("needs pod and plugin");
    return action;
  }

  ApiCall api_call() {
    const std::string_view text = json_.text();
    for (const ApiCall call : api_calls())
      if (to_string(call) == text) return call;
    json_.fail(
        "unknown call; there are bind, patchStatus and evict, and for volumes and claims update, "
        "updateStatus, create, delete and get");
    return ApiCall::kBind;
  }

  ErrorKind error_kind() {
    const std::string_view text = json_.text();
    for (const ErrorKind kind : {ErrorKind::kNotFound, ErrorKind::kConflict, ErrorKind::kGone,
                                 ErrorKind::kTimeout, ErrorKind::kUnavailable, ErrorKind::kInvalid,
                                 ErrorKind::kForbidden, ErrorKind::kInternal})
      if (to_string(kind) == text) return kind;
    json_.fail(
        "unknown error; there are NotFound, Conflict, Gone, Timeout, Unavailable, Invalid, "
        "Forbidden and Internal");
    return ErrorKind::kInternal;
  }

  double probability() {
    // A probability is written as a number; the reader knows integers and texts, raw() the rest.
    const std::string raw(json_.raw());
    char* end = nullptr;
    const double value = std::strtod(raw.c_str(), &end);
    if (end == raw.c_str() || *end != '\0' || !(value >= 0 && value <= 1))
      json_.fail("must be a number between 0 and 1");
    return value;
  }

  FaultRule read_fault() {
    FaultRule rule;
    std::optional<ErrorKind> error;
    std::optional<bool> takes_effect;
    std::string message;
    read_fields({{"call", [&] { rule.call = api_call(); }},
                 {"pods", into(rule.pods)},
                 {"objects", into(rule.objects)},
                 {"from", [&] { rule.from = duration(); }},
                 {"until", [&] { rule.until = duration(); }},
                 {"times", [&] { rule.times = json_.int64(); }},
                 {"probability", [&] { rule.probability = probability(); }},
                 {"error", [&] { error = error_kind(); }},
                 {"message", into(message)},
                 {"takesEffect", [&] { takes_effect = json_.boolean(); }},
                 {"twice", [&] { rule.fate.takes_effect_twice = json_.boolean(); }},
                 {"delay", [&] { rule.fate.extra_delay = duration(); }},
                 {"answerDelay", [&] { rule.fate.answer_delay = duration(); }}});
    if (error) {
      if (message.empty())
        message = fmt::format("{} answered {}", to_string(rule.call), to_string(*error));
      rule.fate.error = Error{*error, std::move(message)};
    }
    rule.fate.takes_effect = takes_effect.value_or(!error);
    return rule;
  }

  VolumeRule::Outcome volume_outcome() {
    const std::string_view text = json_.text();
    if (text == "done") return VolumeRule::Outcome::kDone;
    if (text == "fail") return VolumeRule::Outcome::kFail;
    if (text == "never") return VolumeRule::Outcome::kNever;
    json_.fail("unknown outcome; there are done, fail and never");
    return VolumeRule::Outcome::kDone;
  }

  VolumeRule read_volume_rule() {
    VolumeRule rule;
    read_fields({{"claims", into(rule.claims)},
                 {"outcome", [&] { rule.outcome = volume_outcome(); }},
                 {"times", [&] { rule.times = json_.int64(); }},
                 {"delay", [&] { rule.delay = duration(); }}});
    return rule;
  }

  void read_volumes(VolumeRules& volumes) {
    read_fields(
        {{"bind", [&] { volumes.bind = duration(); }},
         {"provision", [&] { volumes.provision = duration(); }},
         {"rules", [&] { json_.items([&] { volumes.claims.push_back(read_volume_rule()); }); }}});
  }

  NodePool read_node_pool() {
    NodePool pool;
    read_fields({{"name", into(pool.name)},
                 {"count", [&] { pool.count = json_.int64(); }},
                 {"zones", [&] { json_.items([&] { pool.zones.emplace_back(json_.text()); }); }},
                 {"node", [&] { pool.node_json = json_.raw(); }}});
    if (pool.name.empty() || pool.node_json.empty()) json_.fail("needs name and node");
    if (pool.count < 0 || pool.count > kMostNodes)
      json_.fail(fmt::format("count must be between 0 and {}", kMostNodes));
    return pool;
  }

  Arrivals read_arrivals() {
    Arrivals rule;
    read_fields({{"name", into(rule.name)},
                 {"count", [&] { rule.count = json_.int64(); }},
                 {"from", [&] { rule.from = duration(); }},
                 {"over", [&] { rule.over = duration(); }},
                 {"runs", [&] { json_.items([&] { rule.runs.push_back(duration()); }); }},
                 {"pods", [&] { json_.items([&] { rule.pods.emplace_back(json_.raw()); }); }}});
    if (rule.name.empty() || rule.pods.empty()) json_.fail("needs name and pods");
    if (rule.count < 1 || rule.count > kMostArrivals)
      json_.fail(fmt::format("count must be between 1 and {}", kMostArrivals));
    const bool negative =
        std::ranges::any_of(rule.runs, [](Duration run) { return run < run.zero(); });
    if (rule.from < Duration(0) || rule.over < Duration(0) || negative)
      json_.fail("from, over and runs must not be negative");
    return rule;
  }

  QuorumRule read_quorum() {
    QuorumRule rule;
    read_fields({{"plugin", into(rule.plugin)},
                 {"label", into(rule.label)},
                 {"quorum", [&] { rule.quorum = json_.int64(); }},
                 {"timeout", [&] { rule.timeout = duration(); }}});
    if (rule.label.empty()) json_.fail("has no label");
    if (rule.quorum < 1) json_.fail("quorum must be at least 1");
    return rule;
  }

  JsonReader json_;
};

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& file_name) {
  const auto wrong = [&](const Error& error) {
    return fail(error.kind, fmt::format("{}: {}", file_name, error.message));
  };
  const Result<std::vector<YamlDocument>> documents = parse_yaml(text);
  if (!documents) return wrong(documents.error());
  if (documents->size() != 1)
    return wrong({ErrorKind::kInvalid,
                  fmt::format("a scenario is one document, this file has {}", documents->size())});
  Result<Scenario> scenario = ScenarioReader(documents->front().json).read();
  if (!scenario) return wrong(scenario.error());
  return scenario;
}

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace berth::sim
