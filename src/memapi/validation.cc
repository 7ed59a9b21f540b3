#include "memapi/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "berth/labels.h"
#include "berth/resources.h"
#include "memapi/crd_definition.h"
#include "memapi/crd_objects.h"
#include "memapi/defaults.h"
#include "memapi/json_edit.h"
#include "memapi/json_lookup.h"
#include "memapi/validation_rules.h"
#include "memapi/writes.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kPodSpecRule =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

constexpr std::size_t kMaxObjectBytes = 1'572'864;  // etcd's limit

// What it is as text, but for what has to be escaped.
std::size_t text_bytes(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
    case JsonValue::Kind::kBool: return 4;
    case JsonValue::Kind::kNumber: return value.text.size();
    case JsonValue::Kind::kString: return value.text.size() + 2;
    default: break;
  }
  std::size_t bytes = value.items.empty() && value.members.empty() ? 2 : 1;  // a comma less
  for (const JsonValue& item : value.items) bytes += text_bytes(item) + 1;
  for (const JsonMember& member : value.members)
    bytes += member.name.size() + 4 + text_bytes(member.value);
  return bytes;
}

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label_text(std::string_view part) {
  return !part.empty() && is_alphanumeric(part.front()) && is_alphanumeric(part.back()) &&
         std::ranges::all_of(part, [](char c) { return is_alphanumeric(c) || c == '-'; });
}

// Names that are only a part of a URL.
void check_path_segment(std::string_view name, Problems& problems) {
  const auto wrong = [&](const std::string& why) {
    problems.push_back(FieldProblem::invalid("metadata.name", go_quoted(name), why));
  };
  if (name == "." || name == "..") return wrong(fmt::format("may not be '{}'", name));
  for (const char c : {'/', '%'})
    if (name.contains(c)) wrong(fmt::format("may not contain '{}'", c));
}

void check_metadata(const Resource& resource, const JsonValue& object, Problems& problems) {
  const std::string_view name = text_at(object, "metadata.name");
  if (name.empty()) {
    problems.push_back(FieldProblem::required("metadata.name", "name or generateName is required"));
  } else if (resource.names == NameRule::kLabel) {
    check_dns_label(name, "metadata.name", problems);
  } else if (resource.names == NameRule::kPathSegment) {
    check_path_segment(name, problems);
  } else {
    check_dns_subdomain(name, "metadata.name", problems);
  }
  check_labels(at(object, "metadata.labels"), "metadata.labels", problems);
  if (const JsonValue* annotations = at(object, "metadata.annotations"); is_object(annotations)) {
    for (const JsonMember& one : annotations->members) {
      for (const std::string& problem : label_key_problems(lower_case(one.name)))
        problems.push_back(
            FieldProblem::invalid("metadata.annotations", go_quoted(one.name), problem));
    }
  }
  const auto& owners = items_at(object, "metadata.ownerReferences");
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const std::string path = item_path("metadata.ownerReferences", i);
    for (const std::string_view member : {"apiVersion", "kind", "name", "uid"}) {
      if (text_at(owners[i], member).empty())
        problems.push_back(
            FieldProblem::required(fmt::format("{}.{}", path, member), "must not be empty"));
    }
  }
}

// What may differ between an old and a new pod is made equal.
void forgive_allowed_changes(JsonValue& spec, const JsonValue& old) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    JsonValue* containers = at(spec, list);
    const auto& before = items_at(old, list);
    if (!is_array(containers) || containers->items.size() != before.size()) continue;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (is_object(&containers->items[i])) copy_member(containers->items[i], before[i], "image");
  }
  copy_member(spec, old, "activeDeadlineSeconds");
  if (int_at(old, "terminationGracePeriodSeconds").value_or(0) < 0 &&
      int_at(spec, "terminationGracePeriodSeconds") == 1)
    copy_member(spec, old, "terminationGracePeriodSeconds");
  PatchWork work;
  const PlacesByText tolerations = places_by_text(items_at(spec, "tolerations"), {}, work);
  const bool only_added = std::ranges::all_of(items_at(old, "tolerations"), [&](const auto& one) {
    return tolerations.contains(comparable_text(one));
  });
  if (only_added) copy_member(spec, old, "tolerations");

  const bool gated = !items_at(old, "schedulingGates").empty();
  copy_member(spec, old, "schedulingGates");  // judged by itself
  if (!gated) return;
  const JsonValue* before = at(old, "nodeSelector");
  JsonValue* after = at(spec, "nodeSelector");
  bool narrowed = !is_object(before) || before->members.empty();
  if (!narrowed && is_object(after)) {
    MemberTable wanted(*after, work);
    narrowed = std::ranges::all_of(before->members, [&](const JsonMember& member) {
      return equal(wanted.find(member.name), &member.value);
    });
  }
  if (narrowed) copy_member(spec, old, "nodeSelector");
  if (at(old, "affinity") == nullptr) erase(spec, "affinity");
}

