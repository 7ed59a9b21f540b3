// Everything at once, in random order, a few hundred times: whatever happens, a pod that is to be
// scheduled is in exactly one queue or in flight, and comes out again.
#include "queue/scheduling_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "base/testing/names.h"
#include "berth/random.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : random_(seed) {
    w.options.pop_from_backoff = random_.chance(0.7);
    w.profiles.front().pre_enqueue = {&gate_a_, &gate_b_};
    const auto hint = [this](const Pod&, const AnyObject&, const AnyObject&) {
      return Result<QueueingHint>(random_.chance(0.5) ? QueueingHint::kQueue : QueueingHint::kSkip);
    };
    for (const char* plugin : {"Fit", "Taint", "Gang"}) {
      w.registers(plugin, events::kNodeAdd, hint);
      w.registers(plugin, {EventResource::kPod, action::kAll, {}}, hint);
    }
    w.registers("GateA", events::kAssignedPodDelete);
    w.registers("GateB", events::kNodeAdd);
    w.queue().on_ready([this] { ++told_; });
  }

  void step() {
    const bool was_ready = w.queue().ready();
    const int told = told_;
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2: add(); break;
      case 3: update(); break;
      case 4: remove(); break;
      case 5:
      case 6:
      case 7: pop(); break;
      case 8: bind(); break;
      case 9:
      case 10: fail(); break;
      case 11: w.happens(any_event()); break;
      case 12: disturb(); break;
      default: w.wait(std::chrono::milliseconds(random_.below(20'000))); break;
    }
    if (w.queue().ready() && !was_ready) {
      EXPECT_GT(told_, told) << "nobody was told";
    }
    check();
  }

  // With open gates and nothing else happening, everybody comes out in time.
  void everybody_comes_out() {
    for (NamedGate* gate : {&gate_a_, &gate_b_}) gate->closed_for.clear();
    for (auto& [uid, queued] : flying_) w.queue().done(uid);
    for (auto& [uid, queued] : flying_)
      if (w.place(queued.pod) == QueuePlace::kNowhere) forget(queued.pod);
    flying_.clear();
    w.wait(12min);
    std::size_t popped = 0;
    while (auto queued = w.queue().pop()) {
      EXPECT_TRUE(known_.contains(queued->pod->full_name()));
      w.queue().done(queued->pod->uid());
      ++popped;
    }
    EXPECT_EQ(popped, known_.size());
    EXPECT_EQ(w.queue().sizes(), QueueSizes{});
  }

  QueueWorld w;

 private:
  using Known = std::map<std::string, Ref<const Pod>>;

  // Names repeat, so that pods are deleted and made again while their predecessors are in flight.
  testing::PodBuilder any_pod(const std::string& name) {
    auto builder = w.pod(name);
    builder.priority(static_cast<std::int32_t>(random_.below(3)));
    builder.version(std::to_string(++versions_));
    if (random_.chance(0.3)) builder.label("x", std::to_string(random_.below(3)));
    if (random_.chance(0.3)) builder.tolerates("gpu");
    if (random_.chance(0.2)) builder.nominated("n" + std::to_string(random_.below(3)));
    return builder;
  }
  Ref<const Pod> some_known() {
    if (known_.empty()) return nullptr;
    return std::next(known_.begin(), static_cast<long>(random_.below(known_.size())))->second;
  }
  PluginNames some_plugins() {
    PluginNames plugins;
    for (const char* plugin : {"Fit", "Taint", "Gang", ""})
      if (random_.chance(0.3)) plugins.insert(plugin);
    return plugins;
  }
  ClusterEvent any_event() {
    const std::array any{events::kNodeAdd, events::kNodeDelete, events::kAssignedPodAdd,
                         events::kAssignedPodDelete, events::kUnschedulableTimeout};
    return any[random_.below(any.size())];
  }
  void know(const Ref<const Pod>& pod) {
    known_[pod->full_name()] = pod;
    w.cluster.see_pod(pod);
  }
  void forget(const Ref<const Pod>& pod) {
    const auto found = known_.find(pod->full_name());
    if (found == known_.end() || found->second->uid() != pod->uid()) return;
    w.cluster.remove_seen_pod(*found->second);
    known_.erase(found);
  }

  void add() {
    const std::string name = "p" + std::to_string(random_.below(40));
    auto builder = any_pod(name);
    if (!known_.contains("default/" + name))
      builder.uid("00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + ++uids_));
    else if (random_.chance(0.8))
      return;  // now and then the same pod is added twice
    else
      builder.uid(known_.at("default/" + name)->uid_text());
    const Ref<const Pod> pod = builder;
    know(pod);
    w.queue().add(pod);
  }
  void update() {
    const Ref<const Pod> before = some_known();
    if (!before) return;
    const Ref<const Pod> after = any_pod(std::string(before->name())).uid(before->uid_text());
    know(after);
    w.queue().update(*before, after);
  }
  void remove() {
    const Ref<const Pod> pod = some_known();
    if (!pod) return;
    forget(pod);
    w.queue().remove(*pod);
  }
  void pop() {
    const bool ready = w.queue().ready();
    if (auto queued = w.queue().pop()) {
      EXPECT_TRUE(ready);
      const Uid uid = queued->pod->uid();
      EXPECT_TRUE(flying_.emplace(uid, std::move(*queued)).second) << "popped twice";
    }
  }
  std::optional<QueuedPod> land() {
    if (flying_.empty()) return std::nullopt;
    const auto any = std::next(flying_.begin(), static_cast<long>(random_.below(flying_.size())));
    QueuedPod queued = std::move(any->second);
    flying_.erase(any);
    return queued;
  }
  void bind() {
    const auto queued = land();
    if (!queued) return;
    w.queue().done(queued->pod->uid());
    w.queue().remove_nomination(queued->pod->uid());
    const bool known = current(*queued);
    if (known) {
      forget(queued->pod);
      w.queue().remove(*queued->pod);  // it comes by the watch, bound
    }
  }
  // What failure handling does: a pod that is gone or was made anew does not come back.
  void fail() {
    auto queued = land();
    if (!queued) return;
    if (!current(*queued)) {
      w.queue().done(queued->pod->uid());
      return;
    }
    queued->pod = known_.at(queued->pod->full_name());
    const Ref<const Pod> pod = queued->pod;
    const bool there = w.place(pod) != QueuePlace::kNowhere;
    const PluginNames rejectors = random_.chance(0.3) ? PluginNames{} : some_plugins();
    const PluginNames pending = random_.chance(0.3) ? rejectors : PluginNames{};
    EXPECT_EQ(w.fails(std::move(*queued), rejectors, pending).has_value(), !there);
    w.queue().nominate(*pod,
                       random_.chance(0.3)
                           ? std::optional(Nominating::to("n" + std::to_string(random_.below(3))))
                           : std::nullopt);
  }
  bool current(const QueuedPod& queued) const {
    const auto found = known_.find(queued.pod->full_name());
    return found != known_.end() && found->second->uid() == queued.pod->uid();
  }
  void disturb() {
    switch (random_.below(3)) {
      case 0:
        if (const Ref<const Pod> pod = some_known()) w.queue().activate(std::array{pod});
        break;
      case 1:
        w.loop.jump_wall_clock(std::chrono::milliseconds(random_.below(600'000)) - 300s);
        break;
      default: {
        NamedGate& gate = random_.chance(0.5) ? gate_a_ : gate_b_;
        gate.closed_for.clear();
        for (int i = 0; i < 40; ++i)
          if (random_.chance(0.2)) gate.closed_for.insert("p" + std::to_string(i));
        break;
      }
    }
  }

  void check() {
    QueueSizes counted;
    std::set<std::string> queued_names;
    w.queue().for_each([&](const QueuedPod& queued, QueuePlace place) {
      const std::string name = queued.pod->full_name();
      EXPECT_TRUE(queued_names.insert(name).second) << name << " is queued twice";
      EXPECT_TRUE(known_.contains(name)) << name << " is queued but gone";
      EXPECT_EQ(w.queue().find(*queued.pod), &queued);
      EXPECT_EQ(w.place(queued.pod), place);
      switch (place) {
        case QueuePlace::kNowhere: ADD_FAILURE() << name << " is nowhere"; break;
        case QueuePlace::kActive: ++counted.active; break;
        case QueuePlace::kBackoff:
          EXPECT_TRUE(queued.has_rejectors());
          ++counted.backoff;
          break;
        case QueuePlace::kErrorBackoff:
          EXPECT_FALSE(queued.has_rejectors());
          ++counted.backoff;
          break;
        case QueuePlace::kUnschedulable:
          ++(queued.gated() ? counted.gated : counted.unschedulable);
          break;
      }
    });
    for (const auto& [name, pod] : known_)
      EXPECT_TRUE(queued_names.contains(name) || flying_.contains(pod->uid()))
          << name << " is lost";
    counted.in_flight = flying_.size();
    counted.in_flight_events = w.queue().sizes().in_flight_events;
    EXPECT_EQ(w.queue().sizes(), counted);
    if (flying_.empty()) {
      EXPECT_EQ(counted.in_flight_events, 0U);
    }
    for (const auto& [uid, queued] : flying_) EXPECT_TRUE(w.queue().in_flight(uid));
    for (const Symbol node : w.queue().nominated_nodes())
      EXPECT_FALSE(w.queue().nominated_pods(node).empty());
  }

  Random random_;
  NamedGate gate_a_{"GateA"}, gate_b_{"GateB"};
  Known known_;                      // to be scheduled, by name, as the cluster shows it
  std::map<Uid, QueuedPod> flying_;  // popped, and neither done nor returned
  int told_ = 0;
  int versions_ = 0;
  std::int64_t uids_ = 0;
};

TEST(SchedulingQueue, EveryPodIsInOnePlaceAndNoneIsLostWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomRun run(seed);
    for (int i = 0; i < 300; ++i) {
      run.step();
      ASSERT_FALSE(::testing::Test::HasFailure());
    }
    run.everybody_comes_out();
    ASSERT_FALSE(::testing::Test::HasFailure());
  }
}

TEST(SchedulingQueue, TheSameSeedGivesTheSameHistory) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomRun first(seed), second(seed);
    for (int i = 0; i < 200; ++i) {
      first.step();
      second.step();
    }
    EXPECT_EQ(first.w.log.entered, second.w.log.entered) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth
