#include "kube/pod_status_patch.h"

#include <string_view>
#include <vector>

#include "base/time_text.h"
#include "wire/json_text.h"

namespace berth::kube {
namespace {

// A value as JSON has it; empty: the key is left out.
using Json = std::string;

Json text_json(std::string_view text) {
  Json json;
  append_json_string(json, text);
  return json;
}
// Of a key that is left out when it is empty.
Json optional_text_json(std::string_view text) { return text.empty() ? Json() : text_json(text); }

Json time_json(const std::optional<WallTime>& time) {
  return time ? text_json(rfc3339(*time)) : "null";
}

struct Member {
  std::string_view key;
  Json value;
};

// A condition's members but its type, in the order of their names.
std::vector<Member> members_of(const PodCondition& condition) {
  return {
      {"lastProbeTime", time_json(condition.last_probe_time)},
      {"lastTransitionTime", time_json(condition.last_transition_time)},
      {"message", optional_text_json(condition.message)},
      {"observedGeneration",
       condition.observed_generation == 0 ? Json() : std::to_string(condition.observed_generation)},
      {"reason", optional_text_json(condition.reason)},
      {"status", text_json(condition.status)},
  };
}

void append_member(std::string& json, std::string_view key, std::string_view value) {
  if (json.back() != '{') json += ',';
  append_json_string(json, key);
  json += ':';
  json += value;
}

std::string new_condition(const PodCondition& condition) {
  std::string json = "{";
  for (const auto& [key, value] : members_of(condition))
    if (!value.empty()) append_member(json, key, value);
  append_member(json, "type", text_json(condition.type));
  return json + "}";
}

// Empty when nothing differs.
std::string changed_condition(const PodCondition& before, const PodCondition& after) {
  std::string json = "{";
  const std::vector<Member> old = members_of(before);
  const std::vector<Member> wanted = members_of(after);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].value == old[i].value) continue;
    append_member(json, wanted[i].key, wanted[i].value.empty() ? "null" : wanted[i].value);
  }
  if (json == "{") return {};
  append_member(json, "type", text_json(after.type));
  return json + "}";
}

// The types of the conditions that a pod has, as far as we keep them; the one that is to be added
// comes last.
std::string order_of(const Pod& pod, std::string_view added) {
  std::string json;
  const auto append = [&json](std::string_view type) {
    json += json.empty() ? "[{\"type\":" : ",{\"type\":";
    append_json_string(json, type);
    json += '}';
  };
  if (pod.scheduled_condition()) append("PodScheduled");
  if (pod.extra())
    for (const PodCondition& condition : pod.extra()->conditions) append(condition.type);
  if (!added.empty()) append(added);
  return json + "]";
}

bool has_conditions(const Pod& pod) {
  return pod.scheduled_condition() || (pod.extra() && !pod.extra()->conditions.empty());
}

void append_conditions(std::string& status, const Pod& pod, PodCondition condition, WallTime now) {
  const PodCondition* present = pod.condition(condition.type);
  if (present && present->status == condition.status)
    condition.last_transition_time = present->last_transition_time;
  else if (!condition.last_transition_time)
    condition.last_transition_time = now;

  std::string change;
  if (!present) {
    change = new_condition(condition);
  } else {
    PodCondition same = *present;
    same.observed_generation = condition.observed_generation;
    // Parity: that the pod has another generation by now is not worth a write.
    if (changed_condition(same, condition).empty()) return;
    change = changed_condition(*present, condition);
  }
  // Without any condition there is no order, and the list is as good as new. PodScheduled=True is
  // there without its particulars: all of them are written.
  const bool has_type = present || (pod.scheduled_condition() && condition.type == "PodScheduled");
  if (has_conditions(pod))
    append_member(status, "$setElementOrder/conditions",
                  order_of(pod, has_type ? "" : condition.type));
  append_member(status, "conditions", "[" + change + "]");
}

bool has(const Pod& pod, const PodExtendedResourceClaimStatus& wanted) {
  return pod.extra() && pod.extra()->extended_resource_claim_status == wanted;
}

std::string extended_claim_json(const PodExtendedResourceClaimStatus& claim) {
  std::string mappings;
  for (const ContainerExtendedResourceRequest& mapping : claim.request_mappings) {
    std::string one = "{";
    append_member(one, "containerName", text_json(mapping.container_name));
    append_member(one, "requestName", text_json(mapping.request_name));
    append_member(one, "resourceName", text_json(mapping.resource_name));
    if (!mappings.empty()) mappings += ',';
    mappings += one + "}";
  }
  std::string json = "{";
  append_member(json, "requestMappings", "[" + mappings + "]");
  append_member(json, "resourceClaimName", text_json(claim.claim_name));
  return json + "}";
}

}  // namespace

std::optional<std::string> pod_status_patch(const Pod& pod, const PodStatusPatch& patch,
                                            WallTime now) {
  std::string status = "{";
  if (patch.condition) append_conditions(status, pod, *patch.condition, now);
  if (patch.extended_resource_claim && !has(pod, *patch.extended_resource_claim))
    append_member(status, "extendedResourceClaimStatus",
                  extended_claim_json(*patch.extended_resource_claim));
  if (patch.nominated_node_name && *patch.nominated_node_name != pod.nominated_node_name())
    append_member(
        status, "nominatedNodeName",
        patch.nominated_node_name->empty() ? "null" : text_json(*patch.nominated_node_name));
  if (status == "{") return std::nullopt;
  std::string body = "{";
  if (!patch.version.empty())
    append_member(body, "metadata", R"({"resourceVersion":)" + text_json(patch.version) + "}");
  append_member(body, "status", status + "}");
  return body + "}";
}

}  // namespace berth::kube
