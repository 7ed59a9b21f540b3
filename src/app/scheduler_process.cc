#include "app/scheduler_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/signals.h"
#include "config/write.h"
#include "engine/debug_dump.h"

namespace berth::app {
namespace {

constexpr Duration kEventsLeaveEvery = std::chrono::milliseconds(10);
// How long the last events may take when the program ends.
constexpr Duration kLastEvents = std::chrono::seconds(1);
// How often it is noted what has not been listed yet.
constexpr Duration kLookAgain = std::chrono::seconds(1);

std::string hostname() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  return name;
}

std::vector<Observer*> all_observers(Observer& measured, Observer& logged, Observer* another) {
  std::vector<Observer*> all{&measured, &logged};
  if (another) all.push_back(another);
  return all;
}

}  // namespace

SchedulerProcess::SchedulerProcess(SchedulerSetup setup, SchedulerHost host, Interner& interner,
                                   telemetry::Log log)
    : setup_(std::move(setup)),
      host_(std::move(host)),
      loop_(host_.world),
      interner_(interner),
      log_(std::move(log)),
      random_(host_.seed),
      metrics_(setup_.command.options),
      clients_(setup_, host_, log_, metrics_.client),
      events_(loop_, clients_.events, random_.fork(),
              {.hostname = host_.name,
               .component = setup_.configuration.profiles.front().scheduler_name,
               .log = log_,
               .gather = kEventsLeaveEvery}),
      api_(loop_, clients_.main, interner_, events_, random_.fork()),
      measured_(loop_, metrics_.registry),
      logged_(log_),
      observers_(all_observers(measured_, logged_, host_.observer)) {}

EngineOptions SchedulerProcess::engine_options() {
  EngineOptions options;
  options.configuration = setup_.configuration;
  options.gates = setup_.command.options.gates;
  options.max_unschedulable = setup_.command.options.pod_max_in_unschedulable;
  options.seed = random_.next();
  options.extenders = extenders_->all();
  return options;
}

// What extenders are told in full.
kube::TextOptions SchedulerProcess::text_options() {
  const extender::ObjectNeeds& needs = extenders_->objects().needs();
  if (!needs.any()) return {};
  using Pods = extender::ObjectNeeds::Pods;
  kube::TextOptions texts;
  texts.nodes = needs.nodes ? kube::KeptText::kAll : kube::KeptText::kNone;
  texts.pods = needs.pods == Pods::kAll          ? kube::KeptText::kAll
               : needs.pods == Pods::kUnassigned ? kube::KeptText::kUnassigned
                                                 : kube::KeptText::kNone;
  texts.take = [this](const Delta& delta, kube::ObjectText text) {
    engine_->in_turn(
        [this, delta, text = std::move(text)] { extenders_->objects().apply(delta, text); });
  };
  return texts;
}

Result<void> SchedulerProcess::make() {
  Result<std::unique_ptr<extender::Extenders>> extenders =
      extender::Extenders::make(setup_.configuration.extenders, loop_);
  if (!extenders) return fail(extenders.error());
  extenders_ = std::move(*extenders);
  Result<std::unique_ptr<Engine>> engine =
      Engine::make(loop_, interner_, setup_.plugins, api_, observers_, engine_options());
  if (!engine) return fail(engine.error());
  engine_ = std::move(*engine);
  const config::FeatureGates& gates = setup_.command.options.gates;
  reflectors_ = std::make_unique<kube::Reflectors>(
      loop_, clients_.main, interner_, random_.fork(), log_,
      kube::ReflectorsOptions{.kinds = kube::watched_kinds(setup_.configuration, gates),
                              .each = {.streaming_lists = gates.enabled("WatchListClient"),
                                       .texts = text_options(),
                                       .metrics = &metrics_.watch}},
      [this](Delta delta) { engine_->apply(std::move(delta)); });

  if (elects()) {
    const kube::LeaderElectionOptions options = election_options();
    if (coordinated())
      candidate_.emplace(
          loop_, clients_.main, random_.fork(),
          kube::LeaseCandidateOptions{.namespace_name = options.namespace_name,
                                      .name = options.identity,
                                      .lease_name = options.name,
                                      .binary_version = "1.36.4",
                                      .emulation_version = setup_.command.options.emulated + ".0"},
          log_);
    elector_.emplace(host_.election, clients_.lease, random_.fork(), options, election_callbacks(),
                     log_);
  }
  return serve();
}

