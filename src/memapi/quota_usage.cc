#include "memapi/quota_usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "base/time_text.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kComputeNames[] = {"cpu",           "memory",       "limits.cpu",
                                              "limits.memory", "requests.cpu", "requests.memory"};
constexpr std::string_view kPodNames[] = {"pods", "ephemeral-storage", "requests.ephemeral-storage",
                                          "limits.ephemeral-storage"};
// Kinds that have a name of their own beside "count/…".
constexpr std::string_view kCountedKinds[] = {"configmaps", "replicationcontrollers",
                                              "resourcequotas", "secrets"};
constexpr std::string_view kStorageClass = ".storageclass.storage.k8s.io/";
constexpr std::string_view kDevices = ".deviceclass.resource.k8s.io/devices";
constexpr std::int64_t kMostDevices = 32;  // that one claim may get

bool one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_core(const Resource& resource, std::string_view plural) {
  return resource.custom == nullptr && resource.group.empty() && resource.plural == plural;
}

bool is_huge_pages(std::string_view name) {
  return name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
}

// "nvidia.com/gpu", but not what Kubernetes itself defines.
bool is_extended_name(std::string_view name) {
  return name.contains('/') && !name.substr(0, name.find('/')).ends_with("kubernetes.io");
}

bool is_of_pods(std::string_view name) {
  constexpr std::string_view kRequests = "requests.";
  return one_of(kComputeNames, name) || one_of(kPodNames, name) || is_huge_pages(name) ||
         (name.starts_with(kRequests) && is_extended_name(name.substr(kRequests.size())));
}

bool is_of_volume_claims(std::string_view name) {
  return name == "persistentvolumeclaims" || name == "requests.storage" ||
         name.contains(kStorageClass);
}

Quantity one() { return Quantity::of(1); }

// ---- pods

bool has_ended(const JsonValue& pod, WallTime now) {
  const std::string_view phase = text_at(pod, "status.phase");
  if (phase == "Succeeded" || phase == "Failed") return true;
  // A pod that cannot end, for its node is lost, is not in its owner's way.
  const Result<WallTime> deleted = parse_rfc3339(text_at(pod, "metadata.deletionTimestamp"));
  const auto grace = int_at(pod, "metadata.deletionGracePeriodSeconds");
  return deleted && grace && *deleted + std::chrono::seconds(*grace) < now;
}

// What requests and limits count as.
Amounts compute_usage(const Amounts& requests, const Amounts& limits) {
  Amounts usage;
  usage["pods"] = one();
  for (const auto& [name, amount] : requests) {
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_huge_pages(name)) {
      usage[name] = amount;
      usage["requests." + name] = amount;
    } else if (is_extended_name(name)) {
      usage["requests." + name] = amount;
    }
  }
  for (const auto& [name, amount] : limits)
    if (name == "cpu" || name == "memory" || name == "ephemeral-storage")
      usage["limits." + name] = amount;
  return usage;
}

bool reaches_other_namespaces(const JsonValue& pod) {
  const auto reaches = [](const JsonValue& term) {
    return !items_at(term, "namespaces").empty() || at(term, "namespaceSelector") != nullptr;
  };
  for (const std::string_view side :
       {"spec.affinity.podAffinity", "spec.affinity.podAntiAffinity"}) {
    const JsonValue* affinity = at(pod, side);
    if (affinity == nullptr) continue;
    for (const JsonValue& term :
         items_at(*affinity, "requiredDuringSchedulingIgnoredDuringExecution"))
      if (reaches(term)) return true;
    for (const JsonValue& weighted :
         items_at(*affinity, "preferredDuringSchedulingIgnoredDuringExecution"))
      if (const JsonValue* term = at(weighted, "podAffinityTerm"); term && reaches(*term))
        return true;
  }
  return false;
}

struct ScopeRule {
  std::string_view scope;
  std::string_view op;  // Exists, In, …
  const std::vector<JsonValue>* values = nullptr;
};

bool priority_matches(const ScopeRule& rule, const JsonValue& pod) {
  const std::string_view name = text_at(pod, "spec.priorityClassName");
  const bool listed =
      rule.values != nullptr &&
      std::ranges::any_of(*rule.values, [&](const JsonValue& value) { return value.text == name; });
  if (rule.op == "In") return !name.empty() && listed;
  if (rule.op == "NotIn") return name.empty() || !listed;
  if (rule.op == "DoesNotExist") return name.empty();
  return !name.empty();
}

