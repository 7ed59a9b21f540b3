#include "memapi/resources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kScheduling = "scheduling.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kDra = "resource.k8s.io";
constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

constexpr std::string_view kNoWebhooks = "webhooks are stored here, and nobody calls them";
constexpr std::string_view kNoPolicies = "admission policies are stored here, and nobody asks them";

// clang-format off
constexpr Resource kResources[] = {
    {.group = "", .version = "v1", .plural = "bindings", .singular = "binding", .kind = "Binding", .verbs = Verbs::kCreate},
    {.group = "", .version = "v1", .plural = "configmaps", .singular = "configmap", .kind = "ConfigMap", .short_names = "cm"},
    {.group = "", .version = "v1", .plural = "endpoints", .singular = "endpoints", .kind = "Endpoints", .short_names = "ep"},
    {.group = "", .version = "v1", .plural = "events", .singular = "event", .kind = "Event", .short_names = "ev"},
    {.group = "", .version = "v1", .plural = "limitranges", .singular = "limitrange", .kind = "LimitRange", .short_names = "limits"},
    {.group = "", .version = "v1", .plural = "namespaces", .singular = "namespace", .kind = "Namespace", .namespaced = false, .verbs = Verbs::kNoCollection, .short_names = "ns", .subresources = "finalize,status", .names = NameRule::kLabel},
    {.group = "", .version = "v1", .plural = "nodes", .singular = "node", .kind = "Node", .namespaced = false, .short_names = "no", .subresources = "status"},
    {.group = "", .version = "v1", .plural = "persistentvolumeclaims", .singular = "persistentvolumeclaim", .kind = "PersistentVolumeClaim", .short_names = "pvc", .subresources = "status"},
    {.group = "", .version = "v1", .plural = "persistentvolumes", .singular = "persistentvolume", .kind = "PersistentVolume", .namespaced = false, .short_names = "pv", .subresources = "status"},
    {.group = "", .version = "v1", .plural = "pods", .singular = "pod", .kind = "Pod", .short_names = "po", .categories = "all", .subresources = "binding,eviction,status", .generation = true},
    {.group = "", .version = "v1", .plural = "podtemplates", .singular = "podtemplate", .kind = "PodTemplate"},
    {.group = "", .version = "v1", .plural = "replicationcontrollers", .singular = "replicationcontroller", .kind = "ReplicationController", .short_names = "rc", .categories = "all", .subresources = "scale,status", .generation = true},
    {.group = "", .version = "v1", .plural = "resourcequotas", .singular = "resourcequota", .kind = "ResourceQuota", .short_names = "quota", .subresources = "status"},
    {.group = "", .version = "v1", .plural = "secrets", .singular = "secret", .kind = "Secret"},
    {.group = "", .version = "v1", .plural = "serviceaccounts", .singular = "serviceaccount", .kind = "ServiceAccount", .short_names = "sa", .subresources = "token"},
    {.group = "", .version = "v1", .plural = "services", .singular = "service", .kind = "Service", .short_names = "svc", .categories = "all", .subresources = "status", .names = NameRule::kLabel},

    {.group = "apps", .version = "v1", .plural = "controllerrevisions", .singular = "controllerrevision", .kind = "ControllerRevision"},
    {.group = "apps", .version = "v1", .plural = "daemonsets", .singular = "daemonset", .kind = "DaemonSet", .short_names = "ds", .categories = "all", .subresources = "status", .generation = true},
    {.group = "apps", .version = "v1", .plural = "deployments", .singular = "deployment", .kind = "Deployment", .short_names = "deploy", .categories = "all", .subresources = "scale,status", .generation = true},
    {.group = "apps", .version = "v1", .plural = "replicasets", .singular = "replicaset", .kind = "ReplicaSet", .short_names = "rs", .categories = "all", .subresources = "scale,status", .generation = true},
    {.group = "apps", .version = "v1", .plural = "statefulsets", .singular = "statefulset", .kind = "StatefulSet", .short_names = "sts", .categories = "all", .subresources = "scale,status", .generation = true},

    {.group = kAdmission, .version = "v1", .plural = "mutatingwebhookconfigurations", .singular = "mutatingwebhookconfiguration", .kind = "MutatingWebhookConfiguration", .namespaced = false, .categories = "api-extensions", .generation = true, .warning = kNoWebhooks},
    {.group = kAdmission, .version = "v1", .plural = "validatingadmissionpolicies", .singular = "validatingadmissionpolicy", .kind = "ValidatingAdmissionPolicy", .namespaced = false, .categories = "api-extensions", .subresources = "status", .generation = true, .warning = kNoPolicies},
    {.group = kAdmission, .version = "v1", .plural = "validatingadmissionpolicybindings", .singular = "validatingadmissionpolicybinding", .kind = "ValidatingAdmissionPolicyBinding", .namespaced = false, .categories = "api-extensions", .generation = true, .warning = kNoPolicies},
    {.group = kAdmission, .version = "v1", .plural = "validatingwebhookconfigurations", .singular = "validatingwebhookconfiguration", .kind = "ValidatingWebhookConfiguration", .namespaced = false, .categories = "api-extensions", .generation = true, .warning = kNoWebhooks},

    {.group = "apiextensions.k8s.io", .version = "v1", .plural = "customresourcedefinitions", .singular = "customresourcedefinition", .kind = "CustomResourceDefinition", .namespaced = false, .short_names = "crd,crds", .categories = "api-extensions", .subresources = "status", .generation = true},

    {.group = "events.k8s.io", .version = "v1", .plural = "events", .singular = "event", .kind = "Event", .short_names = "ev", .stored_as = "events"},

    {.group = "authentication.k8s.io", .version = "v1", .plural = "selfsubjectreviews", .singular = "selfsubjectreview", .kind = "SelfSubjectReview", .namespaced = false, .verbs = Verbs::kCreate},
    {.group = "authentication.k8s.io", .version = "v1", .plural = "tokenreviews", .singular = "tokenreview", .kind = "TokenReview", .namespaced = false, .verbs = Verbs::kCreate},
    {.group = "authorization.k8s.io", .version = "v1", .plural = "localsubjectaccessreviews", .singular = "localsubjectaccessreview", .kind = "LocalSubjectAccessReview", .verbs = Verbs::kCreate},
    {.group = "authorization.k8s.io", .version = "v1", .plural = "selfsubjectaccessreviews", .singular = "selfsubjectaccessreview", .kind = "SelfSubjectAccessReview", .namespaced = false, .verbs = Verbs::kCreate},
    {.group = "authorization.k8s.io", .version = "v1", .plural = "selfsubjectrulesreviews", .singular = "selfsubjectrulesreview", .kind = "SelfSubjectRulesReview", .namespaced = false, .verbs = Verbs::kCreate},
    {.group = "authorization.k8s.io", .version = "v1", .plural = "subjectaccessreviews", .singular = "subjectaccessreview", .kind = "SubjectAccessReview", .namespaced = false, .verbs = Verbs::kCreate},

    {.group = "autoscaling", .version = "v2", .plural = "horizontalpodautoscalers", .singular = "horizontalpodautoscaler", .kind = "HorizontalPodAutoscaler", .short_names = "hpa", .categories = "all", .subresources = "status"},

    {.group = "batch", .version = "v1", .plural = "cronjobs", .singular = "cronjob", .kind = "CronJob", .short_names = "cj", .categories = "all", .subresources = "status", .generation = true},
    {.group = "batch", .version = "v1", .plural = "jobs", .singular = "job", .kind = "Job", .categories = "all", .subresources = "status", .generation = true},

    {.group = "discovery.k8s.io", .version = "v1", .plural = "endpointslices", .singular = "endpointslice", .kind = "EndpointSlice", .generation = true},

    {.group = "node.k8s.io", .version = "v1", .plural = "runtimeclasses", .singular = "runtimeclass", .kind = "RuntimeClass", .namespaced = false},

    {.group = "policy", .version = "v1", .plural = "poddisruptionbudgets", .singular = "poddisruptionbudget", .kind = "PodDisruptionBudget", .short_names = "pdb", .subresources = "status", .generation = true},

    {.group = "rbac.authorization.k8s.io", .version = "v1", .plural = "clusterrolebindings", .singular = "clusterrolebinding", .kind = "ClusterRoleBinding", .namespaced = false, .names = NameRule::kPathSegment},
    {.group = "rbac.authorization.k8s.io", .version = "v1", .plural = "clusterroles", .singular = "clusterrole", .kind = "ClusterRole", .namespaced = false, .names = NameRule::kPathSegment},
    {.group = "rbac.authorization.k8s.io", .version = "v1", .plural = "rolebindings", .singular = "rolebinding", .kind = "RoleBinding", .names = NameRule::kPathSegment},
    {.group = "rbac.authorization.k8s.io", .version = "v1", .plural = "roles", .singular = "role", .kind = "Role", .names = NameRule::kPathSegment},

    {.group = kStorage, .version = "v1", .plural = "csidrivers", .singular = "csidriver", .kind = "CSIDriver", .namespaced = false},
    {.group = kStorage, .version = "v1", .plural = "csinodes", .singular = "csinode", .kind = "CSINode", .namespaced = false, .subresources = "status"},
    {.group = kStorage, .version = "v1", .plural = "csistoragecapacities", .singular = "csistoragecapacity", .kind = "CSIStorageCapacity"},
    {.group = kStorage, .version = "v1", .plural = "storageclasses", .singular = "storageclass", .kind = "StorageClass", .namespaced = false, .short_names = "sc"},
    {.group = kStorage, .version = "v1", .plural = "volumeattachments", .singular = "volumeattachment", .kind = "VolumeAttachment", .namespaced = false, .subresources = "status"},

    {.group = kScheduling, .version = "v1", .plural = "priorityclasses", .singular = "priorityclass", .kind = "PriorityClass", .namespaced = false, .short_names = "pc", .generation = true},
    {.group = kScheduling, .version = "v1beta1", .plural = "podgroups", .singular = "podgroup", .kind = "PodGroup", .subresources = "status"},
    {.group = kScheduling, .version = "v1beta1", .plural = "workloads", .singular = "workload", .kind = "Workload"},

    {.group = "coordination.k8s.io", .version = "v1", .plural = "leases", .singular = "lease", .kind = "Lease"},

    {.group = kDra, .version = "v1", .plural = "deviceclasses", .singular = "deviceclass", .kind = "DeviceClass", .namespaced = false, .generation = true},
    {.group = kDra, .version = "v1", .plural = "devicetaintrules", .singular = "devicetaintrule", .kind = "DeviceTaintRule", .namespaced = false, .subresources = "status", .generation = true},
    {.group = kDra, .version = "v1", .plural = "resourceclaims", .singular = "resourceclaim", .kind = "ResourceClaim", .subresources = "status"},
    {.group = kDra, .version = "v1", .plural = "resourceclaimtemplates", .singular = "resourceclaimtemplate", .kind = "ResourceClaimTemplate"},
    {.group = kDra, .version = "v1", .plural = "resourceslices", .singular = "resourceslice", .kind = "ResourceSlice", .namespaced = false, .generation = true},
};
// clang-format on

}  // namespace

