#include "kube/stream_feed.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace berth::kube {

// ---- StreamFeed

void StreamFeed::wake_world() {
  if (std::exchange(posted_, true)) return;
  loop_.post([self = shared_from_this()] {
    {
      const MutexLock lock(self->mutex_);
      self->posted_ = false;
    }
    if (self->awaiter_) std::exchange(self->awaiter_, {}).resume();
  });
}

std::size_t StreamFeed::hand_over(std::vector<WatchedEvent>& events) {
  const MutexLock lock(mutex_);
  if (!events.empty()) {
    if (waiting_.events.empty()) {
      waiting_.events = std::exchange(events, {});
    } else {
      std::move(events.begin(), events.end(), std::back_inserter(waiting_.events));
      events.clear();
    }
    wake_world();
    if (queued_ && !abandoned()) queued_->set(static_cast<double>(waiting_.events.size()));
  }
  return waiting_.events.size();
}

void StreamFeed::finish(StreamEnd end) {
  const MutexLock lock(mutex_);
  if (waiting_.end) return;
  waiting_.end = std::move(end);
  wake_world();
}

void StreamFeed::abandon() {
  abandoned_.store(true, std::memory_order_relaxed);
  awaiter_ = {};
  // Objects are let go here, on the world.
  static_cast<void>(take());
}

bool StreamFeed::has_batch() {
  const MutexLock lock(mutex_);
  return !waiting_.events.empty() || waiting_.end;
}

StreamBatch StreamFeed::take() {
  const MutexLock lock(mutex_);
  if (queued_) queued_->set(0);
  return std::exchange(waiting_, {});
}

// ---- the client's thread

namespace {

ApiFailure unreadable(Error error) { return {std::move(error), {}}; }

// The error that the server reports in an event of a watch.
ApiFailure failure_in(ApiStatus status) {
  ApiFailure failure;
  failure.error.kind = status.code == 410 ? ErrorKind::kGone : ErrorKind::kInternal;
  failure.error.message = status.message;
  failure.status = std::move(status);
  return failure;
}

// The client's side of a stream: parses the answer and hands the events over.
class Receiver {
 public:
  Receiver(std::shared_ptr<StreamFeed> feed, OpenStream::What what, StreamedKind kind,
           Interner& interner, const StreamLimits& limits)
      : feed_(std::move(feed)),
        what_(what),
        kind_(std::move(kind)),
        interner_(interner),
        limits_(limits) {}

  void begin(int code, const net::HttpHeaders& headers) {
    code_ = code;
    content_type_ = std::string(headers.find("Content-Type").value_or(""));
    if (code != 200 || feed_->abandoned()) return;
    const std::optional<WireFormat> format = wire_format(content_type_);
    if (!format) {
      return finish(StreamEnd::How::kUnreadable,
                    unreadable({ErrorKind::kInvalid,
                                fmt::format("an answer of the content type \"{}\" cannot be read",
                                            content_type_)}));
    }
    if (what_ == OpenStream::What::kList) {
      list_ = ListReader::make(*format, kind_, interner_, limits_.max_event);
    } else {
      watch_ = WatchReader::make(*format, kind_, interner_, limits_.max_event);
    }
  }

  void chunk(std::string_view bytes) {
    if (finished_ || feed_->abandoned()) return;
    if (watch_) {
      read_watch(bytes);
    } else if (list_) {
      list_->add(bytes, events_);
      feed_->hand_over(events_);
      if (list_->error()) finish(StreamEnd::How::kUnreadable, unreadable(*list_->error()));
    } else {
      refusal_.append(bytes.substr(0, limits_.max_refusal - refusal_.size()));
    }
  }

  void end(Result<void> how) {
    if (finished_ || feed_->abandoned()) return;
    if (code_ == 0) {
      Error error = how ? Error{ErrorKind::kUnavailable, "no answer"} : std::move(how).error();
      return finish(StreamEnd::How::kNoAnswer, {std::move(error), {}});
    }
    if (code_ != 200)
      return finish(StreamEnd::How::kRefused, failure_of(code_, content_type_, refusal_));
    if (!how) return finish(StreamEnd::How::kCut, {std::move(how).error(), {}});
    if (list_) return finish_list();
    if (!watch_->at_boundary())
      return finish(StreamEnd::How::kCut,
                    {{ErrorKind::kUnavailable, "the stream ended within an event"}, {}});
    finish(StreamEnd::How::kDone, {});
  }

 private:
  void read_watch(std::string_view bytes) {
    watch_->add(bytes, events_);
    std::optional<ApiFailure> failure;
    if (!events_.empty() && events_.back().type == WatchedEvent::Type::kError) {
      failure = failure_in(std::move(events_.back().detail->status));
      events_.pop_back();
    }
    for (const WatchedEvent& event : events_)
      if (event.type == WatchedEvent::Type::kBookmark && event.detail->header.initial_events_end)
        listed_ = true;
    const std::size_t waiting = feed_->hand_over(events_);
    if (failure) return finish(StreamEnd::How::kRefused, *std::move(failure));
    if (watch_->error()) return finish(StreamEnd::How::kUnreadable, unreadable(*watch_->error()));
    // What is listed has to be held in any case; changes can be asked for again.
    const bool can_wait = what_ == OpenStream::What::kWatch || listed_;
    if (can_wait && waiting > limits_.max_waiting) {
      finish(StreamEnd::How::kBehind,
             {{ErrorKind::kUnavailable, fmt::format("{} events wait to be applied", waiting)}, {}});
    }
  }

  void finish_list() {
    Result<ListMeta> meta = list_->finish();
    if (!meta) {
      const auto how = meta.error().kind == ErrorKind::kUnavailable ? StreamEnd::How::kCut
                                                                    : StreamEnd::How::kUnreadable;
      return finish(how, unreadable(std::move(meta).error()));
    }
    finished_ = true;
    feed_->finish({StreamEnd::How::kDone, {}, *std::move(meta)});
  }

  void finish(StreamEnd::How how, ApiFailure failure) {
    finished_ = true;
    feed_->finish({how, std::move(failure), {}});
  }

  const std::shared_ptr<StreamFeed> feed_;
  const OpenStream::What what_;
  const StreamedKind kind_;
  Interner& interner_;
  const StreamLimits limits_;

  int code_ = 0;
  std::string content_type_;
  std::unique_ptr<WatchReader> watch_;
  std::unique_ptr<ListReader> list_;
  std::string refusal_;
  std::vector<WatchedEvent> events_;
  bool listed_ = false;
  bool finished_ = false;
};

}  // namespace

// ---- OpenStream

OpenStream::OpenStream(Loop& loop, ApiClient& client, ApiCall call, What what, StreamedKind kind,
                       Interner& interner, const StreamLimits& limits, telemetry::Gauge* queued)
    : client_(client), feed_(std::make_shared<StreamFeed>(loop, queued)) {
  const auto receiver = std::make_shared<Receiver>(feed_, what, std::move(kind), interner, limits);
  net::HttpStreamCallbacks callbacks;
  callbacks.begin = [receiver](int code, const net::HttpHeaders& headers) {
    receiver->begin(code, headers);
  };
  callbacks.chunk = [receiver](std::string_view bytes) { receiver->chunk(bytes); };
  callbacks.end = [receiver](Result<void> how) { receiver->end(std::move(how)); };
  id_ = client.stream(std::move(call), std::move(callbacks));
}

OpenStream::~OpenStream() {
  feed_->abandon();
  client_.cancel(id_);
}

}  // namespace berth::kube
