// JSON to protobuf, by the table.

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>
#include <map>
#include <protozero/pbf_writer.hpp>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "api/schema.h"
#include "base/base64.h"
#include "base/time_text.h"
#include "berth/resources.h"
#include "wire/json_tree.h"

namespace berth {
namespace {

using schema::MessageId;
using schema::Type;
using Kind = JsonValue::Kind;
using protozero::pbf_writer;

const JsonValue kNothing;

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "a boolean";
    case Kind::kNumber: return "a number";
    case Kind::kString: return "a string";
    case Kind::kArray: return "a list";
    case Kind::kObject: return "a map";
  }
  return "";
}

class ProtoWriter {
 public:
  explicit ProtoWriter(std::string& bytes) : bytes_(bytes) {}

  void message(MessageId message, const JsonValue& json, pbf_writer& out);
  const std::optional<Error>& error() const { return error_; }

 private:
  void field(const schema::Field& field, const JsonValue& json, pbf_writer& out);
  void value(const schema::Field& field, std::uint32_t number, const JsonValue& json,
             pbf_writer& out);
  void special(Type type, const JsonValue& json, pbf_writer& out);
  void one_of(MessageId message, const JsonValue& json, pbf_writer& out);
  void time(bool micro, const JsonValue& json, pbf_writer& out);
  void int_or_string(const JsonValue& json, pbf_writer& out);
  std::int64_t integer(const JsonValue& json, std::int64_t least, std::int64_t most);
  std::string_view text(const JsonValue& json);
  bool expect(const JsonValue& json, Kind kind, std::string_view what);
  void fail(std::string_view message);

  // A message within a message. protozero drops those without a field; here they count.
  template <typename Fill>
  void nested(std::uint32_t number, pbf_writer& out, Fill&& fill) {
    const std::size_t before = bytes_.size();
    {
      pbf_writer inner(out, number);
      fill(inner);
    }
    if (bytes_.size() == before) out.add_bytes(number, "", 0);
  }

  std::string& bytes_;  // all that is written
  std::string path_;
  std::optional<Error> error_;
};

void ProtoWriter::fail(std::string_view message) {
  if (error_) return;
  error_ = Error{ErrorKind::kInvalid,
                 path_.empty() ? std::string(message) : fmt::format("{}: {}", path_, message)};
}

// Whether there is a value, and of the right kind. Null is none.
bool ProtoWriter::expect(const JsonValue& json, Kind kind, std::string_view what) {
  if (json.is_null()) return false;
  if (json.kind == kind) return true;
  fail(fmt::format("expected {}, got {}", what, name_of(json.kind)));
  return false;
}

std::string_view ProtoWriter::text(const JsonValue& json) {
  return expect(json, Kind::kString, "a string") ? std::string_view(json.text) : std::string_view();
}

std::int64_t ProtoWriter::integer(const JsonValue& json, std::int64_t least, std::int64_t most) {
  if (!expect(json, Kind::kNumber, "an integer")) return 0;
  std::int64_t number = 0;
  const char* const end = json.text.data() + json.text.size();
  const auto [at, problem] = std::from_chars(json.text.data(), end, number);
  if (problem == std::errc() && at == end && number >= least && number <= most) return number;
  fail(fmt::format("expected an integer of {} bits, got {}",
                   most > std::numeric_limits<std::int32_t>::max() ? 64 : 32, json.text));
  return 0;
}

void ProtoWriter::message(MessageId message, const JsonValue& json, pbf_writer& out) {
  if (!json.is_null() && !expect(json, Kind::kObject, "a map")) return;
  const std::size_t outer = path_.size();
  for (const schema::Field& known : schema::fields_of(message)) {
    if (error_) return;
    if (known.is(schema::kInline)) {
      nested(known.number, out,
             [&](pbf_writer& inner) { this->message(known.message, json, inner); });
      continue;
    }
    const JsonValue* found = json.find(known.name);
    if (outer > 0) path_ += '.';
    path_ += known.name;
    field(known, found ? *found : kNothing, out);
    path_.resize(outer);
  }
}

void ProtoWriter::field(const schema::Field& field, const JsonValue& json, pbf_writer& out) {
  const std::size_t outer = path_.size();
  if (field.is(schema::kRepeated)) {
    if (!expect(json, Kind::kArray, "a list")) return;
    for (std::size_t i = 0; i < json.items.size() && !error_; ++i) {
      path_ += fmt::format("[{}]", i);
      value(field, field.number, json.items[i], out);
      path_.resize(outer);
    }
  } else if (field.is(schema::kMap)) {
    if (!expect(json, Kind::kObject, "a map")) return;
    std::map<std::string_view, const JsonValue*> sorted;
    for (const JsonMember& member : json.members) sorted[member.name] = &member.value;
    for (const auto& [key, item] : sorted) {
      if (error_) return;
      path_ += fmt::format("[{}]", key);
      pbf_writer entry(out, field.number);
      entry.add_string(1, key.data(), key.size());
      value(field, 2, *item, entry);
      path_.resize(outer);
    }
  } else if (!json.is_null() || !field.is(schema::kPointer)) {
    value(field, field.number, json, out);
  }
}

