#include "random_run.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/check.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::simulation {
namespace {

using namespace std::chrono_literals;

constexpr int kLooks = 60;                  // at the invariants, on the way
constexpr std::size_t kMostViolations = 8;  // one bug shows many times
constexpr Duration kMischiefTime = 6min;
// Longer than the longest wait, plus the longest stay among the unschedulable, plus backoffs.
constexpr Duration kRestTime = 40min;

}  // namespace

// ---- Recorder

void Recorder::queued(const Pod& pod, QueueName queue, std::string_view event) {
  ++happened_[fmt::format("queued {}", to_string(queue))];
  timeline_.queued(pod, queue, event);
  told();
}
void Recorder::attempt_started(const Pod& pod, std::int32_t attempt) {
  timeline_.attempt_started(pod, attempt);
  told();
}
void Recorder::decided(const Decision& decision) {
  timeline_.decided(decision);
  told();
}
void Recorder::wait_started(const Pod& pod, std::span<const PermitHold> holds) {
  ++history_.waits[key_of(pod)].started;
  ++happened_[fmt::format("held by {}", holds.size())];
  timeline_.wait_started(pod, holds);
  told();
}
void Recorder::wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) {
  ++history_.waits[key_of(pod)].ended;
  ++happened_[fmt::format("wait ended: {}", to_string(outcome.code))];
  timeline_.wait_ended(pod, outcome, waited);
  told();
}
void Recorder::bound(const Pod& pod, std::string_view node, std::int32_t attempts) {
  history_.reserve_steps.push_back({ReserveStep::Kind::kBound, "", key_of(pod)});
  ++happened_["bound"];
  timeline_.bound(pod, node, attempts);
  told();
}
void Recorder::failed(const Pod& pod, const Outcome& outcome) {
  ++happened_[fmt::format("failed: {}", to_string(outcome.code))];
  timeline_.failed(pod, outcome);
  told();
}
void Recorder::status_decided(const Pod& pod, const PodStatusPatch& patch) {
  DecidedStatus& decided = history_.decided[key_of(pod)];
  if (patch.condition) decided.condition.emplace(patch.condition->reason, patch.condition->message);
  if (!patch.nominated_node_name) return;
  decided.nominated = *patch.nominated_node_name;
  ++happened_[decided.nominated.empty() ? "nomination cleared" : "nominated"];
}
void Recorder::event(const PodEvent& event) {
  timeline_.event(event);
  told();
}
void Recorder::trouble(std::string_view message) {
  timeline_.trouble(message);
  told();
}

void Recorder::note(std::string_view what, std::string_view about) {
  ++happened_[std::string(what)];
  timeline_.note("mischief", what, about);
  told();
}

void Recorder::told() {
  for (; prints_ && printed_ < timeline().size(); ++printed_) {
    fmt::print("{}\n", timeline()[printed_]);
    std::fflush(stdout);
  }
}

// ---- RandomRun

RandomRun::RandomRun(std::uint64_t seed, Planted planted)
    : seed_(seed),
      planted_(std::move(planted)),
      random_(seed),
      mischief_(loop_, history_, random_.next()),
      recorder_(loop_, history_, report_.happened),
      extender_(mischief_),
      plugins_(plugins::make_plugin_table()),
      cluster_(loop_, world_.interner, sim::SimTiming{}) {
  if (planted_.mischief) planted_.mischief(mischief_);
  assemble();
}

RandomRun::~RandomRun() { engine_.reset(); }  // its attempts refer to everything else

void RandomRun::assemble() {
  EngineOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.seed = seed_;
  // Most runs have an extender; without one the cycle never suspends.
  if (random_.chance(0.7)) options.extenders = {&extender_};
  add_plugins(plugins_, options.configuration, mischief_);
  if (planted_.configuration) planted_.configuration(options.configuration);

  cluster_.set_fates(
      [this](sim::ApiCall call, const Pod& pod) { return mischief_.fate_of(call, pod); });
  cluster_.on_change([this](const Delta& delta) {
    if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object))
      names_.emplace((*pod)->uid(), key_of(**pod));
  });
  if (planted_.api) planted_api_ = planted_.api(cluster_, history_);
  ClusterApi& api = planted_api_ ? *planted_api_ : cluster_;
  Result<std::unique_ptr<Engine>> engine =
      Engine::make(loop_, world_.interner, plugins_, api, recorder_, std::move(options));
  BERTH_CHECK(engine.has_value());
  engine_ = std::move(*engine);
  cluster_.on_delta([this](const Delta& delta) {
    if (!planted_.lost || !planted_.lost(delta)) engine_->apply(delta);
  });
}

void RandomRun::build_cluster() {
  const std::uint64_t nodes = 2 + random_.below(5);
  for (std::uint64_t i = 0; i < nodes; ++i) create_node(fmt::format("n{}", i + 1));
  const std::uint64_t pods = 4 + random_.below(12);
  for (std::uint64_t i = 0; i < pods; ++i) create_pod();
}

// Something happens at random times; what, is drawn when the time comes.
void RandomRun::plan() {
  const std::uint64_t happenings = 40 + random_.below(80);
  for (std::uint64_t i = 0; i < happenings; ++i)
    loop_.at(TimePoint{mischief_.delay(kMischiefTime)}, [this] { something_happens(); });
}

RunReport RandomRun::run() {
  build_cluster();
  plan();
  engine_->start();
  for (int look = 1; look <= kLooks; ++look) {
    loop_.run_until(TimePoint{kMischiefTime * look / kLooks});
    if (!checked(Moment::kAnyTime)) break;
  }
  if (report_.violations.empty()) come_to_rest();
  report_.timeline = recorder_.timeline();
  return std::move(report_);
}

void RandomRun::come_to_rest() {
  mischief_.lift();
  cluster_.set_watch_lag(0s);
  for (int look = 1; look <= 8; ++look) {
    loop_.run_until(TimePoint{kMischiefTime + kRestTime * look / 8});
    if (!checked(Moment::kAnyTime)) return;
  }
  // A flush may just have set something going. It ends by itself.
  for (int steps = 0; steps < 100'000 && loop_.work_pending(); ++steps) loop_.step();
  checked(Moment::kAtRest);
}

bool RandomRun::checked(Moment moment) {
  std::shared_ptr<void> planted;
  if (moment == Moment::kAtRest && planted_.at_rest)
    planted = planted_.at_rest(*engine_, cluster_, world_);
  History history = history_;
  for (const auto& [uid, times] : cluster_.bindings()) history.bindings[names_.at(uid)] += times;
  State state = look(cluster_, *engine_);
  if (moment == Moment::kAtRest && planted_.doctored) planted_.doctored(history, state);
  report_.violations = check(history, state, moment);
  if (report_.violations.size() > kMostViolations) report_.violations.resize(kMostViolations);
  return report_.violations.empty();
}

}  // namespace berth::simulation
