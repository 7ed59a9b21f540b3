#include "memapi/api_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/go_quote.h"
#include "memapi/crd_kinds.h"
#include "wire/json_text.h"

namespace berth::memapi {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

struct MediaRange {
  std::string_view type;
  std::string_view as;
  std::string_view group;
  std::string_view version;
};

MediaRange parse_media(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ';');
  MediaRange media;
  media.type = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part.starts_with("as=")) media.as = part.substr(3);
    if (part.starts_with("g=")) media.group = part.substr(2);
    if (part.starts_with("v=")) media.version = part.substr(2);
  }
  return media;
}

std::optional<AnswerForm> form_of(const MediaRange& media, bool have_protobuf) {
  AnswerForm form;
  if (media.type == "application/vnd.kubernetes.protobuf") {
    if (!have_protobuf) return std::nullopt;
    form.encoding = Encoding::kProtobuf;
  } else if (media.type != "application/json" && media.type != "*/*" &&
             media.type != "application/*") {
    return std::nullopt;
  }
  if (media.as.empty()) return form;
  if (media.group == "apidiscovery.k8s.io") {
    if (media.version != "v2" || form.encoding != Encoding::kJson) return std::nullopt;
    form.aggregated_discovery = true;
    return form;
  }
  if (media.group != "meta.k8s.io" || (media.version != "v1" && media.version != "v1beta1"))
    return std::nullopt;
  if (media.as == "Table") {
    if (form.encoding != Encoding::kJson) return std::nullopt;
    form.form = Form::kTable;
  } else if (media.as.starts_with("PartialObjectMetadata")) {
    form.form = Form::kMetadataOnly;
  } else {
    return std::nullopt;
  }
  return form;
}

}  // namespace

std::optional<AnswerForm> negotiate(std::string_view accept, bool have_protobuf) {
  if (trimmed(accept).empty()) return AnswerForm{};
  for (const std::string_view one : split(accept, ',')) {
    if (auto form = form_of(parse_media(one), have_protobuf)) return form;
  }
  return std::nullopt;
}

std::string_view ApiRequest::parameter(std::string_view key) const {
  const auto found = std::ranges::find_if(query, [&](const auto& one) { return one.first == key; });
  return found == query.end() ? std::string_view() : std::string_view(found->second);
}

bool ApiRequest::flag(std::string_view key) const {
  const auto found = std::ranges::find_if(query, [&](const auto& one) { return one.first == key; });
  // Parity: a parameter that is there without a value counts as said.
  return found != query.end() && found->second != "false" && found->second != "0";
}

Answer<std::optional<std::int64_t>> ApiRequest::number(std::string_view key) const {
  const std::string_view text = parameter(key);
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return refuse(ApiError::bad_request(fmt::format(
        "strconv.ParseInt: parsing {}: {}", go_quoted(text),
        error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax")));
  }
  return value;
}

Answer<std::optional<std::uint64_t>> ApiRequest::version(std::string_view key) const {
  const std::string_view text = parameter(key);
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) {
    return refuse(ApiError::bad_request(fmt::format(
        "invalid resource version: resourceVersion: Invalid value: {}: strconv.ParseUint: parsing "
        "{}: {}",
        go_quoted(text), go_quoted(text),
        error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax")));
  }
  return value;
}

std::optional<std::uint64_t> parse_version(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view ApiRequest::content_type() const {
  const std::string_view whole = http.headers.find("Content-Type").value_or("");
  return trimmed(whole.substr(0, whole.find(';')));
}

Place locate(ApiRequest& request) {
  const std::vector<std::string>& segments = request.segments;
  std::string group;
  std::size_t next = 0;
  if (segments.size() >= 3 && segments[0] == "api") {
    next = 1;
  } else if (segments.size() >= 4 && segments[0] == "apis") {
    group = segments[1];
    next = 2;
  } else {
    return Place::kElsewhere;
  }
  const std::string& version = segments[next++];
  const bool built_in = is_group_version(group, version);
  if (!built_in && !(request.custom && request.custom->has_group_version(group, version)))
    return Place::kElsewhere;

  const auto left = [&] { return segments.size() - next; };
  // "/namespaces/ns/pods", but "/namespaces/ns" and "/namespaces/ns/status" are the namespace.
  if (segments[next] == "namespaces" && left() >= 3 &&
      !(group.empty() && resource_of("namespaces").has(segments[next + 2]))) {
    request.namespace_name = segments[next + 1];
    next += 2;
  }
  const std::string& plural = segments[next++];
  request.resource = find_resource(group, version, plural);
  if (request.resource == nullptr && request.custom)
    request.resource = request.custom->find(group, version, plural);
  if (request.resource == nullptr) return Place::kNoSuchResource;
  if (left() > 0) request.name = segments[next++];
  if (left() > 0) request.subresource = segments[next++];
  if (left() > 0) return Place::kNoSuchResource;
  if (!request.namespace_name.empty() && !request.resource->namespaced)
    return Place::kNoSuchResource;
  if (!request.subresource.empty() && !request.resource->has(request.subresource))
    return Place::kNoSuchResource;
  if (request.resource->namespaced && !request.name.empty() && request.namespace_name.empty())
    return Place::kNoSuchResource;
  return Place::kResource;
}

}  // namespace berth::memapi
