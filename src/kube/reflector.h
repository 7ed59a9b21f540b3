// Reflector: one kind of objects, listed and watched as client-go's Reflector does it (shell.md
// §6.3), so that what has been applied equals what the API server has, a little later.
//
//                       bookmark: all was sent
//   ┌► streaming list ───────────────────────────► watch ◄──┐ end of the stream, network loss,
//   │        │ the server cannot                     │ ▲ └──┘ 429: from the last version
//   │        ▼                                       │ │
//   │    paged list ─────────────────────────────────┼─┘
//   │        │ refused: after a while                │
//   └────────┴───────────────────────────────────────┘ the version is too old, an ERROR event, …
//
// A list at a version that the server no longer has (or does not have yet) is asked for once more
// without a version, which is what the store itself has.
//
// World thread; part of Reflectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/random.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "kube/informer_metrics.h"
#include "kube/kind_mirror.h"
#include "kube/lru_map.h"
#include "kube/stream_feed.h"
#include "kube/watched_kinds.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::kube {

// Objects in full, for extenders and recordings: of which kinds, and the receiver.
struct TextOptions {
  KeptText pods = KeptText::kNone;
  KeptText nodes = KeptText::kNone;
  KeptText others = KeptText::kNone;
  KindMirror::TakeText take = {};  // before the delta is applied; without it nothing is kept

  KeptText of(ObjectKind kind) const;
};

struct ReflectorOptions {
  bool streaming_lists = true;  // the gate WatchListClient
  std::size_t page_size = 500;
  StreamLimits limits = {};
  TextOptions texts = {};
  telemetry::WatchMetrics* metrics = nullptr;  // null: not counted
};

// Delays between tries: 0.8 s, then twice as long up to 30 s, each made longer by up to its own
// length. Starts over when it was not used for two minutes.
class ReflectorBackoff {
 public:
  explicit ReflectorBackoff(Random random) : random_(random) {}
  Duration next(TimePoint now);

 private:
  Random random_;
  Duration base_{0};
  std::optional<TimePoint> last_;
};

// The server no longer has what was asked for: a version, or the rest of a list.
bool is_expired(const ApiStatus& status);

class Reflector {
 public:
  // `synced` is called when the first list has been applied, and after list_again().
  Reflector(Loop& loop, ApiClient& client, Interner& interner, Random random, telemetry::Log log,
            WatchedKind kind, const ReflectorOptions& options,
            const std::function<void(Delta)>& apply, std::function<void()> synced);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  void stop();
  // Lists once more, by a read of the newest state, as if nothing was known: what was written
  // before the call is known when `synced` is called. After start(); not from `apply` or `synced`.
  void list_again();

  const WatchedKind& kind() const { return kind_; }
  bool synced() const { return synced_; }
  // What last went wrong; empty once it works.
  const std::string& last_error() const { return last_error_; }
  // From where the next watch goes on.
  const std::string& version() const { return version_; }
  std::size_t objects() const { return mirror_->size(); }

 private:
  enum class Step : std::uint8_t { kStreamingList, kPagedList, kWatch };
  // How a stream went.
  struct Followed {
    StreamEnd end;
    bool listed = false;     // the end of the initial events was seen
    std::size_t events = 0;  // bookmarks count
    Duration lasted{0};
  };

  Task<void> run();
  Task<Followed> follow(bool initial);
  Task<Followed> list();

  class Processing;
  telemetry::Gauge* queued_items() { return informer_ ? &informer_->queued() : nullptr; }
  void take(StreamBatch& batch, bool initial, Followed& followed);
  void take_initial(WatchedEvent event, Followed& followed);
  void take_change(WatchedEvent event);
  void note_undecodable(const WatchedEvent& event);
  void advance(std::string_view version);
  void list_applied(std::string version);

  // Where to go on, and after what delay (wait_).
  Step relist() const;
  Step after_streaming_list(const Followed& followed);
  Step after_list(const Followed& followed);
  Step after_watch(const Followed& followed);
  Step after_refused_watch(const ApiFailure& failure);
  Step after_end_of_stream(Step again, const Followed& followed);
  bool note_unavailable(const ApiFailure& failure);
  void resource_missing(const ApiFailure& failure);
  void back_off(const ApiFailure* failure = nullptr);
  void report(const ApiFailure& failure, std::string_view doing);

  std::string list_version() const;
  ApiCall watch_call(bool initial);
  ApiCall list_call(const std::string& version, const std::string& continue_token,
                    bool paged) const;
  StreamedKind streamed_kind() const {
    return {kind_.kind, kind_.api_version, kind_.kind_name, options_.texts.of(kind_.kind),
            kind_.kind == ObjectKind::kOther ? kind_.other_resource() : std::string()};
  }

  Loop& loop_;
  ApiClient& client_;
  Interner& interner_;
  Random random_;
  telemetry::Log log_;
  const WatchedKind kind_;
  const ReflectorOptions options_;
  std::optional<InformerMetrics> informer_;  // with metrics
  std::function<void()> tell_synced_;
  std::unique_ptr<KindMirror> mirror_;
  ReflectorBackoff backoff_;

  Step step_;
  Duration wait_{0};
  std::string version_;
  bool unavailable_ = false;     // the server does not have version_
  bool trusts_versions_ = true;  // an object that is listed with a version we know is known
  bool pages_ = false;           // the server cuts lists into pages even where it need not
  std::size_t short_ends_ = 0;   // streams in a row that ended at once
  std::optional<TimePoint> internal_errors_since_;
  bool synced_ = false;
  bool refusal_told_ = false;
  bool missing_told_ = false;
  std::string last_error_;
  LruMap<std::string, std::string> undecodable_;  // what was logged, by name
  TaskSet tasks_;
};

}  // namespace berth::kube
