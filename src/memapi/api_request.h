// ApiRequest: what an HTTP request means in Kubernetes' terms: which resource, which object, in
// which form the answer is wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memapi/access.h"
#include "memapi/api_error.h"
#include "memapi/resources.h"
#include "net/http_message.h"

namespace berth::memapi {

enum class Encoding : std::uint8_t { kJson, kProtobuf };
enum class Form : std::uint8_t { kObject, kTable, kMetadataOnly };

struct AnswerForm {
  Encoding encoding = Encoding::kJson;
  Form form = Form::kObject;
  bool aggregated_discovery = false;  // apidiscovery.k8s.io/v2
};

// Of an Accept header the first kind of answer that we have.
std::optional<AnswerForm> negotiate(std::string_view accept, bool have_protobuf);

class CustomKinds;

struct ApiRequest {
  net::HttpRequest http;
  std::vector<std::string> segments;  // of the path, unescaped
  std::vector<std::pair<std::string, std::string>> query;

  const Resource* resource = nullptr;  // null: not about a resource
  std::string namespace_name;
  std::string name;
  std::string subresource;

  AnswerForm form;
  UserInfo user = administrator();
  // What the answer shall warn of; filled in while the request is handled. Null: nobody cares.
  std::shared_ptr<std::vector<std::string>> warnings;
  // The custom kinds there were when it came; the resource may be one of them.
  std::shared_ptr<const CustomKinds> custom;

  std::string_view parameter(std::string_view key) const;
  bool flag(std::string_view key) const;  // "true", "1"
  Answer<std::optional<std::int64_t>> number(std::string_view key) const;
  Answer<std::optional<std::uint64_t>> version(std::string_view key) const;
  bool dry_run() const { return parameter("dryRun") == "All"; }
  std::string_view content_type() const;  // without parameters
};

std::optional<std::uint64_t> parse_version(std::string_view text);

enum class Place : std::uint8_t { kResource, kNoSuchResource, kElsewhere };

// With the custom kinds that the request has. Fills in resource, namespace, name and subresource from the segments.
Place locate(ApiRequest& request);

}  // namespace berth::memapi
