#include "kube/reflector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The server ends a watch after 5 to 10 minutes, at a random moment so that not all come at once;
// one that does not is given up a little later.
constexpr std::uint64_t kWatchSeconds = 300;
constexpr Duration kWatchGrace = seconds(60);
constexpr Duration kListTimeout = minutes(10);

// So many changes at once are worth a line in the log.
constexpr std::size_t kLargeBatch = 10'000;

using Parameters = std::vector<std::pair<std::string_view, std::string>>;

// Objects whose errors are remembered, so that they are not logged again.
constexpr std::size_t kMostUndecodableLogged = 1000;

// Without those that have no value.
std::string with_query(const std::string& path, const Parameters& parameters) {
  std::string out = path;
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    out += separator;
    out += name;
    out += '=';
    out += net::escape(value);
    separator = '&';
  }
  return out;
}

}  // namespace

// Measures how long the events are applied that came together.
class Reflector::Processing {
 public:
  explicit Processing(Reflector& reflector) : reflector_(reflector) {
    if (reflector_.informer_) start_ = reflector_.loop_.tick();
  }
  ~Processing() {
    if (reflector_.informer_)
      reflector_.informer_->processed(reflector_.loop_.tick() - start_, reflector_.version_);
  }
  Processing(const Processing&) = delete;
  Processing& operator=(const Processing&) = delete;

 private:
  Reflector& reflector_;
  TimePoint start_;
};

KeptText TextOptions::of(ObjectKind kind) const {
  if (!take) return KeptText::kNone;
  return kind == ObjectKind::kPod ? pods : kind == ObjectKind::kNode ? nodes : others;
}

Reflector::Reflector(Loop& loop, ApiClient& client, Interner& interner, Random random,
                     telemetry::Log log, WatchedKind kind, const ReflectorOptions& options,
                     const std::function<void(Delta)>& apply, std::function<void()> synced)
    : loop_(loop),
      client_(client),
      interner_(interner),
      random_(random),
      log_(std::move(log)),
      kind_(std::move(kind)),
      options_(options),
      tell_synced_(std::move(synced)),
      mirror_(KindMirror::make(
          kind_.kind, apply,
          options_.texts.of(kind_.kind) == KeptText::kNone ? nullptr : &options_.texts.take)),
      backoff_(random_.fork()),
      step_(relist()),
      undecodable_(kMostUndecodableLogged) {
  if (options_.metrics) informer_.emplace(*options_.metrics, kind_);
}

void Reflector::start() {
  log_.info(3, "Starting reflector",
            {{"type", kind_.type_name()}, {"resource", kind_.full_resource()}});
  tasks_.spawn(run());
}

void Reflector::stop() { tasks_.clear(); }

void Reflector::list_again() {
  tasks_.clear();
  mirror_->abandon_list();
  unavailable_ = true;  // so that no version is asked for
  trusts_versions_ = false;
  synced_ = false;
  step_ = relist();
  wait_ = Duration::zero();
  tasks_.spawn(run());
}

Task<void> Reflector::run() {
  while (true) {
    if (wait_ > Duration::zero()) {
      SleepUntil sleep(loop_, loop_.now() + std::exchange(wait_, Duration::zero()));
      co_await sleep;
    }
    if (step_ == Step::kPagedList) {
      Task<Followed> listing = list();
      const Followed followed = co_await listing;
      step_ = after_list(followed);
    } else {
      const bool initial = step_ == Step::kStreamingList;
      Task<Followed> following = follow(initial);
      const Followed followed = co_await following;
      step_ = initial ? after_streaming_list(followed) : after_watch(followed);
    }
  }
}

// ---- requests

std::string Reflector::list_version() const {
  if (unavailable_) return {};
  return version_.empty() ? "0" : version_;
}

ApiCall Reflector::watch_call(bool initial) {
  const std::uint64_t length = kWatchSeconds + random_.below(kWatchSeconds);
  ApiCall call;
  call.path = with_query(kind_.path(),
                         {{"allowWatchBookmarks", "true"},
                          {"fieldSelector", kind_.field_selector},
                          {"labelSelector", kind_.label_selector},
                          {"resourceVersion", initial && unavailable_ ? std::string() : version_},
                          {"resourceVersionMatch", initial ? "NotOlderThan" : ""},
                          {"sendInitialEvents", initial ? "true" : ""},
                          {"timeout", fmt::format("{}m{}s", length / 60, length % 60)},
                          {"timeoutSeconds", fmt::format("{}", length)},
                          {"watch", "true"}});
  if (kind_.custom) call.accept = kJsonContentType;
  call.timeout = seconds(length) + kWatchGrace;
  return call;
}

ApiCall Reflector::list_call(const std::string& version, const std::string& continue_token,
                             bool paged) const {
  ApiCall call;
  call.path = with_query(kind_.path(),
                         {{"continue", continue_token},
                          {"fieldSelector", kind_.field_selector},
                          {"labelSelector", kind_.label_selector},
                          {"limit", paged ? fmt::format("{}", options_.page_size) : std::string()},
                          // The continue token has the version.
                          {"resourceVersion", continue_token.empty() ? version : std::string()}});
  if (kind_.custom) call.accept = kJsonContentType;
  call.timeout = kListTimeout;
  return call;
}

