// Value: what an expression evaluates to, errors included. Cheap to copy; what is large is shared.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "berth/resources.h"
#include "cel/semver.h"
#include "cel/type.h"

namespace berth::cel {

class Value;
class List;
class Map;
struct Url;
struct NamedFormat;

// In the order of Value's alternatives.
enum class Kind : std::uint8_t {
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,
  kMap,
  kType,
  kOptional,
  kQuantity,
  kSemver,
  kUrl,
  kIp,
  kCidr,
  kFormat,
  kError,
};

struct NullValue {};
struct StringValue {
  std::shared_ptr<const std::string> text;
};
struct BytesValue {
  std::shared_ptr<const std::string> octets;
};
struct DurationValue {
  std::int64_t nanoseconds = 0;
};
struct TimestampValue {
  std::int64_t seconds = 0;  // since 1970, UTC
  std::int32_t nanoseconds = 0;
  std::int32_t offset = 0;  // seconds east of Greenwich, as it was written
};
struct OptionalValue {
  std::shared_ptr<const Value> value;  // null: none
};
struct QuantityValue {
  std::shared_ptr<const Quantity> quantity;
  // Parity: sums and differences are of another run-time type, which `==` does not accept on its
  // right.
  bool computed = false;
};
struct IpAddress {
  std::array<std::uint8_t, 16> octets{};  // of an IPv4 address the first four
  bool v6 = false;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};
struct IpPrefix {
  IpAddress address;
  int bits = 0;
  friend bool operator==(const IpPrefix&, const IpPrefix&) = default;
};
struct ErrorValue {
  std::string text;
  // Ends the evaluation: neither && nor || absorbs it.
  bool fatal = false;
};

class Value {
 public:
  Value() : held_(NullValue{}) {}

  static Value boolean(bool value) { return Value(Held(value)); }
  static Value integer(std::int64_t value) { return Value(Held(value)); }
  static Value unsigned_integer(std::uint64_t value) { return Value(Held(value)); }
  static Value floating(double value) { return Value(Held(value)); }
  static Value string(std::string text);
  static Value bytes(std::string octets);
  static Value duration(std::int64_t nanoseconds) {
    return Value(Held(DurationValue{nanoseconds}));
  }
  static Value timestamp(TimestampValue value) { return Value(Held(value)); }
  static Value list(std::vector<Value> items);
  static Value list(std::shared_ptr<List> list) { return Value(Held(std::move(list))); }
  static Value map(std::shared_ptr<Map> map) { return Value(Held(std::move(map))); }
  static Value type(TypeRef type) { return Value(Held(std::move(type))); }
  static Value some(Value value);
  static Value none() { return Value(Held(OptionalValue{})); }
  static Value quantity(Quantity quantity, bool computed = false);
  static Value semver(Semver version);
  static Value url(Url url);
  static Value ip(const IpAddress& address);
  static Value cidr(const IpPrefix& prefix);
  static Value format(const NamedFormat* format) { return Value(Held(format)); }
  static Value error(std::string text);
  static Value fatal(std::string text);

