#include "memapi/rbac_defaults.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "memapi/access.h"
#include "memapi/json_edit.h"
#include "memapi/rbac.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kAggregateTo = "rbac.authorization.k8s.io/aggregate-to-";

// A rule is a line: verbs, groups ("-" is the core's), resources, and names if there are any; or
// verbs and paths. "READ" is get, list and watch, "WRITE" what changes objects, "ALL" both.
struct DefaultRole {
  std::string_view name;
  std::string_view rules;
  std::string_view aggregates = {};  // the roles that say they belong to this
  std::string_view belongs_to = {};
};

constexpr DefaultRole kDefaultRoles[] = {
    {"cluster-admin",
     "* * *\n"
     "* *\n"},
    {"admin", "", "admin"},
    {"edit", "", "edit", "admin"},
    {"view", "", "view", "edit"},
    {"system:aggregate-to-admin",
     "create authorization.k8s.io localsubjectaccessreviews\n"
     "ALL rbac.authorization.k8s.io rolebindings,roles\n",
     "", "admin"},
    {"system:aggregate-to-edit",
     "READ - pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy\n"
     "impersonate - serviceaccounts\n"
     "WRITE - pods,pods/attach,pods/exec,pods/portforward,pods/proxy\n"
     "create - pods/eviction\n"
     "WRITE - configmaps,persistentvolumeclaims,replicationcontrollers,"
     "replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy\n"
     "create - serviceaccounts/token\n"
     "WRITE -,events.k8s.io events\n"
     "WRITE apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,"
     "replicasets/scale,statefulsets,statefulsets/scale\n"
     "WRITE autoscaling horizontalpodautoscalers\n"
     "WRITE batch cronjobs,jobs\n"
     "WRITE policy poddisruptionbudgets\n"
     "ALL coordination.k8s.io leases\n"
     "WRITE resource.k8s.io resourceclaims,resourceclaimtemplates\n",
     "", "edit"},
    {"system:aggregate-to-view",
     "READ - configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,"
     "replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,"
     "services/status\n"
     "READ - bindings,limitranges,namespaces/status,pods/log,pods/status,"
     "replicationcontrollers/status,resourcequotas,resourcequotas/status\n"
     "READ - namespaces\n"
     "READ -,events.k8s.io events\n"
     "READ discovery.k8s.io endpointslices\n"
     "READ apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,"
     "deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,"
     "statefulsets/scale,statefulsets/status\n"
     "READ autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status\n"
     "READ batch cronjobs,cronjobs/status,jobs,jobs/status\n"
     "READ policy poddisruptionbudgets,poddisruptionbudgets/status\n"
     "READ resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates\n",
     "", "view"},
    {"system:auth-delegator",
     "create authentication.k8s.io tokenreviews\n"
     "create authorization.k8s.io subjectaccessreviews\n"},
    {"system:basic-user",
     "create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews\n"
     "create authentication.k8s.io selfsubjectreviews\n"},
    {"system:discovery",
     "get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,"
     "/version/\n"},
    {"system:public-info-viewer", "get /healthz,/livez,/readyz,/version,/version/\n"},
    {"system:monitoring",
     "get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*\n"
     "get - nodes/metrics\n"},
    {"system:kube-controller-manager",
     "create,patch,update -,events.k8s.io events\n"
     "create coordination.k8s.io leases\n"
     "get,update coordination.k8s.io leases kube-controller-manager\n"
     "create - secrets,serviceaccounts\n"
     "delete - secrets\n"
     "get - configmaps,namespaces,secrets,serviceaccounts\n"
     "update - secrets,serviceaccounts\n"
     "create authentication.k8s.io tokenreviews\n"
     "create authorization.k8s.io subjectaccessreviews\n"
     "list,watch * *\n"
     "create - serviceaccounts/token\n"},
    {"system:kube-scheduler",
     "create,patch,update -,events.k8s.io events\n"
     "create coordination.k8s.io leases\n"
     "get,list,update,watch coordination.k8s.io leases kube-scheduler\n"
     "ALL coordination.k8s.io leasecandidates\n"
     "READ - nodes\n"
     "delete,get,list,watch - pods\n"
     "create - bindings,pods/binding\n"
     "patch,update - pods/status\n"
     "READ - replicationcontrollers,services\n"
     "READ apps replicasets,statefulsets\n"
     "READ policy poddisruptionbudgets\n"
     "READ - persistentvolumeclaims,persistentvolumes\n"
     "create authentication.k8s.io tokenreviews\n"
     "create authorization.k8s.io subjectaccessreviews\n"
     "READ storage.k8s.io csinodes,volumeattachments,csidrivers,csistoragecapacities\n"
     "READ - namespaces\n"
     "READ resource.k8s.io deviceclasses,resourceslices,devicetaintrules\n"
     "get,list,patch,update,watch resource.k8s.io resourceclaims,resourceclaims/status\n"
     "update - pods/finalizers\n"
     "create,delete resource.k8s.io resourceclaims\n"
     "patch,update resource.k8s.io resourceclaims/binding\n"},
    {"system:volume-scheduler",
     "get,list,patch,update,watch - persistentvolumes\n"
     "READ storage.k8s.io storageclasses\n"
     "get,list,patch,update,watch - persistentvolumeclaims\n"},
};

