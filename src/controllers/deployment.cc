#include "controllers/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace berth::controllers {

struct DeploymentController::Rollout {
  Workload deployment;
  std::vector<Workload> sets;
  std::optional<std::size_t> newest{};  // of `sets`: the one with the Deployment's template
  std::int64_t max_surge = 0;
  std::int64_t max_unavailable = 0;
  bool progressed = false;

  std::int64_t wanted() const { return deployment.replicas; }
  std::int64_t replicas() const {
    std::int64_t total = 0;
    for (const Workload& set : sets) total += set.replicas;
    return total;
  }
  std::int64_t sum(std::int64_t WorkloadStatus::* member) const {
    std::int64_t total = 0;
    for (const Workload& set : sets) total += set.status.*member;
    return total;
  }
  bool is_newest(std::size_t i) const { return newest && i == *newest; }
  Workload& current() { return sets[*newest]; }
};

void DeploymentController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  std::optional<Workload> found =
      world_.find(ObjectKind::kDeployment, name.namespace_name, name.name);
  if (!found) return;
  Rollout rollout{std::move(*found), {}};
  const Workload& deployment = rollout.deployment;
  rollout.sets = world_.replica_sets_of(deployment);
  const auto newest =
      std::ranges::find(rollout.sets, deployment.template_hash, &Workload::template_hash);
  if (newest != rollout.sets.end())
    rollout.newest = static_cast<std::size_t>(newest - rollout.sets.begin());
  const DeploymentSpec& spec = deployment.deployment;
  if (!spec.recreate) {
    rollout.max_surge = scaled_value(spec.max_surge, deployment.replicas, true, 0);
    rollout.max_unavailable = scaled_value(spec.max_unavailable, deployment.replicas, false, 0);
    if (rollout.max_surge == 0 && rollout.max_unavailable == 0) rollout.max_unavailable = 1;
  }
  if (!deployment.terminating) {
    if (spec.paused) {
      // What runs is still scaled, when there is one set only.
      if (rollout.newest && rollout.replicas() == rollout.current().replicas)
        scale(rollout, rollout.current(), deployment.replicas);
    } else {
      if (spec.recreate)
        recreate(rollout);
      else if (make_new_set(rollout))
        roll(rollout);
      if (rollout.newest) set_revision(rollout);
      forget_history(rollout);
    }
  }
  write_status(rollout);
}

// The set with the present template, which is made if there is none.
bool DeploymentController::make_new_set(Rollout& rollout) {
  if (rollout.newest) return true;
  Result<Workload> created = world_.create_replica_set(rollout.deployment);
  if (!created) {
    world_.record(rollout.deployment, EventType::kWarning, "FailedCreate", created.error().message);
    enqueue_after(kRetryAfterRefusal, rollout.deployment.key(), TimerKind::kHousekeeping);
    return false;
  }
  rollout.sets.push_back(std::move(*created));
  rollout.newest = rollout.sets.size() - 1;
  rollout.progressed = true;
  return true;
}

// The set in force has the highest number; the Deployment has the same.
void DeploymentController::set_revision(Rollout& rollout) {
  std::int64_t highest_other = 0;
  for (std::size_t i = 0; i < rollout.sets.size(); ++i)
    if (!rollout.is_newest(i)) highest_other = std::max(highest_other, rollout.sets[i].revision);
  Workload& current = rollout.current();
  const std::int64_t revision = std::max(current.revision, highest_other + 1);
  if (current.revision != revision || rollout.deployment.revision != revision)
    world_.write_revision(rollout.deployment, current, revision);
  current.revision = rollout.deployment.revision = revision;
}

void DeploymentController::scale(Rollout& rollout, Workload& set, std::int64_t replicas) {
  replicas = std::max<std::int64_t>(replicas, 0);
  const std::int64_t before = set.replicas;
  if (replicas == before) return;
  if (!world_.scale(rollout.deployment, set, replicas, rollout.wanted() + rollout.max_surge))
    return;
  set.replicas = replicas;
  rollout.progressed = true;
  world_.record(rollout.deployment, EventType::kNormal, "ScalingReplicaSet",
                fmt::format("Scaled {} replica set {} from {} to {}",
                            replicas > before ? "up" : "down", set.name, before, replicas));
}

void DeploymentController::roll(Rollout& rollout) {
  Workload& current = rollout.current();
  const std::int64_t wanted = rollout.wanted();
  if (current.replicas > wanted) scale(rollout, current, wanted);
  if (current.replicas < wanted) {
    const std::int64_t room = wanted + rollout.max_surge - rollout.replicas();
    if (room > 0) scale(rollout, current, std::min(wanted, current.replicas + room));
  }
  const std::int64_t least = wanted - rollout.max_unavailable;
  const std::int64_t missing_new = current.replicas - current.status.available;
  std::int64_t too_many = rollout.replicas() - least - missing_new;
  // Scale down unavailable replicas first.
  for (std::size_t i = 0; i < rollout.sets.size() && too_many > 0; ++i) {
    Workload& old = rollout.sets[i];
    if (rollout.is_newest(i) || old.replicas == 0 || old.status.available >= old.replicas) continue;
    const std::int64_t less = std::min(too_many, old.replicas - old.status.available);
    scale(rollout, old, old.replicas - less);
    too_many -= less;
  }
  std::int64_t spare = std::min(rollout.sum(&WorkloadStatus::available) - least, too_many);
  for (std::size_t i = 0; i < rollout.sets.size() && spare > 0; ++i) {
    Workload& old = rollout.sets[i];
    if (rollout.is_newest(i) || old.replicas == 0) continue;
    const std::int64_t less = std::min(spare, old.replicas);
    scale(rollout, old, old.replicas - less);
    spare -= less;
  }
}

