// Values in the words of upstream's errors.

#include "cel/library/net.h"
#include "cel/library/time.h"
#include "cel/library/url.h"
#include "cel/numbers.h"
#include "cel/value.h"

namespace berth::cel {

namespace {

// A list may hold the same list many times: the text is cut at this length.
constexpr std::size_t kLongest = std::size_t{64} * 1024;

void append(std::string& text, const Value& value);

void append_octets(std::string& text, const std::string& octets) {
  text += '[';
  for (std::size_t i = 0; i < octets.size() && text.size() < kLongest; ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(static_cast<unsigned char>(octets[i]));
  }
  text += ']';
}

void append_version(std::string& text, const Semver& version) {
  text += std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
          std::to_string(version.patch);
  char mark = '-';
  for (const auto& part : version.pre_release) {
    text += mark + (part.numeric ? std::to_string(part.number) : part.text);
    mark = '.';
  }
  mark = '+';
  for (const auto& part : version.build) {
    text += mark + part;
    mark = '.';
  }
}

void append_list(std::string& text, const List& list) {
  text += '[';
  for (std::size_t i = 0; i < list.size() && text.size() < kLongest; ++i) {
    if (i > 0) text += ", ";
    append(text, list[i]);
  }
  text += ']';
}

void append_map(std::string& text, const Map& map) {
  text += '{';
  bool first = true;
  for (const Map::Entry& entry : map.entries()) {
    if (text.size() >= kLongest) break;
    if (!first) text += ", ";
    first = false;
    append(text, entry.key);
    text += ": ";
    append(text, entry.value);
  }
  text += '}';
}

void append(std::string& text, const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      text += '0';  // upstream's null is a number to its printer
      break;
    case Kind::kBool: text += value.as_bool() ? "true" : "false"; break;
    case Kind::kInt: text += std::to_string(value.as_int()); break;
    case Kind::kUint: text += std::to_string(value.as_uint()); break;
    case Kind::kDouble: text += shortest(value.as_double()); break;
    case Kind::kString: text += value.as_string(); break;
    case Kind::kBytes: append_octets(text, value.as_bytes()); break;
    case Kind::kDuration: text += duration_text(value.as_duration()); break;
    case Kind::kTimestamp: text += timestamp_text(value.as_timestamp()); break;
    case Kind::kList: append_list(text, value.as_list()); break;
    case Kind::kMap: append_map(text, value.as_map()); break;
    case Kind::kType: text += declared_text(*value.as_type()); break;
    case Kind::kOptional:
      if (!value.as_optional().value) {
        text += "optional.none()";
        break;
      }
      text += "optional(";
      append(text, *value.as_optional().value);
      text += ')';
      break;
    case Kind::kQuantity: text += value.as_quantity().quantity->to_string(); break;
    case Kind::kSemver: append_version(text, value.as_semver()); break;
    case Kind::kUrl: text += value.as_url().text(); break;
    case Kind::kIp: text += ip_text(value.as_ip()); break;
    case Kind::kCidr: text += cidr_text(value.as_cidr()); break;
    case Kind::kError: text += value.as_error().text; break;
    case Kind::kFormat: text += native_type_name(value); break;
  }
}

}  // namespace

std::string value_text(const Value& value) {
  std::string text;
  append(text, value);
  return text;
}

std::string native_type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull: return "types.Null";
    case Kind::kBool: return "types.Bool";
    case Kind::kInt: return "types.Int";
    case Kind::kUint: return "types.Uint";
    case Kind::kDouble: return "types.Double";
    case Kind::kString: return "types.String";
    case Kind::kBytes: return "types.Bytes";
    case Kind::kDuration: return "types.Duration";
    case Kind::kTimestamp: return "types.Timestamp";
    case Kind::kList: return value.as_list().is_sum() ? "*types.concatList" : "*types.baseList";
    case Kind::kMap: return "*types.baseMap";
    case Kind::kType: return "*types.Type";
    case Kind::kOptional: return "*types.Optional";
    case Kind::kQuantity: return value.as_quantity().computed ? "*cel.Quantity" : "cel.Quantity";
    case Kind::kSemver: return "cel.Semver";
    case Kind::kUrl: return "cel.URL";
    case Kind::kIp: return "cel.IP";
    case Kind::kCidr: return "cel.CIDR";
    case Kind::kFormat: return "cel.Format";
    case Kind::kError: break;
  }
  return "*types.Err";
}

}  // namespace berth::cel
