#include "serve/metrics_page.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "serve/compression.h"
#include "serve/responses.h"
#include "telemetry/process_metrics.h"

namespace berth::serve {

net::HttpResponse answer_metrics(const net::HttpRequest& request, telemetry::Registry& registry) {
  if (request.method == "DELETE") {
    registry.reset();
    return metrics_reset();
  }
  const MetricsChoice choice = choose_metrics_format(request);
  return metrics_page(request, choice, registry.write(choice.format));
}

// Parity: of the first Accept header only. How names are to be escaped is taken from the clauses up
// to the chosen one; ours are plain under any of the ways.
MetricsChoice choose_metrics_format(const net::HttpRequest& request) {
  constexpr std::array<std::string_view, 4> kEscapings = {"allow-utf-8", "underscores", "dots",
                                                          "values"};
  std::string_view escaping = "underscores";
  const auto chosen = [&](telemetry::MetricsFormat format, std::string type) {
    return MetricsChoice{format, std::move(type.append("; escaping=").append(escaping))};
  };
  const std::vector<MediaRange> ranges = parse_accept(request.headers.find("Accept").value_or(""));
  for (const MediaRange& range : ranges) {
    if (std::ranges::find(kEscapings, range.parameter("escaping")) != kEscapings.end())
      escaping = range.parameter("escaping");
    if (range.type == "application" && range.subtype == "vnd.google.protobuf" &&
        range.parameter("proto") == "io.prometheus.client.MetricFamily" &&
        range.parameter("encoding") == "delimited")
      return chosen(telemetry::MetricsFormat::kProtobuf,
                    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
                    "encoding=delimited");
    const std::string_view version = range.parameter("version");
    if (range.type == "text" && range.subtype == "plain" && (version.empty() || version == "0.0.4"))
      break;
  }
  return chosen(telemetry::MetricsFormat::kText, "text/plain; version=0.0.4; charset=utf-8");
}

net::HttpResponse metrics_page(const net::HttpRequest& request, const MetricsChoice& choice,
                               std::string page) {
  net::HttpResponse response;
  response.headers.add("Content-Type", choice.content_type);
  response.headers.add("Process-Start-Time-Unix",
                       std::to_string(static_cast<std::int64_t>(telemetry::process_start_time())));
  response.body = std::move(page);
  if (accepts_gzip(request)) compress(response);
  return response;
}

net::HttpResponse metrics_reset() { return plain_text("metrics reset\n"); }

}  // namespace berth::serve
