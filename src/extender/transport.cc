#include "extender/transport.h"

#include <utility>

namespace berth::extender {
namespace {

class HttpTransport final : public ExtenderTransport {
 public:
  HttpTransport(Loop& loop, std::unique_ptr<net::HttpTransport> client)
      : loop_(loop), client_(std::move(client)) {}

  Task<Result<net::HttpResponse>> post(std::string url, std::string body, CancelToken cancel,
                                       std::function<bool()> may_send) override {
    net::HttpCall call;
    call.method = "POST";
    call.url = std::move(url);
    call.headers.add("Content-Type", "application/json");
    call.body = std::move(body);
    call.may_send = std::move(may_send);
    return net::fetch(*client_, loop_, std::move(call), cancel);
  }

 private:
  Loop& loop_;
  const std::unique_ptr<net::HttpTransport> client_;
};

}  // namespace

std::unique_ptr<ExtenderTransport> make_http_transport(Loop& loop, net::TlsClientSettings tls,
                                                       std::size_t most_bytes,
                                                       const net::MakeHttpTransport& make_client) {
  net::HttpClientOptions options;
  options.tls = std::move(tls);
  options.compression = true;
  options.max_response_bytes = most_bytes;
  std::unique_ptr<net::HttpTransport> client;
  if (make_client)
    client = make_client(std::move(options));
  else
    client = std::make_unique<net::HttpClient>(std::move(options));
  return std::make_unique<HttpTransport>(loop, std::move(client));
}

}  // namespace berth::extender
