// berth::Scheduler: the scheduler as a library. The one header that a program needs to embed it.
//
// You feed it objects as a watch would show them, it decides, and the decisions go out through a
// ClusterApi of yours. Plugins of your own stand beside the built-in ones.
//
//   #include <berth/scheduler.h>
//
//   berth::Scheduler::Options options;
//   options.plugins = berth::Scheduler::built_in_plugins();
//   auto added = options.plugins.add(
//       {"TeamQuota", make_team_quota, "Filter", 0, "Keeps teams to their nodes."});
//   if (!added) return complain(added.error().message);
//   options.configuration = R"(
//     apiVersion: kubescheduler.config.k8s.io/v1
//     kind: KubeSchedulerConfiguration
//     profiles:
//     - plugins: {multiPoint: {enabled: [{name: TeamQuota}]}}
//   )";
//   auto scheduler = berth::Scheduler::make(std::move(options));
//   if (!scheduler) return complain(scheduler.error().message);
//   auto applied = (*scheduler)->apply(manifest);  // nodes and pods, YAML or JSON
//   if (!applied) return complain(applied.error().message);
//   (*scheduler)->start();
//   (*scheduler)->run_until(std::chrono::minutes(5));  // virtual time
//   std::cout << (*scheduler)->node_of("default", "web") << '\n';
//
// Who runs the loop. Without a Loop of yours the scheduler has a virtual one: nothing happens until
// you call run_one() or run_until(), and time is what you say it is. With Options::loop (a
// RealLoop, or one that you wrote) everything runs on the thread that runs that loop; post to it to
// get there.
//
// Threads. All calls belong to that one thread, the world, except those on waiting_pods() and
// interner(), which any thread may make while the scheduler exists, and Loop::post.
//
// How outcomes are seen. An Observer is told of every step, a ClusterApi is asked to carry out
// decisions. Without a ClusterApi of yours a binding succeeds at once and the pod stays on its node.
//
// How it stops. stop() takes no new pods; what is binding goes on. Destroying the scheduler ends
// everything that is unfinished, without calling anybody back.
//
// A plugin that throws fails the pod at hand, nothing else. Extenders of the configuration are not
// asked; Observer::internal_error reports how many there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "berth/cluster_api.h"
#include "berth/evaluate.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/plugin_table.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "berth/waiting_pods.h"

namespace berth {

class Scheduler {
 public:
  struct Options {
    PluginTable plugins;           // usually built_in_plugins() and yours
    std::string configuration;     // a KubeSchedulerConfiguration, YAML or JSON; empty: the default
    std::string feature_gates;     // "A=true,B=false"
    std::uint64_t seed = 0;        // of the draw among equally good nodes
    Loop* loop = nullptr;          // yours, outliving the scheduler; null: a virtual one of its own
    ClusterApi* api = nullptr;     // yours, outliving the scheduler; null: binding always works
    Observer* observer = nullptr;  // likewise; null: nobody watches
  };

  static PluginTable built_in_plugins();

  static Result<std::unique_ptr<Scheduler>> make(Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Objects are added, or replace what has the same kind, namespace and name; a pod keeps the node
  // that it has. Defaults are filled in as an API server would; objects that come from one are left
  // as they are. The error names document, object and field; nothing is applied then. Kinds that
  // scheduling does not read (workloads are not expanded either) are skipped and reported
  // to Observer::internal_error.
  Result<void> apply(std::string_view manifest);
  // The same for an object that was made with this scheduler's interner. An object with a UID and a
  // resource version counts as one that comes from an API server.
  Result<void> apply(AnyObject object);
  // NotFound if there is no such object.
  Result<void> remove(ObjectKind kind, std::string_view namespace_name, std::string_view name);
  // Of a resource for whose events a plugin has registered, "cranes.v1.example.com". Such objects are
  // applied like all others; a manifest's Crane of example.com/v1 is taken for one of "cranes".
  Result<void> remove_other(std::string_view resource, std::string_view namespace_name,
                            std::string_view name);

  // Takes pods as they come, from now on, whenever the loop runs.
  void start();
  void stop();

  // Schedules one pod now. False if there is none, or one is in the middle.
  bool run_one();
  // Does everything up to `time` from the start, then it is that time. An error with a loop of yours,
  // which only you can run.
  Result<void> run_until(Duration time);

  Loop& loop();
  WaitingPods& waiting_pods();
  Interner& interner();

  // Where a pod is: its node, empty while it has none.
  std::string node_of(std::string_view namespace_name, std::string_view name) const;
  // Pods that are queued, waiting, binding, or bound without the watch having shown it.
  std::size_t pending() const;

  // The cluster as it is now, standing still: would another pod fit, and on which node? Pods that
  // are about to be bound count as being on their nodes.
  Result<Evaluator> evaluator(Evaluator::Question question = {}) const;

 private:
  struct Parts;
  explicit Scheduler(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth
