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

// As a list with at least one element.
struct AsSet {
  std::optional<DeviceAttributeValue> operator()(std::monostate) const { return std::nullopt; }
  template <typename T>
  std::optional<DeviceAttributeValue> operator()(const T& value) const {
    return std::vector<T>{value};
  }
  template <typename T>
  std::optional<DeviceAttributeValue> operator()(const std::vector<T>& values) const {
    if (values.empty()) return std::nullopt;
    return values;
  }
};
std::optional<DeviceAttributeValue> as_set(const DeviceAttributeValue& value) {
  return std::visit(AsSet{}, value);
}

// Of two sets; nothing if there are none, or they are of different kinds.
struct CommonElements {
  const DeviceAttributeValue& other;

  template <typename T>
  std::optional<DeviceAttributeValue> operator()(const std::vector<T>& values) const {
    const auto* others = std::get_if<std::vector<T>>(&other);
    if (!others) return std::nullopt;
    std::vector<T> common;
    for (const auto& value : values)
      if (std::ranges::find(*others, value) != others->end()) common.push_back(value);
    if (common.empty()) return std::nullopt;
    return common;
  }
  template <typename T>
  std::optional<DeviceAttributeValue> operator()(const T&) const {
    return std::nullopt;
  }
};
std::optional<DeviceAttributeValue> common_elements(const DeviceAttributeValue& a,
                                                    const DeviceAttributeValue& b) {
  return std::visit(CommonElements{b}, a);
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

bool AttributeConstraint::add(const Device& device, Symbol driver) {
  const DeviceAttribute* attribute = attribute_.find_in(device, driver);
  if (!attribute) return false;
  return lists_ ? add_set(attribute->value) : add_value(attribute->value);
}

bool AttributeConstraint::add_value(const DeviceAttributeValue& value) {
  // Parity: the first device may have a value of any kind.
  const auto goes_with = [&](const DeviceAttributeValue* other) {
    return comparable(value) && (*other == value) == (kind_ == Kind::kMatch);
  };
  // Devices that match all have the value of the first.
  const std::span<const DeviceAttributeValue* const> others(
      values_.data(),
      kind_ == Kind::kMatch ? std::min<std::size_t>(values_.size(), 1) : values_.size());
  if (!std::ranges::all_of(others, goes_with)) return false;
  values_.push_back(&value);
  return true;
}

bool AttributeConstraint::add_set(const DeviceAttributeValue& value) {
  std::optional<DeviceAttributeValue> set = as_set(value);
  if (!set) return false;
  if (kind_ == Kind::kMatch) {
    if (!sets_.empty()) set = common_elements(sets_.back(), *set);
    if (!set) return false;
  } else if (std::ranges::any_of(sets_, [&](const DeviceAttributeValue& other) {
               return common_elements(other, *set).has_value();
             })) {
    return false;
  }
  sets_.push_back(*std::move(set));
  return true;
}

void AttributeConstraint::remove() {
  if (lists_) {
    sets_.pop_back();
  } else {
    values_.pop_back();
  }
}

void AttributeConstraint::clear() {
  values_.clear();
  sets_.clear();
}

}  // namespace berth::plugins