bool scope_matches(const ScopeRule& rule, const JsonValue& pod) {
  const bool ends = int_at(pod, "spec.activeDeadlineSeconds").value_or(-1) >= 0;
  const bool best_effort = text_at(pod, "status.qosClass") == "BestEffort";
  if (rule.scope == "Terminating") return ends;
  if (rule.scope == "NotTerminating") return !ends;
  if (rule.scope == "BestEffort") return best_effort;
  if (rule.scope == "NotBestEffort") return !best_effort;
  if (rule.scope == "PriorityClass") return priority_matches(rule, pod);
  if (rule.scope == "CrossNamespacePodAffinity") return reaches_other_namespaces(pod);
  return false;
}

// ---- other kinds

void count_volume_claim(const JsonValue& claim, Amounts& usage) {
  const std::string storage_class(text_at(claim, "spec.storageClassName"));
  const auto count = [&](const std::string& name, const Quantity& amount) {
    usage[name] = amount;
    if (!storage_class.empty())
      usage[fmt::format("{}{}{}", storage_class, kStorageClass, name)] = amount;
  };
  count("persistentvolumeclaims", one());
  const Amounts asked = amounts_at(claim, "spec.resources.requests");
  const Quantity* storage = find_amount(asked, "storage");
  if (storage == nullptr) return;
  const Amounts given = amounts_at(claim, "status.allocatedResources");
  const Quantity* allocated = find_amount(given, "storage");
  count("requests.storage", allocated != nullptr && *storage < *allocated ? *allocated : *storage);
}

void count_service(const JsonValue& service, Amounts& usage) {
  const std::string_view type = text_at(service, "spec.type");
  const auto& ports = items_at(service, "spec.ports");
  std::int64_t node_ports = 0;
  if (type == "NodePort") node_ports = static_cast<std::int64_t>(ports.size());
  if (type == "LoadBalancer") {
    const JsonValue* allocates = at(service, "spec.allocateLoadBalancerNodePorts");
    const bool all = allocates == nullptr || allocates->boolean;
    node_ports = std::ranges::count_if(ports, [&](const JsonValue& port) {
      return all || int_at(port, "nodePort").value_or(0) != 0;
    });
  }
  usage["services"] = one();
  usage["services.loadbalancers"] = Quantity::of(type == "LoadBalancer" ? 1 : 0);
  usage["services.nodeports"] = Quantity::of(node_ports);
}

std::int64_t devices_of(const JsonValue& request) {
  if (text_at(request, "allocationMode") == "All") return kMostDevices;
  return int_at(request, "count").value_or(1);
}

void count_devices(const JsonValue& claim, Amounts& usage) {
  std::map<std::string, std::int64_t> classes;
  for (const JsonValue& request : items_at(claim, "spec.devices.requests")) {
    std::map<std::string, std::int64_t> most;
    const auto take = [&](const JsonValue& one) {
      std::int64_t& count = most[std::string(text_at(one, "deviceClassName"))];
      count = std::max(count, devices_of(one));
    };
    if (const JsonValue* exactly = at(request, "exactly"); is_object(exactly)) take(*exactly);
    for (const JsonValue& alternative : items_at(request, "firstAvailable")) take(alternative);
    for (const auto& [name, count] : most) classes[name] += count;
  }
  for (const auto& [name, count] : classes)
    usage[fmt::format("{}{}", name, kDevices)] = Quantity::of(count);
}

std::vector<ScopeRule> scope_rules(const JsonValue& quota) {
  std::vector<ScopeRule> rules;
  for (const JsonValue& scope : items_at(quota, "spec.scopes"))
    rules.push_back({scope.text, "Exists", nullptr});
  for (const JsonValue& one : items_at(quota, "spec.scopeSelector.matchExpressions"))
    rules.push_back(
        {text_at(one, "scopeName"), text_at(one, "operator"), &items_at(one, "values")});
  return rules;
}

}  // namespace

bool has_quota(const Resource& resource) {
  return resource.namespaced && resource.verbs == Verbs::kAll && resource.stored_as.empty() &&
         !is_core(resource, "events");
}

std::string quota_count_name(const Resource& resource) {
  return fmt::format("count/{}{}{}", resource.plural, resource.group.empty() ? "" : ".",
                     resource.group);
}

