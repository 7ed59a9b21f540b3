// What must be true of a ChaosRun.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/devices.h"
#include "api/manifest.h"
#include "api/storage.h"
#include "base/check.h"
#include "chaos_run.h"
#include "config/load.h"
#include "explain/evaluator.h"
#include "memapi/json_edit.h"
#include "plugins/table.h"
#include "tests/simulation/invariants.h"
#include "wire/json_text.h"

namespace berth::chaos {
namespace {

struct ScheduledCondition {
  std::string status, reason, message;
};

ScheduledCondition scheduled_condition(const JsonValue& pod) {
  for (const JsonValue& condition : memapi::items_at(pod, "status.conditions"))
    if (memapi::text_at(condition, "type") == "PodScheduled")
      return {std::string(memapi::text_at(condition, "status")),
              std::string(memapi::text_at(condition, "reason")),
              std::string(memapi::text_at(condition, "message"))};
  return {};
}

}  // namespace

bool ChaosRun::look() {
  for (const std::string& text : ledger_.violations()) violated(text);
  look_at_nodes();
  look_at_claims();
  return report_.violations.empty();
}

// By what the API server has, without the pods that nobody could know of.
void ChaosRun::look_at_nodes() {
  std::map<std::string, std::int64_t> cpu, pods;
  for (const Ref<const Pod>& pod : server_.pods()) {
    if (pod->node().empty() || pod->finished() ||
        ledger_.placed_unasked().contains(std::string(pod->full_name())))
      continue;
    cpu[std::string(pod->node_name())] += pod->usage().requests.milli_cpu;
    ++pods[std::string(pod->node_name())];
  }
  for (const Ref<const Object>& object : server_.objects(ObjectKind::kNode)) {
    const auto& node = static_cast<const Node&>(*object);
    if (cpu[node.name] > node.allocatable_resources.milli_cpu)
      violated(fmt::format("node {} has {} milli-cpu, its pods ask for {}", node.name,
                           node.allocatable_resources.milli_cpu, cpu[node.name]));
    if (pods[node.name] > node.allocatable_resources.pods)
      violated(fmt::format("node {} has {} pods", node.name, pods[node.name]));
  }
}

void ChaosRun::look_at_claims() {
  std::map<std::string, std::string> owners;  // of devices and volumes
  const auto take = [&](std::string what, const std::string& owner) {
    const auto [other, fresh] = owners.emplace(std::move(what), owner);
    if (!fresh) violated(fmt::format("{} is {}'s and {}'s", other->first, other->second, owner));
  };
  for (const Ref<const Object>& object : server_.objects(ObjectKind::kResourceClaim)) {
    const auto& claim = static_cast<const ResourceClaim&>(*object);
    if (!claim.allocated()) continue;
    for (const DeviceRequestAllocationResult& result : claim.status.allocation->results)
      take(fmt::format("device {}/{}", claim.symbols.text(result.pool),
                       claim.symbols.text(result.device)),
           claim.name);
  }
  for (const Ref<const Object>& object : server_.objects(ObjectKind::kPersistentVolumeClaim)) {
    const auto& claim = static_cast<const PersistentVolumeClaim&>(*object);
    if (!claim.volume_name.empty()) take("volume " + claim.volume_name, claim.name);
  }
}

// ---- at rest

SimulatedScheduler* ChaosRun::leader() {
  for (const std::unique_ptr<SimulatedScheduler>& scheduler : schedulers_)
    if (scheduler->running() && ledger_.holds(scheduler->who())) return scheduler.get();
  return nullptr;
}

void ChaosRun::look_at_rest() {
  const auto leading = std::ranges::count_if(schedulers_, [this](const auto& scheduler) {
    return scheduler->running() && ledger_.holds(scheduler->who());
  });
  if (leading != 1) return violated(fmt::format("{} schedulers lead", leading));
  SimulatedScheduler& leading_one = *leader();
  if (planted_.at_rest) planted_.at_rest(server_, leading_one.engine());
  look();
  look_at_leader(leading_one);
  look_at_conditions(leading_one);
  look_at_pending_pods();
}

// What it knows is what is stored, and nothing is left of what it did.
void ChaosRun::look_at_leader(SimulatedScheduler& leading) {
  simulation::State state;
  simulation::History history = leading.history();
  for (const simulation::ReserveStep& step : history.reserve_steps)
    if (step.kind == simulation::ReserveStep::Kind::kBound) history.bindings[step.pod] = 1;
  for (const Ref<const Pod>& pod : server_.pods()) {
    simulation::add_stored(*pod, state);
    if (ledger_.placed_unasked().contains(std::string(pod->full_name())))
      history.placed_unasked.insert(simulation::key_of(*pod));
  }
  for (const Ref<const Object>& node : server_.objects(ObjectKind::kNode))
    simulation::add_stored(static_cast<const Node&>(*node), state);
  simulation::look_at_engine(leading.engine(), state);
  // Devices behind this resource are claimed: the node itself has none.
  for (auto& [key, pod] : state.stored) pod.requests.erase("example.com/gpu");
  for (auto& [key, pod] : state.placed) pod.requests.erase("example.com/gpu");
  for (auto& [node, row] : state.rows) row.requested.erase("example.com/gpu");
  if (planted_.doctored) planted_.doctored(history);
  for (const simulation::Violation& violation :
       simulation::check(history, state, simulation::Moment::kAtRest))
    violated(
        fmt::format("{}: {}: {}", leading.who(), to_string(violation.invariant), violation.text));
}

// Conditions and nominations are those of the last decision.
void ChaosRun::look_at_conditions(SimulatedScheduler& leading) {
  std::map<std::string, std::string> nominations;
  SchedulingQueue& queue = leading.engine().queue();
  const Symbols& symbols = leading.engine().cluster().symbols();
  for (const Symbol node : queue.nominated_nodes())
    for (const Ref<const Pod>& pod : queue.nominated_pods(node))
      nominations[std::string(pod->full_name())] = symbols.text(node);
  for (const memapi::ObjectRef& stored : server_.local().list(memapi::resource_of("pods"))) {
    const JsonValue pod = stored->tree();
    const std::string name = fmt::format("{}/{}", stored->namespace_name, stored->name);
    const ScheduledCondition condition = scheduled_condition(pod);
    if (memapi::at(pod, "metadata.deletionTimestamp") != nullptr) continue;
    const std::string_view nominated = memapi::text_at(pod, "status.nominatedNodeName");
    if (!memapi::text_at(pod, "spec.nodeName").empty()) {
      if (condition.status != "True")
        violated(fmt::format("{} is bound, and its condition says {} {}", name, condition.status,
                             condition.message));
      if (!nominated.empty())
        violated(fmt::format("{} is bound and nominated to {}", name, nominated));
      continue;
    }
    if (nominated != nominations[name])
      violated(fmt::format("{} is nominated to \"{}\", the last decision was \"{}\"", name,
                           nominated, nominations[name]));
    const auto known = leading.recorder().pods().find(name);
    if (known == leading.recorder().pods().end() || known->second.attempts == 0) {
      violated(fmt::format("{} was never tried", name));
      continue;
    }
    if (condition.status != "False" || condition.message != known->second.message())
      violated(fmt::format("{}: the condition says {} \"{}\", the last decision \"{}\"", name,
                           condition.status, condition.message, known->second.message()));
  }
}

// Who has no place really has none: asked anew, of what the API server has.
void ChaosRun::look_at_pending_pods() {
  Interner interner;
  const Result<std::vector<ManifestObject>> objects =
      read_manifest(server_.save(), "server", interner);
  if (!objects) return violated("the server's objects: " + objects.error().message);
  explain::EvaluatorOptions options;
  options.configuration = config::default_configuration(options.gates);
  auto evaluator =
      explain::Evaluator::make(interner, plugins::make_plugin_table(), std::move(options));
  BERTH_CHECK(evaluator.has_value());
  if (const Result<void> loaded = (*evaluator)->load(*objects); !loaded)
    return violated("the server's objects: " + loaded.error().message);
  for (const explain::PodDecision& decision : (*evaluator)->decide())
    if (!decision.chosen.empty())
      violated(fmt::format("{} is not bound and fits on {}", decision.pod, decision.chosen));
}

}  // namespace berth::chaos
