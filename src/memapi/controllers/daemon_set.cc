#include "memapi/controllers/daemon_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/decode.h"
#include "api/node.h"
#include "api/pod.h"
#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kDaemonSetComponent = "daemonset-controller";

const Resource& daemon_sets() { return resource_of("daemonsets", "apps"); }

std::string revision_of(const JsonValue& tree) {
  const JsonValue* said = at(tree, "spec.template");
  return said != nullptr ? template_hash(*said) : "";
}

// What a daemon tolerates without being asked, so that it is there before all others.
void add_tolerations(JsonValue& spec) {
  const auto tolerate = [&](std::string_view what, std::string_view effect) {
    JsonValue toleration = JsonValue::object();
    set_text(toleration, "key", fmt::format("node.kubernetes.io/{}", what));
    set_text(toleration, "operator", "Exists");
    set_text(toleration, "effect", effect);
    array_at(spec, "tolerations").items.push_back(std::move(toleration));
  };
  for (const std::string_view trouble : {"not-ready", "unreachable"})
    tolerate(trouble, "NoExecute");
  for (const std::string_view trouble :
       {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"})
    tolerate(trouble, "NoSchedule");
  if (true_at(spec, "hostNetwork")) tolerate("network-unavailable", "NoSchedule");
}

// One node only, said in every term of the affinity that there is.
void pin_to_node(JsonValue& spec, std::string_view node) {
  JsonValue here = JsonValue::object();
  set_text(here, "key", "metadata.name");
  set_text(here, "operator", "In");
  array_at(here, "values").items.push_back(JsonValue::of_text(node));
  JsonValue fields = JsonValue::array();
  fields.items.push_back(std::move(here));
  JsonValue& terms = array_at(
      spec,
      "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
  if (terms.items.empty()) terms.items.push_back(JsonValue::object());
  for (JsonValue& term : terms.items)
    if (is_object(&term)) set(term, "matchFields", fields);
}

}  // namespace

DaemonSetController::DaemonSetController(LocalClient& api, PodIndex& pods)
    : Controller(api), pods_(pods) {
  follow(daemon_sets(), [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) enqueue(key_of(*change.object));
  });
  follow(resource_of("nodes"), [this](const Change&) {
    for (const ObjectRef& set : api_.list(daemon_sets())) enqueue(key_of(*set));
  });
  pods_.listen(alive(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts* pod = after != nullptr ? after : before;
    if (pod->controller_kind == "DaemonSet")
      enqueue(object_key(pod->object->namespace_name, pod->controller_name));
  });
}

void DaemonSetController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const ObjectRef set = api_.get(daemon_sets(), name.namespace_name, name.name);
  if (!set) return;
  const JsonValue tree = set->tree();
  pods_.catch_up();
  const std::vector<std::string> nodes = chosen_nodes(*set, tree);
  if (!is_terminating(tree)) {
    bring_in_line(*set, tree, nodes);
    pods_.catch_up();
    replace_old(*set, tree, nodes);
    pods_.catch_up();
  }
  write_status(*set, tree, nodes);
}

JsonValue DaemonSetController::pod_for(const StoredObject& set, const JsonValue& tree,
                                       std::string_view node) const {
  JsonValue pod = pod_from_template(daemon_sets(), set, tree);
  set_text(object_at(pod, "metadata.labels"), kRevisionLabel, revision_of(tree));
  JsonValue& spec = object_at(pod, "spec");
  add_tolerations(spec);
  if (!node.empty()) pin_to_node(spec, node);
  return pod;
}

std::vector<std::string> DaemonSetController::chosen_nodes(const StoredObject& set,
                                                           const JsonValue& tree) {
  std::vector<std::string> chosen;
  const Result<AnyObject> decoded = decode_object(ObjectKind::kPod, to_json(pod_for(set, tree, "")),
                                                  interner_, nullptr, set.name);
  const auto* pod = decoded ? std::get_if<Ref<const Pod>>(&*decoded) : nullptr;
  if (pod == nullptr) return chosen;
  const PodSpec& spec = (*pod)->spec();
  const Symbols& symbols = *interner_.symbols();
  const ::berth::NodeAffinity* affinity =
      spec.affinity && spec.affinity->node ? &*spec.affinity->node : nullptr;
  const RequiredNodeAffinity required(spec.node_selector, affinity, symbols);
  for (const ObjectRef& stored : api_.list(resource_of("nodes"))) {
    const Result<AnyObject> read =
        decode_object(ObjectKind::kNode, stored->json, interner_, nullptr);
    const auto* object = read ? std::get_if<Ref<const Object>>(&*read) : nullptr;
    if (object == nullptr) continue;
    const Node& node = static_cast<const Node&>(**object);
    if (find_untolerated(node.taints, spec.tolerations, {symbols, false})) continue;
    if (required.matches(node, symbols)) chosen.push_back(stored->name);
  }
  return chosen;
}

