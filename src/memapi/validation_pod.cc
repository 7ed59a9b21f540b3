// What validation asks of pods and of the pods in templates.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/go_quote.h"
#include "berth/resources.h"
#include "memapi/json_edit.h"
#include "memapi/validation_rules.h"

namespace berth::memapi {
namespace {

bool is_native(std::string_view resource) {
  return !resource.contains('/') || resource.contains("kubernetes.io/");
}
bool is_hugepages(std::string_view resource) { return resource.starts_with("hugepages-"); }
bool is_extended(std::string_view resource) {
  return !is_native(resource) && !resource.starts_with("requests.");
}

void check_resource_name(std::string_view name, const std::string& path, Problems& problems) {
  const std::size_t before = problems.size();
  check_qualified_name(name, path, problems);
  const std::string text = go_quoted(name);
  if (problems.size() > before) {
    if (!name.contains('/'))
      problems.push_back(
          FieldProblem::invalid(path, text, "must be a standard resource for containers"));
    return;
  }
  const bool known =
      name == "cpu" || name == "memory" || name == "ephemeral-storage" || is_hugepages(name);
  if (name.contains('/') || known) return;
  if (name != "pods" && name != "storage") {
    problems.push_back(
        FieldProblem::invalid(path, text, "must be a standard resource type or fully qualified"));
  }
  problems.push_back(
      FieldProblem::invalid(path, text, "must be a standard resource for containers"));
}

void check_amount(std::string_view name, const JsonValue& value, const std::string& path,
                  Problems& problems) {
  const Result<Quantity> amount = Quantity::parse(value.text);
  if (!amount) return;
  if (*amount < Quantity())
    problems.push_back(
        FieldProblem::invalid(path, shown(&value), "must be greater than or equal to 0"));
  if (is_extended(name) && amount->milli_value() % 1000 != 0)
    problems.push_back(FieldProblem::invalid(path, shown(&value), "must be an integer"));
}

void check_amounts(const JsonValue* amounts, const std::string& path, Problems& problems) {
  if (!is_object(amounts)) return;
  for (const JsonMember& one : amounts->members) {
    const std::string here = key_path(path, one.name);
    check_resource_name(one.name, here, problems);
    check_amount(one.name, one.value, here, problems);
  }
}

// No more is asked for than allowed; of what cannot be shared, as much.
void check_below_limits(const JsonValue& resources, const std::string& path, Problems& problems) {
  const JsonValue* requests = at(resources, "requests");
  const JsonValue* limits = at(resources, "limits");
  if (!is_object(requests)) return;
  for (const JsonMember& request : requests->members) {
    const bool shareable = is_native(request.name) && !is_hugepages(request.name);
    const JsonValue* limit = is_object(limits) ? limits->find(request.name) : nullptr;
    if (limit == nullptr) {
      if (!shareable) {
        problems.push_back(FieldProblem::required(
            path + ".limits", "Limit must be set for non overcommitable resources"));
      }
      continue;
    }
    const Result<Quantity> asked = Quantity::parse(request.value.text);
    const Result<Quantity> allowed = Quantity::parse(limit->text);
    if (!asked || !allowed) continue;
    const bool equal_amounts = *asked == *allowed;
    if (!equal_amounts && !shareable) {
      problems.push_back(FieldProblem::invalid(
          path + ".requests", shown(&request.value),
          fmt::format("must be equal to {} limit of {}", request.name, limit->text)));
    } else if (*allowed < *asked) {
      problems.push_back(FieldProblem::invalid(
          path + ".requests", shown(&request.value),
          fmt::format("must be less than or equal to {} limit of {}", request.name, limit->text)));
    }
  }
}

void check_port_number(const JsonValue& port, std::string_view name, bool required,
                       const std::string& path, Problems& problems) {
  const std::int64_t number = int_at(port, name).value_or(0);
  const std::string field = fmt::format("{}.{}", path, name);
  if (number == 0) {
    if (required) problems.push_back(FieldProblem::required(field));
  } else if (number < 1 || number > 65535) {
    problems.push_back(FieldProblem::invalid(field, fmt::format("{}", number),
                                             "must be between 1 and 65535, inclusive"));
  }
}

void check_port_name(std::string_view name, const std::string& path, Problems& problems) {
  const auto say = [&](std::string_view why) {
    problems.push_back(FieldProblem::invalid(path, go_quoted(name), why));
  };
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (name.size() > 15) say("must be no more than 15 characters");
  if (!std::ranges::all_of(name, allowed))
    say("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (std::ranges::none_of(name, letter)) say("must contain at least one letter (a-z)");
  if (name.contains("--")) say("must not contain consecutive hyphens");
  if (name.starts_with('-') || name.ends_with('-')) say("must not begin or end with a hyphen");
}

void check_ports(const JsonValue& container, const std::string& path, Problems& problems) {
  std::set<std::string_view> names;
  const auto& ports = items_at(container, "ports");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::string here = item_path(path + ".ports", i);
    if (const std::string_view name = text_at(ports[i], "name"); !name.empty()) {
      const std::size_t before = problems.size();
      check_port_name(name, here + ".name", problems);
      if (problems.size() == before && !names.insert(name).second)
        problems.push_back(FieldProblem::duplicate(here + ".name", go_quoted(name)));
    }
    check_port_number(ports[i], "containerPort", true, here, problems);
    check_port_number(ports[i], "hostPort", false, here, problems);
    check_one_of(ports[i], "protocol", here, {"SCTP", "TCP", "UDP"}, problems);
  }
}

using Names = std::set<std::string, std::less<>>;

void check_mounts(const JsonValue& container, const std::string& path, const Names& volumes,
                  Problems& problems) {
  std::set<std::string_view> places;
  const auto& mounts = items_at(container, "volumeMounts");
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const std::string here = item_path(path + ".volumeMounts", i);
    const std::string_view name = text_at(mounts[i], "name");
    const std::string_view place = text_at(mounts[i], "mountPath");
    if (name.empty()) problems.push_back(FieldProblem::required(here + ".name"));
    if (!volumes.contains(name))
      problems.push_back(FieldProblem::not_found(here + ".name", go_quoted(name)));
    if (place.empty()) problems.push_back(FieldProblem::required(here + ".mountPath"));
    if (!places.insert(place).second) {
      problems.push_back(
          FieldProblem::invalid(here + ".mountPath", go_quoted(place), "must be unique"));
    }
  }
}

void check_claim_names(const JsonValue& container, const std::string& path, const Names& claims,
                       Problems& problems) {
  const auto& used = items_at(container, "resources.claims");
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string here = item_path(path + ".resources.claims", i);
    const std::string_view name = text_at(used[i], "name");
    if (name.empty()) problems.push_back(FieldProblem::required(here));
    if (claims.contains(name)) continue;
    std::string all;
    for (const std::string& one : claims) all += (all.empty() ? ": " : ", ") + one;
    FieldProblem missing = FieldProblem::not_found(here, go_quoted(name));
    missing.message += fmt::format(": must be one of the names in pod.spec.resourceClaims{}",
                                   claims.empty() ? " which is empty" : all);
    problems.push_back(std::move(missing));
  }
}

