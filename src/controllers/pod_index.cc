#include "controllers/pod_index.h"

#include <algorithm>
#include <utility>

#include "controllers/controller.h"

namespace berth::controllers {
namespace {

std::string owner_key(const PodFacts& facts) {
  return facts.controller_uid.empty() ? "/" + facts.namespace_name : facts.controller_uid;
}

template <typename Group>
std::vector<const PodFacts*> values(const Group& groups, std::string_view key) {
  std::vector<const PodFacts*> all;
  const auto found = groups.find(key);
  if (found == groups.end()) return all;
  all.reserve(found->second.size());
  for (const auto& [name, facts] : found->second) all.push_back(facts);
  return all;
}

}  // namespace

std::string PodFacts::key() const { return object_key(namespace_name, name); }

std::string_view PodFacts::label(std::string_view key) const {
  const auto found =
      std::ranges::find_if(labels, [&](const auto& label) { return label.first == key; });
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

void PodIndex::put(PodFacts facts) {
  const std::string key = facts.key();
  change(key, std::move(facts));
}

void PodIndex::remove(const std::string& key) { change(key, std::nullopt); }

void PodIndex::leave(const std::string& key, const PodFacts& facts) {
  const auto drop = [&](Keys& groups, const std::string& group) {
    const auto found = groups.find(group);
    if (found == groups.end()) return;
    found->second.erase(key);
    if (found->second.empty()) groups.erase(found);
  };
  drop(by_controller_, owner_key(facts));
  if (!facts.node.empty()) drop(by_node_, facts.node);
}

void PodIndex::change(const std::string& key, std::optional<PodFacts> facts) {
  std::optional<PodFacts> before;
  if (const auto found = pods_.find(key); found != pods_.end()) {
    leave(key, found->second);
    before = std::move(found->second);
    pods_.erase(found);
  }
  const PodFacts* after = nullptr;
  if (facts) {
    after = &pods_.emplace(key, std::move(*facts)).first->second;
    by_controller_[owner_key(*after)][key] = after;
    if (!after->node.empty()) by_node_[after->node][key] = after;
  }
  if (!before && !after) return;
  std::erase_if(listeners_, [](const auto& one) { return one.first.ended(); });
  for (const auto& [watch, listener] : listeners_) listener(before ? &*before : nullptr, after);
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

void PodIndex::listen(const Lifetime& lifetime, Listener listener) {
  for (const auto& [key, facts] : pods_) listener(nullptr, &facts);
  listeners_.emplace_back(lifetime.watch(), std::move(listener));
}

}  // namespace berth::controllers