struct DefaultBinding {
  std::string_view role;
  std::string_view kind;
  std::string_view subjects;  // with commas between
};
constexpr DefaultBinding kDefaultBindings[] = {
    {"cluster-admin", "Group", "system:masters"},
    {"system:basic-user", "Group", "system:authenticated"},
    {"system:discovery", "Group", "system:authenticated"},
    {"system:public-info-viewer", "Group", "system:authenticated,system:unauthenticated"},
    {"system:monitoring", "Group", "system:monitoring"},
    {"system:kube-controller-manager", "User", "system:kube-controller-manager"},
    {"system:kube-scheduler", "User", "system:kube-scheduler"},
    {"system:volume-scheduler", "User", "system:kube-scheduler"},
};

constexpr std::string_view kWriteVerbs = "create,delete,deletecollection,patch,update";
constexpr std::string_view kReadVerbs = "get,list,watch";

std::string_view next_word(std::string_view& line, char end) {
  const std::size_t stop = line.find(end);
  const std::string_view word = line.substr(0, stop);
  line.remove_prefix(stop == std::string_view::npos ? line.size() : stop + 1);
  return word;
}

JsonValue texts_between_commas(std::string_view text) {
  JsonValue list = JsonValue::array();
  for_each_part(text, [&](std::string_view part) {
    list.items.push_back(JsonValue::of_text(part == "-" ? "" : part));
  });
  return list;
}

JsonValue rule_of_line(std::string_view line) {
  std::string_view verbs = next_word(line, ' ');
  std::string all_verbs;
  if (verbs == "READ") verbs = kReadVerbs;
  if (verbs == "WRITE") verbs = kWriteVerbs;
  if (verbs == "ALL") verbs = all_verbs = fmt::format("{},{}", kWriteVerbs, kReadVerbs);
  JsonValue rule = JsonValue::object();
  rule.add("verbs", texts_between_commas(verbs));
  const std::string_view groups = next_word(line, ' ');
  if (line.empty()) {
    rule.add("nonResourceURLs", texts_between_commas(groups));
    return rule;
  }
  rule.add("apiGroups", texts_between_commas(groups));
  rule.add("resources", texts_between_commas(next_word(line, ' ')));
  if (!line.empty()) rule.add("resourceNames", texts_between_commas(line));
  return rule;
}

JsonValue default_object(std::string_view name) {
  JsonValue object = JsonValue::object();
  JsonValue& metadata = object_at(object, "metadata");
  set_text(metadata, "name", name);
  set_text(object_at(metadata, "labels"), "kubernetes.io/bootstrapping", "rbac-defaults");
  set_text(object_at(metadata, "annotations"), "rbac.authorization.kubernetes.io/autoupdate",
           "true");
  return object;
}

JsonValue role_object(const DefaultRole& role) {
  JsonValue object = default_object(role.name);
  if (!role.belongs_to.empty()) {
    set_text(object_at(object, "metadata.labels"),
             fmt::format("{}{}", kAggregateTo, role.belongs_to), "true");
  }
  if (!role.aggregates.empty()) {
    JsonValue selector = JsonValue::object();
    set_text(object_at(selector, "matchLabels"), fmt::format("{}{}", kAggregateTo, role.aggregates),
             "true");
    array_at(object, "aggregationRule.clusterRoleSelectors").items.push_back(std::move(selector));
  }
  std::string_view lines = role.rules;
  while (!lines.empty())
    array_at(object, "rules").items.push_back(rule_of_line(next_word(lines, '\n')));
  return object;
}

JsonValue binding_object(const DefaultBinding& binding) {
  JsonValue object = default_object(binding.role);
  JsonValue& reference = object_at(object, "roleRef");
  set_text(reference, "apiGroup", kRbacGroup);
  set_text(reference, "kind", "ClusterRole");
  set_text(reference, "name", binding.role);
  for_each_part(binding.subjects, [&](std::string_view name) {
    JsonValue subject = JsonValue::object();
    set_text(subject, "apiGroup", kRbacGroup);
    set_text(subject, "kind", binding.kind);
    set_text(subject, "name", name);
    array_at(object, "subjects").items.push_back(std::move(subject));
  });
  return object;
}

}  // namespace

std::vector<DefaultObject> default_rbac_objects() {
  std::vector<DefaultObject> objects;
  for (const DefaultRole& role : kDefaultRoles)
    objects.push_back({&resource_of("clusterroles", kRbacGroup), role_object(role)});
  for (const DefaultBinding& binding : kDefaultBindings)
    objects.push_back({&resource_of("clusterrolebindings", kRbacGroup), binding_object(binding)});
  return objects;
}

}  // namespace berth::memapi
