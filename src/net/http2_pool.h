// Http2Pool: one connection of HTTP/2 for each server that speaks it, and the calls on them. It
// makes connections when they are needed, leaves those that the server is about to end, those made
// with old certificates and those on which a 401 was answered, sends again what the server says it
// never looked at, and watches the time. For http_client.cc; the client's thread only.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "net/http_transfer.h"
#include "net/open_call.h"

namespace berth::net {

class Http2Pool {
 public:
  // All of these outlive it; of the loop only the clock is used.
  Http2Pool(HttpTransferSet& set, const HttpClientOptions& options,
            std::shared_ptr<const TlsClientSettings> tls, const Loop& clock);
  ~Http2Pool();

  // For new connections; those that there are take no further calls.
  void use_tls(std::shared_ptr<const TlsClientSettings> tls);

  // Whether such a call can go this way.
  bool takes(const OpenCall& call) const;
  // Whether there is a connection for it, or one is being made.
  bool connected(const OpenCall& call) const;
  void begin(OpenCall& call);
  // A call that has not ended is of no interest any more.
  void forget(const OpenCall& call);

  // A handle that is no call's has ended, by a CURLcode.
  void dialed(const CurlEasy& easy, int code);
  // Reads and writes; reads the sockets that wait() reported as ready.
  void work();

  struct Outcome {
    HttpCallId call = 0;
    Result<void> result;
    bool elsewhere = false;  // to be sent by libcurl: the server speaks HTTP/1.1 only
  };
  std::vector<Outcome> take_outcomes();

  // What to wait for, and how long at most.
  std::span<WaitedSocket> sockets();
  Duration patience() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::net
