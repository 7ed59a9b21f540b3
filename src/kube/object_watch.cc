#include "kube/object_watch.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "kube/cancellable_sleep.h"
#include "kube/json_stream.h"
#include "kube/reflector.h"
#include "net/http_message.h"

namespace berth::kube {
namespace {

// The server ends a watch after 5 to 10 minutes; one that it does not end is given up later.
constexpr std::uint64_t kObjectWatchSeconds = 300;
constexpr Duration kObjectWatchGrace = std::chrono::seconds(60);
constexpr Duration kObjectListTimeout = std::chrono::seconds(60);
// A watch that ends sooner, and with nothing in it, is followed by a pause.
constexpr Duration kShortObjectWatch = std::chrono::seconds(1);
constexpr std::size_t kMaxEvent = std::size_t{16} << 20;
constexpr std::size_t kMaxRefusal = std::size_t{1} << 20;

std::string version_of(const JsonValue& object) {
  const JsonValue* metadata = object.find("metadata");
  const JsonValue* version = metadata ? metadata->find("resourceVersion") : nullptr;
  return version && version->kind == JsonValue::Kind::kString ? version->text : "";
}

}  // namespace

// The content of a stream so far. Filled on the world's loop, also when it is not read any more.
struct ObjectWatch::Stream {
  int code = 0;
  std::string content_type;
  std::string refusal;  // the body, if the code is not 200
  JsonLineReader lines{kMaxEvent};
  std::optional<Result<void>> ended;
  Eventual<bool>* waiting = nullptr;

  void wake() {
    if (waiting) std::exchange(waiting, nullptr)->set(true);
  }
};

// A stream, open for as long as this is; its bytes come to the world through the loop.
class ObjectWatch::Feed {
 public:
  Feed(Loop& loop, ApiClient& client, ApiCall call) : client_(client) {
    net::HttpStreamCallbacks callbacks;
    callbacks.begin = [&loop, stream = stream_](int code, const net::HttpHeaders& headers) {
      loop.post([stream, code, type = std::string(headers.find("Content-Type").value_or(""))] {
        stream->code = code;
        stream->content_type = type;
      });
    };
    callbacks.chunk = [&loop, stream = stream_](std::string_view chunk) {
      loop.post([stream, bytes = std::string(chunk)] {
        if (stream->code == 200) {
          stream->lines.add(bytes);
        } else if (stream->refusal.size() < kMaxRefusal) {
          stream->refusal += bytes;
        }
        stream->wake();
      });
    };
    callbacks.end = [&loop, stream = stream_](Result<void> ended) {
      loop.post([stream, ended = std::move(ended)] {
        stream->ended = ended;
        stream->wake();
      });
    };
    id_ = client_.stream(std::move(call), std::move(callbacks));
  }
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  ~Feed() {
    stream_->waiting = nullptr;
    if (!stream_->ended) client_.cancel(id_);
  }

  Stream& stream() { return *stream_; }