bool Resource::has(std::string_view subresource) const {
  bool found = false;
  for_each_part(subresources, [&](std::string_view part) { found = found || part == subresource; });
  return found;
}

std::string Resource::group_version() const {
  return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

std::span<const Resource> resources() { return kResources; }

const Resource* find_resource(std::string_view group, std::string_view version,
                              std::string_view plural) {
  const auto* found = std::ranges::find_if(kResources, [&](const Resource& resource) {
    return resource.group == group && resource.version == version && resource.plural == plural;
  });
  return found == std::end(kResources) ? nullptr : found;
}

const Resource& resource_of(std::string_view plural, std::string_view group) {
  const auto* found = std::ranges::find_if(kResources, [&](const Resource& resource) {
    return resource.group == group && resource.plural == plural;
  });
  BERTH_CHECK(found != std::end(kResources));
  return *found;
}

std::size_t resource_index(const Resource& resource) {
  if (resource.custom != nullptr) return resource.slot;
  return static_cast<std::size_t>(&resource - kResources);
}

std::size_t storage_index(const Resource& resource) {
  if (resource.stored_as.empty()) return resource_index(resource);
  return resource_index(resource_of(resource.stored_as));
}

bool is_group(std::string_view group) {
  return std::ranges::find(kResources, group, &Resource::group) != std::end(kResources);
}

bool is_group_version(std::string_view group, std::string_view version) {
  return std::ranges::any_of(kResources, [&](const Resource& resource) {
    return resource.group == group && resource.version == version;
  });
}

}  // namespace berth::memapi
