#include "sim/recorded_cycle.h"

#include <algorithm>
#include <tuple>

#include "api/pod_group.h"

namespace berth::sim {
namespace {

template <typename Map>
typename Map::mapped_type found_in(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

}  // namespace

EntityResult RecordedCycle::take() {
  EntityResult result;
  for (PodName& pod : tried_) {
    MemberResult member;
    std::tie(member.code, member.message) = found_in(failed_, pod);
    if (member.code.empty()) member.node = found_in(bound_, pod);
    member.nominated = found_in(nominated_, pod);
    member.pod = std::move(pod);
    result.members.push_back(std::move(member));
  }
  result.victims = std::exchange(victims_, {});
  std::ranges::sort(result.victims);
  result.condition = std::exchange(condition_, std::nullopt);
  first_ = nullptr;
  tried_.clear();
  bound_.clear();
  nominated_.clear();
  failed_.clear();
  return result;
}

void RecordedCycle::attempt_started(const Pod& pod, std::int32_t) {
  if (!first_) first_ = Ref<const Pod>(&pod);
  tried_.push_back(pod.full_name());
}

void RecordedCycle::failed(const Pod& pod, const Outcome& outcome) {
  failed_[pod.full_name()] = {std::string(to_string(outcome.code)), outcome.message()};
}

Task<Result<void>> RecordedCycle::bind(Ref<const Pod> pod, std::string node_name) {
  bound_[pod->full_name()] = std::move(node_name);
  co_return Result<void>();
}

Task<Result<std::string>> RecordedCycle::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  if (patch.nominated_node_name) nominated_[pod->full_name()] = *patch.nominated_node_name;
  co_return std::string();
}

Task<Result<void>> RecordedCycle::evict(Ref<const Pod> pod) {
  victims_.push_back(pod->full_name());
  co_return Result<void>();
}

Task<Result<AnyObject>> RecordedCycle::update_status(AnyObject object) {
  const auto* held = std::get_if<Ref<const Object>>(&object);
  if (!held || (*held)->kind != ObjectKind::kPodGroup) {
    Task<Result<AnyObject>> updating = StoreApi::update_status(std::move(object));
    Result<AnyObject> updated = co_await updating;
    co_return updated;
  }
  const auto& group = static_cast<const PodGroup&>(**held);
  if (const PodCondition* condition = group.condition(kPodGroupInitiallyScheduled))
    condition_ = {condition->status, condition->reason, condition->message};
  co_return Result<AnyObject>(std::move(object));
}

}  // namespace berth::sim
