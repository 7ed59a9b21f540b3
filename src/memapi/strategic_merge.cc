#include "memapi/strategic_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memapi/json_edit.h"

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
Answer<void> reorder(std::vector<JsonValue>& items, const std::vector<JsonValue>& before,
                     const std::vector<JsonValue>& order, std::string_view key, PatchWork& work) {
  const auto same = [&](const JsonValue& a, const JsonValue& b) {
    work.add(1 + a.members.size() + b.members.size());
    if (key.empty()) return equal(a, b);
    return equal(a.find(key), b.find(key));
  };
  const auto place_in = [&](const std::vector<JsonValue>& list, const JsonValue& item) {
    return std::ranges::find_if(list, [&](const JsonValue& one) { return same(one, item); }) -
           list.begin();
  };
  std::vector<JsonValue> ordered;
  std::vector<JsonValue> others;
  for (const JsonValue& wanted : order) {
    if (work.too_much()) return refuse(PatchWork::error());
    const auto found =
        std::ranges::find_if(items, [&](const JsonValue& item) { return same(item, wanted); });
    if (found == items.end()) continue;
    ordered.push_back(std::move(*found));
    work.add(static_cast<std::size_t>(items.end() - found));
    items.erase(found);
  }
  others = std::move(items);
  items.clear();
  std::size_t next_other = 0;
  for (JsonValue& item : ordered) {
    if (work.too_much()) return refuse(PatchWork::error());
    const auto place = place_in(before, item);
    const bool known = place < std::ssize(before);
    while (known && next_other < others.size() && place_in(before, others[next_other]) < place)
      items.push_back(std::move(others[next_other++]));
    items.push_back(std::move(item));
  }
  while (next_other < others.size()) items.push_back(std::move(others[next_other++]));
  return {};
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
  for (const JsonValue& item : patch.items) {
    if (work.too_much()) return refuse(PatchWork::error());
    const JsonValue* key = is_object(&item) ? item.find(rule.key) : nullptr;
    if (key == nullptr) {
      return refuse(ApiError::internal(
          fmt::format("map: {} does not contain declared merge key: {}", to_json(item), rule.key)));
    }
    const auto same_key = [&](const JsonValue& one) {
      work.add(1 + one.members.size());
      return is_object(&one) && equal(one.find(rule.key), key);
    };
    if (text_at(item, kDirective) == "delete") {
      std::erase_if(list.items, same_key);
      continue;
    }
    const auto found = std::ranges::find_if(list.items, same_key);
    if (found == list.items.end()) {
      Answer<JsonValue> made = as_new(item, rule.child, work);
      if (!made) return refuse(std::move(made.error()));
      list.items.push_back(std::move(*made));
    } else if (auto merged = merge_object(*found, item, rule.child, false, work); !merged) {
      return merged;
    }
  }
  return {};
}

Answer<void> merge_set(JsonValue& list, const JsonValue& patch, PatchWork& work) {
  for (const JsonValue& item : patch.items) {
    work.add(list.items.size());
    if (work.too_much()) return refuse(PatchWork::error());
    const auto found =
        std::ranges::find_if(list.items, [&](const JsonValue& one) { return equal(one, item); });
    if (found == list.items.end()) list.items.push_back(item);
  }
  return {};
}

Answer<void> merge_member(JsonValue& object, const JsonMember& change, const MergeRule& rule,
                          PatchWork& work) {
  JsonValue* current = const_cast<JsonValue*>(object.find(change.name));
  const JsonValue& patch = change.value;
  const bool mergeable = current != nullptr && current->kind == patch.kind && !rule.replace;
  if (mergeable && patch.kind == Kind::kObject)
    return merge_object(*current, patch, rule.child, false, work);
  if (mergeable && patch.kind == Kind::kArray) {
    if (rule.set) return merge_set(*current, patch, work);
    if (!rule.key.empty()) return merge_keyed_list(*current, patch, rule, work);
  }
  Answer<JsonValue> made = as_new(patch, rule.child, work);
  if (!made) return refuse(std::move(made.error()));
  set(object, change.name, std::move(*made));
  return {};
}

// The members that a directive names, as they were before the patch.
JsonValue ordered_before(const JsonValue& object, const JsonValue& patch, PatchWork& work) {
  JsonValue before = JsonValue::object();
  for (const JsonMember& member : patch.members) {
    if (!member.name.starts_with(kElementOrder) || work.too_much()) continue;
    const std::string_view name = std::string_view(member.name).substr(kElementOrder.size());
    work.add(object.members.size());
    if (const JsonValue* list = object.find(name)) before.add(name, *list);
  }
  return before;
}

Answer<void> delete_from_primitive_lists(JsonValue& object, const JsonValue& patch,
                                         PatchWork& work) {
  for (const JsonMember& member : patch.members) {
    if (!member.name.starts_with(kDeletePrimitives)) continue;
    work.add(object.members.size());
    JsonValue* list = const_cast<JsonValue*>(
        object.find(std::string_view(member.name).substr(kDeletePrimitives.size())));
    if (!is_array(list)) continue;
    for (const JsonValue& gone : member.value.items) {
      work.add(list->items.size());
      if (work.too_much()) return refuse(PatchWork::error());
      std::erase_if(list->items, [&](const JsonValue& item) { return equal(item, gone); });
    }
  }
  return {};
}

Answer<void> put_in_order(JsonValue& object, const JsonValue& before, const JsonValue& patch,
                          std::string_view type, bool top, PatchWork& work) {
  for (const JsonMember& member : patch.members) {
    if (!member.name.starts_with(kElementOrder)) continue;
    const std::string_view name = std::string_view(member.name).substr(kElementOrder.size());
    work.add(object.members.size() + before.members.size());
    if (work.too_much()) return refuse(PatchWork::error());
    JsonValue* list = const_cast<JsonValue*>(object.find(name));
    if (!is_array(list)) continue;
    const JsonValue* old = before.find(name);
    auto ordered = reorder(list->items, is_array(old) ? old->items : std::vector<JsonValue>{},
                           member.value.items, rule_for(type, name, top).key, work);
    if (!ordered) return ordered;
  }
  return {};
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
  const JsonValue before = ordered_before(object, patch, work);
  if (auto deleted = delete_from_primitive_lists(object, patch, work); !deleted) return deleted;
  for (const JsonMember& member : patch.members) {
    if (is_directive(member.name)) continue;
    work.add(object.members.size());
    if (work.too_much()) return refuse(PatchWork::error());
    if (member.value.is_null()) {
      erase(object, member.name);
      continue;
    }
    if (auto merged = merge_member(object, member, rule_for(type, member.name, top), work); !merged)
      return merged;
  }
  return put_in_order(object, before, patch, type, top, work);
}

}  // namespace

Answer<void> apply_strategic_merge(std::string_view kind, JsonValue& object, const JsonValue& patch,
                                   PatchWork work) {
  if (patch.kind != Kind::kObject) {
    return refuse(ApiError::bad_request(
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}"));
  }
  return merge_object(object, patch, kind, true, work);
}

}  // namespace berth::memapi
