// Which kinds of objects a scheduler has to know, and where an API server has them (shell.md §6.2):
// those that some plugin of some profile reads. Kinds that no plugin reads are not watched, so that
// neither its memory is spent nor the permission to read it is needed.
#pragma once

#include <string>
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

  // "/apis/apps/v1/replicasets": all namespaces.
  std::string path() const;
  // "replicasets.apps": as refusals name it.
  std::string full_resource() const;
  // "*v1.ReplicaSet": as client-go's log names it.
  std::string type_name() const;
};

// In the order of the table of §6.2, each once.
std::vector<WatchedKind> watched_kinds(const config::Configuration& configuration,
                                       const config::FeatureGates& gates);

}  // namespace berth::kube