  Kind kind() const { return static_cast<Kind>(held_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_error() const { return is(Kind::kError); }
  bool is_fatal() const { return is_error() && as_error().fatal; }
  bool is_true() const { return is(Kind::kBool) && as_bool(); }
  bool is_false() const { return is(Kind::kBool) && !as_bool(); }

  // Each only for a value of that kind.
  bool as_bool() const { return *std::get_if<bool>(&held_); }
  std::int64_t as_int() const { return *std::get_if<std::int64_t>(&held_); }
  std::uint64_t as_uint() const { return *std::get_if<std::uint64_t>(&held_); }
  double as_double() const { return *std::get_if<double>(&held_); }
  const std::string& as_string() const { return *std::get_if<StringValue>(&held_)->text; }
  const std::string& as_bytes() const { return *std::get_if<BytesValue>(&held_)->octets; }
  std::int64_t as_duration() const { return std::get_if<DurationValue>(&held_)->nanoseconds; }
  const TimestampValue& as_timestamp() const { return *std::get_if<TimestampValue>(&held_); }
  const List& as_list() const { return **std::get_if<std::shared_ptr<List>>(&held_); }
  const Map& as_map() const { return **std::get_if<std::shared_ptr<Map>>(&held_); }
  const std::shared_ptr<List>& shared_list() const {
    return *std::get_if<std::shared_ptr<List>>(&held_);
  }
  const std::shared_ptr<Map>& shared_map() const {
    return *std::get_if<std::shared_ptr<Map>>(&held_);
  }
  const TypeRef& as_type() const { return *std::get_if<TypeRef>(&held_); }
  const OptionalValue& as_optional() const { return *std::get_if<OptionalValue>(&held_); }
  const QuantityValue& as_quantity() const { return *std::get_if<QuantityValue>(&held_); }
  const Semver& as_semver() const { return **std::get_if<std::shared_ptr<const Semver>>(&held_); }
  const Url& as_url() const { return **std::get_if<std::shared_ptr<const Url>>(&held_); }
  const IpAddress& as_ip() const { return **std::get_if<std::shared_ptr<const IpAddress>>(&held_); }
  const IpPrefix& as_cidr() const { return **std::get_if<std::shared_ptr<const IpPrefix>>(&held_); }
  const NamedFormat& as_format() const { return **std::get_if<const NamedFormat*>(&held_); }
  const ErrorValue& as_error() const {
    return **std::get_if<std::shared_ptr<const ErrorValue>>(&held_);
  }

 private:
  using Held = std::variant<NullValue, bool, std::int64_t, std::uint64_t, double, StringValue,
                            BytesValue, DurationValue, TimestampValue, std::shared_ptr<List>,
                            std::shared_ptr<Map>, TypeRef, OptionalValue, QuantityValue,
                            std::shared_ptr<const Semver>, std::shared_ptr<const Url>,
                            std::shared_ptr<const IpAddress>, std::shared_ptr<const IpPrefix>,
                            const NamedFormat*, std::shared_ptr<const ErrorValue>>;
  explicit Value(Held held) : held_(std::move(held)) {}
  Held held_;
};

class List {
 public:
  List() = default;
  explicit List(std::vector<Value> items) : items_(std::move(items)) {}
  // Neither is empty.
  static std::shared_ptr<List> sum(std::shared_ptr<const List> left,
                                   std::shared_ptr<const List> right);

  std::size_t size() const { return left_ ? sum_size_ : items_.size(); }
  bool empty() const { return size() == 0; }
  const Value& operator[](std::size_t i) const;
  // The sum of two lists. Parity: such a list hands on errors of comparing elements, others do not.
  bool is_sum() const { return left_ != nullptr; }

  // The accumulator of a macro: `+` appends to it.
  bool growing = false;
  void append(Value value) { items_.push_back(std::move(value)); }

 private:
  std::vector<Value> items_;
  std::shared_ptr<const List> left_;
  std::shared_ptr<const List> right_;
  std::size_t sum_size_ = 0;  // of both: the same list may be in a sum any number of times
};

// Keys are found by value, numbers across their types.
class Map {
 public:
  struct Entry {
    Value key;
    Value value;
  };

  Map() = default;
  // The outer maps of a device: what is not there is an empty map.
  static std::shared_ptr<Map> with_default(Value missing);

  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  // Of the same kind and the same value.
  const Value* find_same(const Value& key) const;
  // As find, but the default where there is one.
  const Value* find_or_default(const Value& key) const;
  // The latest value of a key counts. The key must be hashable.
  void set(Value key, Value value);
  void erase(const Value& key);

  bool growing = false;  // the accumulator of a macro

 private:
  static constexpr std::size_t kFew = 8;
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  std::size_t position(const Value& key) const;

  std::vector<Entry> entries_;
  std::unordered_multimap<std::size_t, std::size_t> index_;  // by hash, once there are many
  std::unique_ptr<Value> missing_;
};

// The run-time type: its parameters are not known.
const TypeRef& type_of(const Value& value);
inline const std::string& type_name(const Value& value) { return type_of(value)->name(); }

// May it be given where `type` is declared? Of lists and maps the first element is looked at.
bool fits(const Value& value, const Type& type);

// As `%v` prints it in upstream's errors.
std::string value_text(const Value& value);
// What upstream's implementation calls its type: errors about misuse show it.
std::string native_type_name(const Value& value);

Value no_such_overload();
// The error or `no such overload`.
Value error_or_no_overload(const Value& value);

// Equality as `==` has it: True, False or an error.
Value equal(const Value& left, const Value& right);
// Equality as containers ask for it: null is no special case.
Value equal_to(const Value& left, const Value& right);
// -1, 0, 1 as an int, or an error. Only for a comparable left.
Value compare(const Value& left, const Value& right);
bool is_comparable(const Value& value);
// Is an equal element in the list? Errors of comparing do not count.
bool contains(const List& list, const Value& value);

// The two kinds of values that cannot be keys: bytes and versions; empty for all others.
std::string unhashable(const Value& value);
// The same key of a map: same kind, same value.
bool same_key(const Value& a, const Value& b);
std::size_t hash_key(const Value& value);

}  // namespace berth::cel
