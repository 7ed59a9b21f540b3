// Constraints between the devices of one claim: the same value of an attribute, or values that
// differ. For the allocator's own files.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "api/devices.h"

namespace berth::plugins {

// An attribute as constraints name it: "domain/id".
struct AttributeName {
  Symbol full;
  Symbol driver;  // its devices may have it under the bare id
  Symbol id;

  AttributeName(Symbol name, SymbolHold& symbols);
  // Null when the device has none.
  const DeviceAttribute* find_in(const Device& device, Symbol device_driver) const;
};

// One constraint of a claim, while devices are chosen and given back.
class AttributeConstraint {
 public:
  enum class Kind : std::uint8_t { kMatch, kDistinct };
  // `lists` (the gate DRAListTypeAttributes): a value is a set, of one element unless it is a list.
  // Sets match if they have an element in common, and differ if they have none.
  AttributeConstraint(Kind kind, AttributeName attribute, std::vector<Symbol> requests, bool lists)
      : kind_(kind), lists_(lists), attribute_(attribute), requests_(std::move(requests)) {}

  // Whether it is about devices of the request. `subrequest` is "request/subrequest", or empty.
  bool applies_to(Symbol request, Symbol subrequest) const;

  // The device is about to be allocated: whether it may. remove() takes back the last add() that
  // returned true.
  bool add(const Device& device, Symbol driver);
  void remove();
  void clear();

 private:
  bool add_value(const DeviceAttributeValue& value);
  bool add_set(const DeviceAttributeValue& value);

  Kind kind_;
  bool lists_;
  AttributeName attribute_;
  std::vector<Symbol> requests_;                     // none: all
  std::vector<const DeviceAttributeValue*> values_;  // of the devices so far
  // With `lists`, for each device: its own elements (kDistinct), or those that it has in common
  // with all devices before it (kMatch).
  std::vector<DeviceAttributeValue> sets_;
};

}  // namespace berth::plugins
