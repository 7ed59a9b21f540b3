// Answers made smaller for those who can read them so.
#pragma once

#include "net/http_message.h"

namespace berth::serve {

// Whether the request's Accept-Encoding has gzip, and not with q=0.
bool accepts_gzip(const net::HttpRequest& request);

// The body as gzip, and the header that says so. An empty one stays as it is.
void compress(net::HttpResponse& response);

}  // namespace berth::serve
