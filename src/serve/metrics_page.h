// A page of metrics: the text of a registry, or its reset (shell.md §3.1). Any thread.
#pragma once

#include <string>

#include "net/http_message.h"
#include "telemetry/metrics.h"

namespace berth::serve {

// DELETE resets; with any other method it is read.
net::HttpResponse answer_metrics(const net::HttpRequest& request, telemetry::Registry& registry);

// Compressed if the client takes that.
net::HttpResponse metrics_text(const net::HttpRequest& request, std::string text);
net::HttpResponse metrics_reset();

}  // namespace berth::serve