// What containers may refer to.
struct PodNames {
  Names volumes;
  Names claims;
};

void check_container(const JsonValue& container, const std::string& path, const PodNames& known,
                     Problems& problems) {
  const std::string_view name = text_at(container, "name");
  if (name.empty()) {
    problems.push_back(FieldProblem::required(path + ".name"));
  } else {
    check_dns_label(name, path + ".name", problems);
  }
  if (text_at(container, "image").empty())
    problems.push_back(FieldProblem::required(path + ".image"));
  check_one_of(container, "terminationMessagePolicy", path, {"File", "FallbackToLogsOnError"},
               problems);
  check_ports(container, path, problems);
  check_mounts(container, path, known.volumes, problems);
  check_one_of(container, "imagePullPolicy", path, {"Always", "IfNotPresent", "Never"}, problems);
  if (const JsonValue* resources = at(container, "resources"); is_object(resources))
    check_requirements(*resources, path + ".resources", problems);
  check_claim_names(container, path, known.claims, problems);
}

void check_host_ports(const std::vector<JsonValue>& containers, const std::string& path,
                      Problems& problems) {
  std::set<std::string> taken;
  for (std::size_t c = 0; c < containers.size(); ++c) {
    const auto& ports = items_at(containers[c], "ports");
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::int64_t number = int_at(ports[i], "hostPort").value_or(0);
      if (number == 0) continue;
      const std::string port = fmt::format("{}/{}/{}", text_at(ports[i], "protocol"),
                                           text_at(ports[i], "hostIP"), number);
      if (taken.insert(port).second) continue;
      problems.push_back(FieldProblem::duplicate(
          item_path(item_path(path, c) + ".ports", i) + ".hostPort", go_quoted(port)));
    }
  }
}

