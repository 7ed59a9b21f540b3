#include "app/scheduler_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/loop_thread.h"
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

std::vector<Observer*> all_observers(Observer& measured, Observer& logged, Observer& feed,
                                     Observer* another) {
  std::vector<Observer*> all{&measured, &logged, &feed};
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
      gate_(make_gate()),
      clients_(setup_, host_, gate_.get(), log_, metrics_.client),
      events_(loop_, clients_.events, random_.fork(),
              {.hostname = host_.name,
               .component = setup_.configuration.profiles.front().scheduler_name,
               .log = log_,
               .gather = kEventsLeaveEvery}),
      api_(loop_, clients_.main, interner_, events_, random_.fork()),
      measured_(loop_, metrics_.registry),
      logged_(log_),
      feed_(loop_, Random(host_.seed + 1).next()),
      page_(feed_, fmt::format("{} on {}", setup_.configuration.profiles.front().scheduler_name,
                               host_.name)),
      observers_(all_observers(measured_, logged_, feed_, host_.observer)),
      objects_(clients_.main) {}

SchedulerProcess::~SchedulerProcess() { feed_.let_go(); }

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
  texts.take = [this](const Delta& delta, kube::ObjectText text, kube::KindMirror::Learned) {
    engine_->in_turn(
        [this, delta, text = std::move(text)] { extenders_->objects().apply(delta, text); });
  };
  return texts;
}

Result<void> SchedulerProcess::make() {
  Result<std::unique_ptr<extender::Extenders>> extenders = extender::Extenders::make(
      setup_.configuration.extenders, loop_,
      [this] { return !gate_ || gate_->permit() == kube::WritePermit::kSend; }, host_.transport);
  if (!extenders) return fail(extenders.error());
  extenders_ = std::move(*extenders);
  Result<std::unique_ptr<Engine>> engine =
      Engine::make(loop_, interner_, setup_.plugins, api_, observers_, engine_options());
  if (!engine) return fail(engine.error());
  engine_ = std::move(*engine);
  feed_.follow(*engine_);
  explainer_ = std::make_unique<live::LiveExplainer>(
      loop_, *engine_, interner_, setup_.plugins, objects_,
      live::LiveExplainerOptions{.configuration = setup_.configuration,
                                 .gates = setup_.command.options.gates});
  const config::FeatureGates& gates = setup_.command.options.gates;
  std::vector<kube::WatchedKind> kinds = kube::watched_kinds(setup_.configuration, gates);
  for (const auto& [resource, plugins] : engine_->other_resources())
    kinds.push_back(kube::other_kind(resource, plugins));
  reflectors_ = std::make_unique<kube::Reflectors>(
      loop_, clients_.main, interner_, random_.fork(), log_,
      kube::ReflectorsOptions{.kinds = std::move(kinds),
                              .each = {.streaming_lists = gates.enabled("WatchListClient"),
                                       .texts = text_options(),
                                       .metrics = &metrics_.watch}},
      [this](Delta delta) {
        feed_.changed(delta);
        engine_->apply(std::move(delta));
      });
  if (setup_.runs_pod_group_controller)
    pod_groups_ =
        std::make_unique<PodGroupController>(loop_, clients_.main, interner_, random_.fork(), log_);

  if (elects())
    election_.emplace(setup_, host_, clients_.lease, random_.fork(), metrics_.leader_election,
                      election_callbacks(), log_);
  return serve();
}

// What was sent in time arrives before anybody else can lead, if the network takes no longer than
// the lease lasts after writes have to stop.
std::unique_ptr<kube::WriteGate> SchedulerProcess::make_gate() {
  if (!elects()) return nullptr;
  const config::LeaderElection& election = setup_.configuration.leader_election;
  return std::make_unique<kube::WriteGate>(
      loop_, [this] { return election_->write_permit(); },
      election.lease_duration - election.renew_deadline);
}

