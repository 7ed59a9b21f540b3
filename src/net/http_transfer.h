// A call as libcurl sends it, and the set of handles that libcurl works on. For http_client.cc;
// except for wake(), the client's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "net/curl_easy.h"
#include "net/open_call.h"

namespace berth::net {

class HttpTransfer {
 public:
  // The call outlives it.
  HttpTransfer(OpenCall& call, std::shared_ptr<const TlsClientSettings> tls);
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  // Makes it ready to be added to a set.
  Result<void> prepare();
  CurlEasy& easy() { return easy_; }
  // What the end means, by a CURLcode.
  Result<void> result_of(int code) const;

 private:
  void set_headers();
  void set_body();
  void set_limits();
  bool answer_complete() const;

  static int on_connected(void* self, char*, char*, int, int);
  static std::size_t on_header(char* data, std::size_t one, std::size_t size, void* self);
  static std::size_t on_body(char* data, std::size_t one, std::size_t size, void* self);
  void header_line(std::string_view line);

  OpenCall& call_;
  CurlEasy easy_;
};

// A socket that other code reads from and writes to, to be waited for as well.
struct WaitedSocket {
  int socket = -1;
  bool write = false;  // wait until it can be written to, too
  bool ready = false;  // the answer
};

class HttpTransferSet {
 public:
  HttpTransferSet();
  ~HttpTransferSet();

  void limit_connections(std::size_t per_host);  // 0: no limit

  Result<void> add(CurlEasy& easy);
  void remove(CurlEasy& easy);

  struct Ended {
    CurlEasy* easy = nullptr;
    int code = 0;  // a CURLcode
  };
  // Does what can be done now; the handles that ended are still in the set.
  std::vector<Ended> work();
  // Until there is work, or one of the sockets is ready, or wake(), but no longer than this.
  void wait(std::span<WaitedSocket> sockets, Duration most);
  // Any thread.
  void wake();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::net