void check_pod_update(const JsonValue& pod, const JsonValue& old, Problems& problems) {
  std::set<std::string_view> gates;
  for (const JsonValue& gate : items_at(old, "spec.schedulingGates"))
    gates.insert(text_at(gate, "name"));
  for (const JsonValue& gate : items_at(pod, "spec.schedulingGates")) {
    if (gates.contains(text_at(gate, "name"))) continue;
    problems.push_back(FieldProblem::forbidden(
        "spec.schedulingGates", fmt::format("only deletion is allowed, but found new scheduling "
                                            "gate '{}'",
                                            text_at(gate, "name"))));
  }
  const JsonValue* spec = at(pod, "spec");
  const JsonValue* before = at(old, "spec");
  if (!is_object(spec) || !is_object(before)) return;
  JsonValue forgiven = *spec;
  forgive_allowed_changes(forgiven, *before);
  if (!equal(forgiven, *before)) problems.push_back(FieldProblem::forbidden("spec", kPodSpecRule));
}

const JsonValue& spec_of(const JsonValue& object) {
  static const JsonValue kNothing = JsonValue::object();
  const JsonValue* spec = at(object, "spec");
  return is_object(spec) ? *spec : kNothing;
}

void check_budget(const JsonValue& budget, Problems& problems) {
  const JsonValue& spec = spec_of(budget);
  const JsonValue* least = at(spec, "minAvailable");
  const JsonValue* most = at(spec, "maxUnavailable");
  if (least != nullptr && most != nullptr) {
    problems.push_back(FieldProblem::invalid(
        "spec",
        shown_struct(spec, {{"MinAvailable", "minAvailable"},
                            {"Selector", "selector"},
                            {"MaxUnavailable", "maxUnavailable"},
                            {"UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"}}),
        "minAvailable and maxUnavailable cannot be both set"));
  }
  check_count_or_percent(least, "spec.minAvailable", problems);
  check_at_most_all(least, "spec.minAvailable", problems);
  check_count_or_percent(most, "spec.maxUnavailable", problems);
  check_at_most_all(most, "spec.maxUnavailable", problems);
  check_label_selector(at(spec, "selector"), "spec.selector", problems);
  if (at(spec, "unhealthyPodEvictionPolicy") != nullptr) {
    check_one_of(spec, "unhealthyPodEvictionPolicy", "spec", {"AlwaysAllow", "IfHealthyBudget"},
                 problems);
  }
}

void check_priority_class(const JsonValue& object, Problems& problems) {
  constexpr std::int64_t kHighest = 1'000'000'000;
  const std::string_view name = text_at(object, "metadata.name");
  if (name.starts_with("system-")) {
    if (name != "system-node-critical" && name != "system-cluster-critical") {
      problems.push_back(FieldProblem::forbidden(
          "metadata.name",
          fmt::format("priority class names with 'system-' prefix are reserved for system use "
                      "only. error: {} is not a known system priority class",
                      name)));
    }
  } else if (int_at(object, "value").value_or(0) > kHighest) {
    problems.push_back(FieldProblem::forbidden(
        "value", fmt::format("maximum allowed value of a user defined priority is {}", kHighest)));
  }
  const std::string_view policy = text_at(object, "preemptionPolicy");
  if (policy != "PreemptLowerPriority" && policy != "Never" && !policy.empty()) {
    problems.push_back(FieldProblem::not_supported("preemptionPolicy", go_quoted(policy),
                                                   R"("PreemptLowerPriority", "Never")"));
  }
}

void check_storage_class(const JsonValue& object, Problems& problems) {
  if (text_at(object, "provisioner").empty())
    problems.push_back(FieldProblem::required("provisioner"));
  const std::string_view mode = text_at(object, "volumeBindingMode");
  if (mode != "Immediate" && mode != "WaitForFirstConsumer") {
    problems.push_back(FieldProblem::not_supported("volumeBindingMode", go_quoted(mode),
                                                   R"("Immediate", "WaitForFirstConsumer")"));
  }
}

