// Protobuf to JSON, by the table.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "api/read_values.h"
#include "api/schema.h"
#include "base/base64.h"
#include "base/time_text.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"
#include "wire/proto_reader.h"

namespace berth {
namespace {

using schema::MessageId;
using schema::Type;

// Objects within objects as bytes (RawExtension): deeper ones are left as null.
constexpr int kMaxEmbedded = 8;

// Messages within messages (schemas within schemas): deeper ones are refused.
constexpr int kMaxMessages = 300;

class JsonWriter {
 public:
  JsonWriter(std::string& out, int depth) : out_(out), depth_(depth) {}

  // The fields of a message, without braces. `first`: nothing stands before them in their object.
  void fields(MessageId message, std::string_view bytes, bool& first);

  const std::optional<Error>& error() const { return error_; }

 private:
  // A value on the wire, and the place of its field in JSON.
  struct Value {
    std::uint8_t rank = 0;
    std::uint32_t place = 0;  // on the wire
    bool is_number = false;
    std::int64_t number = 0;
    std::string_view bytes;
  };
  using Values = std::span<const Value>;

  std::vector<Value> collect(std::span<const schema::Field> fields, std::string_view bytes);
  // Calls on_field(field, its values) for all fields that a message can have, in JSON's order.
  template <typename OnField>
  void each_field(MessageId message, std::string_view bytes, OnField&& on_field);
  void field(const schema::Field& field, Values values, bool& first);
  void list(const schema::Field& field, Values values);
  void map(const schema::Field& field, Values values);
  void value(const schema::Field& field, const Value& value);
  void special(Type type, std::string_view bytes);
  void one_of(MessageId message, std::string_view bytes);
  void quantity(std::string_view bytes);
  void int_or_string(std::string_view bytes);
  void raw(std::string_view bytes);
  void string_list(std::string_view bytes);
  void object(MessageId message, std::string_view bytes);
  bool is_zero(const schema::Field& field, Values values);
  bool is_zero_object(MessageId message, std::string_view bytes);
  void check(const ProtoReader& proto) {
    if (!error_ && proto.error()) error_ = proto.error();
  }

