// StreamFeed: from the client's thread, where bytes come in and are decoded, to the world, where
// they count. Events wait here until the world takes them, all at once: however many come while the
// world is busy, it is woken once. The client's thread never waits.
//
//   OpenStream stream(loop, client, call, receive_watch(kind, interner, limits));   // world
//   StreamBatch batch = co_await stream.next();    // until batch.end
//
// A world that is too far behind a watch has it cut; it takes what there is and goes on from there.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/thread.h"
#include "berth/loop.h"
#include "kube/api_client.h"
#include "kube/watch_stream.h"
#include "telemetry/metrics.h"

namespace berth::kube {

struct StreamLimits {
  std::size_t max_event = std::size_t{16} << 20;   // bytes of one object
  std::size_t max_waiting = 200'000;               // events of a watch that the world has not taken
  std::size_t max_refusal = std::size_t{1} << 20;  // bytes of a refusal's body that are looked at
};

struct StreamEnd {
  enum class How : std::uint8_t {
    kDone,        // it ended where it may end; a list is whole
    kCut,         // it broke off
    kRefused,     // another code than 200, or an ERROR event
    kNoAnswer,    // no answer
    kUnreadable,  // it makes no sense
    kBehind,      // cut by us: the world has not taken what came before
  };
  How how = How::kDone;
  ApiFailure failure = {};  // unless kDone
  ListMeta list = {};       // of a list
};

struct StreamBatch {
  std::vector<WatchedEvent> events;
  std::optional<StreamEnd> end;
};

class StreamFeed : public std::enable_shared_from_this<StreamFeed> {
 public:
  // `queued`: shows how many events wait; null: it is not shown.
  explicit StreamFeed(Loop& loop, telemetry::Gauge* queued = nullptr)
      : loop_(loop), queued_(queued) {}

  // ---- the client's thread
  // Takes over `events` and leaves them empty; how many wait now.
  std::size_t hand_over(std::vector<WatchedEvent>& events) EXCLUDES(mutex_);
  void finish(StreamEnd end) EXCLUDES(mutex_);
  // The reader needs no more.
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  // ---- the world
  void abandon();

  class [[nodiscard]] Next {
   public:
    explicit Next(StreamFeed& feed) : feed_(feed) {}
    bool await_ready() const { return feed_.has_batch(); }
    void await_suspend(std::coroutine_handle<> awaiter) { feed_.awaiter_ = awaiter; }
    StreamBatch await_resume() { return feed_.take(); }

   private:
    StreamFeed& feed_;
  };

 private:
  bool has_batch() EXCLUDES(mutex_);
  StreamBatch take() EXCLUDES(mutex_);
  void wake_world() REQUIRES(mutex_);

  Loop& loop_;
  telemetry::Gauge* const queued_;
  std::atomic<bool> abandoned_ = false;
  std::coroutine_handle<> awaiter_;  // the world's
  Mutex mutex_;
  StreamBatch waiting_ GUARDED_BY(mutex_);
  bool posted_ GUARDED_BY(mutex_) = false;
};

// A stream of one kind, open from the world's point of view. Destroying it ends the stream.
class OpenStream {
 public:
  enum class What : std::uint8_t {
    kWatch,
    kStreamingList,  // a watch that begins with all there is
    kList,
  };
  OpenStream(Loop& loop, ApiClient& client, ApiCall call, What what, StreamedKind kind,
             Interner& interner, const StreamLimits& limits, telemetry::Gauge* queued = nullptr);
  ~OpenStream();
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  StreamFeed::Next next() { return StreamFeed::Next(*feed_); }

 private:
  ApiClient& client_;
  std::shared_ptr<StreamFeed> feed_;
  net::HttpCallId id_;
};

}  // namespace berth::kube
