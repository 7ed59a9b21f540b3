#include "kube/event_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "kube/cancellable_sleep.h"

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

EventRecorder::EventRecorder(Loop& loop, ApiClient& client, Random random,
                             EventRecorderOptions options)
    : loop_(loop),
      client_(client),
      random_(random),
      options_(std::move(options)),
      delivery_(loop_, client_, random_.fork(), options_.log),
      backlog_(options_.most_series_waiting) {
  tasks_.spawn(discover());
  refresh_later();
  finish_later();
}

EventRecorder::~EventRecorder() {
  loop_.cancel(refresh_timer_);
  loop_.cancel(finish_timer_);
}

// ---- what happens -------------------------------------------------------------------------------

void EventRecorder::record(PodEvent event) {
  if (!event.pod || pods_ignored_) return;
  if (queue_.size() >= kMostQueued) {
    ++dropped_;
    tell_of_drop();
    return;
  }
  event.note = cut_note(std::move(event.note));
  std::string name = event_name(event.pod->name(), unique_time(), random_);
  queue_.push_back({std::move(event), loop_.wall_now(), std::move(name)});
  pump_soon();
}

void EventRecorder::record_lease_event(ObjectReference lease, std::string message) {
  CoreEventRequest event;
  event.namespace_name = lease.namespace_name.empty() ? "default" : lease.namespace_name;
  event.name = event_name(lease.name, unique_time(), random_);
  event.involved_object = std::move(lease);
  event.reason = "LeaderElection";
  event.message = cut_note(std::move(message));
  event.component = options_.component;
  event.first_timestamp = loop_.wall_now();
  event.last_timestamp = event.first_timestamp;
  event.count = 1;
  event.type = "Normal";
  event.reporting_controller = options_.component;
  send_core(std::move(event));
}

// Names are made of the time: no two events have the same.
WallTime EventRecorder::unique_time() {
  name_time_ = std::max(loop_.wall_now(), name_time_ + Duration(1));
  return name_time_;
}

// Upstream asks once, and takes a server that is not there yet for one without the API.
Task<void> EventRecorder::discover() {
  Duration pause = kShortestDiscoveryPause;
  for (;;) {
    ApiCall call;
    call.path = kEventsApi;
    call.urgency = Urgency::kLow;
    Task<ApiResult> calling = client_.call(std::move(call));
    const ApiResult answer = co_await calling;
    if (answer) {
      api_ = Api::kEvents;
      break;
    }
    const int code = answer.error().status.code;
    const bool no_such_api = code >= 400 && code < 500 && code != 401 && code != 408 && code != 429;
    if (no_such_api) {
      api_ = Api::kCore;
      break;
    }
    options_.log.error(answer.error().error.message,
                       "Unable to find out which events API there is (will retry)");
    SleepUntil paused(loop_, loop_.now() + jittered(pause, 0.25, random_));
    co_await paused;
    pause = std::min(pause * 2, kLongestDiscoveryPause);
  }
  pump_soon();
}

void EventRecorder::refresh_later() {
  refresh_timer_ = loop_.after(
      SeriesOfEvents::kRefreshEvery,
      [this] {
        write_again(series_.running());
        refresh_later();
      },
      TimerKind::kHousekeeping);
}

void EventRecorder::finish_later() {
  finish_timer_ = loop_.after(
      SeriesOfEvents::kFinishAfter,
      [this] {
        write_again(series_.take_finished(loop_.wall_now()));
        finish_later();
      },
      TimerKind::kHousekeeping);
}

void EventRecorder::write_again(const std::vector<Occurrence>& occurrences) {
  for (const Occurrence& occurrence : occurrences) {
    EventLetter letter = letter_of(occurrence);
    if (!backlog_.find(letter.name) && backlog_.size() == options_.most_series_waiting) {
      ++dropped_;
      tell_of_drop();
    }
    const std::string name = letter.name;
    backlog_.set(name, std::move(letter));
  }
  pump_soon();
}

void EventRecorder::tell_of_drop() {
  if (drops_told_at_ && loop_.now() - *drops_told_at_ < kDropsToldEvery) return;
  drops_told_at_ = loop_.now();
  options_.log.error(std::nullopt, "Unable to record event: too many queued events, dropped event",
                     {{"dropped", dropped_ - dropped_told_}, {"queued", queue_.size()}});
  dropped_told_ = dropped_;
}

// ---- from the queue to the server ----------------------------------------------------------------

void EventRecorder::pump_soon() {
  if (std::exchange(pump_posted_, true)) return;
  auto pumping = lifetime_.guard([this] {
    pump_posted_ = false;
    pump();
  });
  if (options_.gather > Duration::zero() && flushing_.empty())
    loop_.after(options_.gather, std::move(pumping));
  else
    loop_.post(std::move(pumping));
}

void EventRecorder::pump() {
  while (api_ != Api::kUndecided && sending_ < kSenders && !queue_.empty()) {
    Occurrence occurrence = std::move(queue_.front());
    queue_.pop_front();
    send(std::move(occurrence));
  }
  while (sending_ < kSenders && !backlog_.empty()) {
    ++sending_;
    tasks_.spawn(deliver(*backlog_.take_oldest()));
  }
  const Lifetime::Watch watch = lifetime_.watch();
  while (!watch.ended() && idle() && !flushing_.empty()) {
    Eventual<bool>* waiting = flushing_.back();
    flushing_.pop_back();
    waiting->set(true);  // this may destroy the recorder
  }
}

void EventRecorder::send(Occurrence occurrence) {
  if (api_ == Api::kEvents) {
    const std::optional<Occurrence> now = series_.add(std::move(occurrence));
    if (!now) return;
    ++sending_;
    tasks_.spawn(deliver(letter_of(*now)));
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

void EventRecorder::send_core(CoreEventRequest event) {
  std::optional<CoreEventCorrelator::Write> write = core_.add(std::move(event), loop_.now());
  if (!write) return;
  std::string body = body_of(write->event, client_.format());
  ++sending_;
  tasks_.spawn(deliver({kCoreApi, std::move(write->event.namespace_name),
                        std::move(write->event.name), std::move(body), std::move(write->patch)}));
}

EventLetter EventRecorder::letter_of(const Occurrence& occurrence) const {
  EventRequest request = request_of(occurrence, options_.hostname);
  std::string body = body_of(request, client_.format());
  return {kEventsApi, std::move(request.namespace_name), std::move(request.name), std::move(body),
          occurrence.series ? series_patch(*occurrence.series) : std::string()};
}

Task<void> EventRecorder::deliver(EventLetter letter) {
  Task<void> delivering = delivery_.deliver(std::move(letter));
  co_await delivering;
  --sending_;
  pump_soon();
}

Task<void> EventRecorder::flush(Duration limit) {
  if (idle()) co_return;
  Eventual<bool> over;
  const Flushing flushing(flushing_, over);
  if (options_.gather > Duration::zero()) pump();  // now, rather than then
  const ScopedTimer timer(loop_, loop_.now() + limit, [&over] { over.set(true); });
  co_await over;
}

}  // namespace berth::kube