  std::string& out_;
  int depth_;
  int messages_ = 0;  // around the one at hand
  std::optional<Error> error_;
};

// A list or map of nothing does not differ from one that is not there.
bool is_collection(const schema::Field& field) {
  return field.is(schema::kRepeated) || field.is(schema::kMap);
}

bool is_scalar(Type type) {
  return type == Type::kString || type == Type::kBool || type == Type::kInt32 ||
         type == Type::kInt64 || type == Type::kBytes || type == Type::kDouble;
}

// Eight bytes, the lowest first, whatever the machine's order.
double read_double(std::string_view bytes) {
  std::uint64_t bits = 0;
  if (bytes.size() == sizeof bits)
    for (std::size_t i = sizeof bits; i-- > 0;)
      bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
  return std::bit_cast<double>(bits);
}

std::vector<JsonWriter::Value> JsonWriter::collect(std::span<const schema::Field> fields,
                                                   std::string_view bytes) {
  std::vector<Value> values;
  ProtoReader proto(bytes);
  proto.fields([&](std::uint32_t number) {
    const auto known = std::ranges::lower_bound(fields, number, {}, &schema::Field::number);
    if (known == fields.end() || known->number != number) return;
    Value found;
    found.rank = known->rank;
    const bool wants_number =
        !known->is(schema::kMap) &&
        (known->type == Type::kBool || known->type == Type::kInt32 || known->type == Type::kInt64);
    found.is_number = wants_number;
    if (wants_number) {
      found.number = proto.int64();
    } else {
      found.bytes = proto.text();
    }
    found.place = static_cast<std::uint32_t>(values.size());
    values.push_back(found);
  });
  check(proto);
  if (error_) return {};
  std::ranges::sort(values, {},
                    [](const Value& value) { return std::pair(value.rank, value.place); });
  return values;
}

template <typename OnField>
void JsonWriter::each_field(MessageId message, std::string_view bytes, OnField&& on_field) {
  const std::span<const schema::Field> known = schema::fields_of(message);
  const std::vector<Value> values = collect(known, bytes);
  std::size_t begin = 0;
  for (std::size_t rank = 0; rank < known.size() && !error_; ++rank) {
    std::size_t end = begin;
    while (end < values.size() && values[end].rank == rank) ++end;
    on_field(known[known[rank].order], Values(values).subspan(begin, end - begin));
    begin = end;
  }
}

void JsonWriter::fields(MessageId message, std::string_view bytes, bool& first) {
  each_field(message, bytes,
             [&](const schema::Field& known, Values values) { field(known, values, first); });
}

void JsonWriter::field(const schema::Field& field, Values values, bool& first) {
  if (field.is(schema::kInline)) {
    fields(field.message, values.empty() ? std::string_view() : values.back().bytes, first);
    return;
  }
  const bool nothing = values.empty() && (is_collection(field) || field.is(schema::kPointer));
  if (field.is(schema::kOmitZero) && (nothing || is_zero(field, values))) return;
  if (field.is(schema::kOmitEmpty)) {
    if (nothing) return;
    const bool pointer = field.is(schema::kPointer) && field.type != Type::kBytes;
    if (!is_collection(field) && !pointer && is_scalar(field.type) && is_zero(field, values))
      return;
  }
  if (!first) out_ += ',';
  first = false;
  append_json_string(out_, field.name);
  out_ += ':';
  if (nothing) {
    out_ += "null";
  } else if (field.is(schema::kRepeated)) {
    list(field, values);
  } else if (field.is(schema::kMap)) {
    map(field, values);
  } else {
    value(field, values.empty() ? Value{} : values.back());
  }
}

void JsonWriter::list(const schema::Field& field, Values values) {
  out_ += '[';
  for (bool first = true; const Value& item : values) {
    if (!first) out_ += ',';
    first = false;
    value(field, item);
  }
  out_ += ']';
}

void JsonWriter::map(const schema::Field& field, Values values) {
  std::map<std::string_view, Value> sorted;
  for (const Value& item : values) {
    ProtoReader proto(item.bytes);
    std::string_view key;
    Value found;
    proto.fields([&](std::uint32_t number) {
      if (number == 1) {
        key = proto.text();
      } else if (number == 2) {
        found.bytes = proto.text();
      }
    });
    check(proto);
    sorted[key] = found;
  }
  out_ += '{';
  for (bool first = true; const auto& [key, item] : sorted) {
    if (!first) out_ += ',';
    first = false;
    append_json_string(out_, key);
    out_ += ':';
    value(field, item);
  }
  out_ += '}';
}

void JsonWriter::value(const schema::Field& field, const Value& value) {
  switch (field.type) {
    case Type::kString: append_json_string(out_, value.bytes); break;
    case Type::kBool: out_ += value.number != 0 ? "true" : "false"; break;
    case Type::kInt32: out_ += fmt::format("{}", static_cast<std::int32_t>(value.number)); break;
    case Type::kInt64: out_ += fmt::format("{}", value.number); break;
    case Type::kBytes: append_json_string(out_, base64(value.bytes)); break;
    case Type::kDouble: {
      const double number = read_double(value.bytes);
      out_ += std::isfinite(number) ? go_float(number) : "null";
      break;
    }
    case Type::kMessage: object(field.message, value.bytes); break;
    case Type::kUnion: one_of(field.message, value.bytes); break;
    default: special(field.type, value.bytes);
  }
}

void JsonWriter::object(MessageId message, std::string_view bytes) {
  if (messages_ == kMaxMessages) {
    if (!error_) error_ = Error{ErrorKind::kInvalid, "too many messages within each other"};
    return;
  }
  ++messages_;
  out_ += '{';
  bool first = true;
  fields(message, bytes, first);
  out_ += '}';
  --messages_;
}

// Parity: Go looks for a list, then for an object, then for a boolean.
void JsonWriter::one_of(MessageId message, std::string_view bytes) {
  const schema::Field* const many = schema::union_list(message);
  const schema::Field* const one = schema::union_object(message);
  std::vector<Value> items;
  const Value* inner = nullptr;
  bool yes = false;
  const std::vector<Value> values = collect(schema::fields_of(message), bytes);
  for (const Value& found : values) {
    if (many != nullptr && found.rank == many->rank) {
      items.push_back(found);
    } else if (one != nullptr && found.rank == one->rank) {
      inner = &found;
    } else {
      yes = found.number != 0;
    }
  }
  if (!items.empty()) {
    list(*many, items);
  } else if (inner != nullptr) {
    value(*one, *inner);
  } else if (many != nullptr) {
    out_ += "null";
  } else {
    out_ += yes ? "true" : "false";
  }
}

void JsonWriter::special(Type type, std::string_view bytes) {
  ProtoReader proto(bytes);
  switch (type) {
    case Type::kQuantity: return quantity(bytes);
    case Type::kIntOrString: return int_or_string(bytes);
    case Type::kRaw: return raw(bytes);
    case Type::kStringList: return string_list(bytes);
    case Type::kDuration: {
      std::int64_t nanoseconds = 0;
      proto.fields([&](std::uint32_t field) {
        if (field == 1) nanoseconds = proto.int64();
      });
      append_json_string(out_, go_duration(Duration(nanoseconds)));
      break;
    }
    default: {
      const bool micro = type == Type::kMicroTime;
      const std::optional<WallTime> time = micro ? read_micro_time(proto) : read_time(proto);
      if (!time) {
        out_ += "null";
      } else {
        append_json_string(out_, micro ? rfc3339_micro(*time) : rfc3339(*time));
      }
    }
  }
  check(proto);
}

void JsonWriter::quantity(std::string_view bytes) {
  ProtoReader proto(bytes);
  const Quantity amount = read_quantity(proto);
  check(proto);
  append_json_string(out_, amount.to_string());
}

void JsonWriter::int_or_string(std::string_view bytes) {
  ProtoReader proto(bytes);
  std::int64_t type = 0;
  std::int32_t number = 0;
  std::string_view text;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: type = proto.int64(); break;
      case 2: number = proto.int32(); break;
      case 3: text = proto.text(); break;
      default: break;
    }
  });
  check(proto);
  if (type == 0) {
    out_ += fmt::format("{}", number);
  } else {
    append_json_string(out_, text);
  }
}

