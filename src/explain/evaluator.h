// Evaluator: what would be decided about each pending pod of a cluster that is given as objects.
//
// The scheduler's own search (search/node_search.h) judges every pending pod, in the order of the
// list, and tells what it found out about every node. There is no queue and no binding: each pod
// sees the same cluster, or, in sequence, the cluster with the pods before it in their places. Ties
// go to the first node by name, so that runs compare.
//
// Offline and deterministic; what plugins would write to the cluster is noted and not done.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/result.h"
#include "berth/search_trace.h"
#include "berth/views.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "explain/pod_decision.h"

namespace berth {
class Framework;
}  // namespace berth

namespace berth::explain {

struct EvaluatorOptions {
  config::Configuration configuration;
  config::FeatureGates gates;
  std::string profile;          // its scheduler name; empty: the first
  bool sequence = false;        // every pod that finds a node stays there for the next
  bool preempt = false;         // ask PostFilter when nothing fits
  bool all_rejections = false;  // by every plugin that rejects a node, not only the first
  // Decide from what is kept between pods too, and compare.
  bool verify_increments = false;
  // Asked before each question. False: the answers are not wanted any more, and this one and all that
  // follow are answered with "nowhere" at once. Empty: always true.
  std::function<bool()> go_on{};
};

class Evaluator {
 public:
  static Result<std::unique_ptr<Evaluator>> make(Interner& interner, const PluginTable& plugins,
                                                 EvaluatorOptions options);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // The cluster: nodes, placed pods, pending pods and whatever else there is, as an API server
  // would return it. Called once, before decide().
  Result<void> load(const std::vector<ManifestObject>& objects);
  Result<void> load(const std::vector<AnyObject>& objects);

  // One decision per pending pod, in the order in which they were loaded.
  std::vector<PodDecision> decide();
  // About a pod without a node that need not have been loaded. With `stays` it takes its place, and
  // those that are asked about later find it there.
  PodDecision decide(const Ref<const Pod>& pod, bool stays);

  // ---- questions about one pod, for those who look for changes that help it (cluster_edits.h makes
  // such changes in place). The pod need not have been loaded; the cluster stays as it is.

  // The rows on which it fits, by PreFilter and Filter alone; none if a plugin fails.
  NodeSet feasible(const Ref<const Pod>& pod);
  // The same, and the rows that these plugins were the first to reject.
  struct Rejected {
    NodeSet feasible;
    NodeSet by;
  };
  Rejected feasible(const Ref<const Pod>& pod, std::span<const std::string_view> plugins);
  // The rows on which it fits when nobody is nominated anywhere.
  NodeSet feasible_without_nominations(const Ref<const Pod>& pod);
  // Who is nominated, by node.
  std::vector<std::pair<Symbol, std::vector<Ref<const Pod>>>> nominated_pods() const;
  // The plugins that keep it off the row: several only if PreFilter excludes the row. Empty: it fits.
  std::vector<std::string> rejectors(const Ref<const Pod>& pod, NodeRow row);
  // Whether the scheduler's whole decision is a node, scores included even if only one node is feasible.
  bool finds_node(const Ref<const Pod>& pod);
  struct TraceOptions {
    bool every_objection = false;
    bool post_filter = false;
  };
  struct Traced {
    SearchTrace trace;
    std::vector<std::string> victims;  // whom PostFilter would evict, sorted
  };
  // A pod that has a node is judged as if it had none, and is on its node again afterwards.
  Traced trace(const Ref<const Pod>& pod, const TraceOptions& how);

  // ---- more pods, one after the other, as a scheduler places them: from what is kept of pods alike,
  // without a trace and without preemption. Ties are drawn.

  struct Placed {
    NodeRow row = kNoRow;
    Outcome outcome;  // Success, or why there is no node
  };
  // The pod stays on its node, with the volumes and devices that were reserved for it.
  Placed place(const Ref<const Pod>& pod);
  // Takes away all pods that place() has placed, and what was reserved for them.
  void take_back();
  // An object that such a pod needs beside it: a claim that was made for it.
  void put(Ref<const Object> object);
  void remove(ObjectKind kind, std::string_view namespace_name, std::string_view name);

  const Cluster& cluster() const;
  const Framework& framework() const;
  Interner& interner() const;
  const std::vector<Ref<const Pod>>& pending() const;
  // Whether EvaluatorOptions::go_on said that the answers are not wanted any more.
  bool stopped() const;
  const config::FeatureGates& gates() const;
  WallTime now() const;
  // With verify_increments: the first difference, at which decide() stopped.
  const std::optional<std::string>& increment_difference() const;
  // How many of the decisions were made from what is kept of a class of pods (and from scratch, for
  // the trace: a difference is a bug).
  std::size_t decided_from_classes() const;

 private:
  friend class ClusterCopy;
  friend class ClusterEdits;
  friend class PodsGone;
  friend class KeptOrder;
  struct Parts;
  explicit Evaluator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// ---- what makes the objects of a file a cluster

// The pod with a UID, which the pods of a manifest need not have. `position` tells apart those of
// one name.
Ref<const Pod> with_uid(Ref<const Pod> pod, std::size_t position);
// The last moment that the pod tells of: when it was made, started, or is to be deleted.
WallTime latest_time(const Pod& pod);

}  // namespace berth::explain