void check_volume_claim(const JsonValue& object, Problems& problems) {
  const JsonValue& spec = spec_of(object);
  const auto& modes = items_at(spec, "accessModes");
  if (modes.empty()) {
    problems.push_back(
        FieldProblem::required("spec.accessModes", "at least 1 access mode is required"));
  }
  for (const JsonValue& mode : modes) {
    if (mode.text == "ReadWriteOnce" || mode.text == "ReadOnlyMany" ||
        mode.text == "ReadWriteMany" || mode.text == "ReadWriteOncePod")
      continue;
    problems.push_back(FieldProblem::not_supported(
        "spec.accessModes", go_quoted(mode.text),
        R"("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")"));
  }
  const JsonValue* storage = at(spec, "resources.requests.storage");
  const Result<Quantity> amount =
      storage != nullptr ? Quantity::parse(storage->text) : Result<Quantity>(Quantity());
  if (storage == nullptr) {
    problems.push_back(FieldProblem::required("spec.resources[storage]"));
  } else if (amount && !(Quantity() < *amount)) {
    problems.push_back(FieldProblem::invalid("spec.resources[storage]", shown(storage),
                                             "must be greater than zero"));
  }
  check_label_selector(at(spec, "selector"), "spec.selector", problems);
}

void check_service(const JsonValue& object, Problems& problems) {
  const JsonValue& spec = spec_of(object);
  const std::string_view type = text_at(spec, "type");
  const auto& ports = items_at(spec, "ports");
  if (ports.empty() && type != "ExternalName" && text_at(spec, "clusterIP") != "None")
    problems.push_back(FieldProblem::required("spec.ports"));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string path = item_path("spec.ports", i);
    const std::int64_t number = int_at(ports[i], "port").value_or(0);
    if (ports.size() > 1 && text_at(ports[i], "name").empty())
      problems.push_back(FieldProblem::required(path + ".name"));
    if (number < 1 || number > 65535) {
      problems.push_back(FieldProblem::invalid(path + ".port", fmt::format("{}", number),
                                               "must be between 1 and 65535, inclusive"));
    }
    check_one_of(ports[i], "protocol", path, {"SCTP", "TCP", "UDP"}, problems);
    const auto target = int_at(ports[i], "targetPort");
    if (target && (*target < 1 || *target > 65535)) {
      problems.push_back(FieldProblem::invalid(path + ".targetPort", fmt::format("{}", *target),
                                               "must be between 1 and 65535, inclusive"));
    }
  }
  check_labels(at(spec, "selector"), "spec.selector", problems);
  check_one_of(spec, "type", "spec", {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"},
               problems);
  check_one_of(spec, "sessionAffinity", "spec", {"ClientIP", "None"}, problems);
}

void check_volume(const JsonValue& object, Problems& problems) {
  if (const JsonValue* required = at(object, "spec.nodeAffinity.required"); is_object(required))
    check_node_selector(*required, "spec.nodeAffinity.required", true, problems);
}

void check_lease(const JsonValue& object, Problems& problems) {
  const auto duration = int_at(object, "spec.leaseDurationSeconds");
  if (duration && *duration <= 0) {
    problems.push_back(FieldProblem::invalid(
        "spec.leaseDurationSeconds", fmt::format("{}", *duration), "must be greater than 0"));
  }
  check_not_negative(spec_of(object), "spec", {"leaseTransitions"}, problems);
}

