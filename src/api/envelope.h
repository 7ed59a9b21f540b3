// How protobuf travels between an API server and its clients: the envelope that says what an object
// is, lists of objects, and the frames and events of a watch. Any thread.
//
// A body is four bytes of magic and a runtime.Unknown, which names the kind and holds the object.
// A watch is a stream of frames, each four bytes of length (big-endian) and a v1.WatchEvent, whose
// object has an envelope of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth {

inline constexpr std::string_view kProtoMagic{"k8s\0", 4};
inline constexpr std::string_view kJsonContentType = "application/json";
inline constexpr std::string_view kProtoContentType = "application/vnd.kubernetes.protobuf";

// Points into the bytes it was read from.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view object;  // the message
  std::string_view content_encoding;
  std::string_view content_type;  // empty for protobuf
};

Result<Envelope> open_envelope(std::string_view bytes);
std::string seal_envelope(std::string_view api_version, std::string_view kind,
                          std::string_view object);

// ---- lists --------------------------------------------------------------------------------------

struct ListMeta {
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining_items;
};

// A list as it comes over the wire: items are handed out one by one while the rest is still on its
// way, and what was handed out is forgotten.
//
//   reader.add(bytes);
//   while (auto item = reader.next()) …                  // valid until the next call
//   if (reader.error()) …
class ProtoListReader {
 public:
  // An item that is larger than `max_item` bytes is an error.
  explicit ProtoListReader(std::size_t max_item) : max_item_(max_item) {}

  void add(std::string_view bytes);
  // The next item (its message), if it has come whole.
  std::optional<std::string_view> next();

  // Whether the whole list has come; else the stream was cut. Ask when there are no more bytes.
  bool complete() const;
  const ListMeta& meta() const { return meta_; }
  const std::string& kind() const { return kind_; }  // "PodList"
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Head;
  bool open();
  std::optional<Head> next_head();
  void read_unknown(const Head& head, std::string_view value);
  void read_list_field(const Head& head, std::string_view value);
  void fail(std::string message);

  std::size_t max_item_;
  std::string buffer_;
  std::size_t read_ = 0;  // of the buffer
  bool opened_ = false;
  bool in_list_ = false;
  bool seen_list_ = false;
  std::uint64_t list_left_ = 0;  // bytes of the list that are not yet read
  ListMeta meta_;
  std::string kind_;
  std::optional<Error> error_;
};

// ---- watches ------------------------------------------------------------------------------------

// Cuts a stream of bytes, that comes in any pieces, into frames.
class WatchFrameReader {
 public:
  // A frame that is larger than `max_frame` bytes is an error, as soon as its length is known.
  explicit WatchFrameReader(std::size_t max_frame) : max_frame_(max_frame) {}

  void add(std::string_view bytes);
  // The next frame without its length, if it has come whole; valid until the next call.
  std::optional<std::string_view> next();

  // Whether the stream may end here: not within a frame.
  bool at_boundary() const { return !error_ && read_ == buffer_.size(); }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::size_t max_frame_;
  std::string buffer_;
  std::size_t read_ = 0;
  std::optional<Error> error_;
};

struct WatchEvent {
  std::string_view type;    // ADDED, MODIFIED, DELETED, BOOKMARK, ERROR
  std::string_view object;  // with its envelope
};
Result<WatchEvent> read_watch_event(std::string_view frame);

}  // namespace berth
