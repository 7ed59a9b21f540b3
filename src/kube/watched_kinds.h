// Which kinds of objects a scheduler has to know, and where an API server has them (shell.md §6.2):
// those that some plugin of some profile reads. Kinds that no plugin reads are not watched, so that
// neither its memory is spent nor the permission to read it is needed.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/object.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::kube {

struct WatchedKind {
  ObjectKind kind = ObjectKind::kOther;
  std::string api_version;  // "v1", "apps/v1"
  std::string kind_name;    // "ReplicaSet"
  std::string resource;     // "replicasets"
  std::string field_selector;
  std::vector<std::string> consumers;  // "core" or names of plugins, sorted
  // A custom resource: JSON only, and the API server may not have it yet, or not any more. Then there
  // are no such objects.
  bool custom = false;
  std::string label_selector = {};

  // "/apis/apps/v1/replicasets": all namespaces.
  std::string path() const;
  // "replicasets.v1.apps": as ClusterEvent::other names it.
  std::string other_resource() const;
  // "replicasets.apps": as refusals name it.
  std::string full_resource() const;
  // "*v1.ReplicaSet": as client-go's log names it.
  std::string type_name() const;
};

// In the order of the table of §6.2, each once.
std::vector<WatchedKind> watched_kinds(const config::Configuration& configuration,
                                       const config::FeatureGates& gates);

// A resource that `plugins` have registered events for, as ClusterEvent::other names it:
// "cranes.v1.example.com". Its kind_name is empty where scheduling has no kind of its own for it.
WatchedKind other_kind(std::string_view resource, const std::set<std::string>& plugins);

}  // namespace berth::kube
