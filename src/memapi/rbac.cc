#include "memapi/rbac.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/go_quote.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kKinds[] = {"roles", "rolebindings", "clusterroles",
                                       "clusterrolebindings"};

const Resource& rbac_resource(std::string_view plural) { return resource_of(plural, kRbacGroup); }

std::vector<std::string> texts_at(const JsonValue& object, std::string_view path) {
  std::vector<std::string> texts;
  for (const JsonValue& item : items_at(object, path)) texts.push_back(item.text);
  return texts;
}

bool lists(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool has_or_all(const std::vector<std::string>& list, std::string_view text) {
  return lists(list, "*") || lists(list, text);
}

bool has_path(const std::vector<std::string>& paths, std::string_view path) {
  return std::ranges::any_of(paths, [&](const std::string& one) {
    if (one == "*" || one == path) return true;
    return one.ends_with('*') && path.starts_with(std::string_view(one).substr(0, one.size() - 1));
  });
}

// "pods/log", by its name, by "*" or by "*/log".
bool has_resource(const std::vector<std::string>& resources, std::string_view resource) {
  if (has_or_all(resources, resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string_view::npos &&
         lists(resources, fmt::format("*{}", resource.substr(slash)));
}

bool is_subject(const JsonValue& subject, const UserInfo& user, std::string_view binding_space) {
  const std::string_view kind = text_at(subject, "kind");
  const std::string_view name = text_at(subject, "name");
  if (kind == "User") return name == user.name;
  if (kind == "Group") return user.in_group(name);
  if (kind != "ServiceAccount") return false;
  std::string_view space = text_at(subject, "namespace");
  if (space.empty()) space = binding_space;
  return !space.empty() && user.name == fmt::format("{}{}:{}", kAccountPrefix, space, name);
}

std::string subject_text(const JsonValue& subject, std::string_view binding_space) {
  std::string name(text_at(subject, "name"));
  if (text_at(subject, "kind") == "ServiceAccount") {
    const std::string_view space = text_at(subject, "namespace");
    name += fmt::format("/{}", space.empty() ? binding_space : space);
  }
  return fmt::format("{} {}", text_at(subject, "kind"), go_quoted(name));
}

// One permission that a rule gives.
bool covers(const PolicyRule& owned, const PolicyRule& one) {
  if (!has_or_all(owned.verbs, one.verbs.front())) return false;
  if (!one.paths.empty()) return has_path(owned.paths, one.paths.front());
  if (!has_or_all(owned.groups, one.groups.front()) ||
      !has_resource(owned.resources, one.resources.front()))
    return false;
  return owned.names.empty() || (!one.names.empty() && lists(owned.names, one.names.front()));
}

std::vector<PolicyRule> single_permissions(const PolicyRule& rule) {
  std::vector<PolicyRule> singles;
  for (const std::string& verb : rule.verbs) {
    for (const std::string& path : rule.paths) singles.push_back({{verb}, {}, {}, {}, {path}});
    for (const std::string& group : rule.groups) {
      for (const std::string& resource : rule.resources) {
        if (rule.names.empty()) singles.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const std::string& name : rule.names)
          singles.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
    }
  }
  return singles;
}

// Permissions that differ by their verbs only become one rule.
std::set<std::string> compact_texts(const std::vector<PolicyRule>& singles) {
  std::map<std::pair<std::string, std::string>, PolicyRule> simple;
  std::set<std::string> texts;
  for (const PolicyRule& one : singles) {
    if (!one.names.empty() || !one.paths.empty()) {
      texts.insert(one.text());
      continue;
    }
    const auto [entry, fresh] =
        simple.try_emplace({one.groups.front(), one.resources.front()}, one);
    if (!fresh) entry->second.verbs.push_back(one.verbs.front());
  }
  for (const auto& [key, rule] : simple) texts.insert(rule.text());
  return texts;
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(go_quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, " "));
}

}  // namespace

// ---- rules

bool PolicyRule::allows(const AccessQuestion& question) const {
  if (!has_or_all(verbs, question.verb)) return false;
  if (question.resource.empty()) return has_path(paths, question.path);
  if (!has_or_all(groups, question.group)) return false;
  const std::string resource = question.subresource.empty()
                                   ? question.resource
                                   : fmt::format("{}/{}", question.resource, question.subresource);
  return has_resource(resources, resource) && (names.empty() || lists(names, question.name));
}

std::string PolicyRule::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, list] : {std::pair{"APIGroups", &groups},
                                   {"Resources", &resources},
                                   {"NonResourceURLs", &paths},
                                   {"ResourceNames", &names},
                                   {"Verbs", &verbs}})
    if (!list->empty()) parts.push_back(fmt::format("{}:{}", name, quoted_list(*list)));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::vector<PolicyRule> policy_rules(const JsonValue& role) {
  std::vector<PolicyRule> rules;
  for (const JsonValue& rule : items_at(role, "rules")) {
    rules.push_back({texts_at(rule, "verbs"), texts_at(rule, "apiGroups"),
                     texts_at(rule, "resources"), texts_at(rule, "resourceNames"),
                     texts_at(rule, "nonResourceURLs")});
  }
  return rules;
}

