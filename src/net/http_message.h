// HTTP as the rest of the program sees it: a request, a response, a place to answer to. No word
// here about connections, TLS or who implements it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"

namespace berth::net {

// Names compare without regard to case; a name may be there more than once.
class HttpHeaders {
 public:
  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<std::pair<std::string, std::string>> headers)
      : headers_(headers) {}

  void add(std::string name, std::string value) {
    headers_.emplace_back(std::move(name), std::move(value));
  }
  void set(std::string_view name, std::string value);  // in place of all of that name
  // The first of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  // All of that name as one list: "a, b".
  std::string joined(std::string_view name) const;

  auto begin() const { return headers_.begin(); }
  auto end() const { return headers_.end(); }
  std::size_t size() const { return headers_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> headers_;
};

// The other end of the connection, as far as the connection itself shows.
struct HttpPeer {
  std::string address;  // "127.0.0.1:40312"
  bool tls = false;
  std::string common_name;  // of a client certificate that was verified; empty: none
  std::vector<std::string> organizations;
  std::vector<std::string> verified_by;  // the certificate authorities, by the names the server has

  // Of a certificate that was shown, whether or not it was verified.
  bool certificate_shown = false;
  std::string certificate_sha256;  // hexadecimal
  WallTime certificate_not_after;
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // path and query as sent: "/api/v1/pods?watch=true"
  HttpHeaders headers;
  std::string body;
  HttpPeer peer;  // of a request that was received

  std::string_view path() const;   // of the target, still escaped
  std::string_view query() const;  // of the target, without the question mark, still escaped
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;
  std::string body;
};

// Whether a browser sent it for a page of another site: its Origin is not the server's own Host.
bool is_cross_origin(const HttpRequest& request);

// The value of every query parameter, unescaped, in order.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);
// "%20" and, in queries, "+" become what they stand for. Nothing when an escape is broken.
std::optional<std::string> unescape(std::string_view text, bool plus_is_space = false);
std::string escape(std::string_view text);

// Where one request is answered: once with respond(), or with begin(), any number of write() and an
// end(). May be called from any thread; must be, sooner or later: one that is dropped unanswered
// becomes a 500.
class HttpResponder {
 public:
  virtual ~HttpResponder() = default;

  // Reads the request's body, for a handler that was called at the head
  // (HttpServerOptions::body_on_demand). Calls back once, from any thread, when all of it has come;
  // never if it is larger than `most_bytes` or malformed, which the server then answers itself, nor
  // if the client goes. A body that is not read stays on the wire.
  virtual void read_body(std::size_t most_bytes, std::function<void(std::string body)> done) = 0;

  virtual void respond(HttpResponse response) = 0;

  virtual void begin(int status, HttpHeaders headers) = 0;
  // False: the client is gone, or reads so slowly that more waits for it than is allowed; then the
  // stream is over.
  virtual bool write(std::string chunk) = 0;
  virtual void end() = 0;

  // Called once, from any thread, when the client goes before the answer is complete.
  virtual void on_gone(std::function<void()> callback) = 0;
};

// Answers requests. Called from any of the server's threads.
using HttpHandler = std::function<void(HttpRequest, std::shared_ptr<HttpResponder>)>;

}  // namespace berth::net