void check_containers(const JsonValue& spec, const std::string& path, const PodNames& known,
                      Problems& problems) {
  const auto& containers = items_at(spec, "containers");
  const std::string list = path + ".containers";
  if (containers.empty()) problems.push_back(FieldProblem::required(list));
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const std::string here = item_path(list, i);
    check_container(containers[i], here, known, problems);
    if (!names.insert(text_at(containers[i], "name")).second)
      problems.push_back(
          FieldProblem::duplicate(here + ".name", go_quoted(text_at(containers[i], "name"))));
  }
  check_host_ports(containers, list, problems);
  const auto& initial = items_at(spec, "initContainers");
  for (std::size_t i = 0; i < initial.size(); ++i) {
    const std::string here = item_path(path + ".initContainers", i);
    check_container(initial[i], here, known, problems);
    const std::string_view name = text_at(initial[i], "name");
    if (!name.empty() && !names.insert(name).second)
      problems.push_back(FieldProblem::duplicate(here + ".name", go_quoted(name)));
    if (text_at(initial[i], "restartPolicy") == "Always") continue;
    for (const std::string_view member :
         {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (at(initial[i], member) == nullptr) continue;
      problems.push_back(FieldProblem::forbidden(
          fmt::format("{}.{}", here, member),
          "may not be set for init containers without restartPolicy=Always"));
    }
  }
}

Names check_volumes(const JsonValue& spec, const std::string& path, Problems& problems) {
  Names names;
  const auto& volumes = items_at(spec, "volumes");
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string here = item_path(path + ".volumes", i) + ".name";
    const std::string_view name = text_at(volumes[i], "name");
    const std::size_t before = problems.size();
    if (name.empty()) {
      problems.push_back(FieldProblem::required(here));
    } else {
      check_dns_label(name, here, problems);
    }
    if (names.contains(name)) problems.push_back(FieldProblem::duplicate(here, go_quoted(name)));
    if (problems.size() == before) names.emplace(name);
  }
  return names;
}

Names check_claims(const JsonValue& spec, const std::string& path, Problems& problems) {
  Names names;
  const auto& claims = items_at(spec, "resourceClaims");
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const std::string here = item_path(path + ".resourceClaims", i);
    const std::string_view name = text_at(claims[i], "name");
    if (name.empty()) {
      problems.push_back(FieldProblem::required(here + ".name"));
    } else if (!names.emplace(name).second) {
      problems.push_back(FieldProblem::duplicate(here + ".name", go_quoted(name)));
    } else {
      check_dns_label(name, here + ".name", problems);
    }
    const bool direct = at(claims[i], "resourceClaimName") != nullptr;
    const bool made = at(claims[i], "resourceClaimTemplateName") != nullptr;
    if (direct != made) continue;
    problems.push_back(FieldProblem::invalid(
        here,
        shown_struct(claims[i], {{"Name", "name", "\"\""},
                                 {"ResourceClaimName", "resourceClaimName"},
                                 {"ResourceClaimTemplateName", "resourceClaimTemplateName"}}),
        direct ? "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be "
                 "specified"
               : "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
  }
  return names;
}

}  // namespace

void check_requirements(const JsonValue& resources, const std::string& path, Problems& problems) {
  check_amounts(at(resources, "limits"), path + ".limits", problems);
  check_amounts(at(resources, "requests"), path + ".requests", problems);
  check_below_limits(resources, path, problems);
}

void check_pod_spec(const JsonValue& spec, const std::string& path, Problems& problems) {
  PodNames known;
  known.volumes = check_volumes(spec, path, problems);
  known.claims = check_claims(spec, path, problems);
  check_containers(spec, path, known, problems);
  check_one_of(spec, "restartPolicy", path, {"Always", "OnFailure", "Never"}, problems);
  check_one_of(spec, "dnsPolicy", path,
               {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, problems);
  check_scheduling(spec, path, problems);
  if (const std::string_view node = text_at(spec, "nodeName"); !node.empty())
    check_dns_subdomain(node, path + ".nodeName", problems);
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (const auto deadline = int_at(spec, "activeDeadlineSeconds");
      deadline && (*deadline < 1 || *deadline > kMost)) {
    problems.push_back(
        FieldProblem::invalid(path + ".activeDeadlineSeconds", fmt::format("{}", *deadline),
                              fmt::format("must be between 1 and {}, inclusive", kMost)));
  }
  for (const std::string_view name : {"hostname", "subdomain"})
    if (const std::string_view text = text_at(spec, name); !text.empty())
      check_dns_label(text, fmt::format("{}.{}", path, name), problems);
  if (const std::string_view name = text_at(spec, "priorityClassName"); !name.empty())
    check_dns_subdomain(name, path + ".priorityClassName", problems);
  if (at(spec, "preemptionPolicy") != nullptr)
    check_one_of(spec, "preemptionPolicy", path, {"PreemptLowerPriority", "Never"}, problems);
}

}  // namespace berth::memapi
