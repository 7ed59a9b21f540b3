#include "cel/device_selector.h"

#include <utility>

#include "cel/expression.h"
#include "cel/semver.h"
#include "cel/value.h"

namespace berth {

namespace cel {

// What the variable `device` stands for, and the first thing that is wrong with it.
struct DeviceValues {
  std::string driver;
  std::shared_ptr<Map> attributes = Map::with_default(Value::map(std::make_shared<Map>()));
  std::shared_ptr<Map> capacity = Map::with_default(Value::map(std::make_shared<Map>()));
  Value device;
  std::string error;

  DeviceValues(std::string driver_name, bool allow_multiple_allocations);
  void add(std::string_view name, Value attribute) {
    add_to(*attributes, name, std::move(attribute));
  }
  void add_list(std::string_view name, std::vector<Value> items) {
    add(name, Value::list(std::move(items)));
  }
  // Below the name's domain.
  void add_to(Map& domains, std::string_view name, Value value) const;
};

namespace {

std::string about(std::string_view name, const std::string& what) {
  return "attribute " + std::string(name) + ": " + what;
}

void note(std::string& error, std::string text) {
  if (error.empty()) error = std::move(text);
}

// Why a value that is no bool cannot be the result.
std::string not_a_bool(const Value& value) {
  switch (value.kind()) {
    case Kind::kInt: return "unsupported type conversion from 'int' to bool";
    case Kind::kUint: return "unsupported type conversion from 'uint' to bool";
    case Kind::kDouble: return "type conversion error from Double to 'bool'";
    case Kind::kString: return "unsupported native conversion from string to 'bool'";
    case Kind::kBytes: return "type conversion error from Bytes to 'bool'";
    case Kind::kList: return "type conversion error from list to 'bool'";
    case Kind::kMap: return "type conversion error from map to 'bool'";
    case Kind::kNull: return "type conversion error from 'null_type' to 'bool'";
    case Kind::kDuration: return "type conversion error from 'Duration' to 'bool'";
    case Kind::kTimestamp: return "type conversion error from 'Timestamp' to 'bool'";
    case Kind::kQuantity: return "type conversion error from 'Quantity' to 'bool'";
    case Kind::kSemver: return "type conversion error from 'Semver' to 'bool'";
    case Kind::kUrl: return "type conversion error from 'URL' to 'bool'";
    case Kind::kIp: return "type conversion error from 'IP' to 'bool'";
    case Kind::kCidr: return "type conversion error from 'CIDR' to 'bool'";
    case Kind::kFormat: return "type conversion error from 'Format' to 'bool'";
    case Kind::kOptional:
      return value.as_optional().value ? not_a_bool(*value.as_optional().value)
                                       : "optional.none() dereference";
    default: return "type conversion not supported for 'type'";
  }
}

}  // namespace

DeviceValues::DeviceValues(std::string driver_name, bool allow_multiple_allocations)
    : driver(std::move(driver_name)) {
  auto fields = std::make_shared<Map>();
  fields->set(Value::string("driver"), Value::string(driver));
  fields->set(Value::string("allowMultipleAllocations"),
              Value::boolean(allow_multiple_allocations));
  fields->set(Value::string("attributes"), Value::map(attributes));
  fields->set(Value::string("capacity"), Value::map(capacity));
  device = Value::map(std::move(fields));
}

void DeviceValues::add_to(Map& domains, std::string_view name, Value value) const {
  const std::size_t slash = name.find('/');
  const std::string_view domain =
      slash == std::string_view::npos ? std::string_view(driver) : name.substr(0, slash);
  const std::string_view id = slash == std::string_view::npos ? name : name.substr(slash + 1);
  const Value* inner = domains.find(domain);
  if (inner == nullptr) {
    domains.set(Value::string(std::string(domain)), Value::map(std::make_shared<Map>()));
    inner = domains.find(domain);
  }
  inner->shared_map()->set(Value::string(std::string(id)), std::move(value));
}

}  // namespace cel

using cel::Kind;
using cel::Value;

SelectorDevice::SelectorDevice(std::string driver, bool allow_multiple_allocations)
    : values_(std::make_unique<cel::DeviceValues>(std::move(driver), allow_multiple_allocations)) {}
SelectorDevice::SelectorDevice(SelectorDevice&&) noexcept = default;
SelectorDevice& SelectorDevice::operator=(SelectorDevice&&) noexcept = default;
SelectorDevice::~SelectorDevice() = default;

void SelectorDevice::add_attribute(std::string_view name, bool value) {
  values_->add(name, Value::boolean(value));
}
void SelectorDevice::add_attribute(std::string_view name, std::int64_t value) {
  values_->add(name, Value::integer(value));
}
void SelectorDevice::add_attribute(std::string_view name, std::string_view value) {
  values_->add(name, Value::string(std::string(value)));
}
void SelectorDevice::add_attribute(std::string_view name, const char* value) {
  add_attribute(name, std::string_view(value));
}

void SelectorDevice::add_version(std::string_view name, std::string_view version) {
  auto parsed = cel::Semver::parse(version);
  if (!parsed) {
    cel::note(values_->error,
              cel::about(name, "parse semantic version: " + parsed.error().message));
    return;
  }
  values_->add(name, Value::semver(std::move(*parsed)));
}

void SelectorDevice::add_unsupported(std::string_view name) {
  cel::note(values_->error, cel::about(name, "unsupported attribute value"));
}

void SelectorDevice::add_list(std::string_view name, std::span<const std::int64_t> values) {
  std::vector<Value> items;
  for (const std::int64_t each : values) items.push_back(Value::integer(each));
  values_->add_list(name, std::move(items));
}
void SelectorDevice::add_list(std::string_view name, std::span<const bool> values) {
  std::vector<Value> items;
  for (const bool each : values) items.push_back(Value::boolean(each));
  values_->add_list(name, std::move(items));
}
void SelectorDevice::add_list(std::string_view name, std::span<const std::string> values) {
  std::vector<Value> items;
  for (const std::string& each : values) items.push_back(Value::string(each));
  values_->add_list(name, std::move(items));
}
void SelectorDevice::add_version_list(std::string_view name,
                                      std::span<const std::string> versions) {
  std::vector<Value> items;
  for (const std::string& each : versions) {
    auto parsed = cel::Semver::parse(each);
    if (!parsed) {
      cel::note(values_->error,
                cel::about(name, "parse semantic version: " + parsed.error().message));
      return;
    }
    items.push_back(Value::semver(std::move(*parsed)));
  }
  values_->add_list(name, std::move(items));
}

void SelectorDevice::add_capacity(std::string_view name, Quantity value) {
  values_->add_to(*values_->capacity, name, Value::quantity(std::move(value)));
}

DeviceSelector::DeviceSelector(std::shared_ptr<const cel::Expression> expression)
    : expression_(std::move(expression)) {}
DeviceSelector::~DeviceSelector() = default;

Result<std::shared_ptr<const DeviceSelector>> DeviceSelector::compile(std::string_view expression) {
  const auto accept = [](const cel::Type& type) -> std::string {
    if (type.kind() == cel::TypeKind::kBool || type.kind() == cel::TypeKind::kDyn) return {};
    return "must evaluate to bool or the unknown type, not " + cel::declared_text(type);
  };
  auto compiled = cel::Expression::compile(expression, cel::device_environment(), accept);
  if (!compiled) return fail(std::move(compiled.error()));
  return std::shared_ptr<const DeviceSelector>(new DeviceSelector(std::move(*compiled)));
}

Result<bool> DeviceSelector::matches(const SelectorDevice& device, std::uint64_t* cost) const {
  return matches(device, TimeLimits(), cost);
}

Result<bool> DeviceSelector::matches(const SelectorDevice& device, const TimeLimits& limits,
                                     std::uint64_t* cost) const {
  const auto wrong = [](std::string message) {
    return fail(ErrorKind::kInternal, std::move(message));
  };
  if (cost != nullptr) *cost = 0;
  const cel::DeviceValues& values = *device.values_;
  if (!values.error.empty()) return wrong(values.error);

  cel::WorkLimits work{.cancelled = limits.cancelled};
  if (limits.steps != 0) work.steps = limits.steps;
  cel::Expression::Outcome outcome =
      expression_->evaluate(std::span(&values.device, 1), kCostLimit, work);
  if (cost != nullptr) *cost = outcome.cost;
  if (outcome.interrupted)
    return fail(ErrorKind::kTimeout, cel::operation_interrupted().as_error().text);
  Value result = std::move(outcome.value);
  if (result.is_error()) return wrong(result.as_error().text);
  const std::string type = cel::type_name(result);
  if (result.is(Kind::kOptional) && result.as_optional().value) {
    result = Value(*result.as_optional().value);
  }
  if (result.is(Kind::kBool)) return result.as_bool();
  return wrong("CEL result of type " + type +
               " could not be converted to bool: " + cel::not_a_bool(result));
}

}  // namespace berth
