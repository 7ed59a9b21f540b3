// One handle of libcurl: where it goes, how a connection is made, whom to trust, and what went
// wrong. HttpTransfer sends a call with it, Http2Connection makes a connection with it. For this
// room; the client's thread only.
#pragma once

#include <memory>
#include <string>

#include "berth/result.h"
#include "net/http_client.h"
#include "net/http_failure.h"

namespace berth::net {

// As libcurl takes durations; never 0, which it takes for "no limit".
long curl_milliseconds(Duration duration);

class CurlEasy {
 public:
  CurlEasy(const HttpClientOptions& options, std::shared_ptr<const TlsClientSettings> tls);
  ~CurlEasy();
  CurlEasy(const CurlEasy&) = delete;
  CurlEasy& operator=(const CurlEasy&) = delete;

  // Sets it up for this URL. The options outlive this.
  Result<void> aim_at(const std::string& url);
  // "Name: value"; without a colon and a value, libcurl does not send one of its own.
  void add_header(const std::string& line);
  // What was added counts.
  void use_headers();

  void* handle() const;  // a CURL

  // Why it failed, by a CURLcode.
  HttpFailure failure(int code) const;
  const TlsClientSettings& tls() const { return *tls_; }
  // Tells how long it took to look up the host's name, if that was done.
  void report_lookup() const;

  // The call that uses it, for lookups in an HttpTransferSet; 0: none.
  HttpCallId call = 0;

 private:
  struct Parts;

  void set_proxy(const std::string& host);
  void set_connection(const std::string& url);
  void set_tls();
  std::string endpoint(bool remote) const;

  const HttpClientOptions& options_;
  const std::shared_ptr<const TlsClientSettings> tls_;  // libcurl refers to its texts
  std::string name_;                                    // the URL's host
  std::string host_;                                    // with its port
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::net
