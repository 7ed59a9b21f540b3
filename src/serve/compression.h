// Compresses responses for clients that accept it.
#pragma once

#include "net/http_message.h"

namespace berth::serve {

// Whether the request's Accept-Encoding has gzip, and not with q=0.
bool accepts_gzip(const net::HttpRequest& request);

// Compresses the body with gzip and sets Content-Encoding. An empty body stays as it is.
void compress(net::HttpResponse& response);

}  // namespace berth::serve
