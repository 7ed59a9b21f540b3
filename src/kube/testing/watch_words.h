// What an API server says in lists and watches, in either encoding, for tests of the readers of
// them.
//
//   WatchWords words(BodyFormat::kProtobuf);
//   stream.begin(200, words.watch_type());
//   stream.chunk(words.event("ADDED", pod_json("a", 5)));
//   stream.chunk(words.bookmark("Pod", 7, /*initial_end=*/true));
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "api/requests.h"
#include "api/testing/protobuf.h"
#include "base/check.h"

namespace berth::kube::testing {

// A pod in the namespace "default"; its UID follows from its name unless given.
inline std::string pod_json(std::string_view name, std::uint64_t version, std::string_view uid = {},
                            std::string_view node = {}) {
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{}","namespace":"default","uid":"{}",)"
      R"("resourceVersion":"{}","managedFields":[{{"manager":"m","operation":"Update"}}]}},)"
      R"("spec":{{"nodeName":"{}","containers":[{{"name":"c","image":"i"}}]}}}})",
      name, uid.empty() ? fmt::format("uid-of-{}", name) : uid, version, node);
}

inline std::string node_json(std::string_view name, std::uint64_t version,
                             std::string_view cpu = "4") {
  return fmt::format(
      R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{}","uid":"uid-of-{}",)"
      R"("resourceVersion":"{}"}},"status":{{"allocatable":{{"cpu":"{}","pods":"110"}}}}}})",
      name, name, version, cpu);
}

inline std::string status_json(int code, std::string_view reason, std::string_view message,
                               std::string_view details = "{}") {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{}",)"
      R"("reason":"{}","details":{},"code":{}}})",
      message, reason, details, code);
}

class WatchWords {
 public:
  explicit WatchWords(BodyFormat format) : format_(format) {}

  bool is_json() const { return format_ == BodyFormat::kJson; }
  std::string watch_type() const {
    return is_json() ? "application/json" : std::string(kProtoContentType) + ";stream=watch";
  }
  std::string body_type() const {
    return is_json() ? "application/json" : std::string(kProtoContentType);
  }

  std::string body(const std::string& json) const {
    if (is_json()) return json;
    const Result<std::string> sealed = json_to_envelope(json);
    BERTH_CHECK(sealed.has_value());
    return *sealed;
  }

  std::string event(std::string_view type, const std::string& json) const {
    if (is_json()) return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, json);
    return berth::testing::watch_frame({type, body(json)});
  }

  // Of a pod that no decoder takes: its request for CPU is no quantity.
  std::string unreadable_pod_event(std::string_view type, std::string_view name,
                                   std::uint64_t version) const {
    constexpr std::string_view kImage = R"("image":"i")";
    std::string json = pod_json(name, version);
    json.replace(json.find(kImage), kImage.size(), R"("resources":{"requests":{"cpu":"777m"}})");
    std::string bytes = event(type, json);
    return bytes.replace(bytes.find("777m"), 4, "lots");
  }

  std::string bookmark(std::string_view kind, std::uint64_t version, bool initial_end = false,
                       std::string_view api_version = "v1") const {
    return event(
        "BOOKMARK",
        fmt::format(R"({{"kind":"{}","apiVersion":"{}","metadata":{{)"
                    R"("resourceVersion":"{}"{}}}}})",
                    kind, api_version, version,
                    initial_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""));
  }

  std::string list(std::string_view kind, std::uint64_t version,
                   const std::vector<std::string>& items,
                   std::string_view continue_token = {}) const {
    return body(fmt::format(
        R"({{"kind":"{}List","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},)"
        R"("items":[{}]}})",
        kind, version, continue_token, fmt::join(items, ",")));
  }

 private:
  BodyFormat format_;
};

}  // namespace berth::kube::testing
