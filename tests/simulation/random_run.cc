#include "random_run.h"

#include <fmt/format.h>

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

RandomRun::RandomRun(std::uint64_t seed, Planted planted)
    : seed_(seed),
      planted_(std::move(planted)),
      random_(seed),
      mischief_(loop_, history_, random_.next()),
      recorder_(loop_, history_, report_.happened),
      extender_(mischief_),
      plugins_(plugins::make_plugin_table()),
      cluster_(loop_, sim::SimTiming{}) {
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

  cluster_.count_bindings();
  cluster_.set_fates([this](ApiCall call, const Pod& pod) { return mischief_.fate_of(call, pod); });
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