kube::LeaderElectionOptions SchedulerProcess::election_options() {
  const config::LeaderElection& election = setup_.configuration.leader_election;
  kube::LeaderElectionOptions options;
  options.namespace_name = election.resource_namespace;
  options.name = election.resource_name;
  options.identity = kube::election_identity(host_.name, random_.fork());
  options.lease_duration = election.lease_duration;
  options.renew_deadline = election.renew_deadline;
  options.retry_period = election.retry_period;
  options.coordinated = coordinated();
  options.metrics = &metrics_.leader_election;
  return options;
}

kube::LeaderCallbacks SchedulerProcess::election_callbacks() {
  kube::LeaderCallbacks callbacks;
  callbacks.on_started_leading = [this] {
    if (delays_cache()) reflectors_->start();
    reflectors_->on_synced([this] {
      if (elector_->leading()) engine_->start();
    });
  };
  callbacks.on_stopped_leading = [this] { engine_->stop(); };
  callbacks.on_event = [this](const ObjectReference& lease, const std::string& message) {
    events_.record_lease_event(lease, message);
  };
  return callbacks;
}

// ---- what others may look at

Result<void> SchedulerProcess::serve() {
  if (setup_.command.options.secure_serving.port == 0) return {};
  Result<std::unique_ptr<SchedulerServing>> serving =
      SchedulerServing::start(setup_, loop_, metrics_,
                              {.health = health_checks(),
                               .list_pods = pods_door(),
                               .waiting_pods = &engine_->waiting_pods()},
                              random_.fork(), log_);
  if (!serving) return fail(serving.error());
  serving_ = std::move(*serving);
  return {};
}

serve::HealthChecks SchedulerProcess::health_checks() {
  const serve::HealthCheck leader_election{"leaderElection",
                                           [this] { return elector_->healthy(loop_.now()); }};
  const serve::HealthCheck shutdown{"shutdown", [this]() -> Result<void> {
                                      if (!stopping_) return {};
                                      return fail(ErrorKind::kUnavailable,
                                                  "process is shutting down");
                                    }};
  const serve::HealthCheck synced{"sched-handler-sync", [this]() -> Result<void> {
                                    const MutexLock lock(mutex_);
                                    if (unsynced_.empty()) return {};
                                    return fail(ErrorKind::kUnavailable, unsynced_);
                                  }};
  serve::HealthChecks checks;
  checks.livez = {serve::ping_check()};
  if (elects()) {
    checks.healthz = {leader_election};
    checks.readyz = {leader_election, shutdown, synced};
    if (coordinated())
      checks.readyz.insert(checks.readyz.begin() + 1,
                           {"informer-sync", [this]() -> Result<void> {
                              if (candidate_known_) return {};
                              return fail(ErrorKind::kUnavailable,
                                          "the LeaseCandidate has not been listed yet");
                            }});
  } else {
    checks.healthz = {serve::ping_check()};
    checks.readyz = {shutdown, synced};
  }
  return checks;
}

serve::ListPods SchedulerProcess::pods_door() {
  return [this](std::function<void(std::optional<serve::PodList>)> done) {
    loop_.post([this, done = std::move(done)] {
      if (elects() && !elector_->leading()) return done(std::nullopt);
      serve::PodList pods;
      engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) { pods.push_back(pod); });
      done(std::move(pods));
    });
  };
}

// What /readyz/sched-handler-sync says, until all is there.
void SchedulerProcess::note_sync() {
  std::string text;
  for (const std::string& kind : reflectors_->unsynced())
    text += (text.empty() ? "handlers are not fully synchronized: " : "; ") + kind;
  if (candidate_) candidate_known_ = candidate_->synced();
  const bool synced = text.empty() && (!candidate_ || candidate_known_);
  {
    const MutexLock lock(mutex_);
    unsynced_ = std::move(text);
  }
  if (!synced) loop_.after(kLookAgain, [this] { note_sync(); }, TimerKind::kHousekeeping);
}

