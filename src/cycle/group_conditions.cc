#include "cycle/group_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "framework/object_waits.h"

namespace berth {
namespace {

constexpr int kMostTries = 10;
constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kLongestPause = std::chrono::seconds(10);

using GroupName = std::pair<std::string, std::string>;

GroupName name_of(const PodGroup& group) {
  return {std::string(group.symbols.text(group.namespace_name)), group.name};
}

bool says_the_same(const PodCondition* known, const PodCondition& wanted) {
  return known && known->status == wanted.status && known->reason == wanted.reason &&
         known->message == wanted.message;
}

PodCondition condition_of(const Outcome& outcome) {
  PodCondition condition;
  condition.type = kPodGroupInitiallyScheduled;
  condition.status = outcome.ok() ? "True" : "False";
  condition.reason = outcome.ok()         ? "Scheduled"
                     : outcome.rejected() ? "Unschedulable"
                                          : "SchedulerError";
  if (!outcome.ok()) condition.message = outcome.message();
  return condition;
}

}  // namespace

Ref<const PodGroup> GroupConditions::stored(const PodGroup& group) const {
  const Ref<const Object> found =
      cluster_.find(ObjectKind::kPodGroup, group.symbols.text(group.namespace_name), group.name);
  if (!found || found->uid != group.uid) return nullptr;
  return Ref<const PodGroup>(static_cast<const PodGroup*>(found.get()));
}

void GroupConditions::decided(const PodGroup& group, const Outcome& outcome) {
  const Ref<const PodGroup> present = stored(group);
  if (!present) return;
  PodCondition wanted = condition_of(outcome);
  const PodCondition* shown = present->condition(kPodGroupInitiallyScheduled);
  const auto entry = writing_.find(name_of(group));
  const bool is_writing = entry != writing_.end() && entry->second.uid == group.uid;
  const PodCondition* known = is_writing ? &entry->second.wanted : shown;
  const auto is_true = [](const PodCondition* condition) {
    return condition && condition->status == "True";
  };
  // Upstream may turn True into False when the pods that are left over have their turn before the
  // watch has shown it.
  if (wanted.status != "True" && (is_true(known) || is_true(shown))) return;
  if (says_the_same(known, wanted)) return;
  wanted.last_transition_time = loop_.wall_now();
  if (writing_.size() > kMostKept) forget_shown();
  Writing& writing = writing_[name_of(group)];
  writing.uid = group.uid;
  writing.wanted = std::move(wanted);
  if (writing.running) return;
  writing.running = true;
  tasks_.spawn(write(present));
}

void GroupConditions::forget_shown() {
  std::erase_if(writing_, [&](const auto& entry) {
    const auto& [name, writing] = entry;
    if (writing.running) return false;
    const Ref<const Object> present = cluster_.find(ObjectKind::kPodGroup, name.first, name.second);
    return !present || says_the_same(static_cast<const PodGroup&>(*present).condition(
                                         kPodGroupInitiallyScheduled),
                                     writing.wanted);
  });
}

Task<void> GroupConditions::write(Ref<const PodGroup> group) {
  const GroupName name = name_of(*group);
  const ObjectWaits waits(loop_, cluster_);
  int failures = 0;
  for (;;) {
    const Ref<const PodGroup> present = stored(*group);
    if (!present) break;
    PodCondition wanted = writing_.at(name).wanted;
    const PodCondition* shown = present->condition(kPodGroupInitiallyScheduled);
    if (says_the_same(shown, wanted)) {
      writing_.at(name).running = false;
      co_return;
    }
    if (shown && shown->status == wanted.status)
      wanted.last_transition_time = shown->last_transition_time;
    Task<Result<AnyObject>> sending =
        api_.update_status(AnyObject(Ref<const Object>(with_condition(*present, wanted))));
    const Result<AnyObject> answer = co_await sending;
    Writing& writing = writing_.at(name);
    if (answer && says_the_same(&writing.wanted, wanted)) {
      writing.running = false;
      co_return;
    }
    if (!answer && (answer.error().kind == ErrorKind::kNotFound ||
                    answer.error().kind == ErrorKind::kCancelled))
      break;
    if (!answer && ++failures == kMostTries) {
      observer_.internal_error(fmt::format("updating the status of pod group {}/{}: {}", name.first,
                                           name.second, answer.error().message));
      break;
    }
    // The next version, or another try of the same.
    const Duration pause = std::min(kLongestPause, kFirstPause * (1 << std::min(failures, 10)));
    NextChange changed =
        waits.next_change({{ObjectKind::kPodGroup, name.first, name.second}}, loop_.now() + pause);
    co_await changed;
  }
  writing_.erase(name);
}

}  // namespace berth
