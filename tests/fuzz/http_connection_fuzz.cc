// Any bytes on a connection, in HTTP/1.1 or HTTP/2, cut anywhere, while a handler answers some
// requests at once, some later, and some after their body. The first byte chooses the protocol and
// how the rest is cut.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_protocol.h"

namespace {

using namespace berth::net;

constexpr std::size_t kMaxHead = 1024;
constexpr std::size_t kMaxBody = 512;
constexpr std::uint32_t kMaxStreams = 4;

void check(bool good) {
  if (!good) std::abort();
}

HttpServerOptions options() {
  HttpServerOptions made;
  made.limits.head_bytes = kMaxHead;
  made.limits.streams = kMaxStreams;
  return made;
}

class Conversation {
 public:
  explicit Conversation(bool http2)
      : http2_(http2),
        state_(options(),
               [this](HttpRequest request, std::shared_ptr<HttpResponder> responder) {
                 handle(request, std::move(responder));
               }),
        protocol_((state_.error_response = refusal,
                   http2 ? make_http2_protocol(link()) : make_http1_protocol(link()))) {}

  void receive(std::string_view bytes) {
    if (!protocol_->wants_input() || protocol_->end() != HttpProtocol::End::kOpen) return;
    protocol_->receive(bytes);
    send();
  }
  void answer_all() {
    for (const auto& responder : std::exchange(later_, {})) responder->respond({});
    send();
  }
  ~Conversation() {
    protocol_->client_finished();
    protocol_->lost();
    later_.clear();
  }

 private:
  static HttpResponse refusal(int status, std::string message) {
    check(status >= 400 && status < 600);
    return HttpResponse{.status = status, .headers = {}, .body = std::move(message)};
  }
  HttpLink link() {
    return {.state = state_,
            .peer = [] { return HttpPeer(); },
            .set_busy = [](bool) {},
            .wake = [this](std::int32_t stream) { woken_.push_back(stream); }};
  }
  void handle(const HttpRequest& request, std::shared_ptr<HttpResponder> responder) {
    check(!request.method.empty() && !request.target.empty() && request.body.empty());
    if (request.method == "GET") return responder->respond({200, {}, request.target});
    if (request.method == "PUT" || request.method == "POST")
      return responder->read_body(kMaxBody, [responder](const std::string& body) {
        check(body.size() <= kMaxBody);
        responder->respond({200, {{"X-Echo", body}}, body});
      });
    later_.push_back(std::move(responder));
  }
  void send() {
    for (;;) {
      for (const std::int32_t stream : std::exchange(woken_, {})) protocol_->answered(stream);
      if (protocol_->end() == HttpProtocol::End::kBroken) return;
      const std::string out = protocol_->next_output();
      if (out.empty()) break;
      protocol_->sent(out.size());
    }
    if (!http2_) check(later_.size() <= 1);  // one request after the other
  }

  const bool http2_;
  std::vector<std::int32_t> woken_;
  std::vector<std::shared_ptr<HttpResponder>> later_;
  HttpServerState state_;
  std::unique_ptr<HttpProtocol> protocol_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool http2 = (data[0] & 1) != 0;
  const std::size_t piece = 1 + (data[0] >> 1) * std::size_t{7};
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Conversation conversation(http2);
  if (http2) conversation.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  while (!bytes.empty()) {
    conversation.receive(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    if (bytes.size() % 3 == 0) conversation.answer_all();
  }
  return 0;
}
