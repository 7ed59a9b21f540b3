#include "extender/transport.h"

#include <utility>

namespace berth::extender {
namespace {

class HttpTransport final : public ExtenderTransport {
 public:
  HttpTransport(Loop& loop, net::TlsClientSettings tls, std::size_t most_bytes)
      : loop_(loop), client_(options(std::move(tls), most_bytes)) {}

  Task<Result<net::HttpResponse>> post(std::string url, std::string body, CancelToken cancel,
                                       std::function<bool()> may_send) override {
    net::HttpCall call;
    call.method = "POST";
    call.url = std::move(url);
    call.headers.add("Content-Type", "application/json");
    call.body = std::move(body);
    call.may_send = std::move(may_send);
    return net::fetch(client_, loop_, std::move(call), cancel);
  }

 private:
  static net::HttpClientOptions options(net::TlsClientSettings tls, std::size_t most_bytes) {
    net::HttpClientOptions options;
    options.tls = std::move(tls);
    options.compression = true;
    options.max_response_bytes = most_bytes;
    return options;
  }

  Loop& loop_;
  net::HttpClient client_;
};

}  // namespace

std::unique_ptr<ExtenderTransport> make_http_transport(Loop& loop, net::TlsClientSettings tls,
                                                       std::size_t most_bytes) {
  return std::make_unique<HttpTransport>(loop, std::move(tls), most_bytes);
}

}  // namespace berth::extender