// JSON that an object carries as it stands, or another object with its envelope.
void JsonWriter::raw(std::string_view bytes) {
  ProtoReader proto(bytes);
  std::string_view text;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) text = proto.text();
  });
  check(proto);
  if (text.starts_with(kProtoMagic)) {
    const Result<Envelope> envelope = open_envelope(text);
    const auto message = envelope && depth_ < kMaxEmbedded
                             ? schema::find_message(envelope->api_version, envelope->kind)
                             : std::nullopt;
    if (!message) {
      out_ += "null";
      return;
    }
    out_ += "{\"kind\":";
    append_json_string(out_, envelope->kind);
    out_ += ",\"apiVersion\":";
    append_json_string(out_, envelope->api_version);
    bool first = false;
    JsonWriter inner(out_, depth_ + 1);
    inner.fields(*message, envelope->object, first);
    if (!error_ && inner.error()) error_ = inner.error();
    out_ += '}';
    return;
  }
  // What is not JSON would break what is around it.
  const Result<JsonValue> json = parse_json(text);
  out_ += json ? to_json(*json) : "null";
}

void JsonWriter::string_list(std::string_view bytes) {
  ProtoReader proto(bytes);
  out_ += '[';
  bool first = true;
  proto.fields([&](std::uint32_t field) {
    if (field != 1) return;
    if (!first) out_ += ',';
    first = false;
    append_json_string(out_, proto.text());
  });
  out_ += ']';
  check(proto);
}

bool JsonWriter::is_zero(const schema::Field& field, Values values) {
  if (values.empty()) return true;
  if (is_collection(field)) return false;
  if (field.is(schema::kPointer) && field.type != Type::kBytes) return false;
  const Value& last = values.back();
  switch (field.type) {
    case Type::kBool:
    case Type::kInt32:
    case Type::kInt64: return last.number == 0;
    case Type::kDouble: return read_double(last.bytes) == 0;
    case Type::kMessage: return is_zero_object(field.message, last.bytes);
    case Type::kQuantity: {
      ProtoReader proto(last.bytes);
      const bool zero = read_quantity(proto).is_zero();
      check(proto);
      return zero;
    }
    case Type::kIntOrString:
    case Type::kDuration: {
      bool zero = true;
      ProtoReader proto(last.bytes);
      proto.fields([&](std::uint32_t) {
        zero = zero && (proto.is_number() ? proto.int64() == 0 : proto.text().empty());
      });
      return zero;
    }
    default: return last.bytes.empty();
  }
}

bool JsonWriter::is_zero_object(MessageId message, std::string_view bytes) {
  bool zero = true;
  each_field(message, bytes, [&](const schema::Field& known, Values values) {
    zero = zero && is_zero(known, values);
  });
  return zero;
}

// Go writes these as escapes, so that JSON may stand in a page. They only occur in strings.
void escape_for_html(std::string& json) {
  const auto special = [](char c) { return c == '<' || c == '>' || c == '&'; };
  if (std::ranges::none_of(json, special)) return;
  std::string out;
  out.reserve(json.size() + 64);
  for (const char c : json) {
    switch (c) {
      case '<': out += "\\u003c"; break;
      case '>': out += "\\u003e"; break;
      case '&': out += "\\u0026"; break;
      default: out += c;
    }
  }
  json = std::move(out);
}

}  // namespace

bool has_proto(std::string_view api_version, std::string_view kind) {
  return schema::find_message(api_version, kind).has_value();
}

Result<std::string> proto_to_json(std::string_view api_version, std::string_view kind,
                                  std::string_view message) {
  const auto known = schema::find_message(api_version, kind);
  if (!known) return fail(ErrorKind::kNotFound, fmt::format("no kind {}, {}", api_version, kind));
  std::string json;
  json.reserve(message.size() * 2 + 64);
  json += "{\"kind\":";
  append_json_string(json, kind);
  json += ",\"apiVersion\":";
  append_json_string(json, api_version);
  JsonWriter writer(json, /*depth=*/0);
  bool first = false;
  writer.fields(*known, message, first);
  if (writer.error()) return fail(*writer.error());
  json += '}';
  escape_for_html(json);
  return json;
}

Result<std::string> envelope_to_json(std::string_view bytes) {
  const Result<Envelope> envelope = open_envelope(bytes);
  if (!envelope) return fail(envelope.error());
  return proto_to_json(envelope->api_version, envelope->kind, envelope->object);
}

}  // namespace berth
