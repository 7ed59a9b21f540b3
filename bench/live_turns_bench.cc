// How long the world is held at a time by a scheduler that works, while the live page is open and
// somebody asks for explanations again and again: the longest callback of the loop, in time of its
// thread, so that a busy machine does not count.
//
//   live_turns_bench       scheduling alone / with the page / with the page and explanations;
//                          5,000 nodes with 20,000 and 50,000 pods
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/testing/builders.h"
#include "config/load.h"
#include "engine/engine.h"
#include "live/live_explainer.h"
#include "plugins/table.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"
#include "ui/live_feed.h"

namespace berth {
namespace {

// The machine's loop, and what its callbacks take.
class MeasuredLoop final : public Loop {
 public:
  TimePoint now() const override { return real_.now(); }
  WallTime wall_now() const override { return real_.wall_now(); }
  TimePoint tick() const override { return real_.tick(); }
  void post(Callback work) override { real_.post(measured(std::move(work))); }
  TimerId at(TimePoint when, Callback work, TimerKind kind) override {
    return real_.at(when, measured(std::move(work)), kind);
  }
  void cancel(TimerId id) override { real_.cancel(id); }
  void run() { real_.run(); }
  void stop() { real_.stop(); }

  Duration longest{0}, all{0};

 private:
  static Duration of_thread() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  Callback measured(Callback work) {
    return [this, work = std::move(work)]() mutable {
      const Duration begin = of_thread();
      work();
      const Duration took = of_thread() - begin;
      longest = std::max(longest, took);
      all += took;
    };
  }

  RealLoop real_;
};

struct Stuck final : live::ObjectSource {
  Task<std::optional<std::string>> get(std::string kind, std::string, std::string name) override {
    if (kind != "Pod") co_return std::nullopt;
    co_return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"default"}},)"
        R"("spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"64"}}}}}}]}}}})",
        name);
  }
};

// 5,000 nodes with pods on them, 20 pods that fit nowhere, and pods that arrive.
class Scene {
 public:
  static constexpr int kNodes = 5'000, kStuck = 20, kArrive = 20'000, kAtOnce = 20;

  explicit Scene(std::int64_t bound) {
    EngineOptions options;
    options.configuration = config::default_configuration(options.gates);
    engine_ = *Engine::make(loop_, world_.interner, plugins_, api_, feed_, options);
    live::LiveExplainerOptions explaining;
    explaining.configuration = options.configuration;
    explainer_.emplace(loop_, *engine_, world_.interner, plugins_, texts_, std::move(explaining));
    feed_.follow(*engine_);
    objects_.serve(engine_->cluster(), [this](Delta delta) { apply(std::move(delta)); });
    for (int i = 0; i < kNodes; ++i)
      apply(
          {DeltaType::kAdded,
           Ref<const Object>(world_.node(node_name(i))
                                 .allocatable({{"cpu", "32"}, {"memory", "128Gi"}, {"pods", "110"}})
                                 .label("kubernetes.io/hostname", node_name(i))
                                 .zone("zone-" + std::to_string(i % 10))
                                 .build())});
    for (std::int64_t i = 0; i < bound; ++i)
      apply({DeltaType::kAdded, world_.pod(fmt::format("bound-{}", i))
                                    .cpu("100m")
                                    .on(node_name(static_cast<int>(i % kNodes)))
                                    .build()});
    for (int i = 0; i < kStuck; ++i)
      apply({DeltaType::kAdded, world_.pod(fmt::format("stuck-{}", i)).cpu("64").build()});
  }
  ~Scene() {
    feed_.let_go();
    explainer_.reset();
    engine_.reset();
  }

  void run(benchmark::State& state, bool page, bool explanations) {
    engine_->start();
    std::atomic<bool> over = false;
    std::vector<std::thread> clients;
    if (page) clients.emplace_back([&] { look(over); });
    int answers = 0;
    if (explanations) clients.emplace_back([&] { answers = ask(over); });
    loop_.after(std::chrono::milliseconds(500), [this] { arrive(); });  // the clients have begun
    loop_.run();
    over = true;
    // What clients have asked for is still answered.
    std::thread ending([&] {
      for (std::thread& client : clients) client.join();
      loop_.stop();
    });
    loop_.run();
    ending.join();
    state.counters["longest_ms"] = std::chrono::duration<double, std::milli>(loop_.longest).count();
    state.counters["us_a_pod"] =
        std::chrono::duration<double, std::micro>(loop_.all).count() / kArrive;
    state.counters["answers"] = answers;
  }

 private:
  static std::string node_name(int i) { return fmt::format("node-{}", i); }
  void apply(Delta delta) {
    feed_.changed(delta);
    engine_->apply(std::move(delta));
  }
  void arrive() {
    for (int i = 0; i < kAtOnce; ++i)
      apply({DeltaType::kAdded, world_.pod(fmt::format("new-{}", arrived_++)).cpu("100m").build()});
    if (arrived_ < kArrive) {
      loop_.after(std::chrono::milliseconds(1), [this] { arrive(); });
    } else {
      loop_.after(std::chrono::milliseconds(500), [this] { loop_.stop(); });
    }
  }
  // As a browser does.
  void look(const std::atomic<bool>& over) {
    std::string cursor;
    while (!over) {
      if (cursor.empty()) {
        std::promise<std::shared_ptr<const std::string>> taken;
        feed_.snapshot(
            [&](std::shared_ptr<const std::string> json) { taken.set_value(std::move(json)); });
        const std::shared_ptr<const std::string> json = taken.get_future().get();
        if (json) cursor = text_after(*json, "\"cursor\": \"");
      } else if (const std::optional<std::string> changes = feed_.changes_since(cursor)) {
        cursor = text_after(*changes, "\"cursor\": \"");
      } else {
        cursor.clear();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  int ask(const std::atomic<bool>& over) {
    const live::LiveExplainer::Door door = explainer_->door([] { return Result<void>(); });
    int answers = 0;
    while (!over) {
      std::promise<bool> answered;
      door({.pods = {fmt::format("default/stuck-{}", answers % kStuck)}},
           [&](std::optional<explain::Answer> answer) {
             answered.set_value(answer && answer->has_value());
           });
      answers += answered.get_future().get() ? 1 : 0;
    }
    return answers;
  }
  static std::string text_after(const std::string& json, std::string_view key) {
    const std::size_t begin = json.find(key);
    if (begin == std::string::npos) return {};
    return json.substr(begin + key.size(), json.find('"', begin + key.size()) - begin - key.size());
  }

  testing::World world_;
  MeasuredLoop loop_;
  ClusterView objects_{loop_, ClusterView::Shows::kNextTurn};
  StoreApi api_{loop_, objects_, {.keeps_statuses = false}};
  ui::LiveFeed feed_{loop_, 1};
  Stuck texts_;
  PluginTable plugins_ = plugins::make_plugin_table();
  std::unique_ptr<Engine> engine_;
  std::optional<live::LiveExplainer> explainer_;
  int arrived_ = 0;
};

void turns(benchmark::State& state) {
  for (auto _ : state) {
    Scene scene(state.range(0));
    scene.run(state, state.range(1) != 0, state.range(2) != 0);
  }
}

BENCHMARK(turns)
    ->ArgNames({"pods", "page", "explain"})
    ->ArgsProduct({{20'000, 50'000}, {0, 1}, {0}})
    ->Args({20'000, 1, 1})
    ->Args({50'000, 1, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth
