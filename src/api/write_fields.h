// Objects to JSON by their field lists (fields.h): members in the order of the Go structs, and left
// out where the schema says that JSON leaves them out; so are lists and maps of nothing, which Go
// would write as null. Entries that only read (Hashed, Otherwise, a Custom without a Write) are not
// written.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/fields.h"
#include "base/time_text.h"
#include "wire/json_tree.h"

namespace berth {

template <typename List, typename T>
JsonValue write_fields(const T& object, const Symbols& symbols);

// ---- values -------------------------------------------------------------------------------------

// Empty in the sense of omitempty. A number that is not behind a pointer is empty when it is zero.
template <typename Value>
bool is_empty_value(const Value& value) {
  if constexpr (kIsOptional<Value>) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return value == Value();
  } else {
    return false;
  }
}

template <std::uint16_t Row, auto How, typename Value>
JsonValue write_single(const Value& value, const Symbols& symbols) {
  using List = typename ListOf<std::remove_const_t<decltype(How)>>::type;
  if constexpr (!std::is_void_v<List>) {
    return write_fields<List>(value, symbols);
  } else if constexpr (kIsWord<std::remove_const_t<decltype(How)>>) {
    return JsonValue::of_text(How.write(value));
  } else if constexpr (std::is_same_v<Value, Symbol>) {
    return JsonValue::of_text(symbols.text(value));
  } else if constexpr (schema::kFields[Row].type == schema::Type::kRaw) {
    // What came from JSON is JSON.
    Result<JsonValue> raw = parse_json(value);
    return raw ? *std::move(raw) : JsonValue();
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return JsonValue::of_text(value);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return JsonValue::of_bool(value);
  } else if constexpr (std::is_integral_v<Value>) {
    return JsonValue::of_int(value);
  } else if constexpr (std::is_same_v<Value, Quantity>) {
    return JsonValue::of_text(value.to_string());
  } else if constexpr (std::is_same_v<Value, WallTime>) {
    return JsonValue::of_text(rfc3339(value));
  } else {
    return write_fields<Fields<Value>>(value, symbols);
  }
}

inline JsonValue write_map(const std::vector<Label>& labels, const Symbols& symbols) {
  JsonValue out = JsonValue::object();
  for (const Label& label : labels)
    out.add(symbols.text(label.key), JsonValue::of_text(symbols.text(label.value)));
  return out;
}

inline JsonValue write_map(const ResourceList& list, const Symbols& symbols) {
  JsonValue out = JsonValue::object();
  for (const ResourceAmount& amount : list)
    out.add(symbols.text(amount.name), JsonValue::of_text(amount.amount.to_string()));
  sort_members(out);
  return out;
}

template <std::uint16_t Row, auto How, typename Value>
JsonValue write_value(const Value& value, const Symbols& symbols) {
  if constexpr (kIsOptional<Value>) {
    return write_value<Row, How>(*value, symbols);
  } else if constexpr (schema::kFields[Row].is(schema::kMap)) {
    return write_map(value, symbols);
  } else if constexpr (schema::kFields[Row].is(schema::kRepeated)) {
    JsonValue out = JsonValue::array();
    for (const auto& item : value) out.items.push_back(write_single<Row, How>(item, symbols));
    return out;
  } else {
    return write_single<Row, How>(value, symbols);
  }
}

// ---- entries ------------------------------------------------------------------------------------

template <typename Entry>
struct EntryWriter {
  template <std::uint16_t Row, typename T>
  static void write(const T& /*object*/, const Symbols& /*symbols*/, JsonValue& /*out*/) {}
};

template <FieldName Name, auto Pick, auto How>
struct EntryWriter<Field<Name, Pick, How>> {
  template <std::uint16_t Row, typename T>
  static void write(const T& object, const Symbols& symbols, JsonValue& out) {
    constexpr schema::Field kField = schema::kFields[Row];
    constexpr bool kMany = kField.is(schema::kMap) || kField.is(schema::kRepeated);
    const auto& value = picked<Pick>(object);
    if ((kMany || kField.is(schema::kOmitEmpty)) && is_empty_value(value)) return;
    out.add(Name.view(), write_value<Row, How>(value, symbols));
  }
};

template <FieldName Name, auto Read, auto Write>
struct EntryWriter<Custom<Name, Read, Write>> {
  template <std::uint16_t Row, typename T>
  static void write(const T& object, const Symbols& symbols, JsonValue& out) {
    if constexpr (!std::is_same_v<std::remove_const_t<decltype(Write)>, NotWritten>)
      out.add(Name.view(), Write(object, symbols));
  }
};

// All entries of a list, in the order of JSON.
template <typename Walk>
struct WalkWriter;
template <schema::MessageId Message, typename... Entries>
struct WalkWriter<FieldWalk<Message, Entries...>> {
  using Walk = FieldWalk<Message, Entries...>;
  using Places = std::array<std::size_t, sizeof...(Entries)>;

  static consteval Places places_in_json() {
    const std::array<std::uint8_t, sizeof...(Entries)> ranks{
        schema::kFields[Walk::template kRow<Entries>].rank...};
    Places places{};
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::sort(places, {}, [&](std::size_t at) { return ranks[at]; });
    return places;
  }
  static constexpr Places kPlaces = places_in_json();

  template <std::size_t Place, typename T>
  static void write_one(const T& object, const Symbols& symbols, JsonValue& out) {
    using One = std::tuple_element_t<Place, std::tuple<Entries...>>;
    EntryWriter<One>::template write<Walk::template kRow<One>>(object, symbols, out);
  }

  template <typename T>
  static void write(const T& object, const Symbols& symbols, JsonValue& out) {
    write_all(object, symbols, out, std::index_sequence_for<Entries...>());
  }

 private:
  template <typename T, std::size_t... At>
  static void write_all(const T& object, const Symbols& symbols, JsonValue& out,
                        std::index_sequence<At...> /*all*/) {
    (write_one<kPlaces[At]>(object, symbols, out), ...);
  }
};

template <FieldName Name, typename... Entries>
struct EntryWriter<Inside<Name, Entries...>> {
  template <std::uint16_t Row, typename T>
  static void write(const T& object, const Symbols& symbols, JsonValue& out) {
    JsonValue inner = JsonValue::object();
    WalkWriter<FieldWalk<schema::kFields[Row].message, Entries...>>::write(object, symbols, inner);
    if (schema::kFields[Row].is(schema::kPointer) && inner.members.empty()) return;
    out.add(Name.view(), std::move(inner));
  }
};

template <FieldName Message, auto Pick, typename... Entries>
struct EntryWriter<Inline<Message, Pick, Entries...>> {
  template <std::uint16_t Row, typename T>
  static void write(const T& object, const Symbols& symbols, JsonValue& out) {
    WalkWriter<FieldWalk<schema::kFields[Row].message, Entries...>>::write(picked<Pick>(object),
                                                                           symbols, out);
  }
};

template <typename List, typename T>
JsonValue write_fields(const T& object, const Symbols& symbols) {
  JsonValue out = JsonValue::object();
  WalkWriter<typename List::Walk>::write(object, symbols, out);
  return out;
}

}  // namespace berth
