// The schema's rows, for the compiler: fields.h looks names up while it compiles. Whoever asks at run
// time includes schema.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "api/schema.h"

namespace berth::schema {

#include "api/schema_table.inc"

// These end the compilation when there is no such thing, at the `throw` that says what is missing.

consteval MessageId message_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMessages); ++i)
    if (kMessages[i].name == name) return static_cast<MessageId>(i);
  throw "the schema has no message of this name";
}

// The row of a field.
consteval std::uint16_t row_of(MessageId message, std::string_view name) {
  const Message& fields = kMessages[message];
  for (std::size_t i = fields.first; i < std::size_t{fields.first} + fields.count; ++i)
    if (!kFields[i].is(kInline) && kFields[i].name == name) return static_cast<std::uint16_t>(i);
  throw "the message has no field of this name";
}

// The row of the field whose fields JSON shows among those of the message.
consteval std::uint16_t inline_row_of(MessageId message, MessageId inner) {
  const Message& fields = kMessages[message];
  for (std::size_t i = fields.first; i < std::size_t{fields.first} + fields.count; ++i)
    if (kFields[i].is(kInline) && kFields[i].message == inner) return static_cast<std::uint16_t>(i);
  throw "the message does not have the other inline";
}

}  // namespace berth::schema
