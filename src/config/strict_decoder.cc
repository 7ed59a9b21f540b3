#include "config/strict_decoder.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "base/go_quote.h"
#include "base/time_text.h"
#include "berth/labels.h"

namespace berth::config {
namespace {

// Upstream stops counting there.
constexpr std::size_t kMostStrictErrors = 100;

}  // namespace

StrictDecoder::Place StrictDecoder::descend(std::string_view field) {
  const Place place{path_.size(), fields_.size()};
  if (!path_.empty()) path_ += '.';
  path_ += field;
  fields_.push_back(field);
  return place;
}

StrictDecoder::Place StrictDecoder::descend(std::size_t index) {
  const Place place{path_.size(), fields_.size()};
  path_ += fmt::format("[{}]", index);
  return place;
}

void StrictDecoder::ascend(Place place) {
  path_.resize(place.path);
  fields_.resize(place.fields);
}

bool StrictDecoder::enter(std::string_view go_type, JsonValue::Kind needed, const JsonValue& json) {
  if (json.is_null() || ended_) return false;
  if (json.kind == needed) return true;
  if (!mismatch_) mismatch_ = mismatch(json, go_type, false);
  return false;
}

void StrictDecoder::complain(std::string_view what) {
  std::string complaint = fmt::format("{} {}", what, go_quoted(path_));
  if (strict_errors_.size() >= kMostStrictErrors ||
      std::ranges::find(strict_errors_, complaint) != strict_errors_.end()) {
    return;
  }
  strict_errors_.push_back(std::move(complaint));
}

std::string StrictDecoder::mismatch(const JsonValue& json, std::string_view go_type,
                                    bool with_number) const {
  std::string value(go_name(json.kind));
  if (with_number && json.kind == JsonValue::Kind::kNumber) value += " " + json.text;
  return fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", value,
                     struct_, fmt::join(fields_, "."), go_type);
}

bool StrictDecoder::read(const JsonValue& json, std::string& out, std::string_view go_type) {
  if (enter(go_type, JsonValue::Kind::kString, json)) out = json.text;
  return true;
}

bool StrictDecoder::read(const JsonValue& json, bool& out) {
  if (enter("bool", JsonValue::Kind::kBool, json)) out = json.boolean;
  return true;
}

bool StrictDecoder::integer(const JsonValue& json, std::int64_t& out, std::int64_t low,
                            std::int64_t high, std::string_view go_type) {
  if (!enter(go_type, JsonValue::Kind::kNumber, json)) return false;
  const char* const end = json.text.data() + json.text.size();
  const auto [stop, problem] = std::from_chars(json.text.data(), end, out);
  if (problem == std::errc() && stop == end && out >= low && out <= high) return true;
  if (!mismatch_) mismatch_ = mismatch(json, go_type, true);
  return false;
}

bool StrictDecoder::read(const JsonValue& json, std::int32_t& out) {
  using Limits = std::numeric_limits<std::int32_t>;
  std::int64_t value = 0;
  if (integer(json, value, Limits::min(), Limits::max(), "int32")) {
    out = static_cast<std::int32_t>(value);
  }
  return true;
}

bool StrictDecoder::read(const JsonValue& json, std::int64_t& out) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t value = 0;
  if (integer(json, value, Limits::min(), Limits::max(), "int64")) out = value;
  return true;
}

bool StrictDecoder::read(const JsonValue& json, float& out) {
  if (!enter("float32", JsonValue::Kind::kNumber, json)) return true;
  float value = 0;
  const char* const begin = json.text.data();
  const auto [stop, problem] = std::from_chars(begin, begin + json.text.size(), value);
  // A number that rounds to zero is zero; one that is too large is an error.
  const bool too_large = problem == std::errc::result_out_of_range &&
                         std::abs(std::strtod(json.text.c_str(), nullptr)) > 1;
  if (!too_large) {
    out = problem == std::errc() ? value : 0;
  } else if (!mismatch_) {
    mismatch_ = mismatch(json, "float32", true);
  }
  return true;
}

bool StrictDecoder::read(const JsonValue& json, Duration& out) {
  if (ended_) return true;
  if (json.kind != JsonValue::Kind::kString && !json.is_null()) {
    ended_ = mismatch(json, "string", false);
    return true;
  }
  // Parity: null reads as the empty string, which is no duration.
  Result<Duration> duration = parse_go_duration(json.text);
  if (duration) {
    out = *duration;
  } else {
    ended_ = duration.error().message;
  }
  return true;
}

bool StrictDecoder::read(const JsonValue& json, std::vector<std::string>& out) {
  out.clear();
  return array("string", json, [&](const JsonValue& item) { read(item, out.emplace_back()); });
}

bool StrictDecoder::read_base64(const JsonValue& json, std::string& out) {
  if (!enter("[]uint8", JsonValue::Kind::kString, json)) return true;
  std::expected<std::string, std::size_t> decoded = decode_base64(json.text);
  if (decoded) {
    out = std::move(*decoded);
  } else if (!mismatch_) {
    mismatch_ = fmt::format("illegal base64 data at input byte {}", decoded.error());
  }
  return true;
}

}  // namespace berth::config
