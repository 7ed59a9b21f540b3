// ExtenderTransport: how a webhook is reached. Over HTTP in production; tests have others.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "berth/loop.h"
#include "berth/task.h"
#include "net/http_client.h"

namespace berth::extender {

class ExtenderTransport {
 public:
  virtual ~ExtenderTransport() = default;

  // World thread. Sends `body` to `url` and finishes with what is answered, whatever the code; an
  // error when there is no answer. Cancelling the token soon ends it with an error. `may_send` is
  // asked when the request leaves (net::HttpCall).
  virtual Task<Result<net::HttpResponse>> post(std::string url, std::string body,
                                               CancelToken cancel,
                                               std::function<bool()> may_send) = 0;
};

// More than any list of nodes has; an extender that goes on for ever is cut here.
inline constexpr std::size_t kMostAnswerBytes = std::size_t{256} << 20;

// Its own HTTP client: each extender has its own certificates. `loop` outlives it. `make_client`
// makes it; empty: a net::HttpClient.
std::unique_ptr<ExtenderTransport> make_http_transport(
    Loop& loop, net::TlsClientSettings tls, std::size_t most_bytes = kMostAnswerBytes,
    const net::MakeHttpTransport& make_client = {});

}  // namespace berth::extender
