#include "plugins/dynamic_resources/allocator_constraints.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace berth::plugins {
namespace {

// Lists and unknown kinds of values cannot be compared.
bool comparable(const DeviceAttributeValue& value) {
  return std::holds_alternative<std::string>(value) ||
         std::holds_alternative<std::int64_t>(value) || std::holds_alternative<bool>(value) ||
         std::holds_alternative<DeviceVersion>(value);
}

}  // namespace

AttributeName::AttributeName(Symbol name, SymbolHold& symbols) : full(name) {
  symbols.retain(name);
  const std::string_view text = symbols.text(name);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return;
  driver = symbols.intern(text.substr(0, slash));
  id = symbols.intern(text.substr(slash + 1));
}

const DeviceAttribute* AttributeName::find_in(const Device& device, Symbol device_driver) const {
  if (const DeviceAttribute* found = device.attribute(full)) return found;
  if (driver != device_driver || driver.empty()) return nullptr;
  return device.attribute(id);
}

bool AttributeConstraint::applies_to(Symbol request, Symbol subrequest) const {
  if (requests_.empty()) return true;
  return std::ranges::any_of(requests_, [&](Symbol named) {
    return named == request || (!subrequest.empty() && named == subrequest);
  });
}

bool AttributeConstraint::differs_from_all(const DeviceAttributeValue& value) const {
  return std::ranges::none_of(
      values_, [&](const auto& entry) { return !comparable(value) || *entry.second == value; });
}

bool AttributeConstraint::add(Symbol request, const Device& device, Symbol driver) {
  const DeviceAttribute* attribute = attribute_.find_in(device, driver);
  if (!attribute) return false;
  const DeviceAttributeValue& value = attribute->value;
  if (kind_ == Kind::kMatch) {
    if (devices_ == 0) {
      common_ = &value;
    } else if (!comparable(value) || *common_ != value) {
      return false;
    }
  } else {
    if (devices_ > 0 && !differs_from_all(value)) return false;
    const auto known =
        std::ranges::find(values_, request, &std::pair<Symbol, const DeviceAttributeValue*>::first);
    if (known == values_.end()) {
      values_.emplace_back(request, &value);
    } else {
      known->second = &value;
    }
  }
  ++devices_;
  return true;
}

void AttributeConstraint::remove(Symbol request) {
  --devices_;
  if (kind_ == Kind::kDistinct)
    std::erase_if(values_, [&](const auto& entry) { return entry.first == request; });
}

void AttributeConstraint::clear() {
  devices_ = 0;
  common_ = nullptr;
  values_.clear();
}

}  // namespace berth::plugins
