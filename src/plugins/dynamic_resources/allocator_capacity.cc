#include "plugins/dynamic_resources/allocator_capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/go_quote.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

std::int64_t wrapping(std::int64_t a, std::int64_t times, std::int64_t plus) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) *
                                       static_cast<std::uint64_t>(times) +
                                   static_cast<std::uint64_t>(plus));
}

// In thousandths, if it is a whole number of these.
std::optional<std::int64_t> exact_milli(const Quantity& amount) {
  const std::int64_t milli = amount.milli_value();
  if (amount != Quantity::of_milli(milli)) return std::nullopt;
  return milli;
}

// Parity: ranges of whole numbers are counted in thousandths as well, where these fit 64 bits.
bool counts_thousandths(const CapacityRequestPolicyRange& range) {
  for (const std::optional<Quantity>* bound : {&range.min, &range.max, &range.step})
    if (*bound && !exact_milli(**bound)) return false;
  return range.step->milli_value() >= 1;
}

// The steps of a range, in whole units or in thousandths.
struct Steps {
  std::int64_t min = 0;
  std::int64_t step = 1;
  bool milli = false;

  // How far an amount lies beyond the last step; `amount` is in the same unit.
  std::int64_t rest(std::int64_t amount) const { return wrapping(min, -1, amount) % step; }
};

// Nothing where the steps make no sense, which API servers prevent.
std::optional<Steps> steps_of(const CapacityRequestPolicyRange& range, bool fractional_ranges) {
  Steps out;
  out.milli = fractional_ranges && counts_thousandths(range);
  const auto number = [&](const Quantity& amount) {
    return out.milli ? amount.milli_value() : amount.value();
  };
  out.step = number(*range.step);
  if (range.min) out.min = number(*range.min);
  if (out.step <= 0) return std::nullopt;
  return out;
}

std::unexpected<Error> not_representable(const std::string& why) {
  return fail(ErrorKind::kInvalid,
              "capacity request cannot be represented in the device's range arithmetic: " + why);
}

Result<Quantity> rounded_up(const Quantity& requested, const CapacityRequestPolicyRange& range,
                            bool fractional_ranges) {
  if (requested < *range.min) return *range.min;
  if (!range.step) return requested;
  const std::optional<Steps> steps = steps_of(range, fractional_ranges);
  if (!steps) return requested;
  std::int64_t amount = 0;
  if (steps->milli) {
    const std::optional<std::int64_t> milli = exact_milli(requested);
    if (!milli)
      return not_representable(
          fmt::format("request {} is not a representable milli value", requested.to_string()));
    amount = *milli;
  } else {
    if (requested > Quantity::of(kMaxInt64))
      return not_representable(fmt::format("request {} exceeds MaxInt64", requested.to_string()));
    amount = requested.value();
  }
  const std::int64_t count =
      wrapping(steps->min, -1, amount) / steps->step + (steps->rest(amount) != 0 ? 1 : 0);
  // A negative minimum is nothing that API servers accept; its sum wraps around.
  if (steps->min >= 0 && count > (kMaxInt64 - steps->min) / steps->step)
    return not_representable(fmt::format("rounding request {} up to the next step passes {}",
                                         requested.to_string(),
                                         steps->milli ? "the milli-value range" : "MaxInt64"));
  const std::int64_t sum = wrapping(steps->step, count, steps->min);
  const Quantity::Format format = range.step->format();
  if (!steps->milli) return Quantity::of(sum, format);
  return sum % 1000 == 0 ? Quantity::of(sum / 1000, format) : Quantity::of_milli(sum, format);
}

Result<Quantity> consumed_of(const DeviceCapacity& capacity, const CapacityRequest& request) {
  const std::optional<CapacityRequestPolicy>& policy = capacity.request_policy;
  const Quantity* requested = request.amounts ? request.amounts->find(capacity.name) : nullptr;
  if (!requested) return policy && policy->default_value ? *policy->default_value : capacity.value;
  if (!policy) return *requested;
  if (policy->valid_range && policy->valid_range->min)
    return rounded_up(*requested, *policy->valid_range, request.fractional_ranges);
  for (const Quantity& valid : policy->valid_values)
    if (*requested <= valid) return valid;
  return *requested;
}

bool off_the_steps(const Quantity& amount, const CapacityRequestPolicyRange& range,
                   bool fractional_ranges) {
  const std::optional<Steps> steps = steps_of(range, fractional_ranges);
  if (!steps) return true;
  if (!steps->milli) return steps->rest(amount.value()) != 0;
  const std::optional<std::int64_t> milli = exact_milli(amount);
  return !milli || steps->rest(*milli) != 0;
}

bool violates(const Quantity& amount, const std::optional<CapacityRequestPolicy>& policy,
              bool fractional_ranges) {
  if (!policy) return false;
  if (policy->default_value && amount == *policy->default_value) return false;
  if (policy->valid_range) {
    const CapacityRequestPolicyRange& range = *policy->valid_range;
    if (range.max && amount > *range.max) return true;
    return range.step && off_the_steps(amount, range, fractional_ranges);
  }
  if (policy->valid_values.empty()) return false;
  return std::ranges::find(policy->valid_values, amount) == policy->valid_values.end();
}

const Quantity* find_in(const ResourceList* list, Symbol name) {
  return list ? list->find(name) : nullptr;
}

}  // namespace

Result<bool> capacity_fits(const Device& device, const CapacityRequest& request,
                           const ResourceList* allocated, const ResourceList* allocating,
                           const Symbols& symbols) {
  if (request.amounts) {
    // Parity: names are compared as they are written, without the driver's domain.
    for (const ResourceAmount& amount : *request.amounts)
      if (std::ranges::find(device.capacity, amount.name, &DeviceCapacity::name) ==
          device.capacity.end())
        return false;
  }
  // An error about any capacity comes before the answer that another one does not fit.
  bool fits = true;
  for (const DeviceCapacity& capacity : device.capacity) {
    Result<Quantity> amount = consumed_of(capacity, request);
    if (amount && amount->sign() < 0)
      amount = fail(ErrorKind::kInvalid, "capacity value is negative");
    if (!amount)
      return fail(ErrorKind::kInvalid,
                  fmt::format("capacity {}: {}", go_quoted(symbols.text(capacity.name)),
                              amount.error().message));
    if (!fits || violates(*amount, capacity.request_policy, request.fractional_ranges)) {
      fits = false;
      continue;
    }
    if (const Quantity* others = find_in(allocated, capacity.name)) *amount += *others;
    if (const Quantity* own = find_in(allocating, capacity.name)) *amount += *own;
    fits = *amount <= capacity.value;
  }
  return fits;
}

ResourceList consumed_capacity(const Device& device, const CapacityRequest& request) {
  std::vector<ResourceAmount> amounts;
  amounts.reserve(device.capacity.size());
  for (const DeviceCapacity& capacity : device.capacity)
    amounts.push_back({capacity.name, consumed_of(capacity, request).value()});
  return ResourceList(std::move(amounts));
}

}  // namespace berth::plugins
