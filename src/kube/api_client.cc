#include "kube/api_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/envelope.h"
#include "base/ascii.h"
#include "base/go_quote.h"
#include "wire/json_text.h"

namespace berth::kube {
namespace {

// More of a text that is no Status is not repeated.
constexpr std::size_t kMostText = 2048;

std::string media_type(std::string_view content_type) {
  return lower_case(trimmed(content_type.substr(0, content_type.find(';'))));
}

ErrorKind kind_of(int code) {
  switch (code) {
    case 401:
    case 403: return ErrorKind::kForbidden;
    case 404: return ErrorKind::kNotFound;
    case 409: return ErrorKind::kConflict;
    case 410: return ErrorKind::kGone;
    case 408:
    case 504: return ErrorKind::kTimeout;
    case 429:
    case 502:
    case 503: return ErrorKind::kUnavailable;
    default: return code >= 400 && code < 500 ? ErrorKind::kInvalid : ErrorKind::kInternal;
  }
}

// The Status in a body, if that is what it is.
std::optional<ApiStatus> status_in(const std::string& type, std::string_view body) {
  Result<ApiStatus> status = fail(ErrorKind::kInvalid, "");
  if (type == kProtoContentType) {
    const Result<Envelope> envelope = open_envelope(body);
    if (envelope && envelope->kind == "Status") status = read_api_status_proto(envelope->object);
  } else if (type.empty() || type == "application/json") {
    status = read_api_status(body);
  }
  if (!status || status->status != "Failure") return std::nullopt;
  return std::move(*status);
}

struct Words {
  std::string_view reason;
  std::string message;
};

// What an answer without a Status means.
Words words_for(int code, std::string_view method, const std::string& said) {
  switch (code) {
    case 400: return {"BadRequest", "the server rejected our request for an unknown reason"};
    case 401: return {"Unauthorized", "the server has asked for the client to provide credentials"};
    case 403: return {"Forbidden", said};
    case 404: return {"NotFound", "the server could not find the requested resource"};
    case 405:
      return {"MethodNotAllowed",
              "the server does not allow this method on the requested resource"};
    case 406:
      return {"NotAcceptable",
              said.empty() || said == "unknown"
                  ? "the server was unable to respond with a content type that the client supports"
                  : said};
    case 409:
      return {method == "POST" ? "AlreadyExists" : "Conflict", "the server reported a conflict"};
    case 415: return {"UnsupportedMediaType", said};
    case 422: return {"Invalid", "the server rejected our request due to an error in our request"};
    case 429:
      return {"TooManyRequests",
              "the server has received too many requests and has asked us to try again later"};
    case 503: return {"ServiceUnavailable", "the server is currently unable to handle the request"};
    case 504:
      return {"Timeout",
              "the server was unable to return a response in the time allotted, but may still be "
              "processing the request"};
    default: break;
  }
  if (code >= 500) {
    return {"InternalError",
            fmt::format("an error on the server ({}) has prevented the request from succeeding",
                        go_quoted(said))};
  }
  return {"", fmt::format("the server responded with the status code {} but did not return more "
                          "information",
                          code)};
}

struct Resource {
  std::string group;
  std::string resource;
  std::string name;
};

// What a path is about: "/apis/GROUP/VERSION[/namespaces/NS]/RESOURCE[/NAME[/…]]".
Resource resource_of(std::string_view path) {
  path = path.substr(0, path.find('?'));
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (const std::string_view part = path.substr(0, slash); !part.empty()) parts.push_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  Resource result;
  std::size_t at = 0;
  if (parts.size() > 2 && parts[0] == "api") {
    at = 2;
  } else if (parts.size() > 3 && parts[0] == "apis") {
    result.group = parts[1];
    at = 3;
  } else {
    return {};
  }
  if (parts[at] == "namespaces" && parts.size() > at + 2) at += 2;
  result.resource = parts[at];
  if (parts.size() > at + 1) result.name = parts[at + 1];
  return result;
}

}  // namespace

ApiCall json_call(std::string method, std::string path, std::string body) {
  ApiCall call;
  call.method = std::move(method);
  call.path = std::move(path);
  call.body = std::move(body);
  if (!call.body.empty()) call.content_type = kJsonContentType;
  call.accept = kJsonContentType;
  return call;
}

std::string_view content_type_of(BodyFormat format) {
  return format == BodyFormat::kProtobuf ? kProtoContentType : kJsonContentType;
}

ApiFailure failure_of(int code, std::string_view content_type, std::string_view body,
                      std::string_view method, std::string_view path) {
  const std::string type = media_type(content_type);
  const bool text = type.empty() || type.starts_with("text/");
  const std::string said(text ? trimmed(body.substr(0, kMostText)) : "unknown");
  Words words = words_for(code, method, said);
  const Resource about = resource_of(path);
  if (!about.resource.empty() && !method.empty()) {
    words.message += fmt::format(" ({} {}{}{}", lower_case(method), about.resource,
                                 about.group.empty() ? "" : ".", about.group);
    words.message += about.name.empty() ? ")" : fmt::format(" {})", about.name);
  }

  ApiFailure failure;
  failure.error.kind = kind_of(code);
  if (std::optional<ApiStatus> status = status_in(type, body)) {
    failure.status = std::move(*status);
    if (failure.status.message.empty()) failure.status.message = std::move(words.message);
    if (failure.status.reason.empty()) failure.status.reason = words.reason;
  } else {
    failure.status.status = "Failure";
    failure.status.message = std::move(words.message);
    failure.status.reason = words.reason;
    failure.status.group = about.group;
    failure.status.kind = about.resource;
    failure.status.name = about.name;
    failure.status.causes.push_back({"UnexpectedServerResponse", said, ""});
  }
  // The answer's HTTP code counts, not the one in its body.
  failure.status.code = code;
  failure.error.message = failure.status.message;
  return failure;
}

}  // namespace berth::kube
