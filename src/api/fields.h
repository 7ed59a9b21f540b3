// Field lists: which member of a struct takes which field of the schema. A list is all that a kind
// says about its encodings; it drives the JSON reader, the protobuf reader and, for what is written
// back, the JSON writer (write_fields.h).
//
//   template <>
//   struct Fields<Taint> : FieldList<"api.core.v1.Taint",
//                                    Field<"key", &Taint::key>,
//                                    Field<"value", &Taint::value>,
//                                    Field<"effect", &Taint::effect, taint_effect>> {};
//
//   Fields<Taint>::read(reader, symbols, taint);  // from a JsonReader or a ProtoReader
//
// Numbers and types come from the schema (schema_table.h) at compile time: a name that it does not
// have, and a member whose type does not suit the field's, do not compile. Fields that no list names
// are skipped. Symbols are interned into the SymbolHold that is given.
//
// An entry of a list is one of:
//
//   Field<"name", Member, How>   the member takes the value. How it is read follows from the types
//                                (field_values.h), unless How is a function of the text, a function of
//                                the reader, Word<Read, Write>, By<List> or Keyed<Member>
//   Inside<"name", Entries...>   the fields of a message that has no struct of its own: they go into
//                                the same object
//   Inline<"Message", Member, Entries...>  the same for a message whose fields JSON shows among
//                                those around it
//   Custom<"name", Read, Write>  Read(reader, symbols, object) does what it wants with the value;
//                                Write(object, symbols) is its JSON, where it is written
//   Hashed<"name", Member>       the value is dropped; the member is a hash that tells its changes
//   Before<Do>, After<Do>        Do(symbols, object), before the first field and after the last
//   Otherwise<Read>              JSON only: Read(json, symbols, object, name), for names that only
//                                older versions of the API have
//
// A member is a pointer to one, or a function of the object (`path<…>` is one for members of
// members). The object may be a struct that converts to the one that has the member: one message
// can fill several structs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "api/field_values.h"
#include "api/schema_table.h"
#include "base/keyed_hash.h"
#include "berth/symbols.h"
#include "wire/json_reader.h"
#include "wire/name_table.h"

namespace berth {

// A name as a template's argument.
template <std::size_t Size>
struct FieldName {
  consteval FieldName(const char (&written)[Size]) {  // NOLINT: a literal is a name
    std::copy_n(written, Size, text);
  }
  constexpr std::string_view view() const { return {text, Size - 1}; }

  char text[Size] = {};
};

// ---- entries of a list --------------------------------------------------------------------------

template <schema::MessageId Message, typename... Entries>
struct FieldWalk;

// Of a Custom entry that is only read.
struct NotWritten {};

// What an entry is unless it says otherwise: nothing that has a name or a number.
struct Entry {
  static constexpr std::string_view kName{};
  static constexpr schema::MessageId kInner = 0;
  static constexpr bool kIsInline = false;

  template <std::uint16_t Row, typename Reader, typename T>
  static void read(Reader& /*reader*/, SymbolHold& /*symbols*/, T& /*object*/) {}
  template <std::uint16_t Row, typename T>
  static bool read_other(JsonReader& /*json*/, SymbolHold& /*symbols*/, T& /*object*/,
                         std::string_view /*name*/) {
    return false;
  }
  template <typename T>
  static void before(SymbolHold& /*symbols*/, T& /*object*/) {}
  template <typename T>
  static void after(SymbolHold& /*symbols*/, T& /*object*/) {}
};

template <FieldName Name, auto Pick, auto How = AsIs{}>
struct Field : Entry {
  static constexpr std::string_view kName = Name.view();

  template <std::uint16_t Row, typename Reader, typename T>
  static void read(Reader& reader, SymbolHold& symbols, T& object) {
    read_value<Row, How>(reader, symbols, picked<Pick>(object));
  }
};

template <FieldName Name, typename... Entries>
struct Inside : Entry {
  static constexpr std::string_view kName = Name.view();

  template <std::uint16_t Row, typename Reader, typename T>
  static void read(Reader& reader, SymbolHold& symbols, T& object) {
    static_assert(schema::kFields[Row].type == schema::Type::kMessage);
    FieldWalk<schema::kFields[Row].message, Entries...>::read(reader, symbols, object);
  }
};

template <FieldName Message, auto Pick, typename... Entries>
struct Inline : Entry {
  static constexpr bool kIsInline = true;
  static constexpr schema::MessageId kInner = schema::message_named(Message.view());
  using Walk = FieldWalk<kInner, Entries...>;

