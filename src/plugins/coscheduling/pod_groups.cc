#include "plugins/coscheduling/pod_groups.h"

#include <utility>

namespace berth::plugins::coscheduling {

std::string Group::full_name() const {
  return std::string(symbols.text(namespace_name)).append("/").append(symbols.text(name));
}

PodGroups::PodGroups(const Cluster& cluster)
    : symbols_(cluster.symbol_table()),
      label_(symbols_.intern(CoschedulingPodGroup::kLabel)),
      pods_(
          cluster.on_pod_change([this](const Ref<const Pod>& before, const Ref<const Pod>& after) {
            pod_changed(before, after);
          })),
      objects_(cluster.on_object_change(
          ObjectKind::kCoschedulingPodGroup,
          [this](const Ref<const Object>& before, const Ref<const Object>& after) {
            object_changed(before, after);
          })) {
  cluster.for_each_seen([this](const Ref<const Pod>& pod) { pod_changed({}, pod); });
  for (const Ref<const Object>& object : cluster.list(ObjectKind::kCoschedulingPodGroup))
    object_changed({}, object);
}

Group* PodGroups::find(const Pod& pod) {
  const Symbol name = pod.labels().get(label_);
  if (name.empty()) return nullptr;
  const auto found = groups_.find(key(pod.meta().namespace_name, name));
  return found == groups_.end() ? nullptr : &found->second;
}

Group* PodGroups::find_with_object(const Pod& pod) {
  Group* const group = find(pod);
  return group && group->object ? group : nullptr;
}

Group& PodGroups::make(Symbol namespace_name, Symbol name) {
  const auto [at, is_new] = groups_.try_emplace(key(namespace_name, name));
  Group& group = at->second;
  if (!is_new) return group;
  group.symbols = SymbolHold(symbols_.table());
  group.symbols.retain(group.namespace_name = namespace_name);
  group.symbols.retain(group.name = name);
  return group;
}

void PodGroups::end_if_empty(const Group& group) {
  if (!group.object && group.members.empty() && group.assigned.empty())
    groups_.erase(key(group.namespace_name, group.name));
}

void PodGroups::unassign(const Pod& pod) {
  Group* const group = find(pod);
  if (!group) return;
  if (const auto name = group->assigned.find(pod.name()); name != group->assigned.end())
    group->assigned.erase(name);
  if (const auto held = group->held.find(pod.name()); held != group->held.end())
    group->held.erase(held);
  end_if_empty(*group);
}

// A pod that comes to another group leaves its own. Of the others, what was assigned stays so.
void PodGroups::pod_changed(const Ref<const Pod>& before, const Ref<const Pod>& after) {
  const bool stays = before && after && before->uid() == after->uid() &&
                     before->labels().get(label_) == after->labels().get(label_);
  if (before && !stays) remove(*before);
  if (after) add(after);
}

void PodGroups::add(const Ref<const Pod>& pod) {
  const Symbol name = pod->labels().get(label_);
  if (name.empty()) return;
  Group& group = make(pod->meta().namespace_name, name);
  const auto is_gated = [](const Pod& one) {
    return one.spec().scheduling_gates.empty() ? 0U : 1U;
  };
  Ref<const Pod>& member = group.members[std::string(pod->name())];
  if (member) group.gated -= is_gated(*member);
  member = pod;
  group.gated += is_gated(*pod);
  if (!pod->node().empty()) group.assigned.emplace(pod->name());
}

void PodGroups::remove(const Pod& pod) {
  Group* const group = find(pod);
  if (!group) return;
  const auto member = group->members.find(pod.name());
  if (member != group->members.end()) {
    if (!member->second->spec().scheduling_gates.empty()) --group->gated;
    group->members.erase(member);
  }
  unassign(pod);
}

void PodGroups::object_changed(const Ref<const Object>& before, const Ref<const Object>& after) {
  const Object& named = after ? *after : *before;
  // An object keeps its name alive only as text.
  const Symbol name =
      after ? symbols_.table()->intern(named.name) : symbols_.table()->find(named.name);
  Group& group = make(named.namespace_name, name);
  if (after) symbols_.table()->release(name);  // the group holds it now
  group.object =
      Ref<const CoschedulingPodGroup>(static_cast<const CoschedulingPodGroup*>(after.get()));
  if (after) return;
  group.last_failed.reset();
  group.permitted_until.reset();
  group.backed_off_until.reset();
  end_if_empty(group);
}

}  // namespace berth::plugins::coscheduling