std::vector<PolicyRule> missing_rules(const std::vector<PolicyRule>& owned,
                                      const std::vector<PolicyRule>& wanted) {
  std::vector<PolicyRule> missing;
  for (const PolicyRule& rule : wanted) {
    for (PolicyRule& one : single_permissions(rule)) {
      const bool held =
          std::ranges::any_of(owned, [&](const PolicyRule& mine) { return covers(mine, one); });
      if (!held) missing.push_back(std::move(one));
    }
  }
  return missing;
}

// ---- what the store says

// Notices that a role or binding has changed.
class Rbac::Changes final : public ChangeSink {
 public:
  bool take() { return changed_.exchange(false); }

  void offer(const Change&) override { changed_ = true; }
  void offer_initial(const ObjectRef&) override { changed_ = true; }
  void offer_initial_end(std::uint64_t) override {}
  void offer_bookmark(std::uint64_t) override {}
  void flush() override {}
  bool over() const override { return over_; }
  void end() override { over_ = true; }

 private:
  std::atomic<bool> changed_{true};
  std::atomic<bool> over_{false};
};

Rbac::Rbac(Store& store) : store_(store), changes_(std::make_shared<Changes>()) {
  for (const std::string_view plural : kKinds)
    static_cast<void>(store_.watch(rbac_resource(plural), {}, changes_));
}

Rbac::~Rbac() {
  changes_->end();
  store_.unwatch(changes_.get());
}

Answer<std::vector<PolicyRule>> Rbac::rules_of_role(const JsonValue& reference,
                                                    std::string_view namespace_name) const {
  const bool cluster = text_at(reference, "kind") == "ClusterRole";
  const Resource& resource = rbac_resource(cluster ? "clusterroles" : "roles");
  const std::string_view name = text_at(reference, "name");
  const ObjectRef role = store_.get(resource, cluster ? "" : namespace_name, name);
  if (role) return policy_rules(role->tree());
  ApiError error = ApiError::not_found(resource, name);
  error.message = fmt::format("{}.{} {} not found", cluster ? "clusterrole" : "role", kRbacGroup,
                              go_quoted(name));
  return refuse(std::move(error));
}

Rbac::Binding Rbac::read_binding(const Resource& resource, const StoredObject& object) const {
  const JsonValue tree = object.tree();
  Binding binding;
  binding.namespace_name = object.namespace_name;
  binding.subjects = items_at(tree, "subjects");
  const std::string name = object.namespace_name.empty()
                               ? object.name
                               : fmt::format("{}/{}", object.name, object.namespace_name);
  binding.text =
      fmt::format("{} {} of {} {}", resource.kind, go_quoted(name), text_at(tree, "roleRef.kind"),
                  go_quoted(text_at(tree, "roleRef.name")));
  const JsonValue* reference = at(tree, "roleRef");
  Answer<std::vector<PolicyRule>> rules =
      rules_of_role(reference != nullptr ? *reference : tree, object.namespace_name);
  if (rules) {
    binding.rules = std::make_shared<const std::vector<PolicyRule>>(std::move(*rules));
  } else {
    binding.error = rules.error().message;
  }
  return binding;
}

std::shared_ptr<const Rbac::Policy> Rbac::read_policy() const {
  auto policy = std::make_shared<Policy>();
  for (const std::string_view plural : {"clusterrolebindings", "rolebindings"}) {
    const Resource& resource = rbac_resource(plural);
    const Answer<ListPage> all = store_.list(resource, {}, {});
    if (!all) continue;
    for (const ObjectRef& object : all->items) {
      std::vector<Binding>& bindings = object->namespace_name.empty()
                                           ? policy->cluster
                                           : policy->by_namespace[object->namespace_name];
      bindings.push_back(read_binding(resource, *object));
    }
  }
  return policy;
}

std::shared_ptr<const Rbac::Policy> Rbac::policy() {
  const MutexLock lock(mutex_);
  if (changes_->take() || !policy_) policy_ = read_policy();
  return policy_;
}

// ---- answers

