// The queue's operations with a million pods in it. Items are pods; longest_ms is the longest turn
// of the loop, for which everybody else has to wait (CPU time).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/process.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using testing::QueueWorld;

constexpr int kPods = 1'000'000;

// A million pods of a few kinds, as deployments make them, and a queue that does not know them yet.
class Million {
 public:
  Million() {
    w_.log.silent = true;
    w_.registers("NodeResourcesFit", events::kAssignedPodDelete);
    w_.registers("NodeResourcesFit", events::kNodeAdd,
                 [](const Pod& pod, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
                   return pod.priority() > 100 ? QueueingHint::kQueue : QueueingHint::kSkip;
                 });
    w_.registers(
        "NodeResourcesFit", {EventResource::kNode, action::kUpdateNodeAllocatable, {}},
        [](const Pod& pod, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
          return pod.priority() > 100 ? QueueingHint::kQueue : QueueingHint::kSkip;
        },
        HintScope::kClass);
    w_.registers("TaintToleration", {EventResource::kNode, action::kUpdateNodeTaint, {}});
    std::vector<PodDraft> kinds;
    for (int kind = 0; kind < 10; ++kind) {
      auto builder = w_.pod("kind");
      builder.priority(kind).cpu(std::to_string(kind + 1) + "00m");
      kinds.push_back(draft_of(*builder.build()));
    }
    pods_.reserve(kPods);
    for (int i = 0; i < kPods; ++i) {
      // A multiplicative shuffle: priorities come in no order.
      const auto kind = static_cast<std::size_t>(i * 2'654'435'761LL / 65'536 % 10);
      PodDraft draft;
      draft.spec = kinds[kind].spec;
      draft.meta = kinds[kind].meta;
      draft.name = "web-7d4b9c6f5-" + std::to_string(i);
      draft.uid = "00000000-0000-0000-0000-" + std::to_string(100'000'000'000 + i);
      pods_.push_back(make_pod(std::move(draft)));
    }
  }

  SchedulingQueue& queue() { return w_.queue(); }
  const std::vector<Ref<const Pod>>& pods() const { return pods_; }
  void wait(Duration duration) { w_.wait(duration); }

  // Does `work` and everything that follows from it now; the longest turn of the loop is told.
  template <typename Work>
  void run(benchmark::State& state, Work work) {
    double longest = turn(work);
    while (w_.loop.has_posted()) longest = std::max(longest, turn([&] { w_.loop.step(); }));
    state.counters["longest_ms"] = longest;
  }
  // The same for the next timer that is set.
  void run_next_timer(benchmark::State& state) {
    run(state, [&] { w_.loop.step(); });
  }

  void add_all() {
    for (const Ref<const Pod>& pod : pods_) queue().add(pod);
  }
  std::vector<QueuedPod> pop_all() {
    std::vector<QueuedPod> popped;
    popped.reserve(pods_.size());
    while (auto queued = queue().pop()) popped.push_back(std::move(*queued));
    return popped;
  }
  void return_all(std::vector<QueuedPod> popped, const PluginNames& rejectors) {
    for (QueuedPod& queued : popped) {
      queued.unschedulable_plugins = rejectors;
      benchmark::DoNotOptimize(queue().return_failed(std::move(queued)));
    }
  }
  void reject_all() {
    add_all();
    return_all(pop_all(), {"NodeResourcesFit"});
  }

 private:
  // Milliseconds.
  template <typename Work>
  static double turn(Work work) {
    const Duration start = cpu_time();
    work();
    return std::chrono::duration<double, std::milli>(cpu_time() - start).count();
  }

  QueueWorld w_;
  std::vector<Ref<const Pod>> pods_;
};

// Runs `measured` on a fresh million that `prepare` has been at.
template <typename Prepare, typename Measured>
void measure(benchmark::State& state, Prepare prepare, Measured measured) {
  for (auto _ : state) {
    state.PauseTiming();
    auto million = std::make_unique<Million>();
    auto prepared = prepare(*million);
    state.ResumeTiming();
    measured(*million, prepared);
    state.PauseTiming();
    benchmark::DoNotOptimize(million->queue().sizes());
    prepared = {};
    million.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}

void BM_Add(benchmark::State& state) {
  measure(state, [](Million&) { return 0; }, [](Million& million, int&) { million.add_all(); });
}

void BM_Pop(benchmark::State& state) {
  measure(
      state,
      [](Million& million) {
        million.add_all();
        return std::vector<QueuedPod>();
      },
      [](Million& million, std::vector<QueuedPod>& popped) { popped = million.pop_all(); });
}

void BM_PopAndDone(benchmark::State& state) {
  measure(
      state,
      [](Million& million) {
        million.add_all();
        return 0;
      },
      [](Million& million, int&) {
        while (auto queued = million.queue().pop()) million.queue().done(queued->pod->uid());
      });
}

void BM_ReturnFailed(benchmark::State& state, const PluginNames& rejectors) {
  measure(
      state,
      [](Million& million) {
        million.add_all();
        return million.pop_all();
      },
      [&](Million& million, std::vector<QueuedPod>& popped) {
        million.return_all(std::move(popped), rejectors);
      });
}

void BM_MoveAll(benchmark::State& state, const ClusterEvent& event) {
  measure(
      state,
      [](Million& million) {
        million.reject_all();
        return 0;
      },
      [&](Million& million, int&) {
        million.run(state, [&] { million.queue().move_all(event, {}, {}); });
      });
}

// Everybody's backoff ends in the same second.
void BM_FlushBackoff(benchmark::State& state) {
  measure(
      state,
      [](Million& million) {
        million.add_all();
        million.return_all(million.pop_all(), {});
        million.wait(1s);
        return 0;
      },
      [&](Million& million, int&) { million.run_next_timer(state); });
}

void BM_FlushUnschedulable(benchmark::State& state) {
  measure(
      state,
      [](Million& million) {
        million.reject_all();
        million.wait(301s);
        return 0;
      },
      [&](Million& million, int&) { million.run_next_timer(state); });
}

// A flush that finds everybody too young.
void BM_FlushUnschedulableInVain(benchmark::State& state) {
  measure(
      state,
      [](Million& million) {
        million.reject_all();
        million.wait(29s);
        return 0;
      },
      [&](Million& million, int&) { million.run_next_timer(state); });
}

void BM_Update(benchmark::State& state, bool rejected) {
  measure(
      state,
      [rejected](Million& million) {
        rejected ? million.reject_all() : million.add_all();
        std::vector<Ref<const Pod>> updated;
        updated.reserve(kPods);
        for (const Ref<const Pod>& pod : million.pods()) {
          PodDraft draft = draft_of(*pod);
          draft.resource_version = "2";
          updated.push_back(make_pod(std::move(draft)));
        }
        return updated;
      },
      [](Million& million, std::vector<Ref<const Pod>>& updated) {
        for (std::size_t i = 0; i < updated.size(); ++i)
          million.queue().update(*million.pods()[i], updated[i]);
      });
}

void BM_Remove(benchmark::State& state, bool rejected) {
  measure(
      state,
      [rejected](Million& million) {
        rejected ? million.reject_all() : million.add_all();
        return 0;
      },
      [](Million& million, int&) {
        for (const Ref<const Pod>& pod : million.pods()) million.queue().remove(*pod);
      });
}

BENCHMARK(BM_Add)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(BM_Pop)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(BM_PopAndDone)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_ReturnFailed, unschedulable, PluginNames{"NodeResourcesFit"})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_ReturnFailed, error, PluginNames{})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_MoveAll, everybody, events::kAssignedPodDelete)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_MoveAll, hints_say_no, events::kNodeAdd)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_MoveAll, hints_say_no_to_classes,
                  (ClusterEvent{EventResource::kNode, action::kUpdateNodeAllocatable, {}}))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(BM_MoveAll, nobody_cares,
                  (ClusterEvent{EventResource::kNode, action::kUpdateNodeTaint, {}}))
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK(BM_FlushBackoff)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(BM_FlushUnschedulable)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(BM_FlushUnschedulableInVain)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_Update, active, false)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_Update, unschedulable, true)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_Remove, active, false)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK_CAPTURE(BM_Remove, unschedulable, true)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace berth
