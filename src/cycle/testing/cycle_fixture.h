// A whole scheduler made of fakes, for tests of the scheduling and binding cycle: one profile of
// scripted plugins, a real cluster and queue, virtual time, an API that remembers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/change_gate.h"
#include "cycle/binding_cycle.h"
#include "cycle/failure_handler.h"
#include "cycle/schedule_one.h"
#include "framework/api_dispatcher.h"
#include "framework/testing/fake_plugins.h"
#include "queue/scheduling_queue.h"
#include "search/node_search.h"

namespace berth::testing {

// Remembers what it was told.
class RecordingObserver final : public Observer {
 public:
  std::vector<Decision> decisions;
  std::vector<std::string> bound_pods;  // "pod on node"
  std::vector<std::pair<std::string, Outcome>> failures;
  std::vector<std::string> queued_pods;  // "pod queue event"
  std::vector<std::string> internal_errors;
  std::vector<PodEvent> pod_events;
  std::vector<SlowSearch> slow_searches;
  bool trace_wanted = false;
  std::vector<SearchTrace> traces;

  void decided(const Decision& decision) override { decisions.push_back(decision); }
  void bound(const Pod& pod, std::string_view node, std::int32_t) override {
    bound_pods.push_back(std::string(pod.name()) + " on " + std::string(node));
  }
  void failed(const Pod& pod, const Outcome& outcome) override {
    failures.emplace_back(pod.name(), outcome);
  }
  void queued(const Pod& pod, QueueName queue, std::string_view event) override {
    queued_pods.push_back(std::string(pod.name()) + " " + std::string(to_string(queue)) + " " +
                          std::string(event));
  }
  void event(const PodEvent& event) override { pod_events.push_back(event); }
  void searched_slowly(const Pod&, const SlowSearch& search) override {
    slow_searches.push_back(search);
  }
  bool wants_trace(const Pod&) const override { return trace_wanted; }
  void traced(const Pod&, const NodeTable&, const SearchTrace& trace) override {
    traces.push_back(trace);
  }
  void internal_error(std::string_view message) override { internal_errors.emplace_back(message); }
};

class CycleFixture {
 public:
  FakeWorld world;
  FakeProfile profile{world};
  RecordingObserver observer;
  ChangeGate gate;
  std::vector<Extender*> extenders;
  std::int32_t percentage = 0;
  BindingCycle::Options binding_options;
  std::optional<ApiDispatcher> writes;  // between the parts and the API
  TaskSet tasks;

  // After nodes and plugins are there. Without a Bind plugin one is added that always works.
  void start();
  ~CycleFixture() { tasks.clear(); }

  // The watch shows a new pod.
  Ref<const Pod> add(Ref<const Pod> pod) {
    world.cluster.see_pod(pod);
    queue->add(pod);
    return pod;
  }
  Ref<const Pod> add(const std::string& name) { return add(world.pod(name)); }
  void run_until(Duration time) { world.loop.run_until(TimePoint{time}); }
  // Everything that can happen now.
  void settle() { run_until(world.loop.now().since_start); }

  const Outcome* last_failure() const {
    return observer.failures.empty() ? nullptr : &observer.failures.back().second;
  }

  std::unique_ptr<SchedulingQueue> queue;
  std::unique_ptr<Framework> framework;
  std::unique_ptr<FailureHandler> failures;
  std::unique_ptr<NodeSearch> search;
  std::unique_ptr<BindingCycle> bindings;
  std::unique_ptr<ScheduleOne> schedule_one;
  // May be replaced before start().
  ClusterApi* api = &world.api;
  Loop* loop = &world.loop;  // of the scheduling cycle
};

}  // namespace berth::testing
