// What the queue uses of a profile's plugins: their events (core.md §2.6), and signatures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "framework/framework.h"

namespace berth {
namespace {

// Only these can reject a pod, so only their events matter.
bool can_reject(const Plugin& plugin) {
  return dynamic_cast<const PreEnqueuePlugin*>(&plugin) ||
         dynamic_cast<const PreFilterPlugin*>(&plugin) ||
         dynamic_cast<const FilterPlugin*>(&plugin) ||
         dynamic_cast<const ReservePlugin*>(&plugin) || dynamic_cast<const PermitPlugin*>(&plugin);
}

}  // namespace

std::vector<EventRegistration> Framework::all_events() {
  std::vector<EventRegistration> events;
  // Parity: ResourceSlice and VolumeAttachment are not among them.
  for (const EventResource resource :
       {EventResource::kPod, EventResource::kNode, EventResource::kPersistentVolume,
        EventResource::kPersistentVolumeClaim, EventResource::kCSINode, EventResource::kCSIDriver,
        EventResource::kCSIStorageCapacity, EventResource::kStorageClass,
        EventResource::kResourceClaim, EventResource::kDeviceClass})
    events.push_back({{resource, action::kAll, {}}, {}});
  return events;
}

Result<std::vector<Framework::QueueingEvents>> Framework::queueing_events() const {
  std::vector<QueueingEvents> result;
  std::vector<std::string> errors;
  for (const std::unique_ptr<Plugin>& plugin : plugins_.all) {
    if (!can_reject(*plugin)) continue;
    std::optional<std::vector<EventRegistration>> events;
    const Outcome asked = guarded(*plugin, [&] {
      events = plugin->events_to_register();
      return Outcome();
    });
    if (!asked.ok()) errors.push_back(asked.message());
    if (!events) events = all_events();
    result.push_back({std::string(plugin->name()), std::move(*events)});
  }
  if (!errors.empty()) return fail(ErrorKind::kInvalid, fmt::format("{}", fmt::join(errors, "\n")));
  return result;
}

bool Framework::signs_any() const {
  const auto signs = [&](const auto& placed) {
    const auto* signer = dynamic_cast<const SignPlugin*>(plugin(placed.index));
    return signer && signer->signs_any();
  };
  return std::ranges::all_of(plugins_.pre_filter, signs) &&
         std::ranges::all_of(plugins_.filter, signs) &&
         std::ranges::all_of(plugins_.pre_score, signs) &&
         std::ranges::all_of(plugins_.score, signs);
}

std::optional<std::string> Framework::sign(const Pod& pod) const {
  std::map<std::string, std::string> fragments{
      {"v1.Pod.Spec.SchedulerName", std::string(pod.text(pod.scheduler_name()))}};
  internal::PluginMask asked;
  bool signable = true;
  const auto ask = [&](const auto& placed_plugins) {
    for (const auto& placed : placed_plugins) {
      if (!signable || asked.test(placed.index)) continue;
      asked.set(placed.index);
      const auto* signer = dynamic_cast<const SignPlugin*>(plugin(placed.index));
      std::vector<SignatureFragment> signed_by;
      signable = signer && guarded(*signer, [&] { return signer->sign(pod, signed_by); }).ok();
      for (SignatureFragment& fragment : signed_by)
        fragments[std::move(fragment.key)] = std::move(fragment.value);
    }
  };
  ask(plugins_.pre_filter);
  ask(plugins_.filter);
  ask(plugins_.pre_score);
  ask(plugins_.score);
  if (!signable) return std::nullopt;
  // Lengths make the text unambiguous whatever the fragments contain.
  std::string signature;
  for (const auto& [key, value] : fragments)
    signature += fmt::format("{}:{}={}:{};", key.size(), key, value.size(), value);
  return signature;
}

}  // namespace berth
