#include "controllers/stateful_set.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace berth::controllers {
namespace {

std::string set_revision_of(const Workload& set) {
  return fmt::format("{}-{}", set.name, set.template_hash);
}

std::optional<std::int64_t> number_of(const Workload& set, std::string_view pod_name) {
  if (!pod_name.starts_with(set.name + "-")) return std::nullopt;
  const std::string_view text = pod_name.substr(set.name.size() + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

StatefulSetController::StatefulSetController(Loop& loop, PodIndex& pods, WorkloadWorld& world)
    : Controller(loop), pods_(pods), world_(world) {
  pods_.listen(lifetime(), [this](const PodFacts* before, const PodFacts* after) {
    const PodFacts* pod = after != nullptr ? after : before;
    if (pod->controller_kind == "StatefulSet")
      enqueue(object_key(pod->namespace_name, pod->controller_name));
  });
}

StatefulSetController::Members StatefulSetController::members_of(const Workload& set) const {
  Members members;
  for (const PodFacts* pod : pods_.of_controller(set.uid))
    if (const auto number = number_of(set, pod->name)) members.emplace(*number, *pod);
  return members;
}

void StatefulSetController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  const std::optional<Workload> set =
      world_.find(ObjectKind::kStatefulSet, name.namespace_name, name.name);
  if (!set) return;
  pods_.catch_up();
  if (!set->terminating) {
    world_.adopt_pods(*set);
    bring_in_line(*set, members_of(*set));
    pods_.catch_up();
  }
  write_status(*set);
}

void StatefulSetController::bring_in_line(const Workload& set, const Members& members) {
  const std::int64_t first = set.stateful_set.first_ordinal;
  const std::int64_t end = first + set.replicas;
  const bool ordered = set.stateful_set.ordered;
  std::int64_t started = 0;
  for (std::int64_t number = first; number < end; ++number) {
    const auto found = members.find(number);
    if (found == members.end()) {
      if (!start(set, number) || ordered) return;
      if (++started == kMostPodsAtOnce) return enqueue(set.key());
      continue;
    }
    const PodFacts& pod = found->second;
    if (pod.ended() && !pod.terminating) {
      stop(set, pod);
      if (ordered) return;
    }
    if (ordered && (pod.terminating || !pod.available(set.min_ready, now()))) {
      if (pod.ready() && !pod.terminating) enqueue_after(set.min_ready, set.key());
      return;  // the next one waits for it
    }
  }
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first >= first && member->first < end) continue;
    if (!member->second.terminating) stop(set, member->second);
    if (ordered) return;
  }
  update_members(set, members);
}

void StatefulSetController::update_members(const Workload& set, const Members& members) {
  if (!set.replaces_old_pods) return;
  const std::string revision = set_revision_of(set);
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->first < set.stateful_set.first_ordinal + set.stateful_set.partition) return;
    const PodFacts& pod = member->second;
    if (pod.terminating) return;
    if (pod.label(kRevisionLabel) != revision) return stop(set, pod);
    if (!pod.ready()) return;
  }
}

bool StatefulSetController::start(const Workload& set, std::int64_t number) {
  PodParts parts;
  parts.name = fmt::format("{}-{}", set.name, number);
  parts.labels = {{"apps.kubernetes.io/pod-index", fmt::format("{}", number)},
                  {"statefulset.kubernetes.io/pod-name", parts.name},
                  {std::string(kRevisionLabel), set_revision_of(set)}};
  parts.hostname = parts.name;
  for (const ClaimTemplate& made_from : set.stateful_set.claim_templates) {
    parts.claims.emplace_back(made_from.name, fmt::format("{}-{}", made_from.name, parts.name));
    world_.create_claim(set, made_from, parts.claims.back().second);
  }
  const Result<std::string> created = world_.create_pod(set, parts);
  if (!created) {
    world_.record(set, EventType::kWarning, "FailedCreate",
                  fmt::format("create Pod {} in StatefulSet {} failed error: {}", parts.name,
                              set.name, created.error().message));
    enqueue_after(kRetryAfterRefusal, set.key(), TimerKind::kHousekeeping);
    return false;
  }
  world_.record(set, EventType::kNormal, "SuccessfulCreate",
                fmt::format("create Pod {} in StatefulSet {} successful", parts.name, set.name));
  return true;
}

void StatefulSetController::stop(const Workload& set, const PodFacts& pod) {
  if (!world_.delete_pod(pod)) return;
  world_.record(set, EventType::kNormal, "SuccessfulDelete",
                fmt::format("delete Pod {} in StatefulSet {} successful", pod.name, set.name));
}

void StatefulSetController::write_status(const Workload& set) {
  StatefulSetStatus status;
  status.update_revision = set_revision_of(set);
  std::vector<const PodFacts*> pods;
  const Members members = members_of(set);
  for (const auto& [number, pod] : members) {
    pods.push_back(&pod);
    const bool updated = pod.active() && pod.label(kRevisionLabel) == status.update_revision;
    status.updated += updated ? 1 : 0;
  }
  status.counts = count_replicas(pods, set.min_ready, now());
  if (status.counts.available < status.counts.ready) enqueue_after(set.min_ready, set.key());
  const bool all_updated = status.updated == set.replicas && status.counts.ready == set.replicas;
  const std::string& current = set.status.current_revision;
  status.current_revision = current.empty() || all_updated ? status.update_revision : current;
  world_.write_status(set, status);
}

}  // namespace berth::controllers
