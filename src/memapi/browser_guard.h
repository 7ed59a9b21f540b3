// What keeps web pages away from a server that asks nobody for a token. It listens on this machine
// only, but so does every browser here: a page may send requests to it (with its own Origin, or
// with a body of a type that needs no permission), and a page whose name suddenly leads here (DNS
// rebinding) may read the answers as well.
#pragma once

#include "memapi/api_error.h"
#include "net/http_message.h"

namespace berth::memapi {

// 403: the Host is not this machine, or the Origin is not the server itself; 415: a body without a
// Content-Type from what may be a browser. Other programs may leave all of it out: nobody else's page
// makes them send something.
Answer<void> check_sender(const net::HttpRequest& request);

}  // namespace berth::memapi
