// Whatever objects a cluster is made of, a decision about each of its pods comes to an end.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/manifest.h"
#include "base/check.h"
#include "berth/interner.h"
#include "config/load.h"
#include "expanded.h"
#include "explain/decision_text.h"
#include "explain/evaluator.h"
#include "plugins/table.h"

namespace {

// Decisions cost pods times nodes: what a small input can ask for is kept within reason.
constexpr std::size_t kMostObjects = 200;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  if (size == 0) return 0;
  // The last byte says how it is to be decided; text formats do not mind one at their end.
  const std::uint8_t how = data[size - 1];
  const std::string text = fuzz::expanded(data, size - 1);
  Interner interner;
  const Result<std::vector<ManifestObject>> objects = read_manifest(text, "fuzz.yaml", interner);
  if (!objects || objects->size() > kMostObjects) return 0;

  explain::EvaluatorOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.sequence = (how & 1) != 0;
  options.preempt = (how & 2) != 0;
  Result<std::unique_ptr<explain::Evaluator>> evaluator =
      explain::Evaluator::make(interner, plugins::make_plugin_table(), std::move(options));
  BERTH_CHECK(evaluator.has_value());
  if (!(*evaluator)->load(*objects)) return 0;
  for (const explain::PodDecision& decision : (*evaluator)->decide()) {
    // It is somewhere, or there is a sentence that says why not.
    BERTH_CHECK(!decision.chosen.empty() || !decision.message.empty() || !decision.error.empty());
    BERTH_CHECK(!explain::to_json(std::span(&decision, 1)).empty());
    BERTH_CHECK(!explain::to_table(std::span(&decision, 1)).empty());
  }
  return 0;
}