// Keys of ConfigMaps and Secrets become names of files.
void check_data_keys(const JsonValue& object, Problems& problems) {
  const auto allowed = [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  for (const std::string_view member : {"data", "binaryData"}) {
    const JsonValue* data = at(object, member);
    if (!is_object(data)) continue;
    for (const JsonMember& one : data->members) {
      if (!one.name.empty() && std::ranges::all_of(one.name, allowed)) continue;
      problems.push_back(FieldProblem::invalid(
          key_path(std::string(member), one.name), go_quoted(one.name),
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
          "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
          "'[-._a-zA-Z0-9]+')"));
    }
  }
}

void check_finalizers(const JsonValue& object, Problems& problems) {
  const auto& finalizers = items_at(object, "metadata.finalizers");
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string& name = finalizers[i].text;
    const std::string path = item_path("metadata.finalizers", i);
    check_qualified_name(name, path, problems);
    if (name.contains('/') || name == "kubernetes" || name == kOrphanFinalizer ||
        name == kForegroundFinalizer)
      continue;
    problems.push_back(FieldProblem::invalid(
        path, go_quoted(name),
        "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

// What is marked so never changes again.
void check_sealed(const JsonValue& object, const JsonValue& old, Problems& problems) {
  if (!true_at(old, "immutable")) return;
  constexpr std::string_view kWhy = "field is immutable when `immutable` is set";
  for (const std::string_view member : {"immutable", "data", "binaryData"})
    if (!equal(at(object, member), at(old, member)))
      problems.push_back(FieldProblem::forbidden(std::string(member), kWhy));
}

// The rules that old and new objects of a kind keep to.
void check_kind(const Resource& resource, const JsonValue& object, const JsonValue* old,
                Problems& problems) {
  const std::string_view plural = resource.plural;
  if (plural == "resourcequotas") return check_resource_quota(object, old, problems);
  if (plural == "roles" || plural == "clusterroles") return check_role(object, problems);
  if (plural == "rolebindings" || plural == "clusterrolebindings")
    return check_role_binding(object, old, problems);
  // Parity: their errors are about "metadata.taints".
  if (plural == "nodes") return check_taints(spec_of(object), "metadata", problems);
  if (plural == "leases") return check_lease(object, problems);
  if (plural == "poddisruptionbudgets") return check_budget(object, problems);
  if (plural == "priorityclasses") return check_priority_class(object, problems);
  if (plural == "storageclasses") return check_storage_class(object, problems);
  if (plural == "services") return check_service(object, problems);
  if (plural == "persistentvolumes") return check_volume(object, problems);
}

}  // namespace

bool is_dns_label(std::string_view name) { return name.size() <= 63 && is_label_text(name); }

bool is_dns_subdomain(std::string_view name) {
  if (name.size() > 253) return false;
  for (;;) {
    const std::size_t dot = name.find('.');
    if (!is_label_text(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

std::vector<FieldProblem> validate_new(const Resource& resource, const JsonValue& object) {
  Problems problems;
  check_metadata(resource, object, problems);
  if (resource.custom == nullptr) check_finalizers(object, problems);
  if (resource.custom != nullptr) {
    for (FieldProblem& problem : custom_problems(*resource.custom, object, nullptr))
      problems.push_back(std::move(problem));
  } else if (resource.plural == "pods") {
    check_pod_spec(spec_of(object), "spec", problems);
    if (!text_at(object, "spec.nodeName").empty() &&
        !items_at(object, "spec.schedulingGates").empty()) {
      problems.push_back(FieldProblem::forbidden(
          "spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
    }
  } else if (resource.plural == "persistentvolumeclaims") {
    check_volume_claim(object, problems);
  } else if (is_workload(resource.plural)) {
    if (resource.plural == "jobs") check_generated_selector(object, problems);
    check_workload(resource.plural, object, problems);
  } else if (resource.plural == "customresourcedefinitions") {
    return check_definition(object, nullptr);
  } else if (resource.plural == "configmaps" || resource.plural == "secrets") {
    check_data_keys(object, problems);
  } else {
    check_kind(resource, object, nullptr, problems);
  }
  return problems.take();
}

std::vector<FieldProblem> validate_update(const Resource& resource, const JsonValue& object,
                                          const JsonValue& old) {
  Problems problems;
  check_metadata(resource, object, problems);
  if (resource.custom != nullptr) {
    for (FieldProblem& problem : custom_problems(*resource.custom, object, &old))
      problems.push_back(std::move(problem));
    return problems.take();
  }
  if (resource.plural == "pods") {
    if (!equal(at(object, "spec"), at(old, "spec")))
      check_pod_spec(spec_of(object), "spec", problems);
    check_pod_update(object, old, problems);
  } else if (is_workload(resource.plural)) {
    if (!equal(at(object, "spec"), at(old, "spec")))
      check_workload_update(resource.plural, object, old, problems);
  } else if (resource.plural == "configmaps" || resource.plural == "secrets") {
    check_data_keys(object, problems);
    check_sealed(object, old, problems);
    if (resource.plural == "secrets") check_immutable(object, old, "type", problems);
  } else if (resource.plural == "customresourcedefinitions") {
    return check_definition(object, &old);
  } else {
    check_kind(resource, object, &old, problems);
    if (resource.plural == "priorityclasses" && !equal(at(object, "value"), at(old, "value")))
      problems.push_back(FieldProblem::forbidden("value", "may not be changed in an update."));
  }
  return problems.take();
}

Answer<void> check_size(const Resource& resource, std::string_view name, const JsonValue& object) {
  ApiError error;
  if (nests_deeper(object, kMaxObjectNesting)) {
    error.code = 422;
    error.reason = "Invalid";
    error.message = fmt::format("{} \"{}\" is invalid: it nests deeper than {} levels",
                                resource.kind, name, kMaxObjectNesting);
  } else if (text_bytes(object) > kMaxObjectBytes) {
    error.code = 413;
    error.reason = "RequestEntityTooLarge";
    error.message = fmt::format("Request entity too large: limit is {}", kMaxObjectBytes);
  } else {
    return {};
  }
  return refuse(std::move(error));
}

}  // namespace berth::memapi
