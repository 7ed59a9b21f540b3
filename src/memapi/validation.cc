#include "memapi/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/go_quote.h"
#include "berth/labels.h"
#include "memapi/json_edit.h"
#include "memapi/json_lookup.h"
#include "memapi/selection.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
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

void check_metadata(const Resource& resource, const JsonValue& object,
                    std::vector<FieldProblem>& problems) {
  const std::string_view name = text_at(object, "metadata.name");
  if (name.empty()) {
    problems.push_back(FieldProblem::required("metadata.name", "name or generateName is required"));
  } else if (resource.names == NameRule::kLabel ? !is_dns_label(name) : !is_dns_subdomain(name)) {
    const bool label = resource.names == NameRule::kLabel;
    const std::size_t limit = label ? 63 : 253;
    const std::string_view rule = label ? kLabelRule : kSubdomainRule;
    const std::string too_long = fmt::format("must be no more than {} characters", limit);
    problems.push_back(FieldProblem::invalid("metadata.name", go_quoted(name),
                                             name.size() > limit ? too_long : rule));
  }
  const JsonValue* labels = at(object, "metadata.labels");
  if (!is_object(labels)) return;
  for (const JsonMember& label : labels->members) {
    for (const std::string& problem : label_key_problems(label.name)) {
      problems.push_back(FieldProblem::invalid("metadata.labels", go_quoted(label.name), problem));
    }
    if (!is_valid_label_value(label.value.text)) {
      problems.push_back(
          FieldProblem::invalid("metadata.labels", go_quoted(label.value.text), kLabelValueRule));
    }
  }
}

void check_containers(const JsonValue& spec, const std::string& path,
                      std::vector<FieldProblem>& problems) {
  const auto& containers = items_at(spec, "containers");
  if (containers.empty()) {
    problems.push_back(FieldProblem::required(fmt::format("{}.containers", path)));
  }
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string here = fmt::format("{}.containers[{}]", path, i);
    const std::string_view name = text_at(containers[i], "name");
    if (name.empty()) {
      problems.push_back(FieldProblem::required(here + ".name"));
    } else if (!is_dns_label(name)) {
      problems.push_back(FieldProblem::invalid(here + ".name", go_quoted(name), kLabelRule));
    }
    if (text_at(containers[i], "image").empty())
      problems.push_back(FieldProblem::required(here + ".image"));
  }
}

// A workload whose selector its own pods do not match would make pods without end.
void check_template_labels(const JsonValue& object, const std::vector<LabelRequirement>& selector,
                           std::vector<FieldProblem>& problems) {
  LabelPairs labels;
  if (const JsonValue* given = at(object, "spec.template.metadata.labels"); is_object(given)) {
    for (const JsonMember& label : given->members)
      labels.emplace_back(label.name, label.value.text);
    std::ranges::sort(labels);
  }
  const bool fits = std::ranges::all_of(
      selector, [&](const LabelRequirement& requirement) { return requirement.matches(labels); });
  if (fits) return;
  std::string shown = "map[string]string{";
  for (const auto& [key, value] : labels) {
    if (shown.back() != '{') shown += ", ";
    shown += fmt::format("{}:{}", go_quoted(key), go_quoted(value));
  }
  problems.push_back(FieldProblem::invalid("spec.template.metadata.labels", shown + "}",
                                           "`selector` does not match template `labels`"));
}

// A ReplicationController's selector is a map of labels, and need not be there.
void check_replication_controller(const JsonValue& object, std::vector<FieldProblem>& problems) {
  const JsonValue* selector = at(object, "spec.selector");
  if (!is_object(selector)) return;
  std::vector<LabelRequirement> wanted;
  for (const JsonMember& label : selector->members)
    wanted.push_back({label.name, LabelRequirement::Op::kIn, {label.value.text}});
  check_template_labels(object, wanted, problems);
}

void check_workload(const JsonValue& object, std::vector<FieldProblem>& problems) {
  const JsonValue* selector = at(object, "spec.selector");
  if (!is_object(selector))
    problems.push_back(FieldProblem::required("spec.selector"));
  else if (const auto wanted = label_selector_of(*selector))
    check_template_labels(object, *wanted, problems);
  static const JsonValue kNothing = JsonValue::object();
  const JsonValue* spec = at(object, "spec.template.spec");
  check_containers(spec != nullptr ? *spec : kNothing, "spec.template.spec", problems);
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

void check_pod_update(const JsonValue& pod, const JsonValue& old,
                      std::vector<FieldProblem>& problems) {
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
  std::vector<FieldProblem> problems;
  check_metadata(resource, object, problems);
  static const JsonValue kNothing = JsonValue::object();
  if (resource.plural == "pods") {
    const JsonValue* spec = at(object, "spec");
    check_containers(spec != nullptr ? *spec : kNothing, "spec", problems);
  } else if (resource.group == "apps") {
    check_workload(object, problems);
  } else if (resource.plural == "replicationcontrollers") {
    check_replication_controller(object, problems);
  } else if (resource.plural == "storageclasses" && text_at(object, "provisioner").empty()) {
    problems.push_back(FieldProblem::required("provisioner"));
  }
  return problems;
}

std::vector<FieldProblem> validate_update(const Resource& resource, const JsonValue& object,
                                          const JsonValue& old) {
  std::vector<FieldProblem> problems;
  check_metadata(resource, object, problems);
  if (resource.plural == "pods") {
    check_pod_update(object, old, problems);
  } else if (resource.group == "apps") {
    check_workload(object, problems);
    if (!equal(at(object, "spec.selector"), at(old, "spec.selector"))) {
      const JsonValue* selector = at(object, "spec.selector");
      problems.push_back(FieldProblem::invalid("spec.selector",
                                               selector != nullptr ? to_json(*selector) : "null",
                                               "field is immutable"));
    }
  } else if (resource.plural == "replicationcontrollers") {
    check_replication_controller(object, problems);
  } else if (resource.plural == "priorityclasses" &&
             !equal(at(object, "value"), at(old, "value"))) {
    problems.push_back(FieldProblem::forbidden("value", "may not be changed in an update."));
  }
  return problems;
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
