#include "memapi/controllers/pod_index.h"

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "memapi/controllers/controller.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

Phase phase_named(std::string_view name) {
  if (name == "Running") return Phase::kRunning;
  if (name == "Succeeded") return Phase::kSucceeded;
  if (name == "Failed") return Phase::kFailed;
  return Phase::kPending;
}

PodFacts facts_of(const ObjectRef& object) {
  const JsonValue pod = object->tree();
  PodFacts facts;
  facts.object = object;
  if (const JsonValue* controller = controller_of(pod)) {
    facts.controller_uid = text_at(*controller, "uid");
    facts.controller_kind = text_at(*controller, "kind");
    facts.controller_name = text_at(*controller, "name");
  }
  facts.node = text_at(pod, "spec.nodeName");
  facts.phase = phase_named(text_at(pod, "status.phase"));
  facts.terminating = is_terminating(pod);
  for (const JsonValue& finalizer : items_at(pod, "metadata.finalizers"))
    facts.finalizers.push_back(finalizer.text);
  for (const JsonValue& condition : items_at(pod, "status.conditions")) {
    if (text_at(condition, "type") != "Ready" || text_at(condition, "status") != "True") continue;
    facts.ready_since =
        parse_rfc3339(text_at(condition, "lastTransitionTime")).value_or(WallTime{});
  }
  return facts;
}

std::string owner_key(const PodFacts& facts) {
  return facts.controller_uid.empty() ? "/" + facts.object->namespace_name : facts.controller_uid;
}

template <typename Group>
std::vector<const PodFacts*> values(const Group& groups, std::string_view key) {
  std::vector<const PodFacts*> all;
  const auto found = groups.find(key);
  if (found == groups.end()) return all;
  for (const auto& [name, facts] : found->second) all.push_back(facts);
  return all;
}

}  // namespace

std::string_view PodFacts::label(std::string_view key) const {
  const auto found =
      std::ranges::find_if(object->labels, [&](const auto& label) { return label.first == key; });
  return found == object->labels.end() ? std::string_view() : std::string_view(found->second);
}

PodIndex::PodIndex(LocalClient& api)
    : following_(
          api.follow(resource_of("pods"), [this](const Change& change) { changed(change); })) {}

void PodIndex::leave(const PodFacts& facts) {
  const std::string key = key_of(*facts.object);
  const auto drop = [&](Keys& groups, const std::string& group) {
    const auto found = groups.find(group);
    if (found == groups.end()) return;
    found->second.erase(key);
    if (found->second.empty()) groups.erase(found);
  };
  drop(by_controller_, owner_key(facts));
  if (!facts.node.empty()) drop(by_node_, facts.node);
}

void PodIndex::changed(const Change& change) {
  const std::string key = key_of(*change.object);
  std::optional<PodFacts> before;
  if (const auto found = pods_.find(key); found != pods_.end()) {
    leave(found->second);
    before = std::move(found->second);
    pods_.erase(found);
  }
  const PodFacts* after = nullptr;
  if (change.type != ChangeType::kDeleted) {
    after = &pods_.emplace(key, facts_of(change.object)).first->second;
    by_controller_[owner_key(*after)][key] = after;
    if (!after->node.empty()) by_node_[after->node][key] = after;
  }
  std::erase_if(listeners_, [](const auto& one) { return one.first.expired(); });
  for (const auto& [token, listener] : listeners_) listener(before ? &*before : nullptr, after);
}

std::vector<const PodFacts*> PodIndex::of_controller(std::string_view uid) const {
  return values(by_controller_, uid);
}

std::vector<const PodFacts*> PodIndex::without_controller(std::string_view namespace_name) const {
  return values(by_controller_, "/" + std::string(namespace_name));
}

std::vector<const PodFacts*> PodIndex::in_namespace(std::string_view namespace_name) const {
  const std::string prefix = std::string(namespace_name) + "/";
  std::vector<const PodFacts*> all;
  for (auto pod = pods_.lower_bound(prefix); pod != pods_.end() && pod->first.starts_with(prefix);
       ++pod)
    all.push_back(&pod->second);
  return all;
}

std::vector<const PodFacts*> PodIndex::on_node(std::string_view node) const {
  return values(by_node_, node);
}

const PodFacts* PodIndex::find(std::string_view key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : &found->second;
}

void PodIndex::listen(std::weak_ptr<int> token, Listener listener) {
  for (const auto& [key, facts] : pods_) listener(nullptr, &facts);
  listeners_.emplace_back(std::move(token), std::move(listener));
}

}  // namespace berth::memapi
