// Health: the checks behind /healthz, /livez and /readyz, and their texts (shell.md §4.1), which
// operators and kubelets read byte for byte. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "net/http_message.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::serve {

// Asked on the server's threads, at any time: it must not block, and what it reads must be safe to
// read. The error's message is only shown to users who may see the single check.
struct HealthCheck {
  std::string name;
  std::function<Result<void>()> check;
};

HealthCheck ping_check();

struct HealthChecks {
  std::vector<HealthCheck> healthz;
  std::vector<HealthCheck> livez;
  std::vector<HealthCheck> readyz;
};

// One of the three endpoints. Any method will do.
class HealthEndpoint {
 public:
  // `name` is "healthz" and the like. `metrics` outlives this.
  HealthEndpoint(std::string name, std::vector<HealthCheck> checks,
                 telemetry::HealthMetrics& metrics, telemetry::Log log);

  const std::string& name() const { return name_; }
  const std::vector<HealthCheck>& checks() const { return checks_; }

  net::HttpResponse all(std::string_view query) const;
  // Of a check that there is.
  static net::HttpResponse one(const HealthCheck& check);

 private:
  const std::string name_;
  const std::vector<HealthCheck> checks_;
  telemetry::HealthMetrics& metrics_;
  const telemetry::Log log_;
};

}  // namespace berth::serve