 private:
  ApiClient& client_;
  std::shared_ptr<Stream> stream_ = std::make_shared<Stream>();
  net::HttpCallId id_ = 0;
};

ObjectWatch::ObjectWatch(Loop& loop, ApiClient& client, Random random, std::string collection,
                         std::string name, Changed changed, telemetry::Log log)
    : loop_(loop),
      client_(client),
      random_(random),
      collection_(std::move(collection)),
      name_(std::move(name)),
      changed_(std::move(changed)),
      log_(std::move(log)) {}

Task<void> ObjectWatch::run(CancelToken cancel) {
  ReflectorBackoff backoff(random_.fork());
  while (!cancel.cancelled()) {
    const TimePoint began = loop_.now();
    events_ = 0;
    Task<Result<void>> step = version_.empty() ? list(cancel) : follow(cancel);
    const bool watched = !version_.empty();
    const Result<void> done = co_await step;
    if (cancel.cancelled()) co_return;
    const bool idle = watched && events_ == 0 && loop_.now() - began < kShortObjectWatch;
    if (!done) {
      log_.error(done.error().message, watched ? "Failed to watch" : "Failed to list",
                 {{"path", collection_}, {"name", name_}});
    }
    if (done && !idle) continue;
    Task<void> pause = sleep_until(loop_, loop_.now() + backoff.next(loop_.now()), cancel);
    co_await pause;
  }
}

ApiCall ObjectWatch::request(std::string query) const {
  ApiCall call;
  call.path = fmt::format("{}?fieldSelector={}{}", collection_,
                          net::escape(fmt::format("metadata.name={}", name_)), query);
  call.accept = "application/json";
  return call;
}

Task<Result<void>> ObjectWatch::list(CancelToken cancel) {
  ApiCall call = request("");
  call.timeout = kObjectListTimeout;
  Task<ApiResult> listing = client_.call(std::move(call), cancel);
  const ApiResult answer = co_await listing;
  if (!answer) co_return fail(answer.error().error);
  const Result<JsonValue> read = parse_json(answer->body);
  if (!read) co_return fail(read.error());
  const JsonValue* items = read->find("items");
  version_ = version_of(*read);
  if (version_.empty()) co_return fail(ErrorKind::kInvalid, "the list has no resourceVersion");
  const bool found = items && items->kind == JsonValue::Kind::kArray && !items->items.empty();
  synced_ = true;
  changed_(found ? &items->items.front() : nullptr);
  co_return Result<void>();
}

Task<Result<void>> ObjectWatch::follow(CancelToken cancel) {
  const std::uint64_t seconds = kObjectWatchSeconds + random_.below(kObjectWatchSeconds);
  ApiCall call =
      request(fmt::format("&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}"
                          "&watch=true",
                          net::escape(version_), seconds));
  call.timeout = std::chrono::seconds(seconds) + kObjectWatchGrace;
  const std::string path = call.path;
  Feed feed(loop_, client_, std::move(call));
  Stream& stream = feed.stream();
  for (;;) {
    while (const std::optional<std::string_view> line = stream.lines.next()) {
      Result<void> taken = take_event(*line);
      if (!taken || version_.empty()) co_return taken;
    }
    if (stream.lines.error()) co_return fail(*stream.lines.error());
    if (stream.ended) break;
    Eventual<bool> more;
    stream.waiting = &more;
    const CancelToken::Registration stop = cancel.on_cancel([&stream] { stream.wake(); });
    co_await more;
    if (cancel.cancelled()) co_return fail(ErrorKind::kCancelled, cancel.cause());
  }
  if (stream.code != 0 && stream.code != 200)
    co_return refused(failure_of(stream.code, stream.content_type, stream.refusal, "GET", path));
  co_return *stream.ended;
}

Result<void> ObjectWatch::take_event(std::string_view line) {
  const Result<JsonValue> event = parse_json(line);
  if (!event) return fail(event.error());
  const JsonValue* type = event->find("type");
  const JsonValue* object = event->find("object");
  if (!type || !object) return fail(ErrorKind::kInvalid, "a watch event without type or object");
  if (type->text == "ERROR") {
    const std::string status = to_json(*object);
    const Result<ApiStatus> said = read_api_status(status);
    if (!said) return fail(said.error());
    return refused({{ErrorKind::kInternal, said->message}, *said});
  }
  ++events_;
  if (std::string version = version_of(*object); !version.empty()) version_ = std::move(version);
  if (type->text == "ADDED" || type->text == "MODIFIED") changed_(object);
  if (type->text == "DELETED") changed_(nullptr);
  return {};
}

// A version that the server no longer has: lists again, which is no error.
Result<void> ObjectWatch::refused(const ApiFailure& failure) {
  if (!is_expired(failure.status)) return fail(failure.error);
  version_.clear();
  ++events_;
  return {};
}

}  // namespace berth::kube
