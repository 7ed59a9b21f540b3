// Whatever a client sends, it gets one answer, and the server goes on: a request that makes sense
// is answered as before. The input is a number of requests, one after the other:
//   METHOD target [content type]\n body \n%%\n …

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "berth/loop.h"
#include "expanded.h"
#include "memapi/api_server.h"

namespace {

using namespace berth;

struct Answered final : net::HttpResponder {
  void read_body(std::size_t, std::function<void(std::string)>) override {}  // it is whole
  void respond(net::HttpResponse response) override {
    BERTH_CHECK(status == 0);
    status = response.status;
    body = std::move(response.body);
  }
  void begin(int code, net::HttpHeaders) override {
    BERTH_CHECK(status == 0);
    status = code;
  }
  bool write(std::string) override { return ++chunks < 100; }
  void end() override {}
  void on_gone(std::function<void()>) override {}

  int status = 0;
  int chunks = 0;
  std::string body;
};

std::shared_ptr<Answered> send(memapi::ApiServer& server, std::string method, std::string target,
                               std::string type, std::string body) {
  net::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  request.headers.add("Content-Type", std::move(type));
  auto answered = std::make_shared<Answered>();
  server.handle(std::move(request), answered);
  BERTH_CHECK(answered->status >= 200 && answered->status < 600);
  return answered;
}

std::string next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  std::string word(line.substr(0, end));
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string whole = fuzz::expanded(data, size);
  std::string_view text = whole;
  VirtualLoop loop;
  memapi::ApiServerOptions options;
  options.limits.history_bytes = 8 << 10;
  memapi::ApiServer server(loop, Random(1), options);
  while (!text.empty()) {
    static constexpr std::string_view kNext = "\n%%\n";
    const std::size_t end = std::min(text.find(kNext), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + kNext.size(), text.size()));
    const std::size_t line_end = std::min(one.find('\n'), one.size());
    std::string_view line = one.substr(0, line_end);
    one.remove_prefix(std::min(line_end + 1, one.size()));
    std::string method = next_word(line);
    std::string target = next_word(line);
    send(server, std::move(method), std::move(target), std::string(line), std::string(one));
  }
  BERTH_CHECK(send(server, "GET", "/api/v1/pods", "", "")->status == 200);
  // What was stored can be saved and loaded again.
  memapi::ApiServer other(loop, Random(1), options);
  BERTH_CHECK(other.load(server.save()).has_value());
  return 0;
}
