// ProtoReader: a cursor over one protobuf message that walks it once, field by field. For
// decoders; the sibling of JsonReader, with field numbers where that one has names.
//
//   ProtoReader proto(bytes);
//   proto.fields([&](std::uint32_t field) {
//     switch (field) {
//       case 1: replicas = proto.int32(); break;
//       case 11: proto.entry([&](std::string_view key) { … proto.text() … }); break;
//     }
//   });
//   if (auto error = proto.error()) …      // "field 2.1: expected bytes, got a number"
//
// Reading goes on until something is wrong; from then on loops end and values are empty, so that
// decoders need no checks of their own. Text that is handed out points into the bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "berth/result.h"

namespace berth {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : value_{.bytes = bytes} {}
  ProtoReader(const ProtoReader&) = delete;
  ProtoReader& operator=(const ProtoReader&) = delete;

  // Calls on_field(number) for every field of the message at hand. What on_field does not read is
  // skipped. A list is a field that comes several times.
  template <typename OnField>
  void fields(OnField&& on_field) {
    Outer outer;
    if (!enter(outer)) return;
    while (next_field()) on_field(field_);
    leave(outer);
  }

  // The entry of a map at hand: calls on_entry(key) with the value at hand.
  template <typename OnEntry>
  void entry(OnEntry&& on_entry) {
    std::string_view key;
    if (open_entry(key)) on_entry(key);
  }

  // The value at hand.
  std::string_view text();  // of strings, bytes and messages
  bool boolean() { return int64() != 0; }
  std::int32_t int32() { return static_cast<std::int32_t>(int64()); }  // cut off, as Go does it
  std::int64_t int64();
  bool is_number() const { return value_.number; }  // not bytes

  // Something is wrong with the value at hand.
  void fail(std::string_view message);

  // The first thing that was wrong, with the path to it.
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Value {
    bool number = false;
    std::int64_t integer = 0;
    std::string_view bytes;
  };
  struct Outer {
    const char* at;
    const char* end;
    std::uint32_t field;
  };

  bool enter(Outer& outer);
  void leave(const Outer& outer);
  bool next_field();
  bool read_value(std::uint32_t wire_type);
  bool open_entry(std::string_view& key);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::uint32_t field_ = 0;  // 0: before the first
  Value value_;
  std::optional<Error> error_;
};

}  // namespace berth
