// Which requests the client retries by itself (shell.md §6.1), as client-go does. For
// http_api_client.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "net/http_message.h"

namespace berth::kube {

// The seconds of a Retry-After, if there are any.
std::optional<std::int32_t> retry_after_seconds(const net::HttpHeaders& headers);

// When, and why. A server that asks for a longer pause than kLongestRetryAfter is asked again
// after that: what waits for its answer (a binding, and with it its pod's place) does not wait for
// ever.
inline constexpr std::int64_t kLongestRetryAfter = 30;  // seconds

struct Retry {
  std::int64_t seconds = 0;
  std::string reason;
};

// What to do about the answer to try number `attempt`, which counts from 1; nothing: it stands.
std::optional<Retry> retry_after(std::string_view method, int attempt,
                                 const Result<net::HttpResponse>& answer);

}  // namespace berth::kube
