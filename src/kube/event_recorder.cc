#include "kube/event_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "kube/cancellable_sleep.h"
#include "kube/core_event_correlator.h"
#include "kube/event_delivery.h"
#include "kube/event_series.h"
#include "kube/lru_map.h"

namespace berth::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::size_t kMostQueued = 1000;
// Requests at a time. While the server cannot be reached, each of them holds its event.
constexpr std::size_t kSenders = 32;
constexpr std::size_t kNoteLimit = 1024;
constexpr std::string_view kCut = " ...";
constexpr Duration kShortestDiscoveryPause = seconds(1);
constexpr Duration kLongestDiscoveryPause = seconds(30);
constexpr Duration kDropsToldEvery = minutes(1);

std::string cut_note(std::string note) {
  if (note.size() <= kNoteLimit) return note;
  std::size_t end = kNoteLimit - kCut.size();
  // Not within a character.
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xc0) == 0x80) --end;
  note.resize(end);
  return note += kCut;
}

// While this exists, a caller waits until all events are written.
class Flushing {
 public:
  Flushing(std::vector<Eventual<bool>*>& all, Eventual<bool>& own) : all_(all), own_(own) {
    all_.push_back(&own_);
  }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;
  ~Flushing() { std::erase(all_, &own_); }

 private:
  std::vector<Eventual<bool>*>& all_;
  Eventual<bool>& own_;
};

}  // namespace

struct EventRecorder::Parts {
  enum class Api : std::uint8_t { kUndecided, kEvents, kCore };

  Parts(Loop& on_loop, ApiClient& with_client, Random with_random, EventRecorderOptions with)
      : loop(on_loop),
        client(with_client),
        random(with_random),
        options(std::move(with)),
        delivery(loop, client, random.fork(), options.log),
        backlog(options.most_series_waiting) {}

  // ---- what happens
  void add(PodEvent event);
  void add_lease_event(ObjectReference lease, std::string message);
  Task<void> discover();
  void refresh_later();
  void finish_later();
  void write_again(const std::vector<Occurrence>& occurrences);

  // ---- from the queue to the server
  void pump_soon();
  void pump();
  void send(Occurrence occurrence);
  void send_core(CoreEventRequest event);
  EventLetter letter_of(const Occurrence& occurrence) const;
  Task<void> deliver(EventLetter letter);
  void tell_of_drop();
  bool idle() const { return queue.empty() && backlog.empty() && sending == 0; }

  // Names are made of the time: no two events have the same.
  WallTime unique_time() {
    name_time = std::max(loop.wall_now(), name_time + Duration(1));
    return name_time;
  }

  Loop& loop;
  ApiClient& client;
  Random random;
  EventRecorderOptions options;
  EventDelivery delivery;
  Api api = Api::kUndecided;
  std::deque<Occurrence> queue;
  // Series that are to be written again, by name, each as it was last; after all that is new.
  LruMap<std::string, EventLetter> backlog;
  std::size_t sending = 0;
  SeriesOfEvents series;
  CoreEventCorrelator core;
  WallTime name_time;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_told = 0;
  std::optional<TimePoint> drops_told_at;
  bool pump_posted = false;
  bool pods_ignored = false;
  std::vector<Eventual<bool>*> flushing;
  TimerId refresh_timer;
  TimerId finish_timer;
  Lifetime lifetime;
  TaskSet tasks;
};

// ---- what happens -------------------------------------------------------------------------------

void EventRecorder::Parts::add(PodEvent event) {
  if (!event.pod || pods_ignored) return;
  if (queue.size() >= kMostQueued) {
    ++dropped;
    tell_of_drop();
    return;
  }
  event.note = cut_note(std::move(event.note));
  std::string name = event_name(event.pod->name(), unique_time(), random);
  queue.push_back({std::move(event), loop.wall_now(), std::move(name)});
  pump_soon();
}

void EventRecorder::Parts::add_lease_event(ObjectReference lease, std::string message) {
  CoreEventRequest event;
  event.namespace_name = lease.namespace_name.empty() ? "default" : lease.namespace_name;
  event.name = event_name(lease.name, unique_time(), random);
  event.involved_object = std::move(lease);
  event.reason = "LeaderElection";
  event.message = cut_note(std::move(message));
  event.component = options.component;
  event.first_timestamp = loop.wall_now();
  event.last_timestamp = event.first_timestamp;
  event.count = 1;
  event.type = "Normal";
  event.reporting_controller = options.component;
  send_core(std::move(event));
}

// Upstream asks once, and takes a server that is not there yet for one without the API.
Task<void> EventRecorder::Parts::discover() {
  Duration pause = kShortestDiscoveryPause;
  for (;;) {
    ApiCall call;
    call.path = kEventsApi;
    call.urgency = Urgency::kLow;
    Task<ApiResult> calling = client.call(std::move(call));
    const ApiResult answer = co_await calling;
    if (answer) {
      api = Api::kEvents;
      break;
    }
    const int code = answer.error().status.code;
    const bool no_such_api = code >= 400 && code < 500 && code != 401 && code != 408 && code != 429;
    if (no_such_api) {
      api = Api::kCore;
      break;
    }
    options.log.error(answer.error().error.message,
                      "Unable to find out which events API there is (will retry)");
    SleepUntil paused(loop, loop.now() + jittered(pause, 0.25, random));
    co_await paused;
    pause = std::min(pause * 2, kLongestDiscoveryPause);
  }
  pump_soon();
}

void EventRecorder::Parts::refresh_later() {
  refresh_timer = loop.after(
      SeriesOfEvents::kRefreshEvery,
      [this] {
        write_again(series.running());
        refresh_later();
      },
      TimerKind::kHousekeeping);
}

