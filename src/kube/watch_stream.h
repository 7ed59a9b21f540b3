// Reading lists and watches from the bytes of an answer as they come, in JSON or protobuf,
// depending on the answer's content type. Objects are decoded at once, one by one.
//
// Any thread, one at a time: made on the world, used by the client's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/api_status.h"
#include "api/envelope.h"
#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"
#include "kube/watched_kinds.h"

namespace berth::kube {

// An object in full, as JSON: what the API server has, not what scheduling reads of it.
using ObjectText = std::shared_ptr<const std::string>;
// Whose texts come along with the objects.
enum class KeptText : std::uint8_t {
  kNone,
  kUnassigned,  // those of pods without a node
  kAll,
};

// One event of a watch or list. Many of them may be waiting, so the rare parts are kept apart.
struct WatchedEvent {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  struct Detail {
    ObjectHeader header;               // of what was not decoded, or of a bookmark
    std::optional<Error> undecodable;  // why not; nothing: such objects are not decoded at all
    ApiStatus status;                  // of kError
  };

  Type type = Type::kAdded;
  AnyObject object;                // empty: see `detail`
  ObjectText text;                 // of an object, where that is kept (KeptText)
  std::unique_ptr<Detail> detail;  // of objects: only if there is no `object`

  std::string_view version() const;  // of the object or bookmark; empty: not known
};

enum class WireFormat : std::uint8_t { kJson, kProtobuf };
// The format of a content type; nothing: neither.
std::optional<WireFormat> wire_format(std::string_view content_type);

// What both readers need to know.
struct StreamedKind {
  ObjectKind kind = ObjectKind::kOther;
  std::string api_version;
  std::string kind_name;
  KeptText kept_text = KeptText::kNone;
  std::string other = {};  // of kOther: the resource (OtherObject::resource), with any kind_name
};

class WatchReader {
 public:
  virtual ~WatchReader() = default;
  // `max_frame` bytes at most for one event.
  static std::unique_ptr<WatchReader> make(WireFormat format, StreamedKind kind, Interner& interner,
                                           std::size_t max_frame);

  // Appends what has come whole. Nothing more comes after an event of type kError, or an error.
  virtual void add(std::string_view bytes, std::vector<WatchedEvent>& events) = 0;
  // Whether the stream may end here: not within an event.
  virtual bool at_boundary() const = 0;
  // What makes the rest of the stream unreadable.
  virtual const std::optional<Error>& error() const = 0;
};

class ListReader {
 public:
  virtual ~ListReader() = default;
  static std::unique_ptr<ListReader> make(WireFormat format, StreamedKind kind, Interner& interner,
                                          std::size_t max_item);

  // Appends the items that have come whole, as kAdded.
  virtual void add(std::string_view bytes, std::vector<WatchedEvent>& events) = 0;
  // When there are no more bytes: an error if the list is not whole, or not one of this kind.
  virtual Result<ListMeta> finish() = 0;
  virtual const std::optional<Error>& error() const = 0;
};

}  // namespace berth::kube
