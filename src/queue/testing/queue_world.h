// A queue with everything around it, for tests: virtual time, a cluster that only knows which pods
// there are, plugins whose answers the test sets, and a record of who entered which queue and why.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/views.h"
#include "queue/scheduling_queue.h"

namespace berth::testing {

// Higher priority first, then who came first: upstream's default.
class ByPriority final : public QueueSortPlugin {
 public:
  std::string_view name() const override { return "ByPriority"; }
  bool less(const QueuedPod& a, const QueuedPod& b) const override {
    if (a.pod->priority() != b.pod->priority()) return a.pod->priority() > b.pod->priority();
    return a.timestamp < b.timestamp;
  }
};

// Holds back the pods named in `closed_for`.
class NamedGate final : public PreEnqueuePlugin {
 public:
  explicit NamedGate(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  Outcome pre_enqueue(const Pod& pod) const override {
    ++asked;
    if (instead) return instead(pod);
    return closed_for.contains(std::string(pod.name())) ? Outcome::unschedulable("closed")
                                                        : Outcome::success();
  }

  std::set<std::string> closed_for;
  std::function<Outcome(const Pod&)> instead;
  mutable int asked = 0;

 private:
  std::string name_;
};

// "active a UnscheduledPodAdd", …
class QueueLog final : public Observer {
 public:
  void queued(const Pod& pod, QueueName queue, std::string_view event) override {
    if (silent) return;
    entered.push_back(std::string(to_string(queue)) + " " + std::string(pod.name()) + " " +
                      std::string(event));
  }
  void internal_error(std::string_view message) override { internal_errors.emplace_back(message); }
  Observer* measuring() override { return measures ? this : nullptr; }
  void rejector_changed(std::string_view, std::string_view plugin, int change) override {
    rejectors[std::string(plugin)] += change;
  }
  void entity_queued(QueuedEntity, QueueName queue, std::string_view event) override {
    counted.push_back(std::string(to_string(queue)) + " " + std::string(event));
  }
  std::vector<std::string> take() { return std::exchange(entered, {}); }

  bool silent = false;                   // does not record who entered
  bool measures = false;                 // set before the queue is made
  std::map<std::string, int> rejectors;  // when it measures: how many pods each rejected
  std::vector<std::string> entered;
  std::vector<std::string> counted;  // of what entered, when it measures
  std::vector<std::string> internal_errors;
};

inline HintFunction always(QueueingHint hint) {
  return [hint](const Pod&, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
    return hint;
  };
}

// Set up profiles and options first; the queue is made when it is first used.
inline constexpr auto kNowhere = QueuePlace::kNowhere;
inline constexpr auto kActive = QueuePlace::kActive;
inline constexpr auto kBackoff = QueuePlace::kBackoff;
inline constexpr auto kErrorBackoff = QueuePlace::kErrorBackoff;
inline constexpr auto kUnschedulable = QueuePlace::kUnschedulable;

struct QueueWorld {
  static constexpr std::string_view kScheduler = "default-scheduler";

  World world;
  VirtualLoop loop;
  Cluster cluster{world.interner.symbols()};
  ByPriority by_priority;
  QueueLog log;
  std::vector<QueueProfile> profiles{{std::string(kScheduler), {}, {}}};
  QueueOptions options;
  const QueueSortPlugin* sort = &by_priority;

  SchedulingQueue& queue() {
    if (!queue_) {
      queue_.emplace(loop, cluster, options, log);
      queue_->set_profiles(*sort, profiles);
      queue_->run();
    }
    return *queue_;
  }
  void drop_queue() { queue_.reset(); }

  // `plugin` waits for `event`; no hint: every such event queues.
  void registers(const std::string& plugin, const ClusterEvent& event, HintFunction hint = {},
                 HintScope scope = HintScope::kPod) {
    auto& events = profiles.front().events;
    auto found = std::ranges::find(events, plugin, &QueueProfile::PluginEvents::plugin);
    if (found == events.end()) found = events.insert(events.end(), {plugin, {}});
    found->events.push_back({event, std::move(hint), scope});
  }

  PodBuilder pod(std::string name) {
    PodBuilder builder = world.pod(std::move(name));
    builder.scheduler(std::string(kScheduler));
    return builder;
  }
  // Shown by the cluster and handed to the queue, as ingest does.
  Ref<const Pod> add(const PodBuilder& builder) {
    Ref<const Pod> pod = builder.build();
    cluster.see_pod(pod);
    queue().add(pod);
    return pod;
  }
  Ref<const Pod> add(const std::string& name) { return add(pod(name)); }

  QueuedPod pop() {
    std::optional<QueuedPod> popped = queue().pop();
    return popped ? std::move(*popped) : QueuedPod{};
  }
  std::string pop_name() {
    const QueuedPod popped = pop();
    return popped.pod ? std::string(popped.pod->name()) : std::string();
  }
  // A popped pod's attempt failed, by these plugins.
  Result<void> fails(QueuedPod queued, PluginNames unschedulable = {}, PluginNames pending = {}) {
    queued.unschedulable_plugins = std::move(unschedulable);
    queued.pending_plugins = std::move(pending);
    queued.gating_plugin.clear();
    return queue().return_failed(std::move(queued));
  }
  // Adds a pod, tries it and lets it fail.
  Ref<const Pod> rejected(const std::string& name, PluginNames unschedulable,
                          PluginNames pending = {}) {
    Ref<const Pod> pod = add(name);
    QueuedPod popped = pop();
    if (popped.pod != pod) return nullptr;  // the caller's test fails
    if (!fails(std::move(popped), std::move(unschedulable), std::move(pending))) return nullptr;
    return pod;
  }

  void happens(const ClusterEvent& event) { queue().move_all(event, {}, {}); }
  void wait(Duration duration) { loop.run_until(loop.now() + duration); }
  QueuePlace place(const Ref<const Pod>& pod) { return queue().place(*pod); }
  // Seconds since the start of virtual time.
  double clock() const { return std::chrono::duration<double>(loop.now().since_start).count(); }

 private:
  std::optional<SchedulingQueue> queue_;
};

}  // namespace berth::testing

namespace berth {

inline void PrintTo(QueuePlace place, std::ostream* out) {
  static constexpr const char* kNames[] = {"nowhere", "active", "backoff", "error backoff",
                                           "unschedulable"};
  *out << kNames[static_cast<std::size_t>(place)];
}

}  // namespace berth
