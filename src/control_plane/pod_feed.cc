#include "control_plane/pod_feed.h"

#include "base/time_text.h"
#include "control_plane/controller.h"

namespace berth::control_plane {
namespace {

PodPhase phase_named(std::string_view name) {
  if (name == "Running") return PodPhase::kRunning;
  if (name == "Succeeded") return PodPhase::kSucceeded;
  if (name == "Failed") return PodPhase::kFailed;
  return PodPhase::kPending;
}

// The node that a daemon is pinned to.
std::string pinned_node(const JsonValue& pod) {
  for (const JsonValue& term :
       items_at(pod,
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                "nodeSelectorTerms")) {
    for (const JsonValue& field : items_at(term, "matchFields")) {
      const auto& values = items_at(field, "values");
      if (text_at(field, "key") == "metadata.name" && values.size() == 1)
        return values.front().text;
    }
  }
  return "";
}

void read_failure(const JsonValue& pod, PodFacts& facts) {
  for (const std::string_view list : {"status.initContainerStatuses", "status.containerStatuses"}) {
    for (const JsonValue& container : items_at(pod, list)) {
      if (const auto code = int_at(container, "state.terminated.exitCode"))
        facts.exits.push_back({std::string(text_at(container, "name")), *code});
    }
  }
  for (const JsonValue& condition : items_at(pod, "status.conditions"))
    facts.conditions.emplace_back(text_at(condition, "type"), text_at(condition, "status"));
}

PodFacts facts_of(const StoredObject& object) {
  const JsonValue pod = object.tree();
  PodFacts facts;
  facts.namespace_name = object.namespace_name;
  facts.name = object.name;
  facts.uid = object.uid;
  facts.version = object.version;
  facts.labels = object.labels;
  if (const JsonValue* controller = controller_of(pod)) {
    facts.controller_uid = text_at(*controller, "uid");
    facts.controller_kind = text_at(*controller, "kind");
    facts.controller_name = text_at(*controller, "name");
  }
  facts.node = text_at(pod, "spec.nodeName");
  if (facts.controller_kind == "DaemonSet")
    facts.daemon_of = facts.node.empty() ? pinned_node(pod) : facts.node;
  facts.phase = phase_named(text_at(pod, "status.phase"));
  facts.terminating = is_terminating(pod);
  if (facts.phase == PodPhase::kFailed) read_failure(pod, facts);
  facts.names_claim_template = object.json.contains("\"resourceClaimTemplateName\"");
  for (const JsonValue& condition : items_at(pod, "status.conditions")) {
    if (text_at(condition, "type") != "Ready" || text_at(condition, "status") != "True") continue;
    facts.ready_since =
        parse_rfc3339(text_at(condition, "lastTransitionTime")).value_or(WallTime{});
  }
  return facts;
}

}  // namespace

PodFeed::PodFeed(LocalClient& api) : index_([this] { following_->catch_up(); }) {
  following_ = api.follow(resource_of("pods"), [this](const Change& change) {
    if (change.type == ChangeType::kDeleted)
      index_.remove(key_of(*change.object));
    else
      index_.put(facts_of(*change.object));
  });
}

}  // namespace berth::control_plane
