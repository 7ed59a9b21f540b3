// What validation asks of the kinds that say what others may have or do: quotas, roles, bindings.

#include <fmt/format.h>

#include <algorithm>

#include "base/go_quote.h"
#include "berth/resources.h"
#include "memapi/json_edit.h"
#include "memapi/quota_usage.h"
#include "memapi/validation_rules.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kScopeNames[] = {"Terminating",          "NotTerminating",
                                            "BestEffort",           "NotBestEffort",
                                            "PriorityClass",        "CrossNamespacePodAffinity",
                                            "VolumeAttributesClass"};

bool is_scope(std::string_view name) {
  return std::ranges::find(kScopeNames, name) != std::end(kScopeNames);
}

// Amounts of things that there are no parts of.
bool is_whole(std::string_view name) {
  constexpr std::string_view kFractions[] = {"cpu", "memory", "storage", "ephemeral-storage"};
  for (const std::string_view prefix : {"requests.", "limits."})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return std::ranges::find(kFractions, name) == std::end(kFractions) &&
         !name.ends_with("requests.storage");
}

void check_hard_limit(const JsonMember& limit, Problems& problems) {
  const std::string path = key_path("spec.hard", limit.name);
  const std::size_t before = problems.size();
  check_qualified_name(limit.name, path, problems);
  const bool named = problems.size() == before;
  if (!limit.name.contains('/') && !is_standard_quota_name(limit.name)) {
    if (named && limit.name != "storage") {
      problems.push_back(FieldProblem::invalid(
          path, go_quoted(limit.name), "must be a standard resource type or fully qualified"));
    }
    problems.push_back(FieldProblem::invalid(path, go_quoted(limit.name),
                                             "must be a standard resource for quota"));
  }
  const Result<Quantity> amount = Quantity::parse(limit.value.text);
  if (!amount) return;
  if (amount->sign() < 0) {
    problems.push_back(
        FieldProblem::invalid(path, shown(&limit.value), "must be greater than or equal to 0"));
  }
  if (is_whole(limit.name) && amount->milli_value() % 1000 != 0)
    problems.push_back(FieldProblem::invalid(path, shown(&limit.value), "must be an integer"));
}

// Scopes that there are, that go together, and that the limits can have.
void check_scopes(const JsonValue& spec, const std::vector<std::string>& scopes,
                  const JsonValue* shown_value, const std::string& path, Problems& problems) {
  const JsonValue* hard = at(spec, "hard");
  const auto has = [&](std::string_view scope) {
    return std::ranges::find(scopes, scope) != scopes.end();
  };
  for (const std::string& scope : scopes) {
    if (!is_scope(scope))
      problems.push_back(FieldProblem::invalid(path, shown(shown_value), "unsupported scope"));
    if (!is_object(hard)) continue;
    for (const JsonMember& limit : hard->members) {
      if (is_standard_quota_name(limit.name) && !quota_scope_is_about(scope, limit.name)) {
        problems.push_back(FieldProblem::invalid(path, shown(shown_value),
                                                 "unsupported scope applied to resource"));
      }
    }
  }
  if ((has("BestEffort") && has("NotBestEffort")) || (has("Terminating") && has("NotTerminating")))
    problems.push_back(FieldProblem::invalid(path, shown(shown_value), "conflicting scopes"));
}