void EventRecorder::Parts::finish_later() {
  finish_timer = loop.after(
      SeriesOfEvents::kFinishAfter,
      [this] {
        write_again(series.take_finished(loop.wall_now()));
        finish_later();
      },
      TimerKind::kHousekeeping);
}

void EventRecorder::Parts::write_again(const std::vector<Occurrence>& occurrences) {
  for (const Occurrence& occurrence : occurrences) {
    EventLetter letter = letter_of(occurrence);
    if (!backlog.find(letter.name) && backlog.size() == options.most_series_waiting) {
      ++dropped;
      tell_of_drop();
    }
    const std::string name = letter.name;
    backlog.set(name, std::move(letter));
  }
  pump_soon();
}

void EventRecorder::Parts::tell_of_drop() {
  if (drops_told_at && loop.now() - *drops_told_at < kDropsToldEvery) return;
  drops_told_at = loop.now();
  options.log.error(std::nullopt, "Unable to record event: too many queued events, dropped event",
                    {{"dropped", dropped - dropped_told}, {"queued", queue.size()}});
  dropped_told = dropped;
}

// ---- from the queue to the server ---------------------------------------------------------------

void EventRecorder::Parts::pump_soon() {
  if (std::exchange(pump_posted, true)) return;
  auto pumping = lifetime.guard([this] {
    pump_posted = false;
    pump();
  });
  if (options.gather > Duration::zero() && flushing.empty())
    loop.after(options.gather, std::move(pumping));
  else
    loop.post(std::move(pumping));
}

void EventRecorder::Parts::pump() {
  while (api != Api::kUndecided && sending < kSenders && !queue.empty()) {
    Occurrence occurrence = std::move(queue.front());
    queue.pop_front();
    send(std::move(occurrence));
  }
  while (sending < kSenders && !backlog.empty()) {
    ++sending;
    tasks.spawn(deliver(*backlog.take_oldest()));
  }
  const Lifetime::Watch watch = lifetime.watch();
  while (!watch.ended() && idle() && !flushing.empty()) {
    Eventual<bool>* waiting = flushing.back();
    flushing.pop_back();
    waiting->set(true);  // this may destroy the recorder
  }
}

void EventRecorder::Parts::send(Occurrence occurrence) {
  if (api == Api::kEvents) {
    const std::optional<Occurrence> now = series.add(std::move(occurrence));
    if (!now) return;
    ++sending;
    tasks.spawn(deliver(letter_of(*now)));
    return;
  }
  PodEvent& event = occurrence.event;
  CoreEventRequest old;
  old.namespace_name =
      event.pod->namespace_name().empty() ? "default" : event.pod->namespace_name();
  old.name = std::move(occurrence.name);
  old.involved_object = reference_to(*event.pod);
  old.reason = std::move(event.reason);
  old.message = std::move(event.note);
  old.component = event.reporting_controller;
  old.first_timestamp = occurrence.time;
  old.last_timestamp = occurrence.time;
  old.count = 1;
  old.type = event.type == EventType::kWarning ? "Warning" : "Normal";
  old.reporting_controller = std::move(event.reporting_controller);
  send_core(std::move(old));
}

void EventRecorder::Parts::send_core(CoreEventRequest event) {
  std::optional<CoreEventCorrelator::Write> write = core.add(std::move(event), loop.now());
  if (!write) return;
  std::string body = body_of(write->event, client.format());
  ++sending;
  tasks.spawn(deliver({kCoreApi, std::move(write->event.namespace_name),
                       std::move(write->event.name), std::move(body), std::move(write->patch)}));
}

EventLetter EventRecorder::Parts::letter_of(const Occurrence& occurrence) const {
  EventRequest request = request_of(occurrence, options.hostname);
  std::string body = body_of(request, client.format());
  return {kEventsApi, std::move(request.namespace_name), std::move(request.name), std::move(body),
          occurrence.series ? series_patch(*occurrence.series) : std::string()};
}

Task<void> EventRecorder::Parts::deliver(EventLetter letter) {
  Task<void> delivering = delivery.deliver(std::move(letter));
  co_await delivering;
  --sending;
  pump_soon();
}

// ---- the recorder itself ------------------------------------------------------------------------

EventRecorder::EventRecorder(Loop& loop, ApiClient& client, Random random,
                             EventRecorderOptions options)
    : parts_(std::make_unique<Parts>(loop, client, random, std::move(options))) {
  parts_->tasks.spawn(parts_->discover());
  parts_->refresh_later();
  parts_->finish_later();
}

EventRecorder::~EventRecorder() {
  parts_->loop.cancel(parts_->refresh_timer);
  parts_->loop.cancel(parts_->finish_timer);
}

void EventRecorder::record(PodEvent event) { parts_->add(std::move(event)); }

void EventRecorder::ignore_pods() { parts_->pods_ignored = true; }

void EventRecorder::record_lease_event(ObjectReference lease, std::string message) {
  parts_->add_lease_event(std::move(lease), std::move(message));
}

Task<void> EventRecorder::flush(Duration limit) {
  if (parts_->idle()) co_return;
  Eventual<bool> over;
  const Flushing flushing(parts_->flushing, over);
  if (parts_->options.gather > Duration::zero()) parts_->pump();  // now, rather than then
  const ScopedTimer timer(parts_->loop, parts_->loop.now() + limit, [&over] { over.set(true); });
  co_await over;
}

std::uint64_t EventRecorder::dropped() const { return parts_->dropped; }

}  // namespace berth::kube
