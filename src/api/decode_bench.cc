// What it costs to decode a pod that comes from an API server, in either encoding: one of a
// workload (its siblings are there already) and one with everything that a pod can have.

#include <benchmark/benchmark.h>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "api/testing/golden.h"
#include "api/written_pod.h"

namespace berth {
namespace {

void decode_json(benchmark::State& state, const char* name) {
  const std::string& json = testing::golden("Pod", name).json;
  Interner interner;
  const auto sibling = decode_pod(json, interner);
  for (auto _ : state) benchmark::DoNotOptimize(decode_pod(json, interner));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(json.size()));
}

void decode_proto(benchmark::State& state, const char* name) {
  const Envelope envelope = open_envelope(testing::golden("Pod", name).proto).value();
  Interner interner;
  const auto sibling = decode_pod_proto(envelope.object, interner);
  for (auto _ : state) benchmark::DoNotOptimize(decode_pod_proto(envelope.object, interner));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(envelope.object.size()));
}

BENCHMARK_CAPTURE(decode_json, bound, "web-7d4b9c-x2x5q");
BENCHMARK_CAPTURE(decode_proto, bound, "web-7d4b9c-x2x5q");
BENCHMARK_CAPTURE(decode_json, rich, "rich-1");
BENCHMARK_CAPTURE(decode_proto, rich, "rich-1");

void translate_to_json(benchmark::State& state) {
  const std::string& bytes = testing::golden("Pod", "web-7d4b9c-x2x5q").proto;
  for (auto _ : state) benchmark::DoNotOptimize(envelope_to_json(bytes));
}
BENCHMARK(translate_to_json);

void translate_to_proto(benchmark::State& state) {
  const std::string& json = testing::golden("Pod", "web-7d4b9c-x2x5q").json;
  for (auto _ : state) benchmark::DoNotOptimize(json_to_envelope(json));
}
BENCHMARK(translate_to_proto);

}  // namespace
}  // namespace berth
