// The server's watches: how they begin, get bookmarks, and end. And the timers that repeat.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "memapi/api_server_state.h"

namespace berth::memapi {
namespace {

constexpr Duration kBookmarkInterval = std::chrono::minutes(1);
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds(2);
constexpr std::int64_t kDefaultWatchSeconds = 3600;
// How late an event may go.
constexpr Duration kMostEventDelay = std::chrono::minutes(1);
constexpr Duration kLeastEventDelay = std::chrono::seconds(1);

}  // namespace

void ApiServer::State::watch(const ApiRequest& request, const Responder& responder) {
  const Resource& resource = *request.resource;
  const auto refused = [&](const ApiError& error) { respond(responder, request, error); };
  if (auto fits = check_list_options(request, true); !fits) return refused(fits.error());
  Answer<Selection> selection = Selection::parse(resource, request.parameter("labelSelector"),
                                                 request.parameter("fieldSelector"));
  if (!selection) return refused(selection.error());
  const auto version = request.version("resourceVersion");
  if (!version) return refused(version.error());
  const auto seconds = request.number("timeoutSeconds");
  if (!seconds) return refused(seconds.error());

  WatchStart start;
  start.namespace_name = request.namespace_name;
  const bool initial_said = !request.parameter("sendInitialEvents").empty();
  start.initial_end = initial_said && request.flag("sendInitialEvents");
  if (!start.initial_end) {
    if (*version && **version > 0) {
      start.after = **version;
    } else if (initial_said) {
      start.after = store_.version();
    }
  }
  auto watcher = std::make_shared<Watcher>(
      resource, request.namespace_name, request.name, std::move(*selection), request.form,
      std::string(request.parameter("includeObject")), request.flag("allowWatchBookmarks"), views_,
      responder, request.custom);
  net::HttpHeaders headers;
  headers.add("Content-Type", std::string(Views::content_type(request.form, true)));
  headers.add("Cache-Control", "no-cache, private");
  metrics_.count(request, 200);
  responder->begin(200, std::move(headers));
  responder->on_gone([state = weak_from_this(), weak = std::weak_ptr(watcher)] {
    const auto gone = weak.lock();
    if (!gone) return;
    gone->abandon();
    if (const auto self = state.lock()) self->store_.unwatch(gone.get());
  });
  watcher->begin_after(start.after.value_or(0));
  if (!store_.watch(resource, start, watcher)) {
    const ApiError error = ApiError::expired(
        fmt::format("too old resource version: {} ({})", *start.after, store_.oldest(resource)));
    Answer<std::string> frame =
        views_.watch_event(request.form.encoding, "ERROR", to_json(error.to_status()));
    if (frame) static_cast<void>(responder->write(std::move(*frame)));
    watcher->end();
    return;
  }
  {
    const MutexLock lock(watchers_mutex_);
    std::erase_if(watchers_, [](const auto& one) { return one.expired(); });
    watchers_.push_back(watcher);
  }
  const std::int64_t length = std::clamp<std::int64_t>(
      seconds->value_or(0) > 0 ? **seconds : kDefaultWatchSeconds, 1, 86'400);
  limit_watch(request, watcher, std::chrono::seconds(length));
}

void ApiServer::State::limit_watch(const ApiRequest& request,
                                   const std::shared_ptr<Watcher>& watcher, Duration length) {
  loop_.post([this_weak = weak_from_this(), weak = std::weak_ptr(watcher),
              resource = request.resource, custom = request.custom, length, &loop = loop_] {
    if (weak.expired()) return;
    if (length > kBookmarkBeforeEnd) {
      loop.after(
          length - kBookmarkBeforeEnd,
          [this_weak, weak, resource, custom] {
            const auto self = this_weak.lock();
            const auto sink = weak.lock();
            if (self && sink) self->store_.bookmark(*resource, sink);
          },
          TimerKind::kHousekeeping);
    }
    loop.after(
        length,
        [this_weak, weak] {
          const auto self = this_weak.lock();
          const auto sink = weak.lock();
          if (!self || !sink) return;
          self->store_.unwatch(sink.get());
          sink->end();
        },
        TimerKind::kHousekeeping);
  });
}

void ApiServer::State::tick() {
  loop_.after(
      kBookmarkInterval,
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->store_.bookmark_all();
        self->tick();
      },
      TimerKind::kHousekeeping);
}

void ApiServer::State::tick_events() {
  if (options_.limits.event_ttl <= Duration::zero()) return;
  loop_.after(
      std::clamp(options_.limits.event_ttl / 60, kLeastEventDelay, kMostEventDelay),
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->store_.expire_events();
        self->tick_events();
      },
      TimerKind::kHousekeeping);
}

void ApiServer::State::end_watches() {
  std::vector<std::weak_ptr<Watcher>> all;
  {
    const MutexLock lock(watchers_mutex_);
    all.swap(watchers_);
  }
  for (const auto& weak : all) {
    const auto watcher = weak.lock();
    if (!watcher) continue;
    store_.unwatch(watcher.get());
    watcher->end();
  }
}

}  // namespace berth::memapi
