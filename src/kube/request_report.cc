#include "kube/request_report.h"

#include <fmt/format.h>

#include <utility>

#include "net/http_wire.h"

namespace berth::kube {
namespace {

constexpr Duration kLongWait = std::chrono::milliseconds(50);
constexpr Duration kVeryLongWait = std::chrono::seconds(1);

// The text of `299 agent "text"`; nothing of what is no such warning.
std::optional<std::string> warning_text(std::string_view header) {
  if (!header.starts_with("299 ")) return std::nullopt;
  const std::size_t open = header.find('"');
  if (open == std::string_view::npos) return std::nullopt;
  std::string text;
  for (std::size_t i = open + 1; i < header.size(); ++i) {
    if (header[i] == '"') return text;
    if (header[i] == '\\' && i + 1 < header.size()) ++i;
    text += header[i];
  }
  return std::nullopt;
}

}  // namespace

RequestReport::RequestReport(telemetry::ClientMetrics& metrics, telemetry::Log log,
                             std::string server, std::string host)
    : metrics_(metrics), log_(std::move(log)), server_(std::move(server)), host_(std::move(host)) {
  // Each client has connections of its own.
  metrics_.transport_create_calls.counter({"miss"}).add();
  metrics_.transport_cache_entries.gauge().add(1);
}

RequestReport::~RequestReport() { metrics_.transport_cache_entries.gauge().add(-1); }

void RequestReport::waited(TimePoint now, Duration delay, std::string_view reason,
                           std::string_view verb, std::string_view path) {
  metrics_.rate_limiter_duration.histogram({verb, host_}).observe(in_seconds(delay));
  if (delay <= kLongWait) return;
  if (reason.empty()) reason = "client-side throttling, not priority and fairness";
  const auto complain = [&](int level) {
    log_.info(level, "Waited before sending request",
              {{"delay", delay},
               {"reason", reason},
               {"verb", verb},
               {"URL", fmt::format("{}{}", server_, path)}});
  };
  complain(3);
  int level = 0;
  if (delay > kVeryLongWait && may_complain(now, level)) complain(level);
}

// Not for every one of the thousand that wait: once a second, or seldom where little is logged.
bool RequestReport::may_complain(TimePoint now, int& level) {
  level = log_.enabled(2) ? 2 : 0;
  const Duration pause = std::chrono::seconds(level == 2 ? 1 : 10);
  if (last_complaint_ && now - *last_complaint_ < pause) return false;
  last_complaint_ = now;
  return true;
}

void RequestReport::tried(std::string_view verb, std::string_view path, std::optional<int> code,
                          bool again, Duration took) {
  const std::string label = code ? std::to_string(*code) : "<error>";
  metrics_.requests.counter({label, verb, host_}).add();
  if (again) metrics_.request_retries.counter({label, verb, host_}).add();
  if (!log_.enabled(6)) return;
  const std::string status = code ? fmt::format("{} {}", *code, net::reason_phrase(*code)) : "";
  log_.info(6, "Response",
            {{"verb", verb},
             {"url", fmt::format("{}{}", server_, path)},
             {"status", status},
             {"milliseconds", std::chrono::floor<std::chrono::milliseconds>(took).count()}});
}

void RequestReport::will_try_again(Duration delay, int attempt, std::string_view path) {
  log_.info(4, "Got a Retry-After response",
            {{"delay", delay}, {"attempt", attempt}, {"url", fmt::format("{}{}", server_, path)}});
}

void RequestReport::sent(std::string_view verb, std::size_t bytes) {
  metrics_.request_size.histogram({verb, host_}).observe(static_cast<double>(bytes));
}

void RequestReport::received(std::string_view verb, std::size_t bytes) {
  metrics_.response_size.histogram({verb, host_}).observe(static_cast<double>(bytes));
}

void RequestReport::done(std::string_view verb, Duration took) {
  metrics_.request_duration.histogram({verb, host_}).observe(in_seconds(took));
}

void RequestReport::warnings(const net::HttpHeaders& headers) {
  for (const auto& [name, value] : headers) {
    if (name != "Warning" && name != "warning") continue;  // as in HTTP/1.1 and 2
    const std::optional<std::string> text = warning_text(value);
    if (text && !text->empty()) log_.info(0, "Warning: " + *text);
  }
}

}  // namespace berth::kube
