// Workload: one Deployment, ReplicaSet, StatefulSet, DaemonSet or Job, as its controller reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/interner.h"
#include "api/manifest.h"
#include "api/pod_json.h"
#include "base/result.h"

namespace berth::sim {

struct Workload {
  explicit Workload(const Interner& interner)
      : pod_template(interner), selector_symbols(interner.hold()) {}

  ObjectKind kind = ObjectKind::kReplicaSet;  // of the controller: a Deployment's is a ReplicaSet
  std::string api_version;
  std::string namespace_name;
  std::string name;  // of the pods' controller
  PodTemplate pod_template;
  std::string template_hash;  // of a Deployment: part of names and labels
  std::optional<LabelSelector> selector;
  SymbolHold selector_symbols;
  std::int64_t replicas = 1;     // StatefulSet, ReplicaSet; of a Job: how many at once
  std::int64_t completions = 1;  // Job
  bool ordered = true;           // StatefulSet: one after the other
  bool indexed = false;          // Job: completion indexes
  std::int64_t finished = 0;     // Job: pods that succeeded

  std::set<std::string> pods;               // that are there and count
  std::set<std::int64_t> finished_indexes;  // of an indexed Job

  // The number in the name of a StatefulSet's or an indexed Job's pod.
  std::int64_t index_of(std::string_view pod) const;
  // The first index that is neither done nor being worked on.
  std::int64_t next_index() const;
};

// Reads the manifest of a workload. Errors begin with the path of the field.
Result<Workload> read_workload(const ManifestObject& manifest, Interner& interner);

// Five letters and digits as the API server chooses them, the same for the same seed.
std::string name_suffix(std::string_view seed, std::uint64_t number);

}  // namespace berth::sim
