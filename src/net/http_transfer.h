// One call of an HttpClient, and the set of those under way, as libcurl knows them. For
// http_client.cc; except for wake(), the client's thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"
#include "net/http_message.h"

namespace berth::net {

// One of the two.
struct HttpTransferCallbacks {
  std::function<void(Result<HttpResponse>)> done;
  HttpStreamCallbacks stream;
};

class HttpTransfer {
 public:
  HttpTransfer(HttpCallId id, HttpCall call, HttpTransferCallbacks callbacks,
               const HttpClientOptions& options, std::shared_ptr<const TlsClientSettings> tls);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  HttpCallId id() const { return id_; }

  // Makes it ready to be added to a set.
  Result<void> prepare();
  // Calls back for the last time. It is in no set any more.
  void finish(Result<void> ended);

 private:
  friend class HttpTransferSet;
  struct Handle;

  Result<void> set_url();
  Result<void> set_headers();
  void set_body();
  void set_connection();
  void set_tls();
  void report_lookup() const;
  std::string endpoint(bool remote) const;
  Error error_of(int code) const;

  static std::size_t on_header(char* data, std::size_t one, std::size_t size, void* self);
  static std::size_t on_body(char* data, std::size_t one, std::size_t size, void* self);
  void header_line(std::string_view line);
  bool body_piece(std::string_view piece);
  bool streaming() const { return !callbacks_.done; }

  const HttpCallId id_;
  HttpCall call_;
  HttpTransferCallbacks callbacks_;
  const HttpClientOptions& options_;
  const std::shared_ptr<const TlsClientSettings> tls_;  // libcurl refers to its texts

  std::string name_;  // the URL's host
  std::string host_;  // with its port
  HttpResponse response_;
  bool head_complete_ = false;
  bool too_large_ = false;
  std::unique_ptr<Handle> handle_;
};

class HttpTransferSet {
 public:
  HttpTransferSet();
  ~HttpTransferSet();

  Result<void> add(HttpTransfer& transfer);
  void remove(HttpTransfer& transfer);

  struct Ended {
    HttpCallId id = 0;
    Result<void> result;
  };
  // Does what can be done now; the transfers that ended are still in the set.
  std::vector<Ended> work();
  // Until there is work, or wake().
  void wait();
  // Any thread.
  void wake();

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace berth::net
