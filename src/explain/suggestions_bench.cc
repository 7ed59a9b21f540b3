// What it costs to find what would help one pod in a cluster of 5,000 nodes and 20,000 pods.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "explain/testing/changed_manifest.h"

namespace berth::explain {
namespace {

// Nodes of 4 cores in three zones, 2 of which are taken by four pods; every tenth is tainted, every
// twentieth is cordoned.
std::string large_cluster(const std::string& pending) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += fmt::format(
        R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{0}","labels":{{)"
        R"("kubernetes.io/hostname":"node-{0}","topology.kubernetes.io/zone":"zone-{1}",)"
        R"("kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","pool":"pool-{2}"}}}},)"
        R"("spec":{{{3}}},"status":{{"allocatable":{{"cpu":"4","memory":"16Gi","pods":"110"}}}}}})"
        "\n",
        i, i % 3, i % 7,
        i % 20 == 0   ? R"("unschedulable":true)"
        : i % 10 == 1 ? R"("taints":[{"key":"team","value":"red","effect":"NoSchedule"}])"
                      : "");
    for (int j = 0; j < 4; ++j)
      text += fmt::format(
          R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"pod-{0}-{1}","labels":{{)"
          R"("app":"app-{2}"}}}},"spec":{{"nodeName":"node-{0}","priority":{3},"containers":)"
          R"([{{"name":"c","resources":{{"requests":{{"cpu":"{4}m","memory":"2Gi"}}}}}}]}}}})"
          "\n",
          i, j, i % 50, j % 2, 500 + i % 13);
  }
  return text + pending;
}

std::string pod(const std::string& spec) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","labels":{{"app":"app-1"}}}},)"
      R"("spec":{{{}}}}})",
      spec);
}

std::string asking(const char* cpu) {
  return fmt::format(
      R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}","memory":"3Gi"}}}}}}])",
      cpu);
}

void find(benchmark::State& state, const std::string& spec) {
  testing::LoadedManifest loaded(large_cluster(pod(spec)));
  const ManifestTexts texts(loaded.objects);
  const Ref<const Pod> pending = loaded.pending("default/p");
  std::size_t found = 0;
  for (auto _ : state) {
    const Suggestions suggestions = find_suggestions(*loaded.evaluator, texts, pending);
    found = suggestions.found.size();
  }
  state.counters["suggestions"] = static_cast<double>(found);
}

BENCHMARK_CAPTURE(find, cpu, asking("3"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(find, cpu_too_large_for_any_node, asking("8"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(find, selector, asking("1") + R"(,"nodeSelector":{"disk":"ssd","pool":"pool-1"})")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(find, selector_and_cpu, asking("8") + R"(,"nodeSelector":{"disk":"ssd"})")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(
    find, anti_affinity,
    asking("1") +
        R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
        R"([{"topologyKey":"topology.kubernetes.io/zone","labelSelector":{"matchLabels":{"app":"app-1"}}}]}})")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(
    find, spreading,
    asking("3") +
        R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone",)"
        R"("whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"app-1"}}}])")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::explain
