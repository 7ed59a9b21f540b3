// Http2Connection: a TLS connection that libcurl makes, with its proxies, certificates and names,
// and that we then speak HTTP/2 on ourselves. libcurl could do that, too, but looks at every open
// stream whenever anything comes: with many at once that is most of what a request costs. For
// http2_pool.cc; the client's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "berth/result.h"
#include "net/curl_easy.h"
#include "net/http2_session.h"
#include "net/http_transfer.h"

namespace berth::net {

class Http2Connection {
 public:
  // `set` and `options` outlive it.
  Http2Connection(HttpTransferSet& set, const HttpClientOptions& options,
                  std::shared_ptr<const TlsClientSettings> tls);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  // Begins to connect to "https://host:port"; the set reports when that has ended.
  Result<void> dial(const std::string& origin);
  bool dialing() const { return !session_; }
  const CurlEasy& easy() const { return easy_; }

  // The result of connecting, a CURLcode. False: the server does not offer HTTP/2.
  Result<bool> dialed(int code);

  // From here on only when it is open.
  Http2Session& session() { return *session_; }
  const Http2Session& session() const { return *session_; }
  WaitedSocket waited() const { return {socket_, blocked_, false}; }

  enum class Read { kNothing, kSomething };
  // Reads what there is, some of it if it is much. An error: the connection is lost.
  Result<Read> read(std::vector<char>& buffer);
  // There may be more input that poll does not report.
  bool more() const { return more_; }
  // Writes the pending output, as far as the socket takes it.
  Result<void> write();

 private:
  static int on_connected(void* self, char*, char*, int, int);
  Error lost(int code) const;

  HttpTransferSet& set_;
  CurlEasy easy_;
  bool in_set_ = false;
  bool speaks_http2_ = false;
  int socket_ = -1;
  std::unique_ptr<Http2Session> session_;  // once it is open
  bool more_ = false;
  bool blocked_ = false;  // the socket takes no more at the moment
  // Not to be changed until it is written: TLS insists on the same bytes again.
  std::string out_;
  std::size_t written_ = 0;
};

}  // namespace berth::net
