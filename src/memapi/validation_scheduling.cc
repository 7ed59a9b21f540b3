// What validation asks of fields about where pods go.

#include <fmt/format.h>

#include <set>

#include "base/go_quote.h"
#include "memapi/json_edit.h"
#include "memapi/validation_rules.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

void check_taint_effect(std::string_view effect, const std::string& path, Problems& problems) {
  if (effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute") return;
  if (effect.empty()) {
    problems.push_back(FieldProblem::required(path));
    return;
  }
  problems.push_back(FieldProblem::not_supported(
      path, go_quoted(effect), R"("NoSchedule", "PreferNoSchedule", "NoExecute")"));
}

void check_toleration(const JsonValue& toleration, const std::string& path, Problems& problems) {
  const std::string_view key = text_at(toleration, "key");
  const std::string_view op = text_at(toleration, "operator");
  const std::string_view value = text_at(toleration, "value");
  const std::string_view effect = text_at(toleration, "effect");
  const std::string op_path = path + ".operator";
  if (!key.empty()) check_qualified_name(key, path + ".key", problems);
  if (key.empty() && op != "Exists") {
    problems.push_back(FieldProblem::invalid(
        op_path, go_quoted(op),
        "operator must be Exists when `key` is empty, which means \"match all values and all "
        "keys\""));
  }
  if (at(toleration, "tolerationSeconds") != nullptr && effect != "NoExecute") {
    problems.push_back(
        FieldProblem::invalid(path + ".effect", go_quoted(effect),
                              "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (op == "Equal" || op.empty()) {
    check_label_value(value, op_path, problems);
  } else if (op == "Exists") {
    if (!value.empty()) {
      problems.push_back(FieldProblem::invalid(op_path, go_quoted(value),
                                               "value must be empty when `operator` is 'Exists'"));
    }
  } else if (op != "Lt" && op != "Gt") {
    problems.push_back(FieldProblem::not_supported(op_path, go_quoted(op), R"("Equal", "Exists")"));
  }
  if (!effect.empty()) check_taint_effect(effect, path + ".effect", problems);
}

void check_node_requirement(const JsonValue& one, const std::string& path, bool check_values,
                            Problems& problems) {
  const std::string_view op = text_at(one, "operator");
  const auto& values = items_at(one, "values");
  const std::string values_path = path + ".values";
  if (op != "Gt" && op != "Lt") {
    check_set_operator(one, path, problems);
  } else if (values.size() != 1) {
    problems.push_back(FieldProblem::required(
        values_path, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  }
  check_qualified_name(text_at(one, "key"), path + ".key", problems);
  if (!check_values) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    check_label_value(values[i].text, item_path(values_path, i), problems);
}

void check_field_requirement(const JsonValue& one, const std::string& path, Problems& problems) {
  const std::string_view op = text_at(one, "operator");
  const std::string_view key = text_at(one, "key");
  const auto& values = items_at(one, "values");
  if (op != "In" && op != "NotIn") {
    problems.push_back(
        FieldProblem::invalid(path + ".operator", go_quoted(op), "not a valid selector operator"));
  } else if (values.size() != 1) {
    problems.push_back(FieldProblem::required(
        path + ".values",
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key != "metadata.name") {
    problems.push_back(
        FieldProblem::invalid(path + ".key", go_quoted(key), "not a valid field selector key"));
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    check_dns_subdomain(values[i].text, item_path(path + ".values", i), problems);
}

void check_node_term(const JsonValue& term, const std::string& path, bool check_values,
                     Problems& problems) {
  const auto& expressions = items_at(term, "matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i)
    check_node_requirement(expressions[i], item_path(path + ".matchExpressions", i), check_values,
                           problems);
  const auto& fields = items_at(term, "matchFields");
  for (std::size_t i = 0; i < fields.size(); ++i)
    check_field_requirement(fields[i], item_path(path + ".matchFields", i), problems);
}

void check_weight(const JsonValue& term, const std::string& path, Problems& problems) {
  const std::int64_t weight = int_at(term, "weight").value_or(0);
  if (weight > 0 && weight <= 100) return;
  problems.push_back(FieldProblem::invalid(path + ".weight", fmt::format("{}", weight),
                                           "must be in the range 1-100"));
}

void check_pod_term(const JsonValue& term, const std::string& path, Problems& problems) {
  check_label_selector(at(term, "labelSelector"), path + ".labelSelector", problems);
  check_label_selector(at(term, "namespaceSelector"), path + ".namespaceSelector", problems);
  for (const JsonValue& name : items_at(term, "namespaces"))
    check_dns_label(name.text, path + ".namespace", problems);
  const std::string_view key = text_at(term, "topologyKey");
  if (key.empty())
    problems.push_back(FieldProblem::required(path + ".topologyKey", "can not be empty"));
  check_qualified_name(key, path + ".topologyKey", problems);
}

void check_pod_affinity(const JsonValue* affinity, const std::string& path, Problems& problems) {
  if (!is_object(affinity)) return;
  const auto& required = items_at(*affinity, kRequired);
  const std::string required_path = fmt::format("{}.{}", path, kRequired);
  for (std::size_t i = 0; i < required.size(); ++i)
    check_pod_term(required[i], item_path(required_path, i), problems);
  const auto& preferred = items_at(*affinity, kPreferred);
  const std::string preferred_path = fmt::format("{}.{}", path, kPreferred);
  static const JsonValue kNothing = JsonValue::object();
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = item_path(preferred_path, i);
    check_weight(preferred[i], here, problems);
    const JsonValue* term = at(preferred[i], "podAffinityTerm");
    check_pod_term(term != nullptr ? *term : kNothing, here + ".podAffinityTerm", problems);
  }
}

void check_node_affinity(const JsonValue* affinity, const std::string& path, Problems& problems) {
  if (!is_object(affinity)) return;
  if (const JsonValue* required = at(*affinity, kRequired); is_object(required))
    check_node_selector(*required, fmt::format("{}.{}", path, kRequired), true, problems);
  const auto& preferred = items_at(*affinity, kPreferred);
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const std::string here = item_path(fmt::format("{}.{}", path, kPreferred), i);
    check_weight(preferred[i], here, problems);
    if (const JsonValue* term = at(preferred[i], "preference"); is_object(term))
      check_node_term(*term, here + ".preference", false, problems);
  }
}

void check_inclusion_policy(const JsonValue& constraint, std::string_view name,
                            const std::string& path, Problems& problems) {
  if (at(constraint, name) != nullptr)
    check_one_of(constraint, name, path, {"Honor", "Ignore"}, problems);
}

void check_spread_constraint(const std::vector<JsonValue>& all, std::size_t index,
                             const std::string& path, Problems& problems) {
  constexpr std::string_view kPositive = "must be greater than zero";
  const JsonValue& one = all[index];
  const std::string_view key = text_at(one, "topologyKey");
  const std::string_view action = text_at(one, "whenUnsatisfiable");
  const std::int64_t skew = int_at(one, "maxSkew").value_or(0);
  if (skew <= 0)
    problems.push_back(
        FieldProblem::invalid(path + ".maxSkew", fmt::format("{}", skew), kPositive));
  if (key.empty())
    problems.push_back(FieldProblem::required(path + ".topologyKey", "can not be empty"));
  if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
    problems.push_back(FieldProblem::not_supported(path + ".whenUnsatisfiable", go_quoted(action),
                                                   R"("DoNotSchedule", "ScheduleAnyway")"));
  }
  for (std::size_t i = index + 1; i < all.size(); ++i) {
    if (text_at(all[i], "topologyKey") != key || text_at(all[i], "whenUnsatisfiable") != action)
      continue;
    problems.push_back(FieldProblem::duplicate(path + ".{topologyKey, whenUnsatisfiable}",
                                               go_quoted(fmt::format("{{{}, {}}}", key, action))));
    break;
  }
  if (const auto least = int_at(one, "minDomains")) {
    const std::string text = fmt::format("{}", *least);
    if (*least <= 0)
      problems.push_back(FieldProblem::invalid(path + ".minDomains", text, kPositive));
    if (action != "DoNotSchedule") {
      problems.push_back(FieldProblem::invalid(
          path + ".minDomains", text,
          fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                      action)));
    }
  }
  check_inclusion_policy(one, "nodeAffinityPolicy", path, problems);
  check_inclusion_policy(one, "nodeTaintsPolicy", path, problems);
  check_label_selector(at(one, "labelSelector"), path + ".labelSelector", problems);
}

void check_gates(const JsonValue& spec, const std::string& path, Problems& problems) {
  const auto& gates = items_at(spec, "schedulingGates");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string here = item_path(path + ".schedulingGates", i);
    const std::string_view name = text_at(gates[i], "name");
    check_qualified_name(name, here, problems);
    if (!seen.insert(name).second)
      problems.push_back(FieldProblem::duplicate(here, go_quoted(name)));
  }
}

}  // namespace

void check_node_selector(const JsonValue& selector, const std::string& path, bool values,
                         Problems& problems) {
  const auto& terms = items_at(selector, "nodeSelectorTerms");
  const std::string terms_path = path + ".nodeSelectorTerms";
  if (terms.empty()) {
    problems.push_back(
        FieldProblem::required(terms_path, "must have at least one node selector term"));
  }
  for (std::size_t i = 0; i < terms.size(); ++i)
    check_node_term(terms[i], item_path(terms_path, i), values, problems);
}

void check_tolerations(const JsonValue& spec, const std::string& path, Problems& problems) {
  const auto& tolerations = items_at(spec, "tolerations");
  for (std::size_t i = 0; i < tolerations.size(); ++i)
    check_toleration(tolerations[i], item_path(path + ".tolerations", i), problems);
}

void check_taints(const JsonValue& spec, const std::string& path, Problems& problems) {
  const auto& taints = items_at(spec, "taints");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const std::string here = item_path(path + ".taints", i);
    check_qualified_name(text_at(taints[i], "key"), here + ".key", problems);
    check_label_value(text_at(taints[i], "value"), here + ".value", problems);
    check_taint_effect(text_at(taints[i], "effect"), here + ".effect", problems);
    if (seen.emplace(text_at(taints[i], "key"), text_at(taints[i], "effect")).second) continue;
    FieldProblem twice =
        FieldProblem::duplicate(here, shown_struct(taints[i], {{"Key", "key", "\"\""},
                                                               {"Value", "value", "\"\""},
                                                               {"Effect", "effect", "\"\""},
                                                               {"TimeAdded", "timeAdded"}}));
    twice.message += ": taints must be unique by key and effect pair";
    problems.push_back(std::move(twice));
  }
}

void check_scheduling(const JsonValue& spec, const std::string& path, Problems& problems) {
  check_labels(at(spec, "nodeSelector"), path + ".nodeSelector", problems);
  check_node_affinity(at(spec, "affinity.nodeAffinity"), path + ".affinity.nodeAffinity", problems);
  check_pod_affinity(at(spec, "affinity.podAffinity"), path + ".affinity.podAffinity", problems);
  check_pod_affinity(at(spec, "affinity.podAntiAffinity"), path + ".affinity.podAntiAffinity",
                     problems);
  check_gates(spec, path, problems);
  const auto& constraints = items_at(spec, "topologySpreadConstraints");
  for (std::size_t i = 0; i < constraints.size(); ++i)
    check_spread_constraint(constraints, i, item_path(path + ".topologySpreadConstraints", i),
                            problems);
  check_tolerations(spec, path, problems);
}

}  // namespace berth::memapi