void SchedulerProcess::dump() {
  std::vector<std::string> ours;
  for (const config::Profile& profile : setup_.configuration.profiles)
    ours.push_back(profile.scheduler_name);
  log_.info(3, "Cache comparer started");
  if (const CacheMismatch mismatch = compare_cache(*engine_, ours); !mismatch.empty())
    log_.info(0, "Cache mismatch",
              {{"missedPods", mismatch.missed_pods}, {"redundantPods", mismatch.redundant_pods}});
  log_.info(3, "Cache comparer finished");
  log_.info(0, "Dump of cached NodeInfo", {{"nodes", dump_nodes(*engine_)}});
  const QueueDump queue = dump_queue(*engine_);
  log_.info(0, "Dump of scheduling queue", {{"summary", queue.summary}, {"pods", queue.pods}});
}

// ---- from start to end

void SchedulerProcess::start(std::function<void(Result<int>)> ended) {
  ended_ = std::move(ended);
  log_.info(0, "Starting Kubernetes Scheduler",
            {{"version", setup_.command.options.versions.reported}});
  log_.info(2, "Using component config", {{"config", config::to_yaml(setup_.configuration)}});
  loop_.post([this] { begin(); });
}

void SchedulerProcess::begin() {
  note_sync();
  reflectors_->on_synced([this] { note_sync(); });
  if (serving_)
    serving_->follow_cluster([this](Error why) { tasks_.spawn(finish(fail(std::move(why)))); });
  if (delays_cache()) return synced();
  reflectors_->on_synced([this] { synced(); });
  reflectors_->start();
}

void SchedulerProcess::synced() {
  if (stop_.cancelled()) return;
  if (!elects()) return engine_->start();
  electing_ = true;
  if (candidate_) tasks_.spawn(candidate_->run(stop_.token()));
  tasks_.spawn(elect());
}

Task<void> SchedulerProcess::elect() {
  Task<kube::ElectionEnd> running = elector_->run(stop_.token());
  const kube::ElectionEnd end = co_await running;
  if (end == kube::ElectionEnd::kLost)
    log_.error(std::nullopt, "Leaderelection lost");
  else
    log_.info(0, "Requested to terminate, exiting");
  Task<void> finishing = finish(end == kube::ElectionEnd::kLost ? 1 : 0);
  co_await finishing;
}

void SchedulerProcess::stop() {
  if (stop_.cancelled() || !ended_) return;
  stopping_ = true;
  stop_.cancel("asked to terminate");
  engine_->stop();
  if (electing_) return;  // the election's end is the program's
  // Parity: without leader election upstream fails when it is asked to end.
  if (!elects())
    return tasks_.spawn(finish(fail(ErrorKind::kCancelled, "finished without leader elect")));
  log_.info(0, "Requested to terminate, exiting");
  tasks_.spawn(finish(0));
}

Task<void> SchedulerProcess::finish(Result<int> result) {
  reflectors_->stop();
  Task<void> flushing = events_.flush(kLastEvents);
  co_await flushing;
  if (serving_) serving_->stop();
  if (ended_) std::exchange(ended_, {})(std::move(result));
}

Result<int> run_scheduler_process(SchedulerSetup setup, RealLoop& loop, Interner& interner,
                                  telemetry::Log log) {
  std::optional<SchedulerProcess> process;
  int asked = 0;
  // Before any other thread, which would take the signals.
  const SignalWatch signals({SIGTERM, SIGINT, SIGUSR2}, [&](int signal) {
    if (signal != SIGUSR2 && ++asked > 1) std::_Exit(1);
    loop.post([&process, signal] {
      if (!process) return;
      signal == SIGUSR2 ? process->dump() : process->stop();
    });
  });
  SchedulerHost host{.world = loop, .election = loop, .name = hostname()};
  host.seed = seed_from_system();
  process.emplace(std::move(setup), std::move(host), interner, std::move(log));
  if (Result<void> made = process->make(); !made) return fail(made.error());
  std::optional<Result<int>> result;
  process->start([&](Result<int> ended) {
    result = std::move(ended);
    loop.stop();
  });
  loop.run();
  return *result;
}

}  // namespace berth::app
