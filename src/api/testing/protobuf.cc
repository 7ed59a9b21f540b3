#include "api/testing/protobuf.h"

#include <protozero/pbf_writer.hpp>

#include "api/decode.h"

namespace berth::testing {

using protozero::pbf_writer;

std::string list_message(const ListMeta& meta, std::span<const std::string> items) {
  std::string bytes;
  pbf_writer list(bytes);
  {
    pbf_writer list_meta(list, 1);
    list_meta.add_string(1, "");
    list_meta.add_string(2, meta.resource_version);
    list_meta.add_string(3, meta.continue_token);
    if (meta.remaining_items) list_meta.add_int64(4, *meta.remaining_items);
  }
  for (const std::string& item : items) list.add_bytes(2, item);
  return bytes;
}

std::string watch_frame(const WatchEvent& event) {
  constexpr std::size_t kLengthBytes = 4;
  std::string frame(kLengthBytes, '\0');
  frame.reserve(kLengthBytes + event.type.size() + event.object.size() + 24);
  pbf_writer message(frame);
  message.add_string(1, event.type.data(), event.type.size());
  {
    pbf_writer object(message, 2);
    object.add_bytes(1, event.object.data(), event.object.size());
  }
  const std::size_t length = frame.size() - kLengthBytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    frame[i] = static_cast<char>(length >> (8 * (kLengthBytes - 1 - i)) & 0xffU);
  return frame;
}

Result<AnyObject> decode_enveloped(std::string_view bytes, Interner& interner) {
  const Result<Envelope> envelope = open_envelope(bytes);
  if (!envelope) return fail(envelope.error());
  return decode_object_proto(object_kind(envelope->api_version, envelope->kind), envelope->object,
                             interner);
}

}  // namespace berth::testing
