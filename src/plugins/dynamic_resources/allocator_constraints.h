// Constraints between the devices of one claim: the same value of an attribute, or values that
// differ. For the allocator's own files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
  AttributeConstraint(Kind kind, AttributeName attribute, std::vector<Symbol> requests)
      : kind_(kind), attribute_(attribute), requests_(std::move(requests)) {}

  // Whether it is about devices of the request. `subrequest` is "request/subrequest", or empty.
  bool applies_to(Symbol request, Symbol subrequest) const;

  // The device is about to be allocated for the request: whether it may. remove() takes back an
  // add() that returned true.
  bool add(Symbol request, const Device& device, Symbol driver);
  void remove(Symbol request);
  void clear();

  Kind kind() const { return kind_; }
  const AttributeName& attribute() const { return attribute_; }

 private:
  bool differs_from_all(const DeviceAttributeValue& value) const;

  Kind kind_;
  AttributeName attribute_;
  std::vector<Symbol> requests_;  // none: all
  std::uint32_t devices_ = 0;
  const DeviceAttributeValue* common_ = nullptr;
  // Parity: one value per request, that of the last device: three devices of one request may have
  // the values x, y, x.
  std::vector<std::pair<Symbol, const DeviceAttributeValue*>> values_;
};

}  // namespace berth::plugins
