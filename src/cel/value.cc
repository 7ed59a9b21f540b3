#include "cel/value.h"

#include <bit>
#include <cstdint>

#include "base/keyed_hash.h"
#include "cel/library/url.h"
#include "cel/numbers.h"

namespace berth::cel {

Value Value::string(std::string text) {
  return Value(Held(StringValue{std::make_shared<const std::string>(std::move(text))}));
}
Value Value::bytes(std::string octets) {
  return Value(Held(BytesValue{std::make_shared<const std::string>(std::move(octets))}));
}
Value Value::list(std::vector<Value> items) {
  return Value(Held(std::make_shared<List>(std::move(items))));
}
Value Value::some(Value value) {
  return Value(Held(OptionalValue{std::make_shared<const Value>(std::move(value))}));
}
Value Value::quantity(Quantity quantity, bool computed) {
  return Value(
      Held(QuantityValue{std::make_shared<const Quantity>(std::move(quantity)), computed}));
}
Value Value::semver(Semver version) {
  return Value(Held(std::make_shared<const Semver>(std::move(version))));
}
Value Value::url(Url url) { return Value(Held(std::make_shared<const Url>(std::move(url)))); }
Value Value::ip(const IpAddress& address) {
  return Value(Held(std::make_shared<const IpAddress>(address)));
}
Value Value::cidr(const IpPrefix& prefix) {
  return Value(Held(std::make_shared<const IpPrefix>(prefix)));
}
Value Value::error(std::string text) {
  return Value(Held(std::make_shared<const ErrorValue>(ErrorValue{std::move(text), false})));
}
Value Value::fatal(std::string text) {
  return Value(Held(std::make_shared<const ErrorValue>(ErrorValue{std::move(text), true})));
}

Value no_such_overload() { return Value::error("no such overload"); }
Value error_or_no_overload(const Value& value) {
  return value.is_error() ? value : no_such_overload();
}

const TypeRef& type_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return types::null();
    case Kind::kBool: return types::boolean();
    case Kind::kInt: return types::integer();
    case Kind::kUint: return types::unsigned_integer();
    case Kind::kDouble: return types::floating();
    case Kind::kString: return types::string();
    case Kind::kBytes: return types::bytes();
    case Kind::kDuration: return types::duration();
    case Kind::kTimestamp: return types::timestamp();
    case Kind::kList: return types::list_of_dyn();
    case Kind::kMap: return types::map_of_dyn();
    case Kind::kType: return types::type();
    case Kind::kOptional: return types::optional_of_dyn();
    case Kind::kQuantity: return types::quantity();
    case Kind::kSemver: return types::semver();
    case Kind::kUrl: return types::url();
    case Kind::kIp: return types::ip();
    case Kind::kCidr: return types::cidr();
    case Kind::kFormat: return types::format();
    case Kind::kError: break;
  }
  return types::error();
}

