// The parts of an Evaluator, for the sources that carry out what its header promises.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/observer.h"
#include "berth/random.h"
#include "berth/waiting_pods.h"
#include "explain/evaluator.h"
#include "explain/stand_ins.h"
#include "framework/framework.h"
#include "framework/pods_in_pre_bind.h"
#include "search/node_search.h"

namespace berth::explain {

struct Evaluator::Parts {
  Parts(Interner& shared, EvaluatorOptions opts)
      : interner(shared), options(std::move(opts)), cluster(shared.symbols()), waiting_pods(loop) {}
  // What PostFilter began refers to everything else.
  ~Parts() { tasks.clear(); }

  Result<void> make_framework(const PluginTable& plugins);
  Result<void> load(const AnyObject& object, std::size_t position);
  Result<void> load_pod(Ref<const Pod> pod, std::size_t position);
  void set_clock();

  PodDecision decide(const Ref<const Pod>& pod, bool stays);
  SearchResult search_for(NodeSearch& with, Cycle& cycle, SearchTrace* trace);
  NodeSearch make_search(bool post_filter) {
    return {cluster,
            random,
            {},
            observer,
            {.all_nodes = true,
             .post_filter = post_filter,
             .draws_ties = false,
             .first_makes_class = options.verify_increments,
             .scores_single = true}};
  }
  // False: the answers are not wanted any more.
  bool go_on() {
    stopped = stopped || (options.go_on && !options.go_on());
    return !stopped;
  }
  void stay(Cycle& cycle, NodeRow row, PodDecision& decision);

  Interner& interner;
  const EvaluatorOptions options;
  VirtualLoop loop;
  Random random{0};
  Cluster cluster;
  WaitingPods waiting_pods;
  PodsInPreBind pods_in_pre_bind;
  ListedNominations nominations;
  NotingApi api;
  Observer observer;
  std::vector<Ref<const Pod>> pending;
  std::unique_ptr<Framework> framework;
  NodeSearch search = make_search(options.preempt);
  NodeSearch with_preemption = make_search(true);
  NodeSearch without_preemption = make_search(false);
  internal::CycleScratch question_scratch;
  std::vector<std::unique_ptr<Cycle>> placed;  // by Evaluator::place(): what their plugins reserved
  bool stopped = false;
  TaskSet tasks;
};

}  // namespace berth::explain
