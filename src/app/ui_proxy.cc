#include "app/ui_proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/same_secret.h"
#include "serve/waiting_pods.h"

namespace berth::app {
namespace {

// A snapshot of a large cluster comes in one piece, faster than a browser reads.
constexpr std::size_t kMostWaiting = std::size_t{256} << 20;
constexpr Duration kLongestAnswer = std::chrono::minutes(2);

std::string drawn(Random& random) {
  return fmt::format("{:016x}{:016x}", random.next(), random.next());
}

net::HttpResponse page_of(int status, std::string type, std::string body) {
  net::HttpResponse response;
  response.status = status;
  response.headers = {
      {"Content-Type", std::move(type)},     {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},    {"Content-Security-Policy", "default-src 'none'"}};
  response.body = std::move(body);
  return response;
}

net::HttpResponse refusal_of(int status, std::string text) {
  return page_of(status, "text/plain; charset=utf-8", std::move(text) + "\n");
}

// What the page asks the scheduler for, and nothing else.
bool is_forwarded(const net::HttpRequest& request, std::string_view path) {
  const std::string waiting(serve::kWaitingPodsPath);
  if (request.method == "POST")
    return path.starts_with(waiting + "/") &&
           (path.ends_with("/allow") || path.ends_with("/reject")) && !path.contains("..");
  if (request.method != "GET") return false;
  constexpr std::array<std::string_view, 4> kPaths{"/ui/", "/ui/data/snapshot", "/ui/data/changes",
                                                   "/explain"};
  return std::ranges::find(kPaths, path) != kPaths.end() || path == waiting;
}

// Of the scheduler's headers those that say what the body is and what a browser may do with it.
net::HttpHeaders headers_of(const net::HttpHeaders& answered) {
  net::HttpHeaders headers{{"Cache-Control", "no-store"},
                           {"X-Content-Type-Options", "nosniff"},
                           {"X-Frame-Options", "DENY"},
                           {"Referrer-Policy", "no-referrer"}};
  for (const char* name : {"Content-Type", "Content-Security-Policy", "Retry-After"})
    if (const auto value = answered.find(name)) headers.add(name, std::string(*value));
  return headers;
}

}  // namespace

UiProxy::UiProxy(Loop& loop, kube::ApiClient& client, Random random)
    : loop_(loop),
      client_(client),
      prefix_("/" + drawn(random).substr(0, 12)),
      token_(drawn(random)),
      session_(drawn(random)) {}

UiProxy::~UiProxy() = default;

Result<std::unique_ptr<UiProxy>> UiProxy::start(Loop& loop, kube::ApiClient& client, Random random,
                                                std::uint16_t port) {
  std::unique_ptr<UiProxy> proxy(new UiProxy(loop, client, random));
  net::HttpServerOptions options;
  options.port = port;
  options.wall_clock = [&loop] { return loop.wall_now(); };
  options.limits.head_bytes = 64 << 10;
  options.limits.body_bytes = 0;
  options.limits.connections = 64;
  options.limits.waiting_bytes = options.limits.all_waiting_bytes = kMostWaiting;
  Result<std::unique_ptr<net::HttpServer>> server = net::HttpServer::start(
      std::move(options),
      [self = proxy.get()](const net::HttpRequest& request, const Responder& responder) {
        self->answer(request, responder);
      });
  if (!server) return fail(server.error());
  proxy->server_ = std::move(*server);
  return proxy;
}

std::string UiProxy::link() const {
  return fmt::format("http://{}{}/open?token={}", server_->address(), prefix_, token_);
}

bool UiProxy::has_cookie(const net::HttpRequest& request) const {
  const std::string name = cookie_name() + "=";
  std::string_view cookies = request.headers.find("Cookie").value_or("");
  while (!cookies.empty()) {
    const std::size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view cookie = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
    if (cookie.starts_with(name) && is_same_secret(cookie.substr(name.size()), session_))
      return true;
  }
  return false;
}

void UiProxy::answer(const net::HttpRequest& request, const Responder& responder) {
  const std::string host(request.headers.find("Host").value_or(""));
  const std::string port = fmt::format(":{}", server_->port());
  if (host != "127.0.0.1" + port && host != "localhost" + port)
    return responder->respond(refusal_of(403, "Only this machine is served."));
  const std::string_view path = request.path();
  if (!path.starts_with(prefix_ + "/")) return responder->respond(refusal_of(404, "Not found."));
  if (path == prefix_ + "/open") return open(request, responder);
  if (!has_cookie(request))
    return responder->respond(
        refusal_of(403, "Open the link that `berth ui` has printed, in this browser."));
  // Whoever is on this machine is the same site, whatever the port; a POST says where it is from.
  if (request.method != "GET" && request.headers.find("Origin") != "http://" + host)
    return responder->respond(refusal_of(403, "Only the page itself may do this."));
  std::string wanted(path.substr(prefix_.size()));
  if (!is_forwarded(request, wanted)) return responder->respond(refusal_of(404, "Not found."));
  forward(request, std::move(wanted), responder);
}

void UiProxy::open(const net::HttpRequest& request, const Responder& responder) {
  if (request.method != "GET") return responder->respond(refusal_of(405, "Only GET is served."));
  bool is_good = has_cookie(request);  // the page was opened before, and somebody went back to it
  if (!is_good) {
    for (const auto& [name, value] : net::parse_query(request.query()))
      is_good = is_good || (name == "token" && is_same_secret(value, token_));
    const MutexLock lock(mutex_);
    if (is_good && std::exchange(is_used_, true))
      return responder->respond(
          refusal_of(403, "This link has been used. Start `berth ui` again for another one."));
  }
  if (!is_good) return responder->respond(refusal_of(403, "This is not the link."));
  // Not a redirection: a browser that comes from another site's page would not send the cookie.
  net::HttpResponse response =
      page_of(200, "text/html; charset=utf-8",
              "<!doctype html><meta charset=utf-8><title>berth</title>"
              "<meta http-equiv=refresh content=\"0; url=ui/\"><a href=\"ui/\">berth</a>\n");
  response.headers.add("Set-Cookie", fmt::format("{}={}; Path={}/; HttpOnly; SameSite=Strict",
                                                 cookie_name(), session_, prefix_));
  responder->respond(std::move(response));
}

void UiProxy::forward(const net::HttpRequest& request, std::string path,
                      const Responder& responder) {
  kube::ApiCall call;
  call.method = request.method;
  call.accept = "*/*";
  call.timeout = kLongestAnswer;
  call.path = std::move(path);
  if (!request.query().empty()) call.path += fmt::format("?{}", request.query());
  loop_.post([&client = client_, responder, call = std::move(call)]() mutable {
    auto began = std::make_shared<std::atomic<bool>>(false);
    net::HttpStreamCallbacks callbacks;
    callbacks.begin = [responder, began](int status, const net::HttpHeaders& headers) {
      *began = true;
      responder->begin(status, headers_of(headers));
    };
    callbacks.chunk = [responder](std::string_view chunk) { responder->write(std::string(chunk)); };
    callbacks.end = [responder, began](const Result<void>& ended) {
      if (*began) return responder->end();
      responder->respond(
          refusal_of(502, fmt::format("the scheduler does not answer: {}",
                                      ended ? "it ended the connection" : ended.error().message)));
    };
    const net::HttpCallId id = client.stream(std::move(call), std::move(callbacks));
    responder->on_gone([&client, id] { client.cancel(id); });
  });
}

}  // namespace berth::app
