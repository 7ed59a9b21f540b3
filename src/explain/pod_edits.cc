#include "explain/pod_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/names.h"

namespace berth::explain {
namespace {

const JsonPath kSpec = {"spec"};
const JsonPath kNodeAffinity = {"spec", "affinity", "nodeAffinity",
                                "requiredDuringSchedulingIgnoredDuringExecution"};
const JsonPath kNodeTerms = kNodeAffinity / "nodeSelectorTerms";

Edit edit_of_pod(const UnplacedPod& unplaced, std::string code, std::string summary, double cost) {
  Edit edit;
  edit.code = std::move(code);
  edit.summary = std::move(summary);
  edit.cost = cost;
  edit.object = unplaced.name();
  return edit;
}

// The text of an item of the pod's JSON; empty if it is not there.
std::string item_text_at(const UnplacedPod& unplaced, const JsonPath& path) {
  const JsonValue* item = unplaced.json() ? find_at(*unplaced.json(), path) : nullptr;
  return item ? to_json(*item) : std::string();
}

// Where an item with this text stands now; other edits may have moved it.
std::optional<std::size_t> place_of(const JsonValue& object, const JsonPath& list,
                                    const std::string& text) {
  const std::vector<JsonValue>& items = items_at(object, list);
  for (std::size_t i = 0; i < items.size(); ++i)
    if (to_json(items[i]) == text) return i;
  return std::nullopt;
}

// Removes the item that is at `place` of a list now.
std::function<bool(PatchedObject&)> removing_item(const UnplacedPod& unplaced, const JsonPath& list,
                                                  std::size_t place) {
  return [list, text = item_text_at(unplaced, list / place)](PatchedObject& pod) {
    const std::optional<std::size_t> now = place_of(pod.object(), list, text);
    return now && pod.remove(list / *now);
  };
}

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule: return "NoSchedule";
    case TaintEffect::kNoExecute: return "NoExecute";
    case TaintEffect::kPreferNoSchedule: return "PreferNoSchedule";
    default: return "";
  }
}

std::string requirement_text(const UnplacedPod& unplaced, const SelectorRequirement& requirement) {
  const std::string key = unplaced.text(requirement.key);
  std::string values;
  for (const Symbol value : requirement.values) {
    if (values.size() > 60) {
      values += ", …";
      break;
    }
    values += (values.empty() ? "" : ", ") + unplaced.text(value);
  }
  switch (requirement.op) {
    case SelectorOperator::kExists: return key;
    case SelectorOperator::kDoesNotExist: return "no " + key;
    default:
      return fmt::format("{} {} [{}]", key,
                         operator_text(requirement, *unplaced.spec().symbols.table()), values);
  }
}

const NodeSelectorTerm& term_at(const UnplacedPod& unplaced, std::size_t term) {
  return (*unplaced.spec().affinity->node->required)[term];
}

}  // namespace

// ---- taints

std::vector<Taint> taints_against(const UnplacedPod& unplaced, NodeRow row) {
  const PodSpec& spec = unplaced.spec();
  const TolerationRules rules{*spec.symbols.table(), unplaced.evaluator().gates().enabled(
                                                         "TaintTolerationComparisonOperators")};
  std::vector<Taint> against;
  const auto look_at = [&](const Taint& taint) {
    if (taint.repels() && !tolerates(spec.tolerations, taint, rules) &&
        std::ranges::find(against, taint) == against.end())
      against.push_back(taint);
  };
  for (const Taint& taint : unplaced.nodes().node(row).taints) look_at(taint);
  const auto is_of_cordon = [](const Taint& taint) {
    return taint.key == names::kUnschedulableTaint && taint.effect == TaintEffect::kNoSchedule;
  };
  if (unplaced.nodes().cordoned().contains(row) && std::ranges::none_of(against, is_of_cordon))
    look_at({names::kUnschedulableTaint, {}, TaintEffect::kNoSchedule});
  return against;
}

std::string taint_text(const UnplacedPod& unplaced, const Taint& taint) {
  const std::string_view value = unplaced.cluster().symbols().text(taint.value);
  return fmt::format("{}{}{}:{}", unplaced.cluster().symbols().text(taint.key),
                     value.empty() ? "" : "=", value, effect_text(taint.effect));
}

