#include "api/type_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/base64.h"
#include "base/time_text.h"
#include "berth/resources.h"

namespace berth {
namespace {

using Kind = JsonValue::Kind;
using schema::Type;

// Type names of Go: "v1.PodSpec", "PodSpec".
std::string_view struct_name(schema::MessageId message) {
  const std::string_view name = schema::name_of(message);
  return name.substr(name.rfind('.') + 1);
}
std::string_view qualified_name(schema::MessageId message) {
  const std::string_view name = schema::name_of(message);
  const std::size_t dot = name.rfind('.');
  const std::size_t before = name.substr(0, dot).rfind('.');
  return before == std::string_view::npos ? name : name.substr(before + 1);
}

std::string_view element_type(const schema::Field& field) {
  if (!field.go_type.empty() && !field.is(schema::kMap)) return field.go_type;
  switch (field.type) {
    case Type::kString: return "string";
    case Type::kBool: return "bool";
    case Type::kInt32: return "int32";
    case Type::kInt64: return "int64";
    case Type::kBytes: return "[]uint8";
    case Type::kDouble: return "float64";
    case Type::kMessage:
    case Type::kUnion: return qualified_name(field.message);
    case Type::kQuantity: return "resource.Quantity";
    case Type::kIntOrString: return "intstr.IntOrString";
    case Type::kTime: return "v1.Time";
    case Type::kMicroTime: return "v1.MicroTime";
    case Type::kDuration: return "v1.Duration";
    case Type::kRaw: return "runtime.RawExtension";
    case Type::kStringList: return "[]string";
  }
  return "";
}

std::string go_type_of(const schema::Field& field) {
  if (field.is(schema::kRepeated)) return fmt::format("[]{}", element_type(field));
  if (!field.is(schema::kMap)) return std::string(element_type(field));
  if (!field.go_type.empty()) return std::string(field.go_type);
  return fmt::format("map[string]{}", element_type(field));
}

// What Go calls the value that it found. Numbers are named where a number was wanted.
std::string found_value(const JsonValue& value, bool number_wanted) {
  switch (value.kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "bool";
    case Kind::kNumber: return number_wanted ? "number " + value.text : "number";
    case Kind::kString: return "string";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "";
}

// What Go calls the kind of a value in a tree.
std::string_view tree_kind(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kBool: return "bool";
    case Kind::kNumber:
      return value.text.find_first_of(".eE") == std::string::npos ? "int64" : "float64";
    case Kind::kString: return "string";
    case Kind::kArray: return "slice";
    default: return "map";
  }
}

bool is_integer(const JsonValue& value, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [at, problem] = std::from_chars(value.text.data(), end, number);
  return problem == std::errc() && at == end && number >= least && number <= most;
}

std::size_t first_bad_base64(std::string_view text) {
  const auto good = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
  };
  const auto* bad = std::ranges::find_if_not(text, good);
  return static_cast<std::size_t>(bad - text.begin());
}

// The field of a message, and its path: Go also names the struct around a field that JSON shows
// inline.
const schema::Field* find_with_path(schema::MessageId message, std::string_view name,
                                    std::string& path) {
  for (const schema::Field& field : schema::fields_of(message)) {
    if (!field.is(schema::kInline)) {
      if (field.name != name) continue;
      path = name;
      return &field;
    }
    if (const schema::Field* inner = find_with_path(field.message, name, path)) {
      path = fmt::format("{}.{}", struct_name(field.message), path);
      return inner;
    }
  }
  return nullptr;
}

class TypeWalk {
 public:
  void object(schema::MessageId message, const JsonValue& value);

  std::optional<TypeFault> fault;

 private:
  void member(const schema::Field& field, const JsonValue& value);
  void element(const schema::Field& field, const JsonValue& value);
  void scalar(const schema::Field& field, const JsonValue& value);
  void special(const schema::Field& field, const JsonValue& value);
  void one_of(schema::MessageId message, const JsonValue& value);
  bool expect(const JsonValue& value, Kind kind, std::string_view go_type, std::string_view what);
  void mismatch(const JsonValue& value, bool number_wanted, std::string_view go_type,
                std::string conversion_text);
  void said(std::string text) { fault = {text, text}; }

  std::string path_;
  std::string_view struct_;  // whose field is being read
};

void TypeWalk::mismatch(const JsonValue& value, bool number_wanted, std::string_view go_type,
                        std::string conversion_text) {
  fault = {fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                       found_value(value, number_wanted), struct_, path_, go_type),
           std::move(conversion_text)};
}

// `what` is what the tree would have become.
bool TypeWalk::expect(const JsonValue& value, Kind kind, std::string_view go_type,
                      std::string_view what) {
  if (value.kind == kind) return true;
  mismatch(value, false, go_type, fmt::format("cannot restore {} {}", what, tree_kind(value)));
  return false;
}

void TypeWalk::object(schema::MessageId message, const JsonValue& value) {
  const std::string_view outer_struct = std::exchange(struct_, struct_name(message));
  const std::size_t outer = path_.size();
  for (const JsonMember& one : value.members) {
    if (fault) return;
    if (one.value.is_null()) continue;
    std::string path;
    const schema::Field* field = find_with_path(message, one.name, path);
    if (field == nullptr) continue;
    if (outer > 0) path_ += '.';
    path_ += path;
    member(*field, one.value);
    path_.resize(outer);
  }
  struct_ = outer_struct;
}

