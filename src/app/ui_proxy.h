// UiProxy: the live page of a scheduler, for a browser on this machine. Browsers have no bearer token
// to send; the proxy has the user's, and lets in only the browser that was given its link.
//
//   GET /PREFIX/open?token=T   once: a page that goes on to the next, with a cookie
//   GET /PREFIX/ui/…           the scheduler's answer, and a few more paths beside it
//
// Who knows the token may look, and nobody else on this machine, nor a page of another site: the Host
// must be this machine, the cookie be there (it is HttpOnly, SameSite=Strict, and sent below PREFIX
// only, so that servers on other ports do not get it), and a POST come from the page itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/thread.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "kube/api_client.h"
#include "net/http_server.h"

namespace berth::app {

class UiProxy {
 public:
  // World thread. Listens on 127.0.0.1; port 0: any that is free. `client` asks the scheduler and,
  // as `loop`, outlives this. `random` is not to be guessed.
  static Result<std::unique_ptr<UiProxy>> start(Loop& loop, kube::ApiClient& client, Random random,
                                                std::uint16_t port);
  ~UiProxy();
  UiProxy(const UiProxy&) = delete;
  UiProxy& operator=(const UiProxy&) = delete;

  // "http://127.0.0.1:40123/…/open?token=…": good for one use.
  std::string link() const;

 private:
  using Responder = std::shared_ptr<net::HttpResponder>;

  UiProxy(Loop& loop, kube::ApiClient& client, Random random);
  void answer(const net::HttpRequest& request, const Responder& responder) EXCLUDES(mutex_);
  void open(const net::HttpRequest& request, const Responder& responder) EXCLUDES(mutex_);
  void forward(const net::HttpRequest& request, std::string path, const Responder& responder);
  bool has_cookie(const net::HttpRequest& request) const;
  std::string cookie_name() const { return "berth-ui-" + prefix_.substr(1); }

  Loop& loop_;
  kube::ApiClient& client_;
  const std::string prefix_;   // "/…"
  const std::string token_;    // of the link
  const std::string session_;  // the cookie's value
  Mutex mutex_;
  bool is_used_ GUARDED_BY(mutex_) = false;  // the link
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace berth::app
