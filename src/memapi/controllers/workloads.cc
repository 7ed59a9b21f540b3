#include "memapi/controllers/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "memapi/controllers/controller.h"
#include "memapi/json_edit.h"

namespace berth::memapi {

JsonValue pod_from_template(const Resource& resource, const StoredObject& owner,
                            const JsonValue& owner_tree) {
  JsonValue pod = JsonValue::object();
  JsonValue& metadata = object_at(pod, "metadata");
  set_text(metadata, "namespace", owner.namespace_name);
  set_text(metadata, "generateName", owner.name + "-");
  if (const JsonValue* said = at(owner_tree, "spec.template.metadata")) {
    for (const std::string_view name : {"labels", "annotations", "finalizers"})
      copy_member(metadata, *said, name);
  }
  array_at(metadata, "ownerReferences").items.push_back(controller_reference(resource, owner));
  const JsonValue* spec = at(owner_tree, "spec.template.spec");
  set(pod, "spec", spec != nullptr ? *spec : JsonValue::object());
  return pod;
}

Duration min_ready_of(const JsonValue& owner_tree) {
  return std::chrono::seconds(int_at(owner_tree, "spec.minReadySeconds").value_or(0));
}

std::string template_hash(const JsonValue& pod_template) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  JsonValue sorted = pod_template;
  normalize(sorted);
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : to_json(sorted))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  std::string text;
  for (int i = 0; i < 10; ++i, hash /= kAlphabet.size()) text += kAlphabet[hash % kAlphabet.size()];
  return text;
}

std::int64_t scaled_value(const JsonValue* value, std::int64_t total, bool round_up,
                          std::int64_t otherwise) {
  if (value == nullptr || value->text.empty()) return otherwise;
  std::string_view text = value->text;
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return otherwise;
  if (!percent) return number;
  // Both fit well below where this would overflow, or the object is nonsense.
  if (number > 1'000'000 || total > 1'000'000'000) return otherwise;
  return (number * total + (round_up ? 99 : 0)) / 100;
}

std::vector<LabelRequirement> selector_of(const JsonValue& owner_tree) {
  const JsonValue* selector = at(owner_tree, "spec.selector");
  if (!is_object(selector)) return {};
  const bool plain =
      selector->find("matchLabels") == nullptr && selector->find("matchExpressions") == nullptr;
  if (!plain) return label_selector_of(*selector).value_or(std::vector<LabelRequirement>());
  std::vector<LabelRequirement> wanted;
  for (const JsonMember& label : selector->members)
    wanted.push_back({label.name, LabelRequirement::Op::kIn, {label.value.text}});
  return wanted;
}

bool matches_all(const std::vector<LabelRequirement>& selector, const LabelPairs& labels) {
  return std::ranges::all_of(
      selector, [&](const LabelRequirement& wanted) { return wanted.matches(labels); });
}

void claim_pods(LocalClient& api, PodIndex& pods, const Resource& resource,
                const StoredObject& owner, const JsonValue& owner_tree) {
  const std::vector<LabelRequirement> selector = selector_of(owner_tree);
  if (selector.empty()) return;
  bool changed = false;
  const Resource& pod_resource = resource_of("pods");
  for (const PodFacts* pod : pods.without_controller(owner.namespace_name)) {
    if (pod->terminating || pod->ended() || !matches_all(selector, pod->object->labels)) continue;
    changed = true;
    static_cast<void>(api.update(pod_resource, pod->object->namespace_name, pod->object->name,
                                 [&](JsonValue& tree) -> Answer<void> {
                                   if (controller_of(tree) == nullptr && !is_terminating(tree)) {
                                     array_at(tree, "metadata.ownerReferences")
                                         .items.push_back(controller_reference(resource, owner));
                                   }
                                   return {};
                                 }));
  }
  for (const PodFacts* pod : pods.of_controller(owner.uid)) {
    if (pod->terminating || matches_all(selector, pod->object->labels)) continue;
    changed = true;
    static_cast<void>(api.update(pod_resource, pod->object->namespace_name, pod->object->name,
                                 [&](JsonValue& tree) -> Answer<void> {
                                   JsonValue& owners = array_at(tree, "metadata.ownerReferences");
                                   std::erase_if(owners.items, [&](const JsonValue& one) {
                                     return text_at(one, "uid") == owner.uid;
                                   });
                                   if (owners.items.empty())
                                     erase(object_at(tree, "metadata"), "ownerReferences");
                                   return {};
                                 }));
  }
  if (changed) pods.catch_up();
}

void sort_for_removal(std::vector<const PodFacts*>& pods) {
  const auto rank = [](const PodFacts* pod) {
    // Greater versions are younger, near enough; the key makes the order full.
    return std::tuple(!pod->node.empty(), pod->phase != Phase::kPending, pod->ready(),
                      ~pod->object->version, std::string_view(pod->object->name));
  };
  std::ranges::sort(pods, {}, rank);
}

ReplicaCounts count_replicas(const std::vector<const PodFacts*>& pods, Duration min_ready,
                             WallTime now) {
  ReplicaCounts counts;
  for (const PodFacts* pod : pods) {
    if (!pod->active()) continue;
    ++counts.active;
    counts.ready += pod->ready() ? 1 : 0;
    counts.available += pod->available(min_ready, now) ? 1 : 0;
  }
  return counts;
}

void set_count(JsonValue& status, std::string_view name, std::int64_t count) {
  if (count == 0) {
    erase(status, name);
  } else {
    set(status, name, JsonValue::of_int(count));
  }
}

}  // namespace berth::memapi
