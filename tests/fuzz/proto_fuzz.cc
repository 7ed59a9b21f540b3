// Whatever bytes an API server sends, they are read or refused; nothing else happens. The input is
// tried as an object with its envelope, as a list and as the stream of a watch. A pattern
// (expanded.h) is the JSON of an object that is made protobuf first.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "api/testing/protobuf.h"
#include "base/check.h"
#include "berth/interner.h"
#include "expanded.h"
#include "wire/json_tree.h"

namespace berth {
namespace {

constexpr std::size_t kLimit = 2048;

// JSON that came from protobuf is JSON, and a fixed point of the way through protobuf. (Names that
// are not UTF-8 may become equal on the first way.)
void translate(std::string_view bytes) {
  const Result<std::string> json = envelope_to_json(bytes);
  if (!json) return;
  const Result<JsonValue> tree = parse_json(*json);
  BERTH_CHECK(tree || tree.error().message.contains("depth"));
  const Result<std::string> once = json_to_envelope(*json);
  if (!once) return;
  const Result<std::string> second = envelope_to_json(*once);
  BERTH_CHECK(second.has_value());
  const Result<std::string> twice = json_to_envelope(*second);
  BERTH_CHECK(twice.has_value() && *twice == *once);
}

template <typename Reader>
std::vector<std::string> read_all(std::string_view bytes, std::size_t piece) {
  Reader reader(kLimit);
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.add(bytes.substr(at, piece));
    while (const auto part = reader.next()) out.emplace_back(*part);
  }
  return out;
}

}  // namespace
}  // namespace berth

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  std::string bytes = fuzz::expanded(data, size);
  if (size > 0 && data[0] == '%')
    if (Result<std::string> made = json_to_envelope(bytes)) bytes = *std::move(made);
  Interner interner;
  static_cast<void>(testing::decode_enveloped(bytes, interner));
  translate(bytes);

  // How the bytes are cut does not matter.
  const std::vector<std::string> items = read_all<ProtoListReader>(bytes, bytes.size() + 1);
  BERTH_CHECK(read_all<ProtoListReader>(bytes, 3) == items);
  const std::vector<std::string> frames = read_all<WatchFrameReader>(bytes, bytes.size() + 1);
  BERTH_CHECK(read_all<WatchFrameReader>(bytes, 3) == frames);
  for (const std::string& frame : frames) {
    const Result<WatchEvent> event = read_watch_event(frame);
    if (event) static_cast<void>(testing::decode_enveloped(event->object, interner));
  }
  return 0;
}
