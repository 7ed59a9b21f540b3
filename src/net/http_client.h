// HttpClient: sends requests and hands back what is answered. HTTP/2 where the server has it,
// connections kept and shared, TLS verified unless switched off; one thread of its own.
//
//   client.send(call, [](Result<HttpResponse> answer) { ... });            // a short answer
//   client.stream(call, {on_begin, on_chunk, on_end});                     // a watch
//   Result<HttpResponse> answer = co_await fetch(client, loop, call);      // on the world thread
//
// Callbacks run on the client's thread: they must not block, and must not end the client. A status
// of 404 or 500 is an answer, and after a 401 a new connection is made for the next call (who we
// are may be bound to the connection); an error is when there is no answer at all, and reads as
// Go's: `Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`. What is
// under way when the client ends gets the error kCancelled, before the destructor returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/result.h"
#include "berth/task.h"
#include "net/http_message.h"

namespace berth::net {

// The CAs to trust and the client's certificate. Text takes precedence over files. Files are read
// when a connection is made, and again while there are calls: when they have changed, the
// connections that were made with the old contents take no further calls.
struct TlsClientSettings {
  std::string ca_pem;
  std::string ca_file;  // neither: what the system trusts
  std::string certificate_pem;
  std::string certificate_file;
  std::string key_pem;
  std::string key_file;
  std::string server_name;  // expected of the server, in place of the URL's host
  bool insecure = false;    // any server is believed

  friend bool operator==(const TlsClientSettings&, const TlsClientSettings&) = default;
};

struct HttpClientOptions {
  TlsClientSettings tls;
  // How long a changed file may go unnoticed while a connection lives and has calls.
  Duration tls_file_interval = std::chrono::seconds(1);
  std::string proxy;  // "http://proxy:3128"; empty: from the environment; "-": none
  std::string user_agent = "berth";
  bool http2 = true;
  bool compression = false;              // let servers compress what they send
  std::size_t connections_per_host = 0;  // 0: as many as it takes
  Duration connect_timeout = std::chrono::seconds(30);
  // A short answer that grows beyond this is an error.
  std::size_t max_response_bytes = std::size_t{1} << 30;
  // Hears how long it took to look up a host's name, on the client's thread; of addresses nothing.
  std::function<void(std::string_view host, Duration took)> resolved;
};

// One request.
struct HttpCall {
  std::string method = "GET";
  std::string url;  // "https://10.0.0.1:6443/api/v1/pods?limit=500"
  HttpHeaders headers;
  std::string body;
  std::string bearer_token;
  Duration timeout = Duration::zero();  // for all of it; none: no limit
  // Of a stream: the longest silence. In whole seconds; none: no limit.
  Duration idle_timeout = Duration::zero();
  // Asked on the client's thread when there is a connection and the request is about to leave,
  // which may be long after it was handed in. False: it is not sent, and ends with kCancelled.
  // Empty: it may.
  std::function<bool()> may_send = {};
};

// What a stream calls back with: begin once, chunks as they come (never empty), end once, whatever
// happened. Without begin, end has an error.
struct HttpStreamCallbacks {
  std::function<void(int status, HttpHeaders headers)> begin;
  std::function<void(std::string_view chunk)> chunk;
  std::function<void(Result<void> ended)> end;
};

using HttpCallId = std::uint64_t;

// Where requests go: over the network (HttpClient), or wherever a simulation takes them.
class HttpTransport {
 public:
  virtual ~HttpTransport() = default;

  // Any thread.
  virtual HttpCallId send(HttpCall call, std::function<void(Result<HttpResponse>)> done) = 0;
  virtual HttpCallId stream(HttpCall call, HttpStreamCallbacks callbacks) = 0;

  // Any thread. It ends with kCancelled, unless it has ended or never was.
  virtual void cancel(HttpCallId id) = 0;

  // Any thread. For calls that begin from now on: rotated certificates, another CA.
  virtual void set_tls(TlsClientSettings settings) = 0;
};

using MakeHttpTransport = std::function<std::unique_ptr<HttpTransport>(HttpClientOptions)>;

class HttpClient final : public HttpTransport {
 public:
  explicit HttpClient(HttpClientOptions options);
  ~HttpClient() override;
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpCallId send(HttpCall call, std::function<void(Result<HttpResponse>)> done) override;
  HttpCallId stream(HttpCall call, HttpStreamCallbacks callbacks) override;
  void cancel(HttpCallId id) override;
  void set_tls(TlsClientSettings settings) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// What errors begin with: `Get "https://10.0.0.1:6443/api": `.
std::string error_prefix(std::string_view method, std::string_view url);
// The server, or something on the way, ended an open connection: it is not known what became of the
// request.
bool lost_connection(const Error& error);

// For the world thread: the answer as a Task. Destroying the task, or cancelling the token, cancels
// the call. The loop must outlive the client.
Task<Result<HttpResponse>> fetch(HttpTransport& client, Loop& loop, HttpCall call,
                                 CancelToken cancel = {});

}  // namespace berth::net
