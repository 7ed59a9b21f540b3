// DeviceSelector: a CEL expression about one device, compiled once and asked often.
//
// DeviceClasses and requests of ResourceClaims choose devices with such expressions. The allocator
// compiles each one, describes every device once as a SelectorDevice, and asks. Language,
// functions, type check, costs and the words of errors are those of upstream's evaluator; what an
// expression may use is the environment of stored device selectors of v1.37.
//
// A compiled selector never changes and may be asked from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "berth/resources.h"
#include "berth/result.h"

namespace berth {

namespace cel {
class Expression;
struct DeviceValues;
}  // namespace cel

// A device as selectors see it. Names are as in a ResourceSlice, "domain/id", or "id" alone in the
// driver's own domain. A value that cannot be converted (a version that is none) is an error of
// every selector that looks at the device, whatever it looks for.
class SelectorDevice {
 public:
  explicit SelectorDevice(std::string driver, bool allow_multiple_allocations = false);
  SelectorDevice(SelectorDevice&&) noexcept;
  SelectorDevice& operator=(SelectorDevice&&) noexcept;
  ~SelectorDevice();

  void add_attribute(std::string_view name, bool value);
  void add_attribute(std::string_view name, std::int64_t value);
  void add_attribute(std::string_view name, std::string_view value);
  void add_attribute(std::string_view name, const char* value);  // not a bool
  void add_version(std::string_view name, std::string_view version);
  void add_list(std::string_view name, std::span<const std::int64_t> values);
  void add_list(std::string_view name, std::span<const bool> values);
  void add_list(std::string_view name, std::span<const std::string> values);
  void add_version_list(std::string_view name, std::span<const std::string> versions);
  // An attribute with a value of none of these kinds.
  void add_unsupported(std::string_view name);
  void add_capacity(std::string_view name, Quantity value);

 private:
  friend class DeviceSelector;
  std::unique_ptr<cel::DeviceValues> values_;
};

class DeviceSelector {
 public:
  // What one evaluation may cost before it is given up.
  static constexpr std::uint64_t kCostLimit = 1'000'000;

  // The error's message is what follows "CEL compile error: ".
  static Result<std::shared_ptr<const DeviceSelector>> compile(std::string_view expression);

  ~DeviceSelector();
  DeviceSelector(const DeviceSelector&) = delete;
  DeviceSelector& operator=(const DeviceSelector&) = delete;

  // Whether the device is selected; the error's message is what follows "CEL runtime error: ".
  // `cost`, where given, gets what the evaluation took, also of one that failed.
  Result<bool> matches(const SelectorDevice& device, std::uint64_t* cost = nullptr) const;

  // The cost of an evaluation says little about how long it takes: microseconds, or seconds. This
  // one is given up (kTimeout) after a step too many, of which there are some twenty in a
  // microsecond, or when `cancelled` is set.
  struct TimeLimits {
    std::uint64_t steps = 0;  // 0: as many as any evaluation may take, some seconds
    const std::atomic<bool>* cancelled = nullptr;
  };
  Result<bool> matches(const SelectorDevice& device, const TimeLimits& limits,
                       std::uint64_t* cost = nullptr) const;

 private:
  explicit DeviceSelector(std::shared_ptr<const cel::Expression> expression);

  std::shared_ptr<const cel::Expression> expression_;
};

}  // namespace berth
