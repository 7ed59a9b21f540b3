// MorePods: how many more pods of given shapes fit into a cluster that stands still, where they would
// go, and what ends it.
//
// Each pod finds its node with the scheduler's own search, and stays there for the next: equal pods
// follow one another, so that each costs what the one before has changed. Nobody is preempted, and
// nothing is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "berth/interner.h"
#include "berth/pod.h"
#include "berth/status.h"
#include "explain/evaluator.h"

namespace berth::capacity {

// Pods that are all like `pod`.
struct Shape {
  std::string name;           // "namespace/name" of the pod that it was read from
  Ref<const Pod> pod;         // its node, phase and status do not count
  std::int64_t in_round = 1;  // shapes take turns: so many of this one each time
};

// How many pods of one shape fit.
struct ShapeCount {
  std::string name;
  std::int64_t in_round = 1;
  std::int64_t pods = 0;
  std::map<std::string, std::int64_t> by_node;
};

// What nodes lack for the pod that did not fit: a resource, or what else a plugin asks for.
struct Lack {
  std::string plugin;
  std::string subject;    // "cpu", "team=red:NoSchedule"; the plugin's sentence where it names none
  bool resource = false;  // an amount that is too small
  std::size_t nodes = 0;
  std::size_t alone = 0;  // of these: nodes that lack nothing else
};

// Why no more pods were placed.
struct Ending {
  enum class Type : std::uint8_t { kUnschedulable, kLimitReached, kError };
  Type type = Type::kUnschedulable;
  std::string shape;    // which did not fit
  std::string message;  // in upstream's words, as in the event FailedScheduling
  std::map<std::string, std::size_t> reasons;  // how many nodes gave which
  // How many nodes each plugin rejects, asked as if it were the only one.
  std::map<std::string, std::size_t> plugins;
  std::vector<Lack> lacks;  // the bottleneck first: what would make most nodes fit if it were there
};

struct MoreFit {
  std::size_t nodes = 0;  // of the cluster
  std::int64_t pods = 0;
  std::int64_t rounds = 0;  // complete ones
  std::vector<ShapeCount> shapes;
  Ending ending;
};

class MorePods {
 public:
  // `evaluator` has its cluster loaded, and outlives this.
  explicit MorePods(explain::Evaluator& evaluator) : evaluator_(evaluator) {}

  // Places pods round by round until one does not fit or there are `most` (nullopt: no limit), then
  // takes them all away again. kInvalid: a shape needs what only a controller could make.
  Result<MoreFit> place(const std::vector<Shape>& shapes, std::optional<std::int64_t> most);
  // How many pods of one shape that would be, at most `most`.
  Result<std::int64_t> count(const Shape& shape, std::int64_t most);
  // The nodes on which one such pod fits.
  Result<NodeSet> feasible(const Shape& shape);

 private:
  struct NextPod {
    Ref<const Pod> pod;
    std::vector<Ref<const Object>> claims;
  };
  Result<void> check(const Shape& shape) const;
  NextPod next_pod(const Shape& shape);
  // Puts a pod of the shape, and the claims that it needs, into the cluster.
  struct PlacedPod {
    Ref<const Pod> pod;
    explain::Evaluator::Placed where;
  };
  PlacedPod place_next(const Shape& shape);
  // False: it did not fit, and `ending` says why.
  bool place_one(const Shape& shape, ShapeCount& count, Ending& ending);
  void put_claims(const NextPod& next);
  void find_out(const Ref<const Pod>& pod, Ending& ending);
  Ref<const ResourceClaimTemplate> template_of(const Pod& pod, const PodResourceClaim& entry) const;
  void take_back();

  explain::Evaluator& evaluator_;
  std::uint64_t made_ = 0;
  std::vector<Ref<const Object>> claims_;  // that were put beside the pods
};

}  // namespace berth::capacity
