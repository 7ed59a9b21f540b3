#include "plugins/dynamic_resources/allocator_capacity.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace berth::plugins {
namespace {

// Written as 3Gi rather than 3221225472, as upstream does with what it rounded.
Quantity binary(std::int64_t value) {
  static constexpr std::int64_t kKi = 1024;
  Quantity out = Quantity::parse("1Ki").value_or(Quantity());
  if (value >= std::numeric_limits<std::int64_t>::min() + kKi) {
    out += Quantity::of(value - kKi);
  } else {
    out = Quantity::of(value);
  }
  return out;
}

std::int64_t wrapping(std::int64_t a, std::int64_t times, std::int64_t plus) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) *
                                       static_cast<std::uint64_t>(times) +
                                   static_cast<std::uint64_t>(plus));
}

// How far beyond the range's minimum; nothing where the steps make no sense, which API servers
// prevent.
struct Steps {
  std::int64_t min = 0;
  std::int64_t step = 1;
  std::int64_t whole = 0;
  std::int64_t rest = 0;
};
std::optional<Steps> steps_of(const Quantity& amount, const CapacityRequestPolicyRange& range) {
  Steps out;
  out.step = range.step->value();
  out.min = range.min ? range.min->value() : 0;
  if (out.step <= 0) return std::nullopt;
  const std::int64_t beyond = wrapping(out.min, -1, amount.value());
  out.whole = beyond / out.step;
  out.rest = beyond % out.step;
  return out;
}

Quantity rounded_up(const Quantity& requested, const CapacityRequestPolicyRange& range) {
  if (requested < *range.min) return *range.min;
  if (!range.step) return requested;
  const std::optional<Steps> steps = steps_of(requested, range);
  if (!steps) return requested;
  return binary(wrapping(steps->step, steps->whole + (steps->rest != 0 ? 1 : 0), steps->min));
}

Quantity consumed_of(const DeviceCapacity& capacity, const Quantity* requested) {
  const std::optional<CapacityRequestPolicy>& policy = capacity.request_policy;
  if (!requested) return policy && policy->default_value ? *policy->default_value : capacity.value;
  if (!policy) return *requested;
  if (policy->valid_range && policy->valid_range->min)
    return rounded_up(*requested, *policy->valid_range);
  for (const Quantity& valid : policy->valid_values)
    if (*requested <= valid) return valid;
  return *requested;
}

bool violates(const Quantity& amount, const std::optional<CapacityRequestPolicy>& policy) {
  if (!policy) return false;
  if (policy->default_value && amount == *policy->default_value) return false;
  if (policy->valid_range) {
    const CapacityRequestPolicyRange& range = *policy->valid_range;
    if (range.max && amount > *range.max) return true;
    if (!range.step) return false;
    const std::optional<Steps> steps = steps_of(amount, range);
    return !steps || steps->rest != 0;
  }
  if (policy->valid_values.empty()) return false;
  return std::ranges::find(policy->valid_values, amount) == policy->valid_values.end();
}

const Quantity* find_in(const ResourceList* list, Symbol name) {
  return list ? list->find(name) : nullptr;
}

}  // namespace

ResourceList consumed_capacity(const Device& device, const ResourceList* requested) {
  std::vector<ResourceAmount> amounts;
  amounts.reserve(device.capacity.size());
  for (const DeviceCapacity& capacity : device.capacity)
    amounts.push_back({capacity.name, consumed_of(capacity, find_in(requested, capacity.name))});
  return ResourceList(std::move(amounts));
}

bool capacity_fits(const Device& device, const ResourceList* requested,
                   const ResourceList* allocated, const ResourceList* allocating) {
  if (requested) {
    // Parity: names are compared as they are written, without the driver's domain.
    for (const ResourceAmount& amount : *requested)
      if (std::ranges::find(device.capacity, amount.name, &DeviceCapacity::name) ==
          device.capacity.end())
        return false;
  }
  for (const DeviceCapacity& capacity : device.capacity) {
    Quantity amount = consumed_of(capacity, find_in(requested, capacity.name));
    if (violates(amount, capacity.request_policy)) return false;
    if (const Quantity* others = find_in(allocated, capacity.name)) amount += *others;
    if (const Quantity* own = find_in(allocating, capacity.name)) amount += *own;
    if (amount > capacity.value) return false;
  }
  return true;
}

}  // namespace berth::plugins