bool quota_is_about(const Resource& resource, std::string_view name) {
  constexpr std::string_view kCount = "count/";
  if (name.starts_with(kCount)) return name == quota_count_name(resource);
  if (is_core(resource, "pods")) return is_of_pods(name);
  if (is_core(resource, "persistentvolumeclaims")) return is_of_volume_claims(name);
  if (is_core(resource, "services"))
    return name == "services" || name == "services.nodeports" || name == "services.loadbalancers";
  if (resource.custom == nullptr && resource.plural == "resourceclaims")
    return name.ends_with(kDevices);
  return resource.custom == nullptr && resource.group.empty() && name == resource.plural &&
         one_of(kCountedKinds, name);
}

bool quota_counts_only(const Resource& resource, const std::vector<std::string>& names) {
  return std::ranges::all_of(names, [&](const std::string& name) {
    return name.starts_with("count/") || (name == resource.plural && name != "pods");
  });
}

Amounts quota_usage(const Resource& resource, const JsonValue& object, WallTime now) {
  Amounts usage;
  usage[quota_count_name(resource)] = one();
  if (is_core(resource, "pods")) {
    if (!has_ended(object, now))
      add_amounts(usage,
                  compute_usage(pod_amounts(object, "requests"), pod_amounts(object, "limits")));
  } else if (is_core(resource, "persistentvolumeclaims")) {
    count_volume_claim(object, usage);
  } else if (is_core(resource, "services")) {
    count_service(object, usage);
  } else if (resource.custom == nullptr && resource.plural == "resourceclaims") {
    count_devices(object, usage);
  } else if (quota_is_about(resource, resource.plural)) {
    usage[std::string(resource.plural)] = one();
  }
  return usage;
}

bool quota_has_scopes(const JsonValue& quota) { return !scope_rules(quota).empty(); }

bool quota_scopes_match(const Resource& resource, const JsonValue& quota, const JsonValue& object) {
  const std::vector<ScopeRule> rules = scope_rules(quota);
  if (!is_core(resource, "pods")) return rules.empty();
  return std::ranges::all_of(rules,
                             [&](const ScopeRule& rule) { return scope_matches(rule, object); });
}

std::string quota_unsaid(const Resource& resource, const std::vector<std::string>& names,
                         const JsonValue& object) {
  if (!is_core(resource, "pods")) return "";
  std::map<std::string, std::set<std::string>> missing;  // containers by what they do not say
  for (const std::string_view list : {"spec.containers", "spec.initContainers"}) {
    for (const JsonValue& container : items_at(object, list)) {
      const Amounts said = compute_usage(amounts_at(container, "resources.requests"),
                                         amounts_at(container, "resources.limits"));
      for (const std::string& name : names)
        if (one_of(kComputeNames, name) && find_amount(said, name) == nullptr)
          missing[name].emplace(text_at(container, "name"));
    }
  }
  if (is_object(at(object, "spec.resources"))) {  // said for the pod as a whole
    const Amounts whole = compute_usage(amounts_at(object, "spec.resources.requests"),
                                        amounts_at(object, "spec.resources.limits"));
    std::erase_if(missing,
                  [&](const auto& one) { return find_amount(whole, one.first) != nullptr; });
  }
  std::string text;
  for (const auto& [name, containers] : missing)
    text += fmt::format("{}{} for: {}", text.empty() ? "must specify " : "; ", name,
                        fmt::join(containers, ","));
  return text;
}

bool is_standard_quota_name(std::string_view name) {
  constexpr std::string_view kOthers[] = {"requests.storage",
                                          "resourcequotas",
                                          "services",
                                          "replicationcontrollers",
                                          "secrets",
                                          "persistentvolumeclaims",
                                          "configmaps",
                                          "services.nodeports",
                                          "services.loadbalancers"};
  return one_of(kComputeNames, name) || one_of(kPodNames, name) || one_of(kOthers, name) ||
         is_huge_pages(name);
}

bool quota_scope_is_about(std::string_view scope, std::string_view name) {
  if (scope == "BestEffort") return name == "pods";
  if (scope == "VolumeAttributesClass")
    return name == "persistentvolumeclaims" || name == "requests.storage";
  return name == "pods" || one_of(kComputeNames, name);
}

}  // namespace berth::memapi