bool fits(const Value& value, const Type& type) {
  if (type.is_dynamic() || type.kind() == TypeKind::kParam) return true;
  if (type.name() != type_name(value)) return false;
  if (type.kind() == TypeKind::kList) {
    const List& list = value.as_list();
    return list.empty() || fits(list[0], *type.parameters()[0]);
  }
  if (type.kind() == TypeKind::kMap) {
    const auto& entries = value.as_map().entries();
    return entries.empty() || (fits(entries[0].key, *type.parameters()[0]) &&
                               fits(entries[0].value, *type.parameters()[1]));
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Lists and maps.

std::shared_ptr<List> List::sum(std::shared_ptr<const List> left,
                                std::shared_ptr<const List> right) {
  auto list = std::make_shared<List>();
  list->sum_size_ = left->size() + right->size();
  list->left_ = std::move(left);
  list->right_ = std::move(right);
  return list;
}

const Value& List::operator[](std::size_t i) const {
  const List* list = this;
  while (list->left_) {
    const std::size_t left = list->left_->size();
    if (i < left) {
      list = list->left_.get();
    } else {
      i -= left;
      list = list->right_.get();
    }
  }
  return list->items_[i];
}

std::shared_ptr<Map> Map::with_default(Value missing) {
  auto map = std::make_shared<Map>();
  map->missing_ = std::make_unique<Value>(std::move(missing));
  return map;
}

std::size_t Map::position(const Value& key) const {
  if (index_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (same_key(entries_[i].key, key)) return i;
    }
    return kNowhere;
  }
  for (auto [at, end] = index_.equal_range(hash_key(key)); at != end; ++at) {
    if (same_key(entries_[at->second].key, key)) return at->second;
  }
  return kNowhere;
}

const Value* Map::find_same(const Value& key) const {
  const std::size_t at = position(key);
  return at == kNowhere ? nullptr : &entries_[at].value;
}

const Value* Map::find(const Value& key) const {
  if (entries_.empty()) return nullptr;
  if (const Value* found = find_same(key)) return found;
  switch (key.kind()) {
    case Kind::kDouble: {
      if (const auto as_int = lossless_int(key.as_double())) {
        if (const Value* found = find_same(Value::integer(*as_int))) return found;
      }
      const auto as_uint = lossless_uint(key.as_double());
      return as_uint ? find_same(Value::unsigned_integer(*as_uint)) : nullptr;
    }
    case Kind::kInt:
      if (key.as_int() < 0) return nullptr;
      return find_same(Value::unsigned_integer(static_cast<std::uint64_t>(key.as_int())));
    case Kind::kUint:
      if (key.as_uint() >> 63 != 0) return nullptr;
      return find_same(Value::integer(static_cast<std::int64_t>(key.as_uint())));
    default: return nullptr;
  }
}

const Value* Map::find(std::string_view key) const {
  if (!index_.empty()) return find_same(Value::string(std::string(key)));
  for (const Entry& entry : entries_) {
    if (entry.key.is(Kind::kString) && entry.key.as_string() == key) return &entry.value;
  }
  return nullptr;
}

const Value* Map::find_or_default(const Value& key) const {
  if (const Value* found = find(key)) return found;
  return missing_.get();
}

void Map::set(Value key, Value value) {
  if (const std::size_t at = position(key); at != kNowhere) {
    entries_[at].value = std::move(value);
    return;
  }
  entries_.push_back({std::move(key), std::move(value)});
  if (entries_.size() <= kFew) return;
  const std::size_t first = index_.empty() ? 0 : entries_.size() - 1;
  for (std::size_t i = first; i < entries_.size(); ++i) {
    index_.emplace(hash_key(entries_[i].key), i);
  }
}

void Map::erase(const Value& key) {
  const std::size_t at = position(key);
  if (at == kNowhere) return;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  index_.clear();
  if (entries_.size() <= kFew) return;
  for (std::size_t i = 0; i < entries_.size(); ++i) index_.emplace(hash_key(entries_[i].key), i);
}

std::string unhashable(const Value& value) {
  switch (value.kind()) {
    case Kind::kBytes:
    case Kind::kSemver:
      return "internal error: runtime error: hash of unhashable type " + native_type_name(value);
    default: return {};
  }
}

bool same_key(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull: return true;
    case Kind::kBool: return a.as_bool() == b.as_bool();
    case Kind::kInt: return a.as_int() == b.as_int();
    case Kind::kUint: return a.as_uint() == b.as_uint();
    case Kind::kDouble: return a.as_double() == b.as_double();
    case Kind::kString: return a.as_string() == b.as_string();
    case Kind::kDuration: return a.as_duration() == b.as_duration();
    case Kind::kTimestamp:
      return a.as_timestamp().seconds == b.as_timestamp().seconds &&
             a.as_timestamp().nanoseconds == b.as_timestamp().nanoseconds &&
             a.as_timestamp().offset == b.as_timestamp().offset;
    case Kind::kIp: return a.as_ip() == b.as_ip();
    case Kind::kCidr: return a.as_cidr() == b.as_cidr();
    case Kind::kList:  // these by identity
      return a.shared_list() == b.shared_list();
    case Kind::kMap: return a.shared_map() == b.shared_map();
    case Kind::kType: return a.as_type() == b.as_type();
    case Kind::kQuantity: return a.as_quantity().quantity == b.as_quantity().quantity;
    case Kind::kOptional: return a.as_optional().value == b.as_optional().value;
    default: return false;
  }
}

std::size_t hash_key(const Value& value) {
  KeyedHash hash;
  const auto add = [&hash](auto number) { hash.add(static_cast<std::uint64_t>(number)); };
  const auto add_address = [&hash](const void* address) {
    hash.add(std::bit_cast<std::uintptr_t>(address));
  };
  const auto add_octets = [&hash](const IpAddress& address) {
    for (const std::uint8_t octet : address.octets) hash.add(octet);
  };
  switch (value.kind()) {
    case Kind::kBool: add(value.as_bool()); break;
    case Kind::kInt: add(value.as_int()); break;
    case Kind::kUint: add(value.as_uint()); break;
    case Kind::kDouble:
      // 0 and -0 are the same key.
      add(std::bit_cast<std::uint64_t>(value.as_double() == 0 ? 0.0 : value.as_double()));
      break;
    case Kind::kString: return hash_text(value.as_string());
    case Kind::kDuration: add(value.as_duration()); break;
    case Kind::kTimestamp:
      add(value.as_timestamp().seconds);
      add(value.as_timestamp().nanoseconds);
      break;
    case Kind::kIp: add_octets(value.as_ip()); break;
    case Kind::kCidr:
      add_octets(value.as_cidr().address);
      add(value.as_cidr().bits);
      break;
    case Kind::kList: add_address(value.shared_list().get()); break;
    case Kind::kMap: add_address(value.shared_map().get()); break;
    case Kind::kQuantity: add_address(value.as_quantity().quantity.get()); break;
    case Kind::kOptional: add_address(value.as_optional().value.get()); break;
    default: add(value.kind()); break;
  }
  return hash.value();
}

}  // namespace berth::cel
