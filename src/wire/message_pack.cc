#include "wire/message_pack.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "wire/json_text.h"

namespace berth {
namespace {

// One pass over the bytes. After the first error every value is null.
class MessagePackParser {
 public:
  explicit MessagePackParser(std::string_view bytes) : bytes_(bytes) {}

  Result<JsonValue> parse() {
    JsonValue value = next();
    if (!error_ && at_ != bytes_.size())
      fail_with(fmt::format("{} bytes after the end of the value", bytes_.size() - at_));
    if (error_) return fail(*std::move(error_));
    return value;
  }

 private:
  void fail_with(std::string_view what) {
    if (!error_) error_ = Error{ErrorKind::kInvalid, fmt::format("byte {}: {}", at_, what)};
  }

  std::string_view take(std::size_t size, std::string_view what) {
    if (error_) return {};
    if (size > bytes_.size() - at_) {
      fail_with(fmt::format("ends within {}", what));
      return {};
    }
    return bytes_.substr(std::exchange(at_, at_ + size), size);
  }

  // Of 1, 2, 4 or 8 bytes, the highest first.
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (const char byte : take(size, "a number"))
      value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  JsonValue signed_number(std::size_t size) {
    const std::uint64_t raw = number(size);
    const unsigned unused = static_cast<unsigned>(64 - 8 * size);
    return JsonValue::of_int(static_cast<std::int64_t>(raw << unused) >> unused);
  }

  JsonValue floating(double value) {
    if (std::isfinite(value)) return JsonValue::of_number(go_float(value));
    fail_with("a number that is not finite");
    return {};
  }

  JsonValue text(std::size_t size) { return JsonValue::of_text(take(size, "a text")); }

  // Every item takes a byte at least, so that a length that is a lie is seen at once.
  bool can_hold(std::size_t count, std::string_view what) {
    if (error_) return false;
    if (count > bytes_.size() - at_) {
      fail_with(fmt::format("ends within {} of {}", what, count));
      return false;
    }
    if (depth_ < kMaxNesting) return true;
    fail_with("nested too deep");
    return false;
  }

  JsonValue list(std::size_t count) {
    JsonValue value = JsonValue::array();
    if (!can_hold(count, "a list")) return value;
    ++depth_;
    for (std::size_t i = 0; i < count && !error_; ++i) value.items.push_back(next());
    --depth_;
    return value;
  }

  JsonValue map(std::size_t count) {
    JsonValue value = JsonValue::object();
    if (!can_hold(count, "a map")) return value;
    ++depth_;
    for (std::size_t i = 0; i < count && !error_; ++i) {
      const std::string key = key_text(next());
      value.add(key, next());
    }
    --depth_;
    return value;
  }

  std::string key_text(const JsonValue& key) {
    if (key.kind != JsonValue::Kind::kArray) return key.text;
    std::string joined;
    for (const JsonValue& item : key.items) {
      if (!joined.empty()) joined += ' ';
      joined += item.text;
    }
    return joined;
  }

  JsonValue next() {
    const std::string_view head = take(1, "a value");
    if (head.empty()) return {};
    const auto type = static_cast<unsigned char>(head.front());
    if (type <= 0x7f) return JsonValue::of_int(type);
    if (type <= 0x8f) return map(type & 0x0f);
    if (type <= 0x9f) return list(type & 0x0f);
    if (type <= 0xbf) return text(type & 0x1f);
    if (type >= 0xe0) return JsonValue::of_int(static_cast<std::int8_t>(type));
    switch (type) {
      case 0xc0: return {};
      case 0xc2: return JsonValue::of_bool(false);
      case 0xc3: return JsonValue::of_bool(true);
      case 0xc4:
      case 0xd9: return text(number(1));
      case 0xc5:
      case 0xda: return text(number(2));
      case 0xc6:
      case 0xdb: return text(number(4));
      case 0xca: return floating(std::bit_cast<float>(static_cast<std::uint32_t>(number(4))));
      case 0xcb: return floating(std::bit_cast<double>(number(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return JsonValue::of_number(std::to_string(number(std::size_t{1} << (type - 0xcc))));
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: return signed_number(std::size_t{1} << (type - 0xd0));
      case 0xdc: return list(number(2));
      case 0xdd: return list(number(4));
      case 0xde: return map(number(2));
      case 0xdf: return map(number(4));
      default: fail_with(fmt::format("type 0x{:02x} has no meaning here", type)); return {};
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<JsonValue> parse_message_pack(std::string_view bytes) {
  return MessagePackParser(bytes).parse();
}

}  // namespace berth
