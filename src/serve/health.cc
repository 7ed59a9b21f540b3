#include "serve/health.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/go_quote.h"
#include "serve/responses.h"

namespace berth::serve {

HealthCheck ping_check() {
  return {"ping", [] { return Result<void>(); }};
}

HealthEndpoint::HealthEndpoint(std::string name, std::vector<HealthCheck> checks,
                               telemetry::HealthMetrics& metrics, telemetry::Log log)
    : name_(std::move(name)),
      checks_(checks.empty() ? std::vector<HealthCheck>{ping_check()} : std::move(checks)),
      metrics_(metrics),
      log_(std::move(log)) {}

net::HttpResponse HealthEndpoint::all(std::string_view query) const {
  bool verbose = false;
  std::set<std::string> excluded;
  for (auto& [name, value] : net::parse_query(query)) {
    if (name == "verbose") verbose = true;
    if (name == "exclude") excluded.insert(std::move(value));
  }
  std::string lines, failed, reasons;
  for (const HealthCheck& check : checks_) {
    if (excluded.erase(check.name) > 0) {
      lines += fmt::format("[+]{} excluded: ok\n", check.name);
      continue;
    }
    const Result<void> healthy = check.check();
    metrics_.healthcheck.gauge({check.name, name_}).set(healthy ? 1 : 0);
    metrics_.healthchecks.counter({check.name, name_, healthy ? "success" : "error"}).add();
    if (healthy) {
      lines += fmt::format("[+]{} ok\n", check.name);
      continue;
    }
    // Any client may send the request, so the reason of a failure goes to the log only.
    lines += fmt::format("[-]{} failed: reason withheld\n", check.name);
    reasons += fmt::format("[-]{} failed: {}\n", check.name, healthy.error().message);
    failed += (failed.empty() ? "" : ",") + check.name;
  }
  if (!excluded.empty()) {
    std::string names;
    for (const std::string& name : excluded) names += (names.empty() ? "" : ",") + go_quoted(name);
    lines += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n", names);
  }
  if (!failed.empty()) {
    if (log_.enabled(2))
      log_.plain(telemetry::Severity::kInfo,
                 fmt::format("{} check failed: {}\n{}", failed, name_, reasons));
    return text_error(500, fmt::format("{}{} check failed", lines, name_));
  }
  net::HttpResponse response =
      plain_text(verbose ? fmt::format("{}{} check passed\n", lines, name_) : "ok");
  response.headers.add("X-Content-Type-Options", "nosniff");
  return response;
}

net::HttpResponse HealthEndpoint::one(const HealthCheck& check) {
  const Result<void> healthy = check.check();
  if (!healthy)
    return text_error(500, fmt::format("internal server error: {}", healthy.error().message));
  return plain_text("ok");
}

}  // namespace berth::serve
