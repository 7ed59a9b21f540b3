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
#include "sim/entity_cycles.h"

namespace berth::app {
namespace {

// With --groups, before what the flag says: other gates depend on it.
constexpr std::string_view kGroupGate = "GenericWorkload=true";

Result<config::FeatureGates> gates_of(const EvaluateOptions& options) {
  config::FeatureGates gates;
  if (options.groups)
    if (Result<void> set = gates.set(kGroupGate); !set) return fail(set.error());
  if (Result<void> set = gates.set(options.feature_gates); !set) return fail(set.error());
  if (Result<void> valid = gates.validate(); !valid) return fail(valid.error());
  return gates;
}

Result<std::string> decisions_text(const EvaluateOptions& options, explain::EvaluatorOptions how,
                                   const std::vector<ManifestObject>& objects, Interner& interner,
                                   std::ostream& err) {
  Result<std::unique_ptr<explain::Evaluator>> evaluator =
      explain::Evaluator::make(interner, plugins::make_plugin_table(), std::move(how));
  if (!evaluator) return fail(evaluator.error());
  if (Result<void> loaded = (*evaluator)->load(objects); !loaded) return fail(loaded.error());
  const std::vector<explain::PodDecision> decisions = (*evaluator)->decide();
  if (const auto& difference = (*evaluator)->increment_difference())
    return fail(ErrorKind::kInternal, "increments differ: " + *difference);
  if (options.verify_increments)
    err << fmt::format("{} of {} decisions were made from what is kept between pods, too\n",
                       (*evaluator)->decided_from_classes(), decisions.size());
  return options.output == OutputFormat::kTable ? explain::to_table(decisions)
                                                : explain::to_json(decisions);
}

Result<std::string> cycles_text(const EvaluateOptions& options, explain::EvaluatorOptions how,
                                const std::vector<ManifestObject>& objects, Interner& interner) {
  const Result<sim::EntityCycles> cycles =
      sim::run_entity_cycles(interner, plugins::make_plugin_table(),
                             {.configuration = std::move(how.configuration),
                              .gates = std::move(how.gates),
                              .verify_increments = options.verify_increments},
                             objects);
  if (!cycles) return fail(cycles.error());
  return options.output == OutputFormat::kTable ? sim::to_table(*cycles) : sim::to_json(*cycles);
}

}  // namespace

std::string check_evaluate(const EvaluateOptions& options) {
  if (const auto gates = gates_of(options); !gates)
    return "--feature-gates: " + gates.error().message;
  if (!options.groups) return {};
  for (const auto& [given, flag] : {std::pair(!options.profile.empty(), "--profile"),
                                    {options.sequence, "--sequence"},
                                    {options.preempt, "--preempt"},
                                    {options.all_rejections, "--all-rejections"}})
    if (given)
      return fmt::format("--groups lets the scheduler's own cycles run: {} does not go with it",
                         flag);
  return {};
}

Result<void> evaluate(const EvaluateOptions& options, std::ostream& out, std::ostream& err) {
  Interner interner;
  explain::EvaluatorOptions how;
  how.profile = options.profile;
  how.sequence = options.sequence;
  how.preempt = options.preempt;
  how.all_rejections = options.all_rejections;
  how.verify_increments = options.verify_increments;
  Result<config::FeatureGates> gates = gates_of(options);
  if (!gates) return fail(gates.error());
  how.gates = std::move(*gates);
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

  const Result<std::string> text =
      options.groups ? cycles_text(options, std::move(how), *objects, interner)
                     : decisions_text(options, std::move(how), *objects, interner, err);
  if (!text) return fail(text.error());
  out << *text;
  return {};
}

}  // namespace berth::app