SchedulerElection::Callbacks SchedulerProcess::election_callbacks() {
  SchedulerElection::Callbacks callbacks;
  callbacks.started_leading = [this] {
    if (delays_cache()) reflectors_->start();
    reflectors_->list_again();
    reflectors_->on_synced([this] {
      if (election_->leading()) start_engine();
    });
  };
  callbacks.stopped_leading = [this] {
    if (pod_groups_) pod_groups_->stop();
    engine_->stop();
    events_.ignore_pods();  // bindings that are dropped now are no news to their owners
  };
  callbacks.settle = [this](Duration limit) { return gate_->settle(limit); };
  callbacks.event = [this](ObjectReference lease, std::string message) {
    events_.record_lease_event(std::move(lease), std::move(message));
  };
  callbacks.ended = [this](kube::ElectionEnd end) {
    engine_->stop_writes();  // what still waited could not be sent any more
    if (end == kube::ElectionEnd::kLost)
      log_.error(std::nullopt, "Leaderelection lost");
    else
      log_.info(0, "Requested to terminate, exiting");
    tasks_.spawn(finish(end == kube::ElectionEnd::kLost ? 1 : 0));
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
                               .waiting_pods = &engine_->waiting_pods(),
                               .answer_ui = page_door(),
                               .explain = explain_door()},
                              random_.fork(), log_);
  if (!serving) return fail(serving.error());
  serving_ = std::move(*serving);
  return {};
}

serve::HealthChecks SchedulerProcess::health_checks() {
  const serve::HealthCheck leader_election{"leaderElection",
                                           [this] { return election_->healthy(); }};
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
    if (coordinated_election(setup_))
      checks.readyz.insert(checks.readyz.begin() + 1,
                           {"informer-sync", [this]() -> Result<void> {
                              if (election_->candidate_known()) return {};
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
      if (elects() && !election_->leading()) return done(std::nullopt);
      serve::PodList pods;
      engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) { pods.push_back(pod); });
      done(std::move(pods));
    });
  };
}

serve::AnswerUi SchedulerProcess::page_door() {
  return [this](const net::HttpRequest& request, std::string_view path,
                std::function<void(net::HttpResponse)> respond) {
    page_.answer(request, path, std::move(respond));
  };
}

serve::ExplainPods SchedulerProcess::explain_door() {
  return explainer_->door([this]() -> Result<void> {
    if (!reflectors_->unsynced().empty())
      return fail(ErrorKind::kUnavailable, "not all objects have been listed yet");
    if (elects() && !election_->leading())
      return fail(ErrorKind::kUnavailable,
                  "this scheduler does not lead: ask the one that holds the lease");
    return {};
  });
}

// What /readyz/sched-handler-sync says, until all is there.
void SchedulerProcess::note_sync() {
  std::string text;
  for (const std::string& kind : reflectors_->unsynced())
    text += (text.empty() ? "handlers are not fully synchronized: " : "; ") + kind;
  const bool synced = text.empty();
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
  if (stopping_) return;  // a signal came first
  note_sync();
  reflectors_->on_synced([this] { note_sync(); });
  if (serving_)
    serving_->follow_cluster([this](Error why) { tasks_.spawn(finish(fail(std::move(why)))); });
  if (delays_cache()) return synced();
  reflectors_->on_synced([this] { synced(); });
  reflectors_->start();
}

void SchedulerProcess::synced() {
  if (stopping_) return;
  if (!elects()) return start_engine();
  election_->start();
}

void SchedulerProcess::start_engine() {
  engine_->start();
  if (pod_groups_) pod_groups_->start();
}

void SchedulerProcess::stop() {
  if (stopping_ || !ended_) return;
  stopping_ = true;
  engine_->stop();
  if (election_ && election_->started()) return election_->stop();  // whose end is the program's
  // Parity: without leader election upstream fails when it is asked to end.
  if (!elects())
    return tasks_.spawn(finish(fail(ErrorKind::kCancelled, "finished without leader elect")));
  log_.info(0, "Requested to terminate, exiting");
  tasks_.spawn(finish(0));
}

Task<void> SchedulerProcess::finish(Result<int> result) {
  reflectors_->stop();
  if (pod_groups_) pod_groups_->stop();
  Task<void> flushing = events_.flush(kLastEvents);
  co_await flushing;
  if (serving_) serving_->stop();
  if (ended_) std::exchange(ended_, {})(std::move(result));
}

Result<int> run_scheduler_process(SchedulerSetup setup, RealLoop& loop, Interner& interner,
                                  telemetry::Log log) {
  RealLoop election;
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
  const bool elects = elects_leader(setup);
  SchedulerHost host{.world = loop, .election = election, .name = hostname()};
  host.seed = seed_from_system();
  process.emplace(std::move(setup), std::move(host), interner, std::move(log));
  if (Result<void> made = process->make(); !made) return fail(made.error());
  std::optional<LoopThread> election_thread;
  if (elects) election_thread.emplace("leader-election", election);
  std::optional<Result<int>> result;
  process->start([&](Result<int> ended) {
    result = std::move(ended);
    loop.stop();
  });
  loop.run();
  return *result;
}

}  // namespace berth::app
