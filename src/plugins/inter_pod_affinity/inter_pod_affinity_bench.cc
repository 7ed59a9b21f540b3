// What InterPodAffinity costs for one pod among 5,000 nodes in ten zones with 10,000 pods, one of
// which comes and goes in between, so that what is kept has to follow.
#include <benchmark/benchmark.h>

#include "plugins/inter_pod_affinity/testing/affinity_fixture.h"

namespace berth::plugins {
namespace {

constexpr std::size_t kNodes = 5000;
constexpr std::size_t kPods = 10000;

class Crowd final : public AffinityFixture {
 public:
  // `terms` are those of the pods that are there and of the one that comes.
  explicit Crowd(const std::vector<WrittenTerm>& terms) {
    for (std::size_t i = 0; i < kNodes; ++i)
      add_node(node(i), {{"zone", "zone-" + std::to_string(i % 10)}, {"host", node(i)}});
    for (std::size_t i = 0; i < kPods; ++i)
      add(pod("e" + std::to_string(i), {{"app", "a" + std::to_string(i % 100)}}, terms, node(i)));
    incoming = pod("p", {{"app", "a7"}}, terms);
    restless = pod("restless", {{"app", "a7"}}, terms, node(17));
    plugin = make();
    scratch.reset(cluster.nodes().rows());
    by_row.resize(cluster.nodes().rows());
  }
  void TestBody() override {}

  void one_pod_more_or_less() {
    if (is_there)
      benchmark::DoNotOptimize(cluster.remove_pod(*restless));
    else
      benchmark::DoNotOptimize(cluster.add_pod(restless));
    is_there = !is_there;
    cluster.begin_cycle();
  }
  const NodeSet& all() const { return fixture.cluster.nodes().nodes(); }
  const Cluster& all_of_it() const { return fixture.cluster; }

  Ref<const Pod> incoming, restless;
  std::unique_ptr<InterPodAffinity> plugin;
  internal::CycleScratch scratch;
  std::vector<Score> by_row;
  bool is_there = false;

 private:
  static std::string node(std::size_t i) { return "n" + std::to_string(i % kNodes); }
};

void filter(benchmark::State& state, const std::vector<WrittenTerm>& terms) {
  Crowd crowd(terms);
  NodeSet feasible;
  for (auto _ : state) {
    crowd.one_pod_more_or_less();
    Cycle cycle(crowd.incoming, crowd.all_of_it());
    cycle.lend(&crowd.scratch);
    feasible = crowd.all();
    if (!crowd.plugin->pre_filter(cycle).outcome.ok()) continue;
    FilterPass pass(0, cycle, feasible, crowd.scratch.verdicts);
    crowd.plugin->filter(cycle, pass);
    benchmark::DoNotOptimize(feasible);
  }
}

void score(benchmark::State& state, const std::vector<WrittenTerm>& terms) {
  Crowd crowd(terms);
  for (auto _ : state) {
    crowd.one_pod_more_or_less();
    Cycle cycle(crowd.incoming, crowd.all_of_it());
    if (!crowd.plugin->pre_score(cycle, crowd.all()).ok()) continue;
    benchmark::DoNotOptimize(crowd.plugin->score(cycle, crowd.all(), crowd.by_row));
    benchmark::DoNotOptimize(crowd.plugin->normalize(cycle, crowd.all(), crowd.by_row));
  }
}

const WantedList kSome{in("app", {"a7"})};
const WantedList kEvery{has("app")};

BENCHMARK_CAPTURE(filter, nothing, {});
BENCHMARK_CAPTURE(filter, near_some_by_zone, {near(kSome)});
BENCHMARK_CAPTURE(filter, near_all_by_zone, {near(kEvery)});
BENCHMARK_CAPTURE(filter, away_from_some_by_host, {away(kSome, "host")});
BENCHMARK_CAPTURE(filter, away_from_all_by_host, {away(kEvery, "host")});
BENCHMARK_CAPTURE(score, nothing, {});
BENCHMARK_CAPTURE(score, likes_some_by_zone, {likes(5, kSome)});
BENCHMARK_CAPTURE(score, dislikes_all_by_host, {dislikes(5, kEvery, "host")});

}  // namespace
}  // namespace berth::plugins
