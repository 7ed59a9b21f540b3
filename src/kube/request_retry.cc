#include "kube/request_retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "net/http_client.h"

namespace berth::kube {
namespace {

constexpr int kMostRetries = 10;
// After a connection that was lost.
constexpr std::int64_t kPauseSeconds = 1;

}  // namespace

std::optional<std::int32_t> retry_after_seconds(const net::HttpHeaders& headers) {
  const std::string_view given = headers.find("Retry-After").value_or("");
  std::int32_t seconds = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), seconds);
  if (given.empty() || error != std::errc() || end != given.data() + given.size())
    return std::nullopt;
  return seconds;
}

std::optional<Retry> retry_after(std::string_view method, int attempt,
                                 const Result<net::HttpResponse>& answer) {
  if (attempt > kMostRetries) return std::nullopt;
  const auto reason = [attempt](std::int64_t seconds, const std::string& why) {
    return fmt::format("retries: {}, retry-after: {}s - retry-reason: {}", attempt, seconds, why);
  };
  if (!answer) {
    // Parity: what may have been done already is not asked for again, and a server that refuses
    // connections is not asked again either.
    if (method != "GET" || !net::lost_connection(answer.error())) return std::nullopt;
    return Retry{kPauseSeconds,
                 reason(kPauseSeconds, "due to retryable error, error: " + answer.error().message)};
  }
  if (answer->status != 429 && answer->status < 500) return std::nullopt;
  const std::optional<std::int32_t> given = retry_after_seconds(answer->headers);
  if (!given) return std::nullopt;
  const std::int64_t seconds = std::clamp<std::int64_t>(*given, 0, kLongestRetryAfter);
  if (answer->status != 429) return Retry{seconds, reason(seconds, std::to_string(answer->status))};
  const std::string_view flow = answer->headers.find("X-Kubernetes-PF-FlowSchema-UID").value_or("");
  return Retry{seconds, reason(seconds, fmt::format("due to server-side throttling, FlowSchema UID:"
                                                    " \"{}\"",
                                                    flow))};
}

}  // namespace berth::kube