std::string DaemonSetController::node_of(const PodFacts& pod) const {
  if (!pod.node.empty()) return pod.node;
  const JsonValue tree = pod.object->tree();
  for (const JsonValue& term :
       items_at(tree,
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

std::map<std::string, std::vector<const PodFacts*>> DaemonSetController::by_node(
    const StoredObject& set) const {
  std::map<std::string, std::vector<const PodFacts*>> nodes;
  for (const PodFacts* pod : pods_.of_controller(set.uid)) nodes[node_of(*pod)].push_back(pod);
  return nodes;
}

void DaemonSetController::bring_in_line(const StoredObject& set, const JsonValue& tree,
                                        const std::vector<std::string>& nodes) {
  const Resource& pods = resource_of("pods");
  const auto present = by_node(set);
  const auto remove = [&](const PodFacts& pod) {
    if (pod.terminating) return;
    static_cast<void>(
        api_.remove(pods, pod.object->namespace_name, pod.object->name, {.uid = pod.object->uid}));
    record(daemon_sets(), set, "Normal", "SuccessfulDelete",
           fmt::format("Deleted pod: {}", pod.object->name), kDaemonSetComponent);
  };
  const std::set<std::string> wanted(nodes.begin(), nodes.end());
  for (const auto& [node, daemons] : present) {
    bool have_one = false;
    for (const PodFacts* pod : daemons) {
      if (pod->ended() || !wanted.contains(node) || (have_one && !pod->terminating)) {
        remove(*pod);
      } else {
        have_one = true;
      }
    }
  }
  for (const std::string& node : nodes) {
    if (present.contains(node)) continue;  // also one that is going: its place is not free yet
    const Answer<ObjectRef> created = api_.create(pods, pod_for(set, tree, node));
    if (!created) {
      record(daemon_sets(), set, "Warning", "FailedCreate",
             fmt::format("Error creating: {}", created.error().message), kDaemonSetComponent);
      enqueue_after(kRetryAfterRefusal, key_of(set));
      return;
    }
    record(daemon_sets(), set, "Normal", "SuccessfulCreate",
           fmt::format("Created pod: {}", (*created)->name), kDaemonSetComponent);
  }
}

void DaemonSetController::replace_old(const StoredObject& set, const JsonValue& tree,
                                      const std::vector<std::string>& nodes) {
  if (text_at(tree, "spec.updateStrategy.type") == "OnDelete") return;
  const std::string revision = revision_of(tree);
  std::int64_t spare = scaled_value(at(tree, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
                                    static_cast<std::int64_t>(nodes.size()), true, 1);
  spare = std::max<std::int64_t>(spare, 1);
  const std::vector<const PodFacts*> pods = pods_.of_controller(set.uid);
  std::int64_t ready = 0;
  for (const PodFacts* pod : pods) ready += pod->active() && pod->ready() ? 1 : 0;
  spare -= static_cast<std::int64_t>(nodes.size()) - ready;
  for (const PodFacts* pod : pods) {
    if (!pod->active() || pod->label(kRevisionLabel) == revision) continue;
    // Who serves nobody may go at once.
    if (pod->ready() && spare-- <= 0) continue;
    static_cast<void>(api_.remove(resource_of("pods"), pod->object->namespace_name,
                                  pod->object->name, {.uid = pod->object->uid}));
    record(daemon_sets(), set, "Normal", "SuccessfulDelete",
           fmt::format("Deleted pod: {}", pod->object->name), kDaemonSetComponent);
  }
}

void DaemonSetController::write_status(const StoredObject& set, const JsonValue& tree,
                                       const std::vector<std::string>& nodes) {
  const std::set<std::string> wanted(nodes.begin(), nodes.end());
  const std::string revision = revision_of(tree);
  const Duration min_ready = std::chrono::seconds(int_at(tree, "spec.minReadySeconds").value_or(0));
  std::int64_t current = 0;
  std::int64_t astray = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t updated = 0;
  for (const auto& [node, daemons] : by_node(set)) {
    const auto alive = std::ranges::find_if(daemons, [](const auto* pod) { return pod->active(); });
    if (alive == daemons.end()) continue;
    if (!wanted.contains(node)) {
      ++astray;
      continue;
    }
    ++current;
    ready += (*alive)->ready() ? 1 : 0;
    available += (*alive)->available(min_ready, now()) ? 1 : 0;
    updated += (*alive)->label(kRevisionLabel) == revision ? 1 : 0;
  }
  if (available < ready) enqueue_after(min_ready, key_of(set));
  const std::int64_t desired = static_cast<std::int64_t>(nodes.size());
  static_cast<void>(api_.update_status(
      daemon_sets(), set.namespace_name, set.name, [&](JsonValue& object) -> Answer<void> {
        JsonValue& status = object_at(object, "status");
        const auto number = [&](std::string_view name, std::int64_t value) {
          memapi::set(status, name, JsonValue::of_int(value));
        };
        number("currentNumberScheduled", current);
        number("numberMisscheduled", astray);
        number("desiredNumberScheduled", desired);
        number("numberReady", ready);
        number("observedGeneration", int_at(tree, "metadata.generation").value_or(0));
        set_count(status, "updatedNumberScheduled", updated);
        set_count(status, "numberAvailable", available);
        set_count(status, "numberUnavailable", desired - available);
        return {};
      }));
}

}  // namespace berth::memapi