void check_scope_selector(const JsonValue& spec, Problems& problems) {
  const auto& expressions = items_at(spec, "scopeSelector.matchExpressions");
  std::vector<std::string> scopes;
  // Parity: which of them it is, is not said.
  const std::string path = "spec.scopeSelector.matchExpressions";
  for (const JsonValue& expression : expressions) {
    const std::string_view scope = text_at(expression, "scopeName");
    const std::string_view op = text_at(expression, "operator");
    const JsonValue* values = at(expression, "values");
    const bool some = is_array(values) && !values->items.empty();
    scopes.emplace_back(scope);
    if (scope != "PriorityClass" && scope != "VolumeAttributesClass" && op != "Exists") {
      problems.push_back(
          FieldProblem::invalid(path + ".operator", go_quoted(op),
                                "must be 'Exists' when scope is any of "
                                "ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
                                "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
                                "ResourceQuotaScopeCrossNamespacePodAffinity"));
    } else if ((op == "In" || op == "NotIn") && !some) {
      problems.push_back(FieldProblem::required(
          path + ".values",
          "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
    } else if ((op == "Exists" || op == "DoesNotExist") && some) {
      problems.push_back(FieldProblem::invalid(
          path + ".values", shown(values),
          "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector"));
    } else if (op != "In" && op != "NotIn" && op != "Exists" && op != "DoesNotExist") {
      problems.push_back(FieldProblem::invalid(path + ".operator", go_quoted(op),
                                               "not a valid selector operator"));
    }
  }
  check_scopes(spec, scopes, at(spec, path), path, problems);
}

}  // namespace

void check_resource_quota(const JsonValue& quota, const JsonValue* old, Problems& problems) {
  static const JsonValue kNone = JsonValue::object();
  const JsonValue* found = at(quota, "spec");
  const JsonValue& spec = is_object(found) ? *found : kNone;
  if (const JsonValue* hard = at(spec, "hard"); is_object(hard))
    for (const JsonMember& limit : hard->members) check_hard_limit(limit, problems);
  std::vector<std::string> scopes;
  for (const JsonValue& scope : items_at(spec, "scopes")) scopes.push_back(scope.text);
  check_scopes(spec, scopes, at(spec, "scopes"), "spec.scopes", problems);
  check_scope_selector(spec, problems);
  if (old != nullptr) check_immutable(quota, *old, "spec.scopes", problems);
}

// ---- roles and bindings

namespace {

void check_policy_rule(const JsonValue& rule, bool namespaced, const std::string& path,
                       Problems& problems) {
  const auto some = [&](std::string_view member) { return !items_at(rule, member).empty(); };
  if (some("nonResourceURLs")) {
    const auto wrong = [&](std::string_view why) {
      problems.push_back(FieldProblem::invalid(path + ".nonResourceURLs",
                                               shown(at(rule, "nonResourceURLs")), why));
    };
    if (namespaced) wrong("namespaced rules cannot apply to non-resource URLs");
    if (some("apiGroups") || some("resources") || some("resourceNames"))
      wrong("rules cannot apply to both regular resources and non-resource URLs");
  } else {
    if (!some("apiGroups")) {
      problems.push_back(FieldProblem::required(
          path + ".apiGroups", "resource rules must supply at least one api group"));
    }
    if (!some("resources")) {
      problems.push_back(FieldProblem::required(
          path + ".resources", "resource rules must supply at least one resource"));
    }
  }
  if (!some("verbs")) problems.push_back(FieldProblem::required(path + ".verbs"));
}

constexpr std::string_view kRoleGroup = "\"rbac.authorization.k8s.io\"";

void check_subject_kind(const JsonValue& subject, bool namespaced, const std::string& path,
                        Problems& problems) {
  const std::string_view kind = text_at(subject, "kind");
  const std::string_view group = text_at(subject, "apiGroup");
  const bool account = kind == "ServiceAccount";
  if (!account && kind != "User" && kind != "Group") {
    problems.push_back(FieldProblem::not_supported(path + ".kind", go_quoted(kind),
                                                   R"("ServiceAccount", "User", "Group")"));
    return;
  }
  if (account ? !group.empty() : group != "rbac.authorization.k8s.io") {
    problems.push_back(FieldProblem::not_supported(path + ".apiGroup", go_quoted(group),
                                                   account ? "\"\"" : kRoleGroup));
  }
  if (account && !namespaced && text_at(subject, "namespace").empty())
    problems.push_back(FieldProblem::required(path + ".namespace"));
}

}  // namespace

void check_role(const JsonValue& role, Problems& problems) {
  const bool namespaced = !text_at(role, "metadata.namespace").empty();
  const auto& rules = items_at(role, "rules");
  for (std::size_t i = 0; i < rules.size(); ++i)
    check_policy_rule(rules[i], namespaced, item_path("rules", i), problems);
  const JsonValue* aggregation = at(role, "aggregationRule");
  if (namespaced || aggregation == nullptr) return;
  const std::string path = "aggregationRule.clusterRoleSelectors";
  const auto& selectors = items_at(*aggregation, "clusterRoleSelectors");
  if (selectors.empty()) {
    problems.push_back(FieldProblem::required(
        path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (std::size_t i = 0; i < selectors.size(); ++i)
    check_label_selector(&selectors[i], item_path(path, i), problems);
}

void check_role_binding(const JsonValue& binding, const JsonValue* old, Problems& problems) {
  const bool namespaced = !text_at(binding, "metadata.namespace").empty();
  const std::string_view group = text_at(binding, "roleRef.apiGroup");
  const std::string_view kind = text_at(binding, "roleRef.kind");
  if (group != "rbac.authorization.k8s.io") {
    problems.push_back(
        FieldProblem::not_supported("roleRef.apiGroup", go_quoted(group), kRoleGroup));
  }
  if (kind != "ClusterRole" && !(namespaced && kind == "Role")) {
    problems.push_back(
        FieldProblem::not_supported("roleRef.kind", go_quoted(kind),
                                    namespaced ? R"("Role", "ClusterRole")" : "\"ClusterRole\""));
  }
  const auto& subjects = items_at(binding, "subjects");
  for (std::size_t i = 0; i < subjects.size(); ++i)
    check_subject_kind(subjects[i], namespaced, item_path("subjects", i), problems);
  for (std::size_t i = 0; i < subjects.size(); ++i)
    if (text_at(subjects[i], "name").empty())
      problems.push_back(FieldProblem::required(item_path("subjects", i) + ".name"));
  if (text_at(binding, "roleRef.name").empty())
    problems.push_back(FieldProblem::required("roleRef.name"));
  if (old != nullptr && !equal(at(binding, "roleRef"), at(*old, "roleRef"))) {
    problems.push_back(FieldProblem::invalid(
        "roleRef",
        shown_struct(*at(binding, "roleRef"),
                     {{"APIGroup", "apiGroup"}, {"Kind", "kind"}, {"Name", "name"}}),
        "field is immutable"));
  }
}

}  // namespace berth::memapi