Edit tolerate(const UnplacedPod& unplaced, const Taint& taint) {
  const Symbols& symbols = unplaced.cluster().symbols();
  JsonValue toleration = JsonValue::object();
  toleration.add("key", JsonValue::of_text(symbols.text(taint.key)));
  toleration.add("operator", JsonValue::of_text(taint.value.empty() ? "Exists" : "Equal"));
  if (!taint.value.empty()) toleration.add("value", JsonValue::of_text(symbols.text(taint.value)));
  toleration.add("effect", JsonValue::of_text(effect_text(taint.effect)));
  const bool cordon = taint.key == names::kUnschedulableTaint;
  Edit edit = edit_of_pod(unplaced, "TolerateTaint",
                          "tolerate the taint " + taint_text(unplaced, taint), cordon ? 4 : 2);
  edit.apply = [toleration](PatchedObject& pod) {
    pod.append(kSpec / "tolerations", toleration);
    return true;
  };
  return edit;
}

// ---- nodes by label and name

Edit drop_node_selector(const UnplacedPod& unplaced, Symbol key) {
  const std::string name = unplaced.text(key);
  Edit edit = edit_of_pod(unplaced, "DropNodeSelector",
                          fmt::format("drop {} from the node selector", name), 2.5);
  edit.apply = [name](PatchedObject& pod) { return pod.remove(kSpec / "nodeSelector" / name); };
  return edit;
}

Edit change_node_selector(const UnplacedPod& unplaced, Symbol key, Symbol value) {
  const std::string name = unplaced.text(key);
  const std::string text(unplaced.cluster().symbols().text(value));
  Edit edit = edit_of_pod(unplaced, "ChangeNodeSelector",
                          fmt::format("select nodes with {}={}", name, text), 2.25);
  edit.apply = [name, text](PatchedObject& pod) {
    pod.set(kSpec / "nodeSelector" / name, JsonValue::of_text(text));
    return true;
  };
  return edit;
}

Edit drop_node_affinity(const UnplacedPod& unplaced) {
  Edit edit = edit_of_pod(unplaced, "DropNodeAffinity", "drop the required node affinity", 3);
  edit.apply = [](PatchedObject& pod) { return pod.remove(kNodeAffinity); };
  return edit;
}

std::optional<Edit> drop_node_requirement(const UnplacedPod& unplaced, std::size_t term, bool field,
                                          std::size_t requirement) {
  const NodeSelectorTerm& written = term_at(unplaced, term);
  if (written.match_expressions.size() + written.match_fields.size() < 2) return std::nullopt;
  const SelectorRequirement& dropped =
      field ? written.match_fields[requirement] : written.match_expressions[requirement];
  Edit edit = edit_of_pod(
      unplaced, "DropNodeAffinityRequirement",
      fmt::format("drop {} from the required node affinity", requirement_text(unplaced, dropped)),
      2.5);
  edit.apply = removing_item(
      unplaced, kNodeTerms / term / (field ? "matchFields" : "matchExpressions"), requirement);
  return edit;
}

std::optional<Edit> allow_node_value(const UnplacedPod& unplaced, std::size_t term,
                                     std::size_t requirement, Symbol value) {
  const SelectorRequirement& written = term_at(unplaced, term).match_expressions[requirement];
  if (written.op != SelectorOperator::kIn) return std::nullopt;
  const std::string text(unplaced.cluster().symbols().text(value));
  Edit edit = edit_of_pod(
      unplaced, "AllowNodeAffinityValue",
      fmt::format("allow {}={} in the required node affinity", unplaced.text(written.key), text),
      2.25);
  const JsonPath list = kNodeTerms / term / "matchExpressions";
  edit.apply = [list, before = item_text_at(unplaced, list / requirement),
                text](PatchedObject& pod) {
    const std::optional<std::size_t> now = place_of(pod.object(), list, before);
    if (!now) return false;
    pod.append(list / *now / "values", JsonValue::of_text(text));
    return true;
  };
  return edit;
}

// ---- other pods

Edit drop_pod_affinity(const UnplacedPod& unplaced, bool anti, std::size_t term) {
  const Affinity& affinity = *unplaced.spec().affinity;
  const PodAffinityTerm& written = (anti ? affinity.pod_anti : affinity.pod)->required[term];
  Edit edit = edit_of_pod(
      unplaced, anti ? "DropPodAntiAffinity" : "DropPodAffinity",
      fmt::format("drop the required pod {} over {}", anti ? "anti-affinity" : "affinity",
                  unplaced.text(written.topology_key)),
      3);
  edit.apply = removing_item(unplaced,
                             kSpec / "affinity" / (anti ? "podAntiAffinity" : "podAffinity") /
                                 "requiredDuringSchedulingIgnoredDuringExecution",
                             term);
  return edit;
}

Edit drop_spread_constraint(const UnplacedPod& unplaced, std::size_t constraint) {
  const std::string key =
      unplaced.text(unplaced.spec().topology_spread_constraints[constraint].topology_key);
  Edit edit = edit_of_pod(unplaced, "DropSpreadConstraint",
                          fmt::format("drop the topology spread constraint over {}", key), 3);
  edit.apply = removing_item(unplaced, kSpec / "topologySpreadConstraints", constraint);
  return edit;
}

Edit raise_max_skew(const UnplacedPod& unplaced, std::size_t constraint, std::int32_t max_skew) {
  const TopologySpreadConstraint& written = unplaced.spec().topology_spread_constraints[constraint];
  const double raised = static_cast<double>(max_skew) - static_cast<double>(written.max_skew);
  Edit edit = edit_of_pod(unplaced, "RaiseMaxSkew",
                          fmt::format("allow a skew of {} instead of {} over {}", max_skew,
                                      written.max_skew, unplaced.text(written.topology_key)),
                          std::min(1.5 + 0.25 * raised, 2.9));
  const JsonPath list = kSpec / "topologySpreadConstraints";
  edit.apply = [list, before = item_text_at(unplaced, list / constraint),
                max_skew](PatchedObject& pod) {
    const std::optional<std::size_t> now = place_of(pod.object(), list, before);
    if (now) pod.set(list / *now / "maxSkew", JsonValue::of_int(max_skew));
    return now.has_value();
  };
  return edit;
}

// ---- host ports

std::vector<HostPortPlace> host_ports_of(const PodSpec& spec) {
  std::vector<HostPortPlace> places;
  const auto add = [&](const std::vector<Container>& containers, bool init) {
    for (std::size_t c = 0; c < containers.size(); ++c)
      for (std::size_t p = 0; p < containers[c].ports.size(); ++p)
        if (containers[c].ports[p].host_port > 0) places.push_back({init, c, p});
  };
  add(spec.init_containers, true);
  add(spec.containers, false);
  return places;
}

ContainerPort& host_port_at(PodSpec& spec, const HostPortPlace& place) {
  return (place.init ? spec.init_containers : spec.containers)[place.container].ports[place.port];
}

Edit change_host_port(const UnplacedPod& unplaced, const HostPortPlace& place, std::int32_t port) {
  const PodSpec& spec = unplaced.spec();
  const ContainerPort& before =
      (place.init ? spec.init_containers : spec.containers)[place.container].ports[place.port];
  Edit edit = edit_of_pod(unplaced, "ChangeHostPort",
                          fmt::format("use host port {} instead of {}", port, before.host_port), 2);
  const JsonPath path = kSpec / (place.init ? "initContainers" : "containers") / place.container /
                        "ports" / place.port;
  // In the host's network the container listens at the same port.
  edit.apply = [path, port, both = spec.host_network](PatchedObject& pod) {
    if (!find_at(pod.object(), path)) return false;
    pod.set(path / "hostPort", JsonValue::of_int(port));
    if (both) pod.set(path / "containerPort", JsonValue::of_int(port));
    return true;
  };
  return edit;
}

std::int32_t free_host_port(const UnplacedPod& unplaced, const HostPortPlace& place, NodeRow row) {
  constexpr std::int32_t kLast = 65535, kFirst = 1024;
  std::set<std::int32_t> used;
  for (const HostPort& port : unplaced.nodes().host_ports(row)) used.insert(port.port);
  PodSpec spec(unplaced.spec());
  for (const HostPortPlace& other : host_ports_of(spec))
    used.insert(host_port_at(spec, other).host_port);
  std::int32_t port = host_port_at(spec, place).host_port;
  for (std::int32_t tried = kFirst; tried <= kLast; ++tried) {
    port = port >= kLast ? kFirst : port + 1;
    if (!used.contains(port)) break;
  }
  return port;
}

}  // namespace berth::explain
