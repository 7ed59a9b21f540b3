// Waiting pods at a hundred thousand: what it costs to begin a wait (entry, two timers, the binding
// cycle's task), to end one each way, and to look at all of them.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "berth/task.h"
#include "berth/waiting_pods.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

struct Crowd {
  testing::World world;
  std::vector<Ref<const Pod>> pods;

  explicit Crowd(std::size_t count) {
    const Ref<const Pod> model = world.pod("model");
    for (std::size_t i = 0; i < count; ++i) {
      PodDraft draft = draft_of(*model);
      draft.name = "pod-" + std::to_string(i);
      draft.uid = "uid-" + std::to_string(i);
      pods.push_back(make_pod(std::move(draft)));
    }
  }
};

Task<void> bind(WaitingPods& waiting, Uid uid, std::size_t& settled_count) {
  auto settled = waiting.settled(uid);
  Outcome outcome = co_await settled;
  settled_count += outcome.ok() || outcome.rejected();
}

struct Waits {
  VirtualLoop loop;
  WaitingPods waiting{loop};
  TaskSet bindings;
  std::size_t settled = 0;

  void arm(const Crowd& crowd) {
    const std::vector<PermitHold> holds = {{"gang", 5min}, {"quota", 10min}};
    for (const Ref<const Pod>& pod : crowd.pods) {
      waiting.hold(pod, "node-1", holds);
      bindings.spawn(bind(waiting, pod->uid(), settled));
    }
  }
};

// Runs `act` on a fresh crowd of waiting pods each time; only `act` is measured.
template <typename Act>
void measure(benchmark::State& state, bool armed, Act act) {
  const Crowd crowd(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    auto waits = std::make_unique<Waits>();
    if (armed) waits->arm(crowd);
    state.ResumeTiming();
    act(*waits, crowd);
    benchmark::DoNotOptimize(waits->settled);
    state.PauseTiming();
    waits->bindings.clear();
    waits.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void arm(benchmark::State& state) {
  measure(state, false, [](Waits& waits, const Crowd& crowd) { waits.arm(crowd); });
}

void allow(benchmark::State& state) {
  measure(state, true, [](Waits& waits, const Crowd& crowd) {
    for (const Ref<const Pod>& pod : crowd.pods) {
      waits.waiting.allow(pod->uid(), "gang");
      waits.waiting.allow(pod->uid(), "quota");
    }
    waits.loop.run();
  });
}

void reject(benchmark::State& state) {
  measure(state, true, [](Waits& waits, const Crowd& crowd) {
    for (const Ref<const Pod>& pod : crowd.pods)
      waits.waiting.reject(pod->uid(), "gang", "no quorum");
    waits.loop.run();
  });
}

void expire(benchmark::State& state) {
  measure(state, true, [](Waits& waits, const Crowd&) { waits.loop.run(); });
}

void list(benchmark::State& state) {
  measure(state, true, [](Waits& waits, const Crowd&) {
    const std::vector<WaitingPod> pods = waits.waiting.list();
    benchmark::DoNotOptimize(pods.data());
  });
}

BENCHMARK(arm)->Name("WaitingPods/arm")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(allow)->Name("WaitingPods/allow")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(reject)->Name("WaitingPods/reject")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(expire)->Name("WaitingPods/expire")->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(list)->Name("WaitingPods/list")->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth
