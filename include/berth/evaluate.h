// berth::Evaluator: would this pod fit, where, and why not?
//
// An Evaluator is a cluster that stands still: nodes, the pods on them and whatever else scheduling
// reads. It answers with the scheduler's own search, looks at every node, and changes nothing
// outside. with() and without() make another one, of a changed cluster, so that "and if I added
// three nodes of this shape?" is one call more:
//
//   #include <berth/evaluate.h>
//   #include <berth/scheduler.h>
//
//   auto cluster = berth::Evaluator::make({.plugins = berth::Scheduler::built_in_plugins()});
//   if (!cluster) return complain(cluster.error().message);
//   auto today = cluster->with(manifest);  // nodes and pods, YAML or JSON
//   if (!today) return complain(today.error().message);
//   auto larger = today->with(three_nodes);
//   if (!larger) return complain(larger.error().message);
//
//   auto verdicts = today->evaluate(pods);  // each sees the cluster without the others
//   if (!verdicts) return complain(verdicts.error().message);
//   for (const berth::Verdict& verdict : *verdicts)
//     if (!verdict.fits()) std::cout << verdict.pod << ": " << verdict.message << '\n';
//
//   auto placed = larger->place(pods);  // each finds those before it in their places
//
// A running scheduler makes one of the cluster that it sees: Scheduler::evaluator().
//
// There is no queue and no time: pods are judged in the order in which they are given. Ties go to
// the first node by name. Extenders of the configuration are not asked. A plugin is asked as in a
// scheduler; what it would write to the cluster is not written.
//
// Threads. An Evaluator belongs to one thread at a time. Evaluators that were made of one another
// share an Interner, which any thread may use, and the plugins' factories: a factory with state of
// its own must be safe to call from several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "berth/object.h"
#include "berth/plugin_table.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/status.h"

namespace berth {

// What one plugin has against a node.
struct Rejection {
  std::string plugin;
  Code code = Code::kUnschedulable;
  std::vector<std::string> reasons;  // in upstream's words, sorted
};

// What became of one node.
struct NodeVerdict {
  std::string node;
  // Empty if the pod fits. The scheduler stops at the first plugin that rejects a node; with
  // Question::all_rejections the others follow.
  std::vector<Rejection> rejections;
  std::int64_t score = 0;                         // of all Score plugins, weighted; if it fits
  std::map<std::string, std::int64_t> by_plugin;  // the parts of that sum

  bool fits() const { return rejections.empty(); }
};

struct Verdict {
  std::string pod;                 // "namespace/name"
  std::string node;                // where the scheduler would put it; empty: no node fits
  std::string message;             // why not: "0/3 nodes are available: 3 Insufficient cpu."
  std::vector<NodeVerdict> nodes;  // by name; empty if a plugin failed
  // With Question::preempt, for a pod that fits nowhere: the node on which room could be made, and
  // the pods that would have to go ("namespace/name").
  struct Preemption {
    std::string node;
    std::vector<std::string> victims;
  };
  std::optional<Preemption> preemption;

  bool fits() const { return !node.empty(); }
};

class Evaluator {
 public:
  // What is asked about each pod.
  struct Question {
    std::string profile{};        // by its scheduler name; empty: the first
    bool all_rejections = false;  // by every plugin that rejects a node, not only the first
    bool preempt = false;         // what would preemption do for a pod that fits nowhere?
  };
  struct Options {
    PluginTable plugins;          // usually Scheduler::built_in_plugins() and yours
    std::string configuration{};  // a KubeSchedulerConfiguration, YAML or JSON; empty: the default
    std::string feature_gates{};  // "A=true,B=false"
    Question question{};
  };

  // An empty cluster.
  static Result<Evaluator> make(Options options);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  // This cluster with these objects: added, or in the place of those with the same kind, namespace
  // and name. Defaults are filled in as Scheduler::apply does. The error names document, object and
  // field.
  Result<Evaluator> with(std::string_view manifest) const;
  // The same for objects that were made with this Evaluator's interner.
  Result<Evaluator> with(std::vector<AnyObject> objects) const;
  // This cluster without the object; NotFound if there is none. Pods of a node that goes stay in
  // the cluster, on no node that could be chosen.
  Result<Evaluator> without(ObjectKind kind, std::string_view namespace_name,
                            std::string_view name) const;

  // Judges pods that have no node, each in this cluster as it is. The error: they could not be
  // read, or one of them has a node already.
  Result<std::vector<Verdict>> evaluate(std::string_view pods);
  Result<Verdict> evaluate(Ref<const Pod> pod);
  // The same, one after the other: a pod that fits stays in this cluster, on its node. Volumes and
  // devices that were chosen for it stay taken here, but not in what with() makes of this. After an
  // error the pods before the one that failed stay placed.
  Result<std::vector<Verdict>> place(std::string_view pods);
  Result<Verdict> place(Ref<const Pod> pod);
  // The pods of this cluster that have no node, in the order of namespace and name.
  std::vector<Ref<const Pod>> pending() const;

  Interner& interner();

 private:
  friend class Scheduler;
  struct Parts;
  explicit Evaluator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth
