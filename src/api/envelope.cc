#include "api/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/exception.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "wire/proto_reader.h"

namespace berth {
namespace {

using protozero::pbf_writer;

constexpr std::size_t kLengthBytes = 4;

void read_type_meta(ProtoReader& proto, std::string_view& api_version, std::string_view& kind) {
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      api_version = proto.text();
    } else if (field == 2) {
      kind = proto.text();
    }
  });
}

// Drops what was handed out, when that is cheap: it is most of the buffer.
void make_room(std::string& buffer, std::size_t& read) {
  if (read == 0 || read < buffer.size() / 2) return;
  buffer.erase(0, read);
  read = 0;
}

}  // namespace

Result<Envelope> open_envelope(std::string_view bytes) {
  if (!bytes.starts_with(kProtoMagic))
    return fail(ErrorKind::kInvalid, "not a protobuf object: the magic is missing");
  Envelope envelope;
  ProtoReader proto(bytes.substr(kProtoMagic.size()));
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: read_type_meta(proto, envelope.api_version, envelope.kind); break;
      case 2: envelope.object = proto.text(); break;
      case 3: envelope.content_encoding = proto.text(); break;
      case 4: envelope.content_type = proto.text(); break;
      default: break;
    }
  });
  if (proto.error()) return fail(*proto.error());
  return envelope;
}

std::string seal_envelope(std::string_view api_version, std::string_view kind,
                          std::string_view object) {
  std::string bytes(kProtoMagic);
  bytes.reserve(object.size() + api_version.size() + kind.size() + 24);
  pbf_writer unknown(bytes);
  {
    pbf_writer type_meta(unknown, 1);
    type_meta.add_string(1, api_version.data(), api_version.size());
    type_meta.add_string(2, kind.data(), kind.size());
  }
  unknown.add_bytes(2, object.data(), object.size());
  unknown.add_string(3, "");
  unknown.add_string(4, "");
  return bytes;
}

// ---- lists --------------------------------------------------------------------------------------

// The head of a field: what stands before its value.
struct ProtoListReader::Head {
  std::uint64_t field = 0;
  std::uint64_t wire_type = 0;
  std::uint64_t length = 0;  // of the value; a number is its own head
  std::size_t size = 0;      // of the head
};

void ProtoListReader::fail(std::string message) {
  if (!error_) error_ = Error{ErrorKind::kInvalid, std::move(message)};
}

void ProtoListReader::add(std::string_view bytes) {
  make_room(buffer_, read_);
  buffer_.append(bytes);
}

bool ProtoListReader::open() {
  if (opened_) return true;
  const std::string_view begun = std::string_view(buffer_).substr(0, kProtoMagic.size());
  if (!kProtoMagic.starts_with(begun)) fail("not a protobuf object: the magic is missing");
  if (error_ || begun.size() < kProtoMagic.size()) return false;
  read_ = kProtoMagic.size();
  opened_ = true;
  return true;
}

std::optional<ProtoListReader::Head> ProtoListReader::next_head() {
  const char* const begin = buffer_.data() + read_;
  const char* const end = buffer_.data() + buffer_.size();
  if (begin == end) return std::nullopt;
  const char* at = begin;
  Head head;
  try {
    const std::uint64_t key = protozero::decode_varint(&at, end);
    head.field = key >> 3U;
    head.wire_type = key & 7U;
    switch (head.wire_type) {
      case 0: protozero::decode_varint(&at, end); break;
      case 1: head.length = 8; break;
      case 2: head.length = protozero::decode_varint(&at, end); break;
      case 5: head.length = 4; break;
      default: fail(fmt::format("malformed protobuf: wire type {}", head.wire_type));
    }
  } catch (const protozero::end_of_buffer_exception&) {
    return std::nullopt;  // the rest is still to come
  } catch (const protozero::exception& broken) {
    fail(fmt::format("malformed protobuf: {}", broken.what()));
  }
  if (head.field == 0) fail("malformed protobuf: no such field number");
  head.size = static_cast<std::size_t>(at - begin);
  if (in_list_ && (head.size > list_left_ || head.length > list_left_ - head.size))
    fail("malformed protobuf: a field ends after its list");
  if (error_) return std::nullopt;
  return head;
}

void ProtoListReader::read_unknown(const Head& head, std::string_view value) {
  if (head.field != 1 || head.wire_type != 2) return;
  std::string_view api_version;
  std::string_view kind;
  ProtoReader proto(value);
  read_type_meta(proto, api_version, kind);
  if (proto.error()) return fail(proto.error()->message);
  kind_ = kind;
}

void ProtoListReader::read_list_field(const Head& head, std::string_view value) {
  if (head.field != 1 || head.wire_type != 2) return;
  ProtoReader proto(value);
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 2: meta_.resource_version = proto.text(); break;
      case 3: meta_.continue_token = proto.text(); break;
      case 4: meta_.remaining_items = proto.int64(); break;
      default: break;
    }
  });
  if (proto.error()) fail(proto.error()->message);
}

std::optional<std::string_view> ProtoListReader::next() {
  if (error_ || !open()) return std::nullopt;
  while (true) {
    if (in_list_ && list_left_ == 0) in_list_ = false;
    const std::optional<Head> head = next_head();
    if (!head) {
      // A head that does not fit into a list's last bytes will never be whole.
      if (!error_ && in_list_ && buffer_.size() - read_ >= list_left_)
        fail("malformed protobuf: a field ends after its list");
      return std::nullopt;
    }
    if (!in_list_ && head->field == 2 && head->wire_type == 2) {
      read_ += head->size;
      in_list_ = seen_list_ = true;
      list_left_ = head->length;
      continue;
    }
    if (head->length > max_item_) {
      fail(
          fmt::format("an item of {} bytes is more than the limit of {}", head->length, max_item_));
      return std::nullopt;
    }
    const auto length = static_cast<std::size_t>(head->length);
    if (buffer_.size() - read_ - head->size < length) return std::nullopt;
    const std::string_view value = std::string_view(buffer_).substr(read_ + head->size, length);
    read_ += head->size + length;
    if (!in_list_) {
      read_unknown(*head, value);
    } else {
      list_left_ -= head->size + length;
      if (head->field == 2 && head->wire_type == 2) return value;
      read_list_field(*head, value);
    }
    if (error_) return std::nullopt;
  }
}

bool ProtoListReader::complete() const {
  return !error_ && opened_ && seen_list_ && list_left_ == 0 && read_ == buffer_.size();
}

// ---- watches ------------------------------------------------------------------------------------

void WatchFrameReader::add(std::string_view bytes) {
  if (error_) return;
  make_room(buffer_, read_);
  buffer_.append(bytes);
}

std::optional<std::string_view> WatchFrameReader::next() {
  if (error_ || buffer_.size() - read_ < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length = length << 8U | static_cast<unsigned char>(buffer_[read_ + i]);
  if (length > max_frame_) {
    error_ = Error{ErrorKind::kInvalid, fmt::format("a watch frame of {} bytes is more than the "
                                                    "limit of {}",
                                                    length, max_frame_)};
    return std::nullopt;
  }
  if (buffer_.size() - read_ - kLengthBytes < length) return std::nullopt;
  const std::string_view frame = std::string_view(buffer_).substr(read_ + kLengthBytes, length);
  read_ += kLengthBytes + length;
  return frame;
}

Result<WatchEvent> read_watch_event(std::string_view frame) {
  WatchEvent event;
  ProtoReader proto(frame);
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      event.type = proto.text();
    } else if (field == 2) {
      proto.fields([&](std::uint32_t part) {
        if (part == 1) event.object = proto.text();
      });
    }
  });
  if (proto.error()) return fail(*proto.error());
  return event;
}

}  // namespace berth
