#include "app/evaluate.h"

#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "api/manifest.h"
#include "app/input.h"
#include "berth/interner.h"
#include "explain/decision_text.h"
#include "explain/evaluator.h"
#include "plugins/table.h"

namespace berth::app {

Result<void> evaluate(const EvaluateOptions& options, std::ostream& out, std::ostream& err) {
  Interner interner;
  explain::EvaluatorOptions how;
  how.profile = options.profile;
  how.sequence = options.sequence;
  how.preempt = options.preempt;
  how.all_rejections = options.all_rejections;
  how.verify_increments = options.verify_increments;
  if (Result<void> set = how.gates.set(options.feature_gates); !set) return set;
  if (Result<void> valid = how.gates.validate(); !valid) return valid;
  Result<config::Configuration> configuration =
      read_configuration(options.config, how.gates, interner);
  if (!configuration) return fail(configuration.error());
  how.configuration = std::move(*configuration);
  if (!how.configuration.extenders.empty())
    err << fmt::format("{}: {} extender(s) are configured; an evaluation does not ask them\n",
                       options.config, how.configuration.extenders.size());

  const Result<std::vector<ManifestObject>> objects =
      read_manifests(options.cluster, options.strict, interner, err);
  if (!objects) return fail(objects.error());

  Result<std::unique_ptr<explain::Evaluator>> evaluator =
      explain::Evaluator::make(interner, plugins::make_plugin_table(), std::move(how));
  if (!evaluator) return fail(evaluator.error());
  if (Result<void> loaded = (*evaluator)->load(*objects); !loaded) return loaded;
  const std::vector<explain::PodDecision> decisions = (*evaluator)->decide();
  if (const auto& difference = (*evaluator)->increment_difference())
    return fail(ErrorKind::kInternal, "increments differ: " + *difference);
  if (options.verify_increments)
    err << fmt::format("{} of {} decisions were made from what is kept between pods, too\n",
                       (*evaluator)->decided_from_classes(), decisions.size());
  out << (options.output == OutputFormat::kTable ? explain::to_table(decisions)
                                                 : explain::to_json(decisions));
  return {};
}

}  // namespace berth::app
