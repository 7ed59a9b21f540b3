// Entity cycles: one scheduling cycle for each entity of the queue, a pod or a group of pods, in a
// cluster that otherwise stands still (`berth evaluate --groups`).
//
// The engine runs as it does in production: its queue says who is next, its cycles and plugins
// decide. All pending pods have arrived before the first cycle. What is written is noted and not
// shown to the scheduler: pods that were bound stay assumed, victims stay where they are, and
// nominations count for the entities after. An entity that failed is not tried again; what is left
// of a group that was scheduled in part is tried at once. Nodes of equal score go by name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/plugin_table.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::sim {

// How a cycle ended for one pod: a node, or why not.
struct MemberResult {
  std::string pod;  // "namespace/name"
  std::string node{};
  std::string code{};
  std::string message{};
  std::string nominated{};  // the node on which room is being made
};

// The condition PodGroupInitiallyScheduled as it was written.
struct GroupCondition {
  std::string status;
  std::string reason;
  std::string message;
};

struct EntityResult {
  std::string group{};                        // "namespace/name"; empty: a pod by itself
  std::optional<GroupCondition> condition{};  // of a group, if it was written
  std::vector<MemberResult> members{};        // in the order in which they were tried
  std::vector<std::string> victims{};         // sorted
};

struct EntityCycles {
  std::vector<EntityResult> entities;
  // Pods that no cycle has touched, sorted: their group is not there; a PreEnqueue plugin holds them.
  std::vector<std::string> incomplete;
  std::vector<std::string> gated;
};

struct EntityCyclesOptions {
  config::Configuration configuration;
  config::FeatureGates gates;      // with GenericWorkload, which makes groups entities
  bool verify_increments = false;  // the first difference is the error
};

// `objects` as an API server would return them, in their order, read with this interner.
Result<EntityCycles> run_entity_cycles(Interner& interner, PluginTable plugins,
                                       EntityCyclesOptions options,
                                       const std::vector<ManifestObject>& objects);

// {"entities":[…],"left":{…}}; what is empty is left out.
std::string to_json(const EntityCycles& cycles);
// A paragraph per entity, for people.
std::string to_table(const EntityCycles& cycles);

}  // namespace berth::sim