void Rbac::visit_bindings(
    const Policy& policy, const UserInfo& user, std::string_view namespace_name,
    const std::function<bool(const Binding& binding, const JsonValue& subject)>& visit) {
  const auto visit_all = [&](const std::vector<Binding>& bindings) {
    for (const Binding& binding : bindings) {
      const auto subject = std::ranges::find_if(binding.subjects, [&](const JsonValue& one) {
        return is_subject(one, user, binding.namespace_name);
      });
      if (subject != binding.subjects.end() && !visit(binding, *subject)) return false;
    }
    return true;
  };
  if (!visit_all(policy.cluster) || namespace_name.empty()) return;
  const auto found = policy.by_namespace.find(namespace_name);
  if (found != policy.by_namespace.end()) visit_all(found->second);
}

AccessVerdict Rbac::decide(const AccessQuestion& question) {
  if (question.user.in_group(kMasters)) return {true, ""};
  AccessVerdict verdict;
  std::vector<std::string> errors;
  const std::shared_ptr<const Policy> current = policy();
  visit_bindings(*current, question.user, question.namespace_name,
                 [&](const Binding& binding, const JsonValue& subject) {
                   if (!binding.rules) {
                     errors.push_back(binding.error);
                     return true;
                   }
                   verdict.allowed = std::ranges::any_of(
                       *binding.rules,
                       [&](const PolicyRule& rule) { return rule.allows(question); });
                   if (verdict.allowed) {
                     verdict.reason = fmt::format("RBAC: allowed by {} to {}", binding.text,
                                                  subject_text(subject, binding.namespace_name));
                   }
                   return !verdict.allowed;
                 });
  if (!verdict.allowed && !errors.empty()) {
    verdict.reason = errors.size() == 1 ? fmt::format("RBAC: {}", errors.front())
                                        : fmt::format("RBAC: [{}]", fmt::join(errors, ", "));
  }
  return verdict;
}

std::vector<PolicyRule> Rbac::rules_of(const UserInfo& user, std::string_view namespace_name) {
  std::vector<PolicyRule> rules;
  const std::shared_ptr<const Policy> current = policy();
  visit_bindings(*current, user, namespace_name, [&](const Binding& binding, const JsonValue&) {
    if (binding.rules) rules.insert(rules.end(), binding.rules->begin(), binding.rules->end());
    return true;
  });
  return rules;
}

Answer<void> Rbac::check_escalation(const UserInfo& user, const Resource& resource,
                                    const JsonValue& object, const JsonValue* old) {
  if (resource.group != kRbacGroup || user.in_group(kMasters)) return {};
  const bool binding = resource.plural.ends_with("bindings");
  const std::string_view members = binding ? "subjects" : "rules";
  if (old != nullptr && equal(at(object, members), at(*old, members)) &&
      equal(at(object, "roleRef"), at(*old, "roleRef")) &&
      equal(at(object, "aggregationRule"), at(*old, "aggregationRule")))
    return {};
  const std::string space(text_at(object, "metadata.namespace"));
  const std::string name(text_at(object, "metadata.name"));
  AccessQuestion exempt;
  exempt.user = user;
  exempt.verb = binding ? "bind" : "escalate";
  exempt.group = kRbacGroup;
  exempt.resource = resource.plural;
  exempt.namespace_name = space;
  exempt.name = name;
  std::vector<PolicyRule> wanted = policy_rules(object);
  if (binding) {
    const JsonValue* reference = at(object, "roleRef");
    if (reference == nullptr) return {};  // validation refuses it
    exempt.resource = text_at(*reference, "kind") == "ClusterRole" ? "clusterroles" : "roles";
    exempt.name = text_at(*reference, "name");
    if (decide(exempt).allowed) return {};
    Answer<std::vector<PolicyRule>> rules = rules_of_role(*reference, space);
    if (!rules) return refuse(std::move(rules.error()));
    wanted = std::move(*rules);
  } else {
    if (decide(exempt).allowed) return {};
  }
  const std::vector<PolicyRule> owned = rules_of(user, space);
  // Who aggregates gets the rules of roles that he has not seen.
  const std::vector<std::string> all = {"*"};
  if (at(object, "aggregationRule") != nullptr &&
      !missing_rules(owned, {{all, all, all, {}, {}}, {all, {}, {}, {}, all}}).empty()) {
    return refuse(ApiError::forbidden(
        resource, name, "must have cluster-admin privileges to use an aggregationRule"));
  }
  const std::vector<PolicyRule> missing = missing_rules(owned, wanted);
  if (missing.empty()) return {};
  return refuse(ApiError::forbidden(
      resource, name,
      fmt::format("user {} (groups={}) is attempting to grant RBAC permissions not currently "
                  "held:\n{}",
                  go_quoted(user.name), quoted_list(user.groups),
                  fmt::join(compact_texts(missing), "\n"))));
}

}  // namespace berth::memapi