void DeploymentController::recreate(Rollout& rollout) {
  pods_.catch_up();
  bool others_left = false;
  for (std::size_t i = 0; i < rollout.sets.size(); ++i) {
    if (rollout.is_newest(i)) continue;
    scale(rollout, rollout.sets[i], 0);
    for (const PodFacts* pod : pods_.of_controller(rollout.sets[i].uid))
      others_left = others_left || !pod->ended();
  }
  if (others_left) {
    // Pods that are going do not change their set's status in the end.
    enqueue_after(std::chrono::seconds(1), rollout.deployment.key());
    return;
  }
  if (make_new_set(rollout)) scale(rollout, rollout.current(), rollout.wanted());
}

void DeploymentController::forget_history(const Rollout& rollout) {
  std::vector<const Workload*> old;
  for (std::size_t i = 0; i < rollout.sets.size(); ++i) {
    const Workload& set = rollout.sets[i];
    if (!rollout.is_newest(i) && set.replicas == 0 && set.status.replicas == 0) old.push_back(&set);
  }
  const std::int64_t limit = rollout.deployment.deployment.revision_history_limit;
  for (std::size_t i = 0; i < old.size() && static_cast<std::int64_t>(old.size() - i) > limit; ++i)
    world_.remove(*old[i]);
}

// ---- the status, as `kubectl rollout status` and `kubectl wait` read it

namespace {

bool has_moved(const WorkloadStatus& before, const DeploymentStatus& now) {
  return before.updated < now.updated || before.ready < now.ready ||
         before.available < now.available || before.replicas > now.replicas;
}

struct Progress {
  std::optional<RolloutCondition> condition;  // nullopt: as it is
  bool waits = false;                         // for progress, until the deadline for it
};

Progress progress_of(const Workload& deployment, const DeploymentStatus& status,
                     std::string_view newest, bool progressed, WallTime now) {
  const WorkloadStatus& before = deployment.status;
  const std::int64_t wanted = deployment.replicas;
  const bool was_complete = before.progress_reason == "NewReplicaSetAvailable";
  if (status.updated == wanted && status.replicas == wanted && status.available == wanted)
    return {
        RolloutCondition{true, "NewReplicaSetAvailable",
                         fmt::format("ReplicaSet \"{}\" has successfully progressed.", newest)}};
  // Parity: pods that go from a rollout that was complete begin no new deadline.
  if (was_complete && !progressed && status.updated == wanted) return {};
  const bool moved = progressed || has_moved(before, status);
  if (!moved && !was_complete && before.progress_time &&
      *before.progress_time + deployment.deployment.progress_deadline <= now)
    return {RolloutCondition{false, "ProgressDeadlineExceeded",
                             fmt::format("ReplicaSet \"{}\" has timed out progressing.", newest)}};
  if (!before.progress_reason.empty() && !moved && !was_complete) return {std::nullopt, true};
  return {RolloutCondition{true, "ReplicaSetUpdated",
                           fmt::format("ReplicaSet \"{}\" is progressing.", newest), true},
          true};
}

}  // namespace

void DeploymentController::write_status(const Rollout& rollout) {
  const Workload& deployment = rollout.deployment;
  DeploymentStatus status;
  status.replicas = rollout.sum(&WorkloadStatus::replicas);
  status.ready = rollout.sum(&WorkloadStatus::ready);
  status.available = rollout.sum(&WorkloadStatus::available);
  status.unavailable = std::max<std::int64_t>(rollout.replicas() - status.available, 0);
  const bool enough = status.available >= rollout.wanted() - rollout.max_unavailable;
  status.is_available = {enough, enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
                         enough ? "Deployment has minimum availability."
                                : "Deployment does not have minimum availability."};
  bool waits = false;
  if (rollout.newest) {
    const Workload& newest = rollout.sets[*rollout.newest];
    status.updated = newest.status.replicas;
    Progress progress = progress_of(deployment, status, newest.name, rollout.progressed, now());
    status.progressing = std::move(progress.condition);
    waits = progress.waits;
  }
  world_.write_status(deployment, status);
  if (waits)
    enqueue_after(
        std::max<Duration>(deployment.deployment.progress_deadline, std::chrono::seconds(1)),
        deployment.key(), TimerKind::kHousekeeping);
}

}  // namespace berth::controllers
