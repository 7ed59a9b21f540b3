#include "memapi/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memapi/json_edit.h"
#include "memapi/json_lookup.h"

namespace berth::memapi {
namespace {

using Kind = JsonValue::Kind;

// How one member of a type is merged.
struct MergeRule {
  std::string_view type;
  std::string_view member;
  std::string_view child;  // type of the member, or of a list's items; empty: nothing special in it
  std::string_view key = {};  // of a list: which member of the items tells them apart
  bool set = false;           // a list of plain values, merged as a set
  bool replace = false;       // an object that is replaced as a whole
};

// clang-format off
constexpr MergeRule kRules[] = {
    {"ObjectMeta", "ownerReferences", "", "uid"},
    {"ObjectMeta", "finalizers", "", "", true},

    {"Pod", "spec", "PodSpec"},
    {"Pod", "status", "PodStatus"},
    {"PodTemplateSpec", "metadata", "ObjectMeta"},
    {"PodTemplateSpec", "spec", "PodSpec"},
    {"PodSpec", "containers", "Container", "name"},
    {"PodSpec", "initContainers", "Container", "name"},
    {"PodSpec", "ephemeralContainers", "Container", "name"},
    {"PodSpec", "imagePullSecrets", "", "name"},
    {"PodSpec", "schedulingGates", "", "name"},
    {"PodSpec", "volumes", "", "name"},
    {"PodSpec", "resourceClaims", "", "name"},
    {"PodSpec", "hostAliases", "", "ip"},
    {"PodSpec", "topologySpreadConstraints", "", "topologyKey"},
    {"Container", "ports", "", "containerPort"},
    {"Container", "env", "", "name"},
    {"Container", "volumeMounts", "", "mountPath"},
    {"Container", "volumeDevices", "", "devicePath"},
    {"PodStatus", "conditions", "", "type"},
    {"PodStatus", "podIPs", "", "ip"},
    {"PodStatus", "hostIPs", "", "ip"},
    {"PodStatus", "resourceClaimStatuses", "", "name"},

    {"Node", "spec", "NodeSpec"},
    {"Node", "status", "NodeStatus"},
    {"NodeSpec", "podCIDRs", "", "", true},
    {"NodeStatus", "conditions", "", "type"},
    {"NodeStatus", "addresses", "", "type"},

    {"Service", "spec", "ServiceSpec"},
    {"ServiceSpec", "ports", "", "port"},
    {"Service", "status", "ConditionedStatus"},

    {"Deployment", "spec", "WorkloadSpec"},
    {"ReplicaSet", "spec", "WorkloadSpec"},
    {"StatefulSet", "spec", "WorkloadSpec"},
    {"DaemonSet", "spec", "WorkloadSpec"},
    {"ReplicationController", "spec", "WorkloadSpec"},
    {"Job", "spec", "WorkloadSpec"},
    {"WorkloadSpec", "template", "PodTemplateSpec"},

    {"PersistentVolumeClaim", "status", "ConditionedStatus"},
    {"ReplicationController", "status", "ConditionedStatus"},
    {"Namespace", "status", "ConditionedStatus"},
    {"PodDisruptionBudget", "status", "ConditionedStatus"},
    {"ReplicaSet", "status", "ConditionedStatus"},
    {"Deployment", "status", "ConditionedStatus"},
    {"StatefulSet", "status", "ConditionedStatus"},
    {"DaemonSet", "status", "ConditionedStatus"},
    {"Job", "status", "ConditionedStatus"},
    {"ConditionedStatus", "conditions", "", "type"},

    {"PodDisruptionBudget", "spec", "PodDisruptionBudgetSpec"},
    {"PodDisruptionBudgetSpec", "selector", "", "", false, true},
    {"CSINode", "spec", "CSINodeSpec"},
    {"CSINodeSpec", "drivers", "", "name"},
    {"CSINode", "status", "CSINodeStatus"},
    {"CSINodeStatus", "storageHealth", "", "name"},
    {"DeviceTaintRule", "status", "ConditionedStatus"},
    {"ResourceClaim", "status", "ResourceClaimStatus"},
    {"ResourceClaimStatus", "reservedFor", "", "uid"},
    {"PodGroup", "spec", "PodGroupSpec"},
    {"PodGroup", "status", "PodGroupStatus"},
    {"PodGroupSpec", "resourceClaims", "", "name"},
    {"PodGroupStatus", "resourceClaimStatuses", "", "name"},
    {"PodGroupStatus", "conditions", "", "type"},
};
// clang-format on

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kElementOrder = "$setElementOrder/";
constexpr std::string_view kDeletePrimitives = "$deleteFromPrimitiveList/";

MergeRule rule_for(std::string_view type, std::string_view member, bool top) {
  if (top && member == "metadata") return {"", member, "ObjectMeta"};
  for (const MergeRule& rule : kRules)
    if (rule.type == type && rule.member == member) return rule;
  return {"", member, ""};
}

Answer<void> merge_object(JsonValue& object, const JsonValue& patch, std::string_view type,
                          bool top, PatchWork& work);

bool is_directive(std::string_view name) {
  return name == kDirective || name == kRetainKeys || name.starts_with(kElementOrder) ||
         name.starts_with(kDeletePrimitives);
}

// What is left of a patch where there is nothing to merge with.
Answer<JsonValue> as_new(const JsonValue& patch, std::string_view type, PatchWork& work) {
  if (patch.kind == Kind::kObject) {
    JsonValue made = JsonValue::object();
    if (auto merged = merge_object(made, patch, type, false, work); !merged)
      return refuse(std::move(merged.error()));
    return made;
  }
  if (patch.kind == Kind::kArray) {
    JsonValue made = JsonValue::array();
    for (const JsonValue& item : patch.items) {
      if (is_object(&item) && item.find(kDirective) != nullptr) continue;
      Answer<JsonValue> one = as_new(item, type, work);
      if (!one) return one;
      made.items.push_back(std::move(*one));
    }
    return made;
  }
  return patch;
}

// Items in `order` as it says; others keep their place among those that were there.
void reorder(std::vector<JsonValue>& items, const std::vector<JsonValue>& before,
             const std::vector<JsonValue>& order, std::string_view key, PatchWork& work) {
  const PlacesByText places_before = places_by_text(before, key, work);
  const auto place_before = [&](const JsonValue& item) {
    const auto found = places_before.find(item_text(item, key, work));
    return found == places_before.end() ? before.size() : found->second.front();
  };
  struct Placed {
    JsonValue item;
    std::size_t place;  // that it had; if none, before.size()
  };
  std::vector<Placed> ordered, others;
  const auto move_to = [&](std::vector<Placed>& list, JsonValue& item) {
    const std::size_t place = place_before(item);
    list.push_back({std::move(item), place});
  };
  PlacesByText places = places_by_text(items, key, work);
  for (auto& [text, all] : places) std::ranges::reverse(all);  // the first of them is taken first
  std::vector<bool> taken(items.size());
  for (const JsonValue& wanted : order) {
    const auto found = places.find(item_text(wanted, key, work));
    if (found == places.end() || found->second.empty()) continue;
    taken[found->second.back()] = true;
    move_to(ordered, items[found->second.back()]);
    found->second.pop_back();
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!taken[i]) move_to(others, items[i]);

  items.clear();
  auto other = others.begin();
  for (Placed& one : ordered) {
    while (one.place < before.size() && other != others.end() && other->place < one.place)
      items.push_back(std::move((other++)->item));
    items.push_back(std::move(one.item));
  }
  while (other != others.end()) items.push_back(std::move((other++)->item));
}

Answer<void> merge_keyed_list(JsonValue& list, const JsonValue& patch, const MergeRule& rule,
                              PatchWork& work) {
  const auto replaces = [](const JsonValue& item) {
    return is_object(&item) && text_at(item, kDirective) == "replace";
  };
  if (std::ranges::any_of(patch.items, replaces)) {
    Answer<JsonValue> made = as_new(patch, rule.child, work);
    if (!made) return refuse(std::move(made.error()));
    list = std::move(*made);
    return {};
  }
  PlacesByText places = places_by_text(list.items, rule.key, work);
  std::vector<std::size_t> gone;
  for (const JsonValue& item : patch.items) {
    const std::string key = is_object(&item) ? item_text(item, rule.key, work) : "";
    if (key.empty()) {
      return refuse(ApiError::internal(
          fmt::format("map: {} does not contain declared merge key: {}", to_json(item), rule.key)));
    }
    const auto found = places.find(key);
    if (text_at(item, kDirective) == "delete") {
      if (found == places.end()) continue;
      gone.insert(gone.end(), found->second.begin(), found->second.end());
      places.erase(found);
    } else if (found == places.end()) {
      Answer<JsonValue> made = as_new(item, rule.child, work);
      if (!made) return refuse(std::move(made.error()));
      places[key].push_back(list.items.size());
      list.items.push_back(std::move(*made));
    } else if (auto merged =
                   merge_object(list.items[found->second.front()], item, rule.child, false, work);
               !merged) {
      return merged;
    }
  }
  remove_items(list.items, std::move(gone));
  return {};
}

void merge_set(JsonValue& list, const JsonValue& patch, PatchWork& work) {
  PlacesByText places = places_by_text(list.items, {}, work);
  for (const JsonValue& item : patch.items) {
    if (!places.try_emplace(item_text(item, {}, work)).second) continue;
    list.items.push_back(item);
  }
}

Answer<void> merge_member(MemberTable& members, const JsonMember& change, const MergeRule& rule,
                          PatchWork& work) {
  JsonValue* current = members.find(change.name);
  const JsonValue& patch = change.value;
  const bool mergeable = current != nullptr && current->kind == patch.kind && !rule.replace;
  if (mergeable && patch.kind == Kind::kObject)
    return merge_object(*current, patch, rule.child, false, work);
  if (mergeable && patch.kind == Kind::kArray) {
    if (!rule.set && !rule.key.empty()) return merge_keyed_list(*current, patch, rule, work);
    if (rule.set) {
      merge_set(*current, patch, work);
      return {};
    }
  }
  Answer<JsonValue> made = as_new(patch, rule.child, work);
  if (!made) return refuse(std::move(made.error()));
  members.find_or_add(change.name) = std::move(*made);
  return {};
}

// The lists whose order the patch gives, as they were before it.
JsonValue ordered_before(MemberTable& members, const JsonValue& patch) {
  JsonValue before = JsonValue::object();
  for (const JsonMember& member : patch.members) {
    if (!member.name.starts_with(kElementOrder)) continue;
    const std::string_view name = std::string_view(member.name).substr(kElementOrder.size());
    if (const JsonValue* list = members.find(name)) before.add(name, *list);
  }
  return before;
}

void delete_from_primitive_lists(MemberTable& members, const JsonValue& patch, PatchWork& work) {
  for (const JsonMember& member : patch.members) {
    if (!member.name.starts_with(kDeletePrimitives)) continue;
    JsonValue* list = members.find(std::string_view(member.name).substr(kDeletePrimitives.size()));
    if (!is_array(list)) continue;
    const PlacesByText gone = places_by_text(member.value.items, {}, work);
    std::erase_if(list->items,
                  [&](const JsonValue& item) { return gone.contains(item_text(item, {}, work)); });
  }
}

void put_in_order(MemberTable& members, JsonValue before, const JsonValue& patch,
                  std::string_view type, bool top, PatchWork& work) {
  MemberTable lists_before(before, work);
  for (const JsonMember& member : patch.members) {
    if (!member.name.starts_with(kElementOrder)) continue;
    const std::string_view name = std::string_view(member.name).substr(kElementOrder.size());
    JsonValue* list = members.find(name);
    if (!is_array(list)) continue;
    const JsonValue* old = lists_before.find(name);
    reorder(list->items, is_array(old) ? old->items : std::vector<JsonValue>{}, member.value.items,
            rule_for(type, name, top).key, work);
  }
}

void retain_keys(JsonValue& object, const JsonValue& retained) {
  std::set<std::string_view> names;
  for (const JsonValue& name : retained.items) names.insert(name.text);
  std::erase_if(object.members,
                [&](const JsonMember& member) { return !names.contains(member.name); });
}

Answer<void> merge_object(JsonValue& object, const JsonValue& patch, std::string_view type,
                          bool top, PatchWork& work) {
  if (const JsonValue* directive = patch.find(kDirective)) {
    if (directive->text == "replace" || directive->text == "delete") {
      JsonValue fresh = JsonValue::object();
      if (directive->text == "replace") {
        for (const JsonMember& member : patch.members)
          if (!is_directive(member.name)) fresh.add(member.name, member.value);
      }
      object = std::move(fresh);
      return {};
    }
    if (directive->text != "merge") {
      return refuse(ApiError::bad_request(fmt::format("Unknown patch type: {}", directive->text)));
    }
  }
  if (const JsonValue* retained = patch.find(kRetainKeys); is_array(retained))
    retain_keys(object, *retained);
  work.add(patch.members.size());
  MemberTable members(object, work);
  JsonValue before = ordered_before(members, patch);
  delete_from_primitive_lists(members, patch, work);
  for (const JsonMember& member : patch.members) {
    if (work.too_much()) return refuse(PatchWork::error());
    if (is_directive(member.name)) continue;
    if (member.value.is_null()) {
      members.erase(member.name);
      continue;
    }
    const MergeRule rule = rule_for(type, member.name, top);
    if (auto merged = merge_member(members, member, rule, work); !merged) return merged;
  }
  put_in_order(members, std::move(before), patch, type, top, work);
  return {};
}

}  // namespace

Answer<void> apply_strategic_merge(std::string_view kind, JsonValue& object, const JsonValue& patch,
                                   PatchWork work) {
  if (patch.kind != Kind::kObject) {
    return refuse(ApiError::bad_request(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}"));
  }
  return merge_object(object, without_duplicates(patch), kind, true, work);
}

}  // namespace berth::memapi
