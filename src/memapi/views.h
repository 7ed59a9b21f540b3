// Objects as clients get them: with kind and apiVersion, in one of two views if they are events, as
// a whole, as metadata only, as rows of a table, in JSON or protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "memapi/api_request.h"
#include "memapi/codec.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Between core/v1 (as stored) and events.k8s.io/v1.
void event_to_new_view(JsonValue& event);
void event_to_stored_view(JsonValue& event);

class Views {
 public:
  // `codec` may be null: then JSON is all there is. It must outlive this.
  Views(const ProtobufCodec* codec, Loop& loop) : codec_(codec), loop_(loop) {}

  bool have_protobuf() const { return codec_ != nullptr; }

  // JSON text of one object; `include` is a table's includeObject.
  std::string object(const Resource& resource, const StoredObject& object, Form form,
                     std::string_view include) const;
  std::string list(const Resource& resource, const ListPage& page, Form form,
                   std::string_view include, std::string_view continue_token,
                   bool count_remaining) const;
  // One event of a watch, framed. `with_columns` is for the first event of a table.
  Answer<std::string> watch_event(const Resource& resource, const AnswerForm& form,
                                  std::string_view type, const StoredObject& object,
                                  std::string_view include, bool with_columns) const;
  // An event whose object is JSON already: a bookmark, an error.
  Answer<std::string> watch_event(Encoding encoding, std::string_view type,
                                  std::string_view json) const;
  std::string bookmark(const Resource& resource, Form form, std::string_view include,
                       std::uint64_t version, bool initial_end, bool with_columns) const;

  Answer<std::string> encoded(Encoding encoding, std::string json) const;
  static std::string_view content_type(const AnswerForm& form, bool watch);

 private:
  std::string item(const Resource& resource, const StoredObject& object) const;

  const ProtobufCodec* codec_;
  Loop& loop_;
};

}  // namespace berth::memapi
