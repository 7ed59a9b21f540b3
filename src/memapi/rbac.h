// Rbac: who may do what, by the Roles, ClusterRoles and their bindings in the store. What these say
// is read once after a change. Any thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread.h"
#include "memapi/access.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

inline constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

struct PolicyRule {
  std::vector<std::string> verbs, groups, resources, names, paths;

  bool allows(const AccessQuestion& question) const;
  // `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`
  std::string text() const;
};
std::vector<PolicyRule> policy_rules(const JsonValue& role);
// Those single permissions of `wanted` that `owned` does not have.
std::vector<PolicyRule> missing_rules(const std::vector<PolicyRule>& owned,
                                      const std::vector<PolicyRule>& wanted);

class Rbac {
 public:
  // The store outlives this.
  explicit Rbac(Store& store);
  ~Rbac();
  Rbac(const Rbac&) = delete;
  Rbac& operator=(const Rbac&) = delete;

  AccessVerdict decide(const AccessQuestion& question);
  // All that the user may do in the namespace.
  std::vector<PolicyRule> rules_of(const UserInfo& user, std::string_view namespace_name);

  // Nobody gives what he does not have: a role or binding that `user` writes; `old` is null for a
  // new one. 403: "… is attempting to grant RBAC permissions not currently held: …".
  Answer<void> check_escalation(const UserInfo& user, const Resource& resource,
                                const JsonValue& object, const JsonValue* old);
  // The rules of the role that a binding refers to.
  Answer<std::vector<PolicyRule>> rules_of_role(const JsonValue& reference,
                                                std::string_view namespace_name) const;

 private:
  class Changes;
  struct Binding {
    std::string text;  // `ClusterRoleBinding "x" of ClusterRole "y"`
    std::string namespace_name;
    std::vector<JsonValue> subjects;
    std::shared_ptr<const std::vector<PolicyRule>> rules;
    std::string error;  // when there is no such role
  };
  struct Policy {
    std::vector<Binding> cluster;
    std::map<std::string, std::vector<Binding>, std::less<>> by_namespace;
  };
  // Calls `visit` with the bindings that apply to the user there, and with the subject that does,
  // until it returns false.
  static void visit_bindings(
      const Policy& policy, const UserInfo& user, std::string_view namespace_name,
      const std::function<bool(const Binding& binding, const JsonValue& subject)>& visit);
  std::shared_ptr<const Policy> policy() EXCLUDES(mutex_);
  std::shared_ptr<const Policy> read_policy() const;
  Binding read_binding(const Resource& resource, const StoredObject& object) const;

  Store& store_;
  std::shared_ptr<Changes> changes_;
  Mutex mutex_;
  std::shared_ptr<const Policy> policy_ GUARDED_BY(mutex_);
};

}  // namespace berth::memapi