  template <std::uint16_t Row, typename Reader, typename T>
  static void read(Reader& reader, SymbolHold& symbols, T& object) {
    Walk::read(reader, symbols, picked<Pick>(object));
  }
  template <std::uint16_t Row, typename T>
  static bool read_other(JsonReader& json, SymbolHold& symbols, T& object, std::string_view name) {
    return Walk::read_named(json, symbols, picked<Pick>(object), name);
  }
};

template <FieldName Name, auto Read, auto Write = NotWritten{}>
struct Custom : Entry {
  static constexpr std::string_view kName = Name.view();

  template <std::uint16_t Row, typename Reader, typename T>
  static void read(Reader& reader, SymbolHold& symbols, T& object) {
    Read(reader, symbols, object);
  }
};

template <FieldName Name, auto Pick>
struct Hashed : Entry {
  static constexpr std::string_view kName = Name.view();

  template <std::uint16_t Row, typename Reader, typename T>
  static void read(Reader& reader, SymbolHold& /*symbols*/, T& object) {
    std::uint64_t& hash = picked<Pick>(object);
    if constexpr (kIsJson<Reader>) {
      hash = hash * 31 + hash_text(reader.raw());
    } else {
      hash = hash * 31 + hash_text(reader.text());
    }
  }
};

template <auto Do>
struct Before : Entry {
  template <typename T>
  static void before(SymbolHold& symbols, T& object) {
    Do(symbols, object);
  }
};

template <auto Do>
struct After : Entry {
  template <typename T>
  static void after(SymbolHold& symbols, T& object) {
    Do(symbols, object);
  }
};

template <auto Read>
struct Otherwise : Entry {
  template <std::uint16_t Row, typename T>
  static bool read_other(JsonReader& json, SymbolHold& symbols, T& object, std::string_view name) {
    return Read(json, symbols, object, name);
  }
};

// ---- lists --------------------------------------------------------------------------------------

// Entries, as fields of one message.
template <schema::MessageId Message, typename... Entries>
struct FieldWalk {
  template <typename One>
  static consteval std::uint16_t row() {
    if constexpr (One::kIsInline) {
      return schema::inline_row_of(Message, One::kInner);
    } else if constexpr (One::kName.empty()) {
      return 0;
    } else {
      return schema::row_of(Message, One::kName);
    }
  }
  template <typename One>
  static constexpr std::uint16_t kRow = row<One>();
  template <typename One>  // 0: of no field
  static constexpr std::uint32_t kNumber =
      One::kIsInline || !One::kName.empty() ? schema::kFields[kRow<One>].number : 0;
  static constexpr NameTable<sizeof...(Entries)> kNames{{Entries::kName...}};

  template <typename Reader, typename T>
  static void read(Reader& reader, SymbolHold& symbols, T& object) {
    (Entries::before(symbols, object), ...);
    if constexpr (kIsJson<Reader>) {
      reader.fields([&](std::string_view name) { read_named(reader, symbols, object, name); });
    } else {
      reader.fields([&](std::uint32_t field) {
        static_cast<void>(
            ((field == kNumber<Entries> &&
              (Entries::template read<kRow<Entries>>(reader, symbols, object), true)) ||
             ...));
      });
    }
    (Entries::after(symbols, object), ...);
  }

  // The field at hand. Whether the list has it.
  template <typename T>
  static bool read_named(JsonReader& json, SymbolHold& symbols, T& object, std::string_view name) {
    const std::size_t found = kNames.find(name);
    return [&]<std::size_t... At>(std::index_sequence<At...>) {
      if (found == sizeof...(Entries))
        return (Entries::template read_other<kRow<Entries>>(json, symbols, object, name) || ...);
      return (
          (found == At && (Entries::template read<kRow<Entries>>(json, symbols, object), true)) ||
          ...);
    }(std::index_sequence_for<Entries...>());
  }
};

template <FieldName Message, typename... Entries>
struct FieldList : FieldWalk<schema::message_named(Message.view()), Entries...> {
  using Walk = FieldWalk<schema::message_named(Message.view()), Entries...>;
  static constexpr schema::MessageId kMessage = schema::message_named(Message.view());
};

}  // namespace berth
