// What an API server says about a request, and the little that is read of an object without
// decoding it. Both from JSON and from protobuf. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth {

// metav1.Status.
struct ApiStatus {
  struct Cause {
    std::string reason;
    std::string message;
    std::string field;

    friend bool operator==(const Cause&, const Cause&) = default;
  };

  std::string status;  // "Success", "Failure"
  std::string message;
  std::string reason;
  std::int32_t code = 0;
  // details
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<Cause> causes;
  std::int32_t retry_after_seconds = 0;

  friend bool operator==(const ApiStatus&, const ApiStatus&) = default;
};

Result<ApiStatus> read_api_status(std::string_view json);
Result<ApiStatus> read_api_status_proto(std::string_view message);  // without envelope

// The metadata by which objects are told apart, and which bookmarks are made of.
struct ObjectHeader {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string resource_version;
  bool initial_events_end = false;  // of a bookmark: all that was there before has been sent

  friend bool operator==(const ObjectHeader&, const ObjectHeader&) = default;
};

Result<ObjectHeader> read_object_header(std::string_view json);
Result<ObjectHeader> read_object_header_proto(std::string_view message);  // without envelope

}  // namespace berth
