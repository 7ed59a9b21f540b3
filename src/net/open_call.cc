#include "net/open_call.h"

#include <fmt/format.h>

#include <utility>

namespace berth::net {
namespace {

bool breaks_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

}  // namespace

OpenCall::OpenCall(HttpCallId id, HttpCall call, HttpCallbacks callbacks,
                   const HttpClientOptions& options)
    : id_(id), call_(std::move(call)), callbacks_(std::move(callbacks)), options_(options) {}

Result<void> OpenCall::can_be_sent() const {
  for (const auto& [name, value] : call_.headers)
    if (name.empty() || breaks_line(name) || breaks_line(value))
      return fail(ErrorKind::kInvalid, fmt::format("the header \"{}\" cannot be sent", name));
  if (breaks_line(call_.bearer_token))
    return fail(ErrorKind::kInvalid, "the bearer token has a line break in it");
  return {};
}

bool OpenCall::may_be_sent() {
  if (!withheld_ && call_.may_send) withheld_ = !call_.may_send();
  return !withheld_;
}

Error OpenCall::withheld_error() {
  return {ErrorKind::kCancelled, "the request was not to be sent any more"};
}

void OpenCall::begin_head() { response_.headers = {}; }

void OpenCall::header(std::string_view name, std::string_view value) {
  response_.headers.add(std::string(name), std::string(value));
}

void OpenCall::end_head(int status) {
  head_complete_ = true;
  status_ = status;
  response_.status = status;
  if (streaming() && callbacks_.stream.begin)
    callbacks_.stream.begin(response_.status, std::move(response_.headers));
}

bool OpenCall::body(std::string_view piece) {
  if (piece.empty()) return true;
  if (streaming()) {
    if (callbacks_.stream.chunk) callbacks_.stream.chunk(piece);
    return true;
  }
  if (response_.body.size() + piece.size() > options_.max_response_bytes) {
    too_large_ = true;
    return false;
  }
  response_.body += piece;
  return true;
}

Error OpenCall::too_large_error() const {
  return {ErrorKind::kInvalid,
          fmt::format("the answer is larger than {} bytes", options_.max_response_bytes)};
}

void OpenCall::finish(Result<void> ended) {
  if (!ended)
    ended = fail(ended.error().kind, error_prefix(call_.method, call_.url) + ended.error().message);
  if (streaming()) {
    if (callbacks_.stream.end) callbacks_.stream.end(std::move(ended));
    return;
  }
  if (ended)
    callbacks_.done(std::move(response_));
  else
    callbacks_.done(fail(std::move(ended.error())));
}

}  // namespace berth::net
