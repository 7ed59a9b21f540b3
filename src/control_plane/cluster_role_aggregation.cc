#include "control_plane/cluster_role_aggregation.h"

#include <algorithm>
#include <utility>

#include "control_plane/workloads.h"

namespace berth::control_plane {
namespace {

const Resource& cluster_roles() { return resource_of("clusterroles", "rbac.authorization.k8s.io"); }

}  // namespace

ClusterRoleAggregation::ClusterRoleAggregation(LocalClient& api) : Controller(api) {
  follow(cluster_roles(), [this](const Change&) {
    for (const ObjectRef& role : api_.list(cluster_roles()))
      if (role->json.contains("\"aggregationRule\"")) enqueue(role->name);
  });
}

void ClusterRoleAggregation::sync(const std::string& key) {
  const ObjectRef role = api_.get(cluster_roles(), "", key);
  if (!role) return;
  const JsonValue tree = role->tree();
  if (!is_object(at(tree, "aggregationRule"))) return;
  JsonValue rules = JsonValue::array();
  const std::vector<ObjectRef> all = api_.list(cluster_roles());
  for (const JsonValue& selector : items_at(tree, "aggregationRule.clusterRoleSelectors")) {
    const auto wanted = label_selector_of(selector);
    if (!wanted) continue;
    for (const ObjectRef& other : all) {
      if (other->name == key || !matches_all(*wanted, other->labels)) continue;
      const JsonValue other_tree = other->tree();
      for (const JsonValue& rule : items_at(other_tree, "rules")) {
        const auto same = [&](const JsonValue& one) { return equal(one, rule); };
        if (std::ranges::none_of(rules.items, same)) rules.items.push_back(rule);
      }
    }
  }
  static_cast<void>(api_.update(cluster_roles(), "", key, [&](JsonValue& object) -> Answer<void> {
    if (rules.items.empty())
      erase(object, "rules");
    else
      set(object, "rules", rules);
    return {};
  }));
}

}  // namespace berth::control_plane