void ProtoWriter::value(const schema::Field& field, std::uint32_t number, const JsonValue& json,
                        pbf_writer& out) {
  switch (field.type) {
    case Type::kString: {
      const std::string_view written = text(json);
      out.add_string(number, written.data(), written.size());
      break;
    }
    case Type::kBool:
      out.add_bool(number, expect(json, Kind::kBool, "a boolean") && json.boolean);
      break;
    case Type::kInt32:
      // As Go does it: a negative one is extended to 64 bits.
      out.add_int64(number, integer(json, std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int32_t>::max()));
      break;
    case Type::kInt64:
      out.add_int64(number, integer(json, std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max()));
      break;
    case Type::kBytes: {
      const auto bytes = decode_base64(text(json));
      if (!bytes) return fail("expected bytes in base64");
      out.add_bytes(number, *bytes);
      break;
    }
    case Type::kDouble: {
      double amount = 0;
      if (expect(json, Kind::kNumber, "a number"))
        std::from_chars(json.text.data(), json.text.data() + json.text.size(), amount);
      out.add_double(number, amount);
      break;
    }
    case Type::kMessage:
      nested(number, out, [&](pbf_writer& inner) { message(field.message, json, inner); });
      break;
    case Type::kUnion:
      nested(number, out, [&](pbf_writer& inner) { one_of(field.message, json, inner); });
      break;
    default: nested(number, out, [&](pbf_writer& inner) { special(field.type, json, inner); });
  }
}

void ProtoWriter::one_of(MessageId message, const JsonValue& json, pbf_writer& out) {
  const bool list = json.kind == Kind::kArray;
  const schema::Field* const chosen =
      list ? schema::union_list(message) : schema::union_object(message);
  for (const schema::Field& known : schema::fields_of(message)) {
    if (&known == chosen && (list || json.kind == Kind::kObject)) {
      field(known, json, out);
    } else if (known.type == Type::kBool) {
      // Parity: a schema is also a yes.
      out.add_bool(known.number, json.kind == Kind::kObject || json.boolean);
    }
  }
}

void ProtoWriter::special(Type type, const JsonValue& json, pbf_writer& out) {
  switch (type) {
    case Type::kQuantity: {
      const bool number = json.kind == Kind::kNumber;
      const std::string_view written = number ? std::string_view(json.text) : text(json);
      if (error_) return;
      const Result<Quantity> amount =
          json.is_null() ? Result<Quantity>(Quantity()) : Quantity::parse(written);
      if (!amount) return fail(amount.error().message);
      out.add_string(1, amount->to_string());
      break;
    }
    case Type::kIntOrString: return int_or_string(json, out);
    case Type::kTime: return time(/*micro=*/false, json, out);
    case Type::kMicroTime: return time(/*micro=*/true, json, out);
    case Type::kDuration: {
      const std::string_view written = text(json);
      const Result<Duration> duration =
          json.is_null() ? Result<Duration>(Duration(0)) : parse_go_duration(written);
      if (!duration) return fail(duration.error().message);
      out.add_int64(1, duration->count());
      break;
    }
    case Type::kRaw:
      if (!json.is_null()) out.add_bytes(1, to_json(json));
      break;
    case Type::kStringList:
      if (!expect(json, Kind::kArray, "a list")) return;
      for (const JsonValue& item : json.items) out.add_string(1, std::string(text(item)));
      break;
    default: break;
  }
}

void ProtoWriter::time(bool micro, const JsonValue& json, pbf_writer& out) {
  const std::string_view written = text(json);
  if (written.empty()) return;  // none: an empty message
  const Result<WallTime> moment = parse_rfc3339(written);
  if (!moment) return fail(moment.error().message);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(moment->since_epoch);
  const auto rest = std::chrono::floor<std::chrono::microseconds>(moment->since_epoch - seconds);
  out.add_int64(1, seconds.count());
  out.add_int64(2, micro ? std::chrono::nanoseconds(rest).count() : 0);
}

void ProtoWriter::int_or_string(const JsonValue& json, pbf_writer& out) {
  const bool is_text = json.kind == Kind::kString;
  const std::int64_t number = is_text ? 0
                                      : integer(json, std::numeric_limits<std::int32_t>::min(),
                                                std::numeric_limits<std::int32_t>::max());
  out.add_int64(1, is_text ? 1 : 0);
  out.add_int64(2, number);
  out.add_string(3, is_text ? json.text : std::string());
}

Result<std::string> write(std::string_view api_version, std::string_view kind,
                          const JsonValue& json) {
  const auto known = schema::find_message(api_version, kind);
  if (!known) return fail(ErrorKind::kNotFound, fmt::format("no kind {}, {}", api_version, kind));
  std::string bytes;
  pbf_writer out(bytes);
  ProtoWriter writer(bytes);
  writer.message(*known, json, out);
  if (writer.error()) return fail(*writer.error());
  return bytes;
}

}  // namespace

Result<std::string> json_to_proto(std::string_view api_version, std::string_view kind,
                                  std::string_view json) {
  const Result<JsonValue> tree = parse_json(json);
  if (!tree) return fail(tree.error());
  return write(api_version, kind, *tree);
}

Result<std::string> json_to_envelope(std::string_view json) {
  const Result<JsonValue> tree = parse_json(json);
  if (!tree) return fail(tree.error());
  const auto text_of = [&](std::string_view name) {
    const JsonValue* value = tree->find(name);
    return value && value->kind == Kind::kString ? std::string_view(value->text)
                                                 : std::string_view();
  };
  const std::string_view api_version = text_of("apiVersion");
  const std::string_view kind = text_of("kind");
  Result<std::string> object = write(api_version, kind, *tree);
  if (!object) return object;
  return seal_envelope(api_version, kind, *object);
}

}  // namespace berth
