#include "api/read_values.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace berth {
namespace {

constexpr std::string_view kSpace = " \t\n\v\f\r";

template <typename Reader>
Quantity parse_quantity(Reader& reader, std::string_view written) {
  Result<Quantity> parsed = Quantity::parse(written);
  if (parsed) return *std::move(parsed);
  reader.fail(parsed.error().message);
  return {};
}

// Moments that 64 bits of nanoseconds cannot hold become the nearest that they can.
WallTime wall_time(std::int64_t seconds, std::int64_t nanos) {
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;
  if (seconds >= kLimit) return {Duration::max()};
  if (seconds <= -kLimit) return {Duration::min()};
  return WallTime{std::chrono::seconds(seconds)} + std::chrono::nanoseconds(nanos);
}

std::optional<WallTime> read_moment(ProtoReader& proto, bool with_micros) {
  if (proto.text().empty()) return std::nullopt;
  std::int64_t seconds = 0;
  std::int64_t nanos = 0;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      seconds = proto.int64();
    } else if (field == 2) {
      nanos = proto.int32();
    }
  });
  if (proto.error()) return std::nullopt;
  return wall_time(seconds, with_micros ? nanos / 1000 * 1000 : 0);
}

// The text of a message that has nothing else.
std::string_view read_only_text(ProtoReader& proto) {
  std::string_view text;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) text = proto.text();
  });
  return text;
}

}  // namespace

Quantity read_quantity(JsonReader& json) {
  const std::optional<std::string_view> written = json.number_or_text("a quantity");
  if (!written) return {};
  std::string_view text = *written;
  while (!text.empty() && kSpace.contains(text.front())) text.remove_prefix(1);
  while (!text.empty() && kSpace.contains(text.back())) text.remove_suffix(1);
  return parse_quantity(json, text);
}

Quantity read_quantity(ProtoReader& proto) {
  const std::string_view written = read_only_text(proto);
  if (proto.error() || written.empty()) return {};
  return parse_quantity(proto, written);
}

std::optional<WallTime> read_time(JsonReader& json) { return json.time(); }
std::optional<WallTime> read_time(ProtoReader& proto) {
  return read_moment(proto, /*with_micros=*/false);
}
std::optional<WallTime> read_micro_time(JsonReader& json) { return json.time(); }
std::optional<WallTime> read_micro_time(ProtoReader& proto) {
  return read_moment(proto, /*with_micros=*/true);
}

std::string_view read_raw(JsonReader& json) { return json.raw(); }
std::string_view read_raw(ProtoReader& proto) { return read_only_text(proto); }

}  // namespace berth
