#include "serve/metrics_page.h"

#include <cstdint>
#include <utility>

#include "serve/compression.h"
#include "serve/responses.h"
#include "telemetry/process_metrics.h"

namespace berth::serve {

net::HttpResponse answer_metrics(const net::HttpRequest& request, telemetry::Registry& registry) {
  if (request.method != "DELETE") return metrics_text(request, registry.text());
  registry.reset();
  return metrics_reset();
}

net::HttpResponse metrics_text(const net::HttpRequest& request, std::string text) {
  net::HttpResponse response;
  response.headers.add("Content-Type", std::string(telemetry::kMetricsContentType));
  response.headers.add("Process-Start-Time-Unix",
                       std::to_string(static_cast<std::int64_t>(telemetry::process_start_time())));
  response.body = std::move(text);
  if (accepts_gzip(request)) compress(response);
  return response;
}

net::HttpResponse metrics_reset() { return plain_text("metrics reset\n"); }

}  // namespace berth::serve
