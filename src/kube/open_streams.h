// OpenStreams: the streams of a client, by the ids that it gave them; one may still be waiting for
// its credential when it is cancelled. Any thread. For http_api_client.cc.
#pragma once

#include <map>
#include <optional>

#include "base/thread.h"
#include "net/http_client.h"

namespace berth::kube {

class OpenStreams {
 public:
  net::HttpCallId open() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    streams_.emplace(++last_, Stream{});
    return last_;
  }
  void close(net::HttpCallId id) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    streams_.erase(id);
  }
  bool cancelled(net::HttpCallId id) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = streams_.find(id);
    return found != streams_.end() && found->second.cancelled;
  }
  // It is under way as `call`. True: it has been cancelled meanwhile.
  bool begun(net::HttpCallId id, net::HttpCallId call) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) return false;  // it has ended, even
    found->second.call = call;
    return found->second.cancelled;
  }
  // What is to be cancelled for it, if it is under way.
  std::optional<net::HttpCallId> cancel(net::HttpCallId id) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = streams_.find(id);
    if (found == streams_.end()) return std::nullopt;
    found->second.cancelled = true;
    return found->second.call;
  }

 private:
  struct Stream {
    std::optional<net::HttpCallId> call;
    bool cancelled = false;
  };
  Mutex mutex_;
  net::HttpCallId last_ GUARDED_BY(mutex_) = 0;
  std::map<net::HttpCallId, Stream> streams_ GUARDED_BY(mutex_);
};

}  // namespace berth::kube
