// Http2Session: the calls of one connection as streams of HTTP/2. Bytes in, bytes out; whose
// connection it is and how it is read and written does not matter here (http2_connection.h). The
// client's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "net/open_call.h"

namespace berth::net {

class Http2Session {
 public:
  Http2Session();  // with the client preface, ready to be sent
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // False: the server accepts no more streams, or stream numbers have run out.
  bool takes_calls() const;
  // Nothing is left to be sent or received.
  bool over() const;
  bool has_calls() const;

  // Begins the call; it lives until it has ended, or is forgotten.
  Result<void> begin(OpenCall& call);
  // Resets the stream of a call that is not needed any more.
  void forget(const OpenCall& call);
  // Asks the server whether it is there.
  void ping();

  struct Ended {
    HttpCallId call = 0;
    Result<void> result;
    // It was not sent, or the server reports that it did not process it: it may be sent again,
    // whatever it asks for.
    bool untouched = false;
  };
  // Reads what came. An error: it cannot go on.
  Result<void> receive(std::string_view bytes);
  // What ended since the last time.
  std::vector<Ended> take_ended();
  // The connection is lost, for this reason; ends all calls that are left.
  std::vector<Ended> lose(const Error& why);

  // Appends what is to be sent, in pieces, until it is longer than `enough`. An error: as above.
  Result<void> collect(std::string& out, std::size_t enough);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::net
