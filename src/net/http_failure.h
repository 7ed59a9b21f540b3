// Why a call got no answer, as text: that of Go's net/http where it has one, because people search
// for them, with the file or the host that is to blame. For http_transfer.cc.
#pragma once

#include <string>

#include "berth/result.h"
#include "net/http_client.h"

namespace berth::net {

// What libcurl knows about a transfer that failed.
struct HttpFailure {
  int code = 0;        // a CURLcode
  std::string detail;  // what it noted
  int os_error = 0;    // of connecting
  long verify_result = 0;
  bool connected = false;
  std::string local;  // "127.0.0.1:40312"; empty: there was no connection
  std::string remote;
  std::string host;  // of the URL, with its port
  Duration idle_timeout = Duration::zero();
};

Error error_of(const HttpFailure& failure, const TlsClientSettings& tls);

}  // namespace berth::net