void TypeWalk::member(const schema::Field& field, const JsonValue& value) {
  if (field.is(schema::kRepeated)) {
    if (!expect(value, Kind::kArray, go_type_of(field), "slice from")) return;
    for (const JsonValue& item : value.items) {
      if (fault) return;
      element(field, item);
    }
  } else if (field.is(schema::kMap)) {
    if (!expect(value, Kind::kObject, go_type_of(field), "map from")) return;
    for (const JsonMember& one : value.members) {
      if (fault) return;
      element(field, one.value);
    }
  } else {
    element(field, value);
  }
}

void TypeWalk::element(const schema::Field& field, const JsonValue& value) {
  if (value.is_null()) return;
  switch (field.type) {
    case Type::kMessage:
      if (expect(value, Kind::kObject, element_type(field), "struct from:"))
        object(field.message, value);
      break;
    case Type::kString:
    case Type::kBool:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDouble:
    case Type::kBytes: scalar(field, value); break;
    default: special(field, value);
  }
}

void TypeWalk::scalar(const schema::Field& field, const JsonValue& value) {
  const std::string_view type = element_type(field);
  const auto converted = [&](std::string_view base) {
    const bool number = value.kind == Kind::kNumber;
    return number ? fmt::format("cannot convert {} to {}", tree_kind(value), type)
                  : fmt::format("unrecognized type: {}", base);
  };
  switch (field.type) {
    case Type::kString:
      if (value.kind != Kind::kString) mismatch(value, false, type, converted("string"));
      return;
    case Type::kBool:
      if (value.kind != Kind::kBool) mismatch(value, false, type, "unrecognized type: bool");
      return;
    case Type::kBytes:
      if (value.kind != Kind::kString) {
        mismatch(value, false, type, fmt::format("cannot restore slice from {}", tree_kind(value)));
      } else if (!decode_base64(value.text)) {
        said(fmt::format("illegal base64 data at input byte {}", first_bad_base64(value.text)));
      }
      return;
    default: break;
  }
  if (field.type == Type::kDouble) {
    if (value.kind != Kind::kNumber) mismatch(value, false, type, converted("float64"));
    return;
  }
  const bool wide = field.type == Type::kInt64;
  if (value.kind != Kind::kNumber) {
    mismatch(value, false, type, converted(wide ? "int64" : "int32"));
  } else if (!is_integer(value,
                         wide ? std::numeric_limits<std::int64_t>::min()
                              : std::numeric_limits<std::int32_t>::min(),
                         wide ? std::numeric_limits<std::int64_t>::max()
                              : std::numeric_limits<std::int32_t>::max())) {
    mismatch(value, true, type, converted(wide ? "int64" : "int32"));
  }
}

// Types that read themselves: what they say is not about their field, unless they read a string.
void TypeWalk::special(const schema::Field& field, const JsonValue& value) {
  const bool is_text = value.kind == Kind::kString;
  const auto wants_text = [&] {
    if (!is_text) {
      mismatch(value, false, "string",
               fmt::format("json: cannot unmarshal {} into Go value of type string",
                           found_value(value, false)));
    }
    return is_text;
  };
  switch (field.type) {
    case Type::kQuantity: {
      const bool readable = is_text || value.kind == Kind::kNumber;
      const Result<Quantity> amount = Quantity::parse(readable ? value.text : to_json(value));
      if (!amount) said(amount.error().message);
      break;
    }
    case Type::kIntOrString:
      if (!is_text && !is_integer(value, std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max())) {
        mismatch(value, true, "int32",
                 fmt::format("json: cannot unmarshal {} into Go value of type int32",
                             found_value(value, true)));
      }
      break;
    case Type::kTime:
    case Type::kMicroTime:
      if (wants_text()) {
        const Result<WallTime> moment = parse_rfc3339(value.text);
        if (!moment) said(moment.error().message);
      }
      break;
    case Type::kDuration:
      if (wants_text()) {
        const Result<Duration> duration = parse_go_duration(value.text);
        if (!duration) said(duration.error().message);
      }
      break;
    case Type::kStringList:
      if (!expect(value, Kind::kArray, "[]string", "slice from")) return;
      for (const JsonValue& item : value.items) {
        if (item.is_null() || item.kind == Kind::kString) continue;
        return mismatch(item, false, "string", "unrecognized type: string");
      }
      break;
    case Type::kUnion: return one_of(field.message, value);
    default: break;  // JSON as it stands
  }
}

void TypeWalk::one_of(schema::MessageId message, const JsonValue& value) {
  const schema::Field* const list = schema::union_list(message);
  const schema::Field* const object = schema::union_object(message);
  if (value.kind == Kind::kArray && list != nullptr) return member(*list, value);
  if (value.kind == Kind::kObject && object != nullptr) return element(*object, value);
  if (value.kind != Kind::kBool || list != nullptr)
    said(fmt::format("{} or JSON schema expected", list == nullptr ? "boolean" : "list"));
}

}  // namespace

std::optional<TypeFault> check_types(schema::MessageId message, const JsonValue& object) {
  TypeWalk walk;
  if (object.kind == Kind::kObject) walk.object(message, object);
  return std::move(walk.fault);
}

}  // namespace berth