// ---- streams

Task<Reflector::Followed> Reflector::follow(bool initial) {
  Followed followed;
  const TimePoint start = loop_.now();
  if (initial) mirror_->begin_list(trusts_versions_);
  OpenStream stream(loop_, client_, watch_call(initial),
                    initial ? OpenStream::What::kStreamingList : OpenStream::What::kWatch,
                    streamed_kind(), interner_, options_.limits, queued_items());
  while (true) {
    StreamFeed::Next next = stream.next();
    StreamBatch batch = co_await next;
    take(batch, initial, followed);
    if (!batch.end) continue;
    followed.end = *std::move(batch.end);
    break;
  }
  if (initial && !followed.listed) mirror_->abandon_list();
  followed.lasted = loop_.now() - start;
  co_return followed;
}

Task<Reflector::Followed> Reflector::list() {
  Followed followed;
  const std::string version = list_version();
  // A list at a version comes out of the server's memory, unless it is asked for in pages.
  bool paged = pages_ || version.empty() || version == "0";
  std::string token;
  std::string listed_version;
  mirror_->begin_list(trusts_versions_);
  while (true) {
    OpenStream stream(loop_, client_, list_call(version, token, paged), OpenStream::What::kList,
                      streamed_kind(), interner_, options_.limits, queued_items());
    std::optional<StreamEnd> end;
    while (!end) {
      StreamFeed::Next next = stream.next();
      StreamBatch batch = co_await next;
      for (WatchedEvent& event : batch.events) {
        note_undecodable(event);
        mirror_->listed(std::move(event));
      }
      followed.events += batch.events.size();
      end = std::move(batch.end);
    }
    followed.end = *std::move(end);
    if (followed.end.how != StreamEnd::How::kDone) {
      if (token.empty() || !is_expired(followed.end.failure.status)) break;
      // It took too long from page to page: all at once then.
      token.clear();
      listed_version.clear();
      paged = false;
      mirror_->begin_list(trusts_versions_);
      continue;
    }
    if (listed_version.empty()) listed_version = followed.end.list.resource_version;
    token = followed.end.list.continue_token;
    followed.listed = token.empty();
    if (followed.listed) break;
    if (version == "0") pages_ = true;
  }
  if (followed.listed) {
    const Processing processing(*this);
    list_applied(std::move(listed_version));
  } else {
    mirror_->abandon_list();
  }
  co_return followed;
}

void Reflector::take(StreamBatch& batch, bool initial, Followed& followed) {
  if (batch.events.empty()) return;
  const Processing processing(*this);
  followed.events += batch.events.size();
  if (batch.events.size() >= kLargeBatch && (!initial || followed.listed))
    log_.info(2, "Many changes came at once",
              {{"resource", kind_.full_resource()}, {"events", batch.events.size()}});
  for (WatchedEvent& event : batch.events) {
    note_undecodable(event);
    if (initial && !followed.listed) {
      take_initial(std::move(event), followed);
    } else {
      take_change(std::move(event));
    }
  }
}

void Reflector::take_initial(WatchedEvent event, Followed& followed) {
  if (event.type != WatchedEvent::Type::kBookmark) return mirror_->listed(std::move(event));
  if (!event.detail->header.initial_events_end) return;
  followed.listed = true;
  list_applied(std::string(event.version()));
}

void Reflector::take_change(WatchedEvent event) {
  const std::string version(event.version());
  // A watch goes from version to version: an event that is not beyond the last one was applied
  // before. (A deletion may come with the version that was deleted; the mirror knows better.)
  const bool told = !version.empty() && !is_newer_version(version, version_);
  if (event.type == WatchedEvent::Type::kBookmark) return advance(version);
  if (told && event.type != WatchedEvent::Type::kDeleted) return;
  mirror_->changed(std::move(event));
  advance(version);
}

void Reflector::advance(std::string_view version) {
  last_error_.clear();
  if (!version.empty() && is_newer_version(version, version_)) version_ = version;
}

void Reflector::list_applied(std::string version) {
  mirror_->finish_list();
  version_ = std::move(version);
  unavailable_ = false;
  trusts_versions_ = true;
  refusal_told_ = missing_told_ = false;
  last_error_.clear();
  log_.info(2, "Caches populated",
            {{"type", kind_.type_name()},
             {"resource", kind_.full_resource()},
             {"objects", mirror_->size()}});
  if (std::exchange(synced_, true)) return;
  tell_synced_();
}

// Counts it each time, and logs it once: until it is another error, or the object is among many.
void Reflector::note_undecodable(const WatchedEvent& event) {
  if (!event.detail || !event.detail->undecodable) return;
  if (options_.metrics)
    options_.metrics->undecodable_objects.counter({kind_.full_resource()}).add();
  const ObjectHeader& header = event.detail->header;
  const std::string& why = event.detail->undecodable->message;
  const std::string name = header.namespace_name + "/" + header.name;
  const std::string* logged = undecodable_.find(name);
  if (logged && *logged == why) return;
  undecodable_.set(name, why);
  log_.error(why, "An object cannot be read and is passed over",
             {{"resource", kind_.full_resource()},
              {"object", telemetry::LogValue::object(header.namespace_name, header.name)}});
}

}  // namespace berth::kube
