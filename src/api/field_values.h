// How a field's value gets into a member: by the type of the member and the row of the schema, or as
// the list says. For fields.h.
//
// What JSON says about a list or a map replaces what was there; in protobuf every item is a field of
// its own and is added to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/read_values.h"
#include "api/schema_table.h"
#include "berth/labels.h"
#include "berth/resources.h"
#include "berth/symbols.h"
#include "wire/json_reader.h"
#include "wire/proto_reader.h"

namespace berth {

// The list of a struct that has one.
template <typename T>
struct Fields;

template <typename Reader>
inline constexpr bool kIsJson = std::is_same_v<Reader, JsonReader>;

// The items of a list. In protobuf each of them is a field of its own.
template <typename OnItem>
void each_item(JsonReader& json, OnItem&& on_item) {
  json.items(on_item);
}
template <typename OnItem>
void each_item(ProtoReader& /*proto*/, OnItem&& on_item) {
  on_item();
}

// The same for a map: on_entry(key), with the value at hand.
template <typename OnEntry>
void each_entry(JsonReader& json, OnEntry&& on_entry) {
  json.entries(on_entry);
}
template <typename OnEntry>
void each_entry(ProtoReader& proto, OnEntry&& on_entry) {
  proto.entry(on_entry);
}

// ---- members ------------------------------------------------------------------------------------

template <typename Pointer>
struct MemberPointer;
template <typename Class, typename Member>
struct MemberPointer<Member Class::*> {
  using Owner = Class;
};

template <auto Pick, typename T>
auto& picked(T& object) {
  if constexpr (std::is_member_object_pointer_v<decltype(Pick)>) {
    using Owner = typename MemberPointer<std::remove_const_t<decltype(Pick)>>::Owner;
    if constexpr (std::is_const_v<T>) {
      return static_cast<const Owner&>(object).*Pick;
    } else {
      return static_cast<Owner&>(object).*Pick;
    }
  } else {
    return Pick(object);
  }
}

template <auto First, auto... Others>
inline constexpr auto path =
    [](auto& object) -> auto& { return (picked<First>(object).*....*Others); };

// ---- how values are read ------------------------------------------------------------------------

struct AsIs {};
// A message, by a list that is not its struct's own.
template <typename List>
struct By {};
// A map of messages as a list of structs, with the key in a member.
template <auto Key>
struct Keyed {};
// A text that stands for something else, in both directions.
template <auto Read, auto Write>
struct Word {
  static auto read(std::string_view text) { return Read(text); }
  static auto write(const auto& value) { return Write(value); }
};

template <typename T>
inline constexpr bool kIsWord = false;
template <auto Read, auto Write>
inline constexpr bool kIsWord<Word<Read, Write>> = true;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <typename How>
struct ListOf {
  using type = void;
};
template <typename List>
struct ListOf<By<List>> {
  using type = List;
};

// A value that is no list and no map, or one of those in it.
template <std::uint16_t Row, auto How, typename Reader, typename Value>
void read_single(Reader& reader, SymbolHold& symbols, Value& value) {
  using schema::Type;
  using List = typename ListOf<std::remove_const_t<decltype(How)>>::type;
  constexpr schema::Field kField = schema::kFields[Row];
  if constexpr (!std::is_void_v<List>) {
    static_assert(kField.type == Type::kMessage && kField.message == List::kMessage);
    List::read(reader, symbols, value);
  } else if constexpr (kIsWord<std::remove_const_t<decltype(How)>>) {
    static_assert(kField.type == Type::kString);
    value = How.read(reader.text());
  } else if constexpr (std::is_invocable_v<decltype(How), std::string_view>) {
    static_assert(kField.type == Type::kString);
    value = How(reader.text());
  } else if constexpr (std::is_invocable_v<decltype(How), Reader&>) {
    value = How(reader);
  } else if constexpr (std::is_same_v<Value, std::optional<WallTime>>) {
    static_assert(kField.type == Type::kTime || kField.type == Type::kMicroTime);
    value = kField.type == Type::kTime ? read_time(reader) : read_micro_time(reader);
  } else if constexpr (kIsOptional<Value>) {
    read_single<Row, How>(reader, symbols, value.emplace());
  } else if constexpr (std::is_same_v<Value, Symbol>) {
    static_assert(kField.type == Type::kString);
    value = symbols.intern(reader.text());
  } else if constexpr (std::is_same_v<Value, std::string> && kField.type == Type::kRaw) {
    value = read_raw(reader);
  } else if constexpr (std::is_same_v<Value, std::string> ||
                       std::is_same_v<Value, std::string_view>) {
    static_assert(kField.type == Type::kString);
    value = reader.text();
  } else if constexpr (std::is_same_v<Value, bool>) {
    static_assert(kField.type == Type::kBool);
    value = reader.boolean();
  } else if constexpr (std::is_same_v<Value, std::int32_t>) {
    static_assert(kField.type == Type::kInt32);
    value = reader.int32();
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    static_assert(kField.type == Type::kInt64);
    value = reader.int64();
  } else if constexpr (std::is_same_v<Value, Quantity>) {
    static_assert(kField.type == Type::kQuantity);
    value = read_quantity(reader);
  } else {
    static_assert(kField.type == Type::kMessage && kField.message == Fields<Value>::kMessage);
    Fields<Value>::read(reader, symbols, value);
  }
}

// Maps: of strings, of amounts, of messages.
template <std::uint16_t Row, auto How, typename Reader>
void read_map(Reader& reader, SymbolHold& symbols, std::vector<Label>& labels) {
  static_assert(schema::kFields[Row].type == schema::Type::kString);
  if (kIsJson<Reader>) labels.clear();
  each_entry(reader, [&](std::string_view key) {
    const Symbol symbol = symbols.intern(key);
    labels.push_back({symbol, symbols.intern(reader.text())});
  });
}

template <std::uint16_t Row, auto How, typename Reader>
void read_map(Reader& reader, SymbolHold& symbols, ResourceList& list) {
  static_assert(schema::kFields[Row].type == schema::Type::kQuantity);
  if constexpr (kIsJson<Reader>) {
    std::vector<ResourceAmount> amounts;
    reader.entries([&](std::string_view key) {
      const Symbol symbol = symbols.intern(key);
      amounts.push_back({symbol, read_quantity(reader)});
    });
    list = ResourceList(std::move(amounts));
  } else {
    reader.entry([&](std::string_view key) {
      const Symbol symbol = symbols.intern(key);
      list.set(symbol, read_quantity(reader));
    });
  }
}

template <typename How>
inline constexpr auto kKeyOf = nullptr;
template <auto Key>
inline constexpr auto kKeyOf<Keyed<Key>> = Key;

template <std::uint16_t Row, auto How, typename Reader, typename Element>
  requires(!std::is_same_v<Element, Label>)
void read_map(Reader& reader, SymbolHold& symbols, std::vector<Element>& list) {
  static_assert(schema::kFields[Row].type == schema::Type::kMessage);
  if (kIsJson<Reader>) list.clear();
  each_entry(reader, [&](std::string_view key) {
    Element& element = list.emplace_back();
    element.*kKeyOf<std::remove_const_t<decltype(How)>> = symbols.intern(key);
    read_single<Row, AsIs{}>(reader, symbols, element);
  });
}

template <std::uint16_t Row, auto How, typename Reader, typename Value>
void read_value(Reader& reader, SymbolHold& symbols, Value& value) {
  constexpr schema::Field kField = schema::kFields[Row];
  constexpr bool kMany = kField.is(schema::kMap) || kField.is(schema::kRepeated);
  if constexpr (kMany && kIsOptional<Value>) {
    if (kIsJson<Reader> || !value) value.emplace();
    read_value<Row, How>(reader, symbols, *value);
  } else if constexpr (kField.is(schema::kMap)) {
    read_map<Row, How>(reader, symbols, value);
  } else if constexpr (kMany) {
    if (kIsJson<Reader>) value.clear();
    each_item(reader, [&] { read_single<Row, How>(reader, symbols, value.emplace_back()); });
  } else if constexpr (kField.type == schema::Type::kMessage && kIsOptional<Value>) {
    read_single<Row, How>(reader, symbols, value.emplace());
  } else {
    if constexpr (kField.type == schema::Type::kMessage) value = Value();
    read_single<Row, How>(reader, symbols, value);
  }
}

}  // namespace berth
