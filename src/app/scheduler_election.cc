#include "app/scheduler_election.h"

#include <utility>

#include "api/release.h"
#include "kube/cancellable_sleep.h"

namespace berth::app {
namespace {

// How much longer than a lease lasts the world may go without a turn until it is reported as stuck.
constexpr Duration kTolerance = std::chrono::seconds(20);

kube::LeaderElectionOptions election_options(const SchedulerSetup& setup, std::string identity,
                                             telemetry::LeaderElectionMetrics& metrics) {
  const config::LeaderElection& election = setup.configuration.leader_election;
  kube::LeaderElectionOptions options;
  options.namespace_name = election.resource_namespace;
  options.name = election.resource_name;
  options.identity = std::move(identity);
  options.lease_duration = election.lease_duration;
  options.renew_deadline = election.renew_deadline;
  options.retry_period = election.retry_period;
  options.coordinated = coordinated_election(setup);
  options.metrics = &metrics;
  return options;
}

kube::LeaseCandidateOptions candidate_options(const SchedulerSetup& setup,
                                              const kube::LeaderElectionOptions& election) {
  return {.namespace_name = election.namespace_name,
          .name = election.identity,
          .lease_name = election.name,
          .binary_version = std::string(kKubernetesNumber),
          .emulation_version = setup.command.options.emulated + ".0"};
}

}  // namespace

bool elects_leader(const SchedulerSetup& setup) {
  return setup.configuration.leader_election.leader_elect;
}

bool coordinated_election(const SchedulerSetup& setup) {
  return elects_leader(setup) && setup.command.options.gates.enabled("CoordinatedLeaderElection");
}

SchedulerElection::SchedulerElection(const SchedulerSetup& setup, const SchedulerHost& host,
                                     kube::ApiClient& client, Random random,
                                     telemetry::LeaderElectionMetrics& metrics, Callbacks callbacks,
                                     telemetry::Log log)
    : world_(host.world),
      loop_(host.election),
      callbacks_(std::move(callbacks)),
      retry_period_(setup.configuration.leader_election.retry_period),
      world_patience_(setup.configuration.leader_election.lease_duration + kTolerance) {
  const kube::LeaderElectionOptions options =
      election_options(setup, kube::election_identity(host.name, random.fork()), metrics);
  if (options.coordinated)
    candidate_.emplace(loop_, client, random.fork(), candidate_options(setup, options), log);
  elector_.emplace(loop_, client, random.fork(), options, elector_callbacks(), log);
}

kube::LeaderCallbacks SchedulerElection::elector_callbacks() {
  kube::LeaderCallbacks callbacks;
  callbacks.on_started_leading = [this] { world_.post([this] { callbacks_.started_leading(); }); };
  callbacks.on_stopped_leading = [this] { world_.post([this] { callbacks_.stopped_leading(); }); };
  callbacks.settle = [this](Duration limit) { return settle(limit); };
  callbacks.on_event = [this](const ObjectReference& lease, const std::string& message) {
    world_.post([this, lease, message] { callbacks_.event(lease, message); });
  };
  return callbacks;
}

void SchedulerElection::start() {
  started_ = true;
  loop_.post([this] {
    world_answered_ = loop_.now();
    ask_world();
    if (candidate_) tasks_.spawn(candidate_->run(stop_.token()));
    tasks_.spawn(run());
  });
}

void SchedulerElection::ask_world() {
  if (!world_asked_.exchange(true))
    world_.post([this] {
      world_answered_ = loop_.now();
      world_asked_ = false;
    });
  loop_.after(retry_period_, [this] { ask_world(); }, TimerKind::kHousekeeping);
}

Result<void> SchedulerElection::healthy() const {
  if (leading() && loop_.now() - world_answered_.load() > world_patience_)
    return fail(ErrorKind::kUnavailable, "the scheduler has not taken a turn for too long");
  return elector_->healthy(loop_.now());
}

void SchedulerElection::stop() {
  loop_.post([this] { stop_.cancel("asked to terminate"); });
}

Task<void> SchedulerElection::run() {
  Task<kube::ElectionEnd> running = elector_->run(stop_.token());
  const kube::ElectionEnd end = co_await running;
  world_.post([this, end] { callbacks_.ended(end); });
}

// A world that does not answer in time has not settled.
Task<bool> SchedulerElection::settle(Duration limit) {
  const auto answer = std::make_shared<Eventual<bool>>();
  const kube::ScopedTimer timer(loop_, loop_.now() + limit, [answer] { answer->set(false); });
  world_.post([this, answer, limit] { world_tasks_.spawn(settle_on_world(answer, limit)); });
  const bool settled = co_await *answer;
  co_return settled;
}

Task<void> SchedulerElection::settle_on_world(std::shared_ptr<Eventual<bool>> answer,
                                              Duration limit) {
  Task<bool> settling = callbacks_.settle(limit);
  const bool settled = co_await settling;
  loop_.post([answer, settled] { answer->set(settled); });
}

}  // namespace berth::app
