#include "plugins/dynamic_resources/taint_rules.h"

namespace berth::plugins {

void TaintRules::refresh(const Cluster& cluster) {
  const std::uint64_t generation = cluster.generation(ObjectKind::kDeviceTaintRule);
  if (generation == generation_) return;
  generation_ = generation;
  for (Taints& taints : by_fields_) taints.clear();
  rules_.clear();
  for (const Ref<const Object>& object : cluster.list(ObjectKind::kDeviceTaintRule)) {
    const auto& rule = static_cast<const DeviceTaintRule&>(*object);
    if (!rule.selector) continue;
    const auto& [driver, pool, device] = *rule.selector;
    const unsigned fields = (driver ? kDriver : 0) | (pool ? kPool : 0) | (device ? kDevice : 0);
    const DeviceId key{driver.value_or(Symbol{}), pool.value_or(Symbol{}),
                       device.value_or(Symbol{})};
    by_fields_[fields][key].push_back(&rule.taint);
    rules_.emplace_back(&rule);
  }
}

}  // namespace berth::plugins
