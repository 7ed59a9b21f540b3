// A page of metrics: a registry in the form that the client asks for, or its reset (shell.md §3.1).
// Any thread.
#pragma once

#include <string>

#include "net/http_message.h"
#include "telemetry/metrics.h"

namespace berth::serve {

// DELETE resets; with any other method it is read.
net::HttpResponse answer_metrics(const net::HttpRequest& request, telemetry::Registry& registry);

// The form that the request's Accept header prefers among those that we have: protobuf when it is
// asked for by its full name, else text.
struct MetricsChoice {
  telemetry::MetricsFormat format = telemetry::MetricsFormat::kText;
  std::string content_type;
};
MetricsChoice choose_metrics_format(const net::HttpRequest& request);

// Compressed if the client takes that.
net::HttpResponse metrics_page(const net::HttpRequest& request, const MetricsChoice& choice,
                               std::string page);
net::HttpResponse metrics_reset();

}  // namespace berth::serve
