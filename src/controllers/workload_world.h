// WorkloadWorld: the cluster as the controllers of workloads see it. They decide; whoever implements
// it knows how pods and objects are written and where they are kept. World thread only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "controllers/pod_index.h"
#include "controllers/workload.h"

namespace berth::controllers {

// What a controller adds to the template of a pod.
struct PodParts {
  std::string name;    // empty: one is made that begins with `prefix`
  std::string prefix;  // "web-"
  LabelPairs labels;
  LabelPairs annotations;
  std::string hostname;
  std::string node;   // a daemon's: it goes there and nowhere else, and tolerates what daemons do
  LabelPairs claims;  // of a StatefulSet: volumes and the claims that they are
};

// Conditions as a Deployment's status has them.
struct RolloutCondition {
  bool is_true = false;
  std::string_view reason;
  std::string message;
  bool is_news = false;  // even if it says the same as before
};

struct ReplicaSetStatus {
  ReplicaCounts counts;
  bool refused = false;  // some pod was
};
struct DeploymentStatus {
  std::int64_t replicas = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t unavailable = 0;
  RolloutCondition is_available;
  std::optional<RolloutCondition> progressing;  // nullopt: as it is
};
struct StatefulSetStatus {
  ReplicaCounts counts;
  std::int64_t updated = 0;
  std::string current_revision;
  std::string update_revision;
};
struct DaemonSetStatus {
  std::int64_t desired = 0;
  std::int64_t current = 0;
  std::int64_t misscheduled = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t updated = 0;
};
struct JobStatus {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t terminating = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::string completed_indexes;    // "0-3,5"; empty: none
  std::string failed_indexes;       // the same; only of Jobs that count failures by index
  bool complete = false;            // enough pods have succeeded
  std::string success_rule;         // the rule of the success policy by which it has; empty: none
  std::string_view failure_reason;  // why it has failed; empty: it has not
  std::string failure_message;
  bool finished = false;  // and no pod of it runs any more
};

enum class EventType : std::uint8_t { kNormal, kWarning };

class WorkloadWorld {
 public:
  virtual ~WorkloadWorld() = default;

  virtual std::optional<Workload> find(ObjectKind kind, std::string_view namespace_name,
                                       std::string_view name) const = 0;
  virtual void remove(const Workload& object) = 0;
  virtual void record(const Workload& object, EventType type, std::string_view reason,
                      const std::string& message) = 0;

  // ---- pods
  // The pod's name.
  virtual Result<std::string> create_pod(const Workload& owner, const PodParts& parts) = 0;
  // False: refused.
  virtual bool delete_pod(const PodFacts& pod) = 0;
  // Pods that fit the owner's selector and belong to nobody become its own; pods of its own that no
  // longer fit are let go.
  virtual void adopt_pods(const Workload& owner) = 0;

  // ---- Deployment
  // Those that it controls, by revision and name.
  virtual std::vector<Workload> replica_sets_of(const Workload& deployment) = 0;
  // With the Deployment's template, and no replicas yet.
  virtual Result<Workload> create_replica_set(const Workload& deployment) = 0;
  // `most` is how many replicas the Deployment may have in all. False: refused.
  virtual bool scale(const Workload& deployment, const Workload& set, std::int64_t replicas,
                     std::int64_t most) = 0;
  // The set in force and its Deployment have this revision from now on.
  virtual void write_revision(const Workload& deployment, const Workload& set,
                              std::int64_t revision) = 0;

  // ---- StatefulSet and DaemonSet
  // Makes a claim from the template, unless there is one of that name.
  virtual void create_claim(const Workload& set, const ClaimTemplate& made_from,
                            std::string_view name) = 0;
  // The nodes that shall have a pod of the set.
  virtual std::vector<std::string> daemon_nodes(const Workload& set) = 0;

  virtual void write_status(const Workload& set, const ReplicaSetStatus& status) = 0;
  virtual void write_status(const Workload& deployment, const DeploymentStatus& status) = 0;
  virtual void write_status(const Workload& set, const StatefulSetStatus& status) = 0;
  virtual void write_status(const Workload& set, const DaemonSetStatus& status) = 0;
  virtual void write_status(const Workload& job, const JobStatus& status) = 0;
};

}  // namespace berth::controllers
