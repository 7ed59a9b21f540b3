#include "wire/proto_reader.h"

#include <fmt/format.h>

#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>

namespace berth {
namespace {

constexpr std::uint32_t kMaxField = (1U << 29) - 1;

using WireType = protozero::pbf_wire_type;

}  // namespace

bool ProtoReader::enter(Outer& outer) {
  const std::string_view bytes = text();
  if (error_) return false;
  outer = {at_, end_, field_};
  at_ = bytes.data();
  end_ = bytes.data() + bytes.size();
  field_ = 0;
  return true;
}

void ProtoReader::leave(const Outer& outer) {
  at_ = outer.at;
  end_ = outer.end;
  field_ = outer.field;
  // The path grows from its end, on the way out.
  if (error_ && field_ != 0) error_->message.insert(6, fmt::format("{}.", field_));
}

bool ProtoReader::next_field() {
  if (error_ || at_ == end_) return false;
  std::uint64_t key = 0;
  try {
    key = protozero::decode_varint(&at_, end_);
  } catch (const protozero::exception& broken) {
    fail(fmt::format("malformed protobuf: {}", broken.what()));
    return false;
  }
  const std::uint64_t number = key >> 3U;
  if (number == 0 || number > kMaxField) {
    fail("malformed protobuf: no such field number");
    return false;
  }
  field_ = static_cast<std::uint32_t>(number);
  return read_value(static_cast<std::uint32_t>(key & 7U));
}

bool ProtoReader::read_value(std::uint32_t wire_type) {
  std::uint64_t length = 0;
  value_ = {};
  try {
    switch (static_cast<WireType>(wire_type)) {
      case WireType::varint:
        value_.number = true;
        value_.integer = static_cast<std::int64_t>(protozero::decode_varint(&at_, end_));
        return true;
      case WireType::length_delimited: length = protozero::decode_varint(&at_, end_); break;
      // No object has numbers of a fixed width: these pass as the bytes of an unknown field.
      case WireType::fixed64: length = 8; break;
      case WireType::fixed32: length = 4; break;
      default: fail(fmt::format("malformed protobuf: wire type {}", wire_type)); return false;
    }
  } catch (const protozero::exception& broken) {
    fail(fmt::format("malformed protobuf: {}", broken.what()));
    return false;
  }
  if (length > static_cast<std::uint64_t>(end_ - at_)) {
    fail("malformed protobuf: it ends too early");
    return false;
  }
  value_.bytes = {at_, static_cast<std::size_t>(length)};
  at_ += length;
  return true;
}

bool ProtoReader::open_entry(std::string_view& key) {
  Value value;
  fields([&](std::uint32_t field) {
    if (field == 1) {
      key = text();
    } else if (field == 2) {
      value = value_;
    }
  });
  value_ = value;
  return !error_;
}

std::string_view ProtoReader::text() {
  if (error_) return {};
  if (value_.number) {
    fail("expected bytes, got a number");
    return {};
  }
  return value_.bytes;
}

std::int64_t ProtoReader::int64() {
  if (error_) return 0;
  if (!value_.number) {
    fail("expected a number, got bytes");
    return 0;
  }
  return value_.integer;
}

void ProtoReader::fail(std::string_view message) {
  if (error_) return;
  error_ = Error{ErrorKind::kInvalid, fmt::format("field {}: {}", field_, message)};
}

}  // namespace berth
