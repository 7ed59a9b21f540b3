#include "kube/leader_election.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kube/cancellable_sleep.h"

namespace berth::kube {
namespace {

constexpr double kJitter = 1.2;
// How long past the end of its lease a leader may be before it is reported as sick.
constexpr Duration kTolerance = std::chrono::seconds(20);

Duration jittered(Duration period, Random& random) {
  const double extra = static_cast<double>(period.count()) * kJitter * random.fraction();
  return saturating_add(period, Duration(static_cast<Duration::rep>(extra)));
}

std::int32_t whole_seconds(Duration duration) {
  return static_cast<std::int32_t>(
      std::min<Duration::rep>(std::chrono::duration_cast<std::chrono::seconds>(duration).count(),
                              std::numeric_limits<std::int32_t>::max()));
}

std::int32_t one_more(std::int32_t transitions) {
  return transitions == std::numeric_limits<std::int32_t>::max() ? transitions : transitions + 1;
}

// As finely as a lease has it, so that what comes back is equal to what was written.
WallTime in_microseconds(WallTime time) {
  return {std::chrono::floor<std::chrono::microseconds>(time.since_epoch)};
}

}  // namespace

LeaderElector::LeaderElector(Loop& loop, ApiClient& client, Random random,
                             LeaderElectionOptions options, LeaderCallbacks callbacks,
                             telemetry::Log log)
    : loop_(loop),
      random_(random),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      log_(std::move(log)),
      lock_(client, options_.namespace_name, options_.name,
            request_timeout(options_.renew_deadline)) {
  if (options_.metrics) options_.metrics->master_status.gauge({options_.metrics_name}).set(0);
}

Duration LeaderElector::request_timeout(Duration renew_deadline) {
  return std::max<Duration>(std::chrono::seconds(1), renew_deadline / 2);
}

// ---- the life of a candidate --------------------------------------------------------------------

Task<ElectionEnd> LeaderElector::run(CancelToken cancel) {
  Task<bool> acquiring = acquire(cancel);
  if (!co_await acquiring) {
    // Our name may have got there all the same.
    if (options_.release_on_cancel && (written_ || holds())) {
      Task<void> releasing = release();
      co_await releasing;
    }
    co_return ElectionEnd::kCancelled;
  }
  start_leading();
  Task<void> renewing = renew(cancel);
  co_await renewing;
  const ElectionEnd end = cancel.cancelled() ? ElectionEnd::kCancelled : ElectionEnd::kLost;
  stop_leading();
  if (options_.release_on_cancel) {
    Task<void> releasing = release_settled();
    co_await releasing;
  }
  record_event("stopped leading");
  co_return end;
}

Task<bool> LeaderElector::acquire(CancelToken cancel) {
  log_.info(0, "Attempting to acquire leader lease...", {{"lock", lock_.description()}});
  while (!cancel.cancelled()) {
    Task<bool> attempt = try_once(cancel);
    const bool acquired = co_await attempt;
    if (cancel.cancelled()) break;
    report_leader();
    // One that has run out before the answer came is none.
    if (acquired && loop_.now() < hold_until_.load()) co_return true;
    log_.info(4, "Failed to acquire lease", {{"lock", lock_.description()}});
    Task<void> pause =
        sleep_until(loop_, loop_.now() + jittered(options_.retry_period, random_), cancel);
    co_await pause;
  }
  co_return false;
}

// Until the lease is lost, or `cancel`.
Task<void> LeaderElector::renew(CancelToken cancel) {
  for (;;) {
    // Parity: the first round follows at once, as if the lease had not just been acquired.
    const TimePoint deadline = std::min(loop_.now() + options_.renew_deadline, hold_until_.load());
    Task<bool> renewing = renew_before(deadline, cancel);
    const bool renewed = co_await renewing;
    report_leader();
    if (cancel.cancelled()) co_return;
    if (!renewed) {
      log_.info(0, "Failed to renew lease",
                {{"lock", lock_.description()}, {"err", "context deadline exceeded"}});
      co_return;
    }
    log_.info(5, "Successfully renewed lease", {{"lock", lock_.description()}});
    Task<void> pause = sleep_until(
        loop_, std::min(loop_.now() + options_.retry_period, hold_until_.load()), cancel);
    co_await pause;
    if (cancel.cancelled()) co_return;
  }
}

// One round: tries, as often as retry_period allows, until one succeeds.
Task<bool> LeaderElector::renew_before(TimePoint deadline, CancelToken cancel) {
  CancelSource stop;
  const ScopedTimer timer(loop_, deadline, [&stop] { stop.cancel("context deadline exceeded"); });
  const CancelToken::Registration forwarded =
      cancel.on_cancel([&stop, cancel] { stop.cancel(cancel.cause()); });
  while (!stop.cancelled() && loop_.now() < deadline) {
    // From the beginning of one try to the beginning of the next.
    const TimePoint next = loop_.now() + options_.retry_period;
    Task<bool> attempt = try_once(stop.token());
    // An answer that comes when the lease may have run out is none.
    if (co_await attempt && loop_.now() < hold_until_.load()) co_return true;
    Task<void> pause = sleep_until(loop_, next, stop.token());
    co_await pause;
  }
  co_return false;
}

void LeaderElector::start_leading() {
  leading_ = true;
  record_event("became leader");
  if (options_.metrics) options_.metrics->master_status.gauge({options_.metrics_name}).set(1);
  log_.info(0, "Successfully acquired lease", {{"lock", lock_.description()}});
  if (callbacks_.on_started_leading) callbacks_.on_started_leading();
}

void LeaderElector::stop_leading() {
  leading_ = false;
  if (options_.metrics) options_.metrics->master_status.gauge({options_.metrics_name}).set(0);
  if (callbacks_.on_stopped_leading) callbacks_.on_stopped_leading();
}

// ---- one try ------------------------------------------------------------------------------------

Task<bool> LeaderElector::try_once(CancelToken cancel) {
  return options_.coordinated ? try_coordinated_renew(cancel) : try_acquire_or_renew(cancel);
}

Task<bool> LeaderElector::try_acquire_or_renew(CancelToken cancel) {
  const TimePoint now = loop_.now();

  // The leader's fast path: no other client should have written, so the version still fits.
  if (holds() && lease_valid(now)) {
    LeaseRecord renewal = own_record(observed_);
    renewal.acquire_time = observed_.acquire_time;
    renewal.transitions = observed_.transitions;
    Task<std::expected<void, ApiFailure>> updating = lock_.update(renewal, cancel);
    const std::expected<void, ApiFailure> updated = co_await updating;
    if (updated) {
      renewed(std::move(renewal), now);
      co_return true;
    }
    if (cancel.cancelled()) co_return false;
    log_.info(2, "Failed to update lease optimistically, falling back to slow path",
              {{"lock", lock_.description()}, {"err", updated.error().error.message}});
  }

  Task<std::expected<LeaseRecord, ApiFailure>> getting = lock_.get(cancel);
  const std::expected<LeaseRecord, ApiFailure> current = co_await getting;
  if (!current) {
    if (current.error().error.kind == ErrorKind::kNotFound) {
      Task<bool> creating = create_lease(cancel);
      co_return co_await creating;
    }
    if (!cancel.cancelled()) {
      log_.error(current.error().error.message, "Error retrieving lease lock",
                 {{"lock", lock_.description()}});
    }
    co_return false;
  }

  observe(*current);
  if (!current->holder.empty() && !holds() && lease_valid(now)) {
    log_.info(4, "Lease is held by and has not yet expired",
              {{"lock", lock_.description()}, {"holder", current->holder}});
    co_return false;
  }
  LeaseRecord record = own_record(*current);
  if (holds()) {
    record.acquire_time = current->acquire_time;
    record.transitions = current->transitions;
    count_slow_path();
  } else {
    record.transitions = one_more(current->transitions);
  }
  Task<bool> writing = write_lease(std::move(record), "Failed to update lease", cancel);
  co_return co_await writing;
}

// The lease is given by the API server; here it is only kept.
Task<bool> LeaderElector::try_coordinated_renew(CancelToken cancel) {
  const TimePoint now = loop_.now();
  Task<std::expected<LeaseRecord, ApiFailure>> getting = lock_.get(cancel);
  const std::expected<LeaseRecord, ApiFailure> current = co_await getting;
  if (!current) {
    if (cancel.cancelled()) co_return false;
    const Error& error = current.error().error;
    if (error.kind == ErrorKind::kNotFound) {
      log_.info(0, "Lease lock not found", {{"lock", lock_.description()}, {"err", error.message}});
    } else {
      log_.error(error.message, "Error retrieving lease lock", {{"lock", lock_.description()}});
    }
    co_return false;
  }

  observe(*current);
  if (observed_time_ + std::chrono::seconds(current->duration_seconds) < now) {
    log_.info(0, "Lease has expired", {{"lock", lock_.description()}});
    co_return false;
  }
  if (!holds()) {
    log_.info(6, "Lease is held and has not yet expired",
              {{"lock", lock_.description()}, {"holder", current->holder}});
    co_return false;
  }
  if (!current->preferred_holder.empty()) {
    log_.info(4, "Lease is marked as 'end of term'", {{"lock", lock_.description()}});
    co_return false;
  }
  LeaseRecord record = own_record(*current);
  record.acquire_time = current->acquire_time;
  record.transitions = current->transitions;
  record.strategy = current->strategy;
  count_slow_path();
  Task<bool> writing = write_lease(std::move(record), "Failed to update lock", cancel);
  co_return co_await writing;
}

Task<bool> LeaderElector::create_lease(CancelToken cancel) {
  LeaseRecord record = own_record({});
  const TimePoint sent = loop_.now();
  written_ = true;
  Task<std::expected<void, ApiFailure>> creating = lock_.create(record, cancel);
  const std::expected<void, ApiFailure> created = co_await creating;
  if (created) {
    renewed(std::move(record), sent);
    co_return true;
  }
  if (!cancel.cancelled()) {
    log_.error(created.error().error.message, "Error initially creating lease lock",
               {{"lock", lock_.description()}});
  }
  co_return false;
}

Task<bool> LeaderElector::write_lease(LeaseRecord record, std::string_view complaint,
                                      CancelToken cancel) {
  const TimePoint sent = loop_.now();
  written_ = true;
  Task<std::expected<void, ApiFailure>> updating = lock_.update(record, cancel);
  const std::expected<void, ApiFailure> updated = co_await updating;
  if (updated) {
    renewed(std::move(record), sent);
    co_return true;
  }
  if (!cancel.cancelled())
    log_.error(updated.error().error.message, complaint, {{"lock", lock_.description()}});
  co_return false;
}

// ---- going --------------------------------------------------------------------------------------

// A write of ours that arrives when a successor has begun is one that it does not know of.
Task<void> LeaderElector::release_settled() {
  const Duration limit = std::max(hold_until_.load() - loop_.now(), Duration::zero());
  if (callbacks_.settle) {
    Task<bool> settling = callbacks_.settle(limit);
    const bool settled = co_await settling;
    if (!settled) {
      log_.info(0, "Lease is not released because writes have not been answered",
                {{"lock", lock_.description()}});
      co_return;
    }
  }
  Task<void> releasing = release();
  co_await releasing;
}

Task<void> LeaderElector::release() {
  leading_ = false;
  written_ = false;
  CancelSource stop;
  const ScopedTimer timer(loop_, loop_.now() + options_.renew_deadline,
                          [&stop] { stop.cancel("context deadline exceeded"); });
  // A renewal that was given up a moment ago may still arrive and be in the way once.
  bool again = true;
  while (again && !stop.cancelled()) {
    Task<bool> releasing = release_once(stop.token());
    again = co_await releasing;
  }
}

// True when another client wrote at the same moment: worth another try.
Task<bool> LeaderElector::release_once(CancelToken cancel) {
  Task<std::expected<LeaseRecord, ApiFailure>> getting = lock_.get(cancel);
  const std::expected<LeaseRecord, ApiFailure> current = co_await getting;
  if (!current) {
    const Error& error = current.error().error;
    if (error.kind == ErrorKind::kNotFound) {
      log_.info(0, "lease lock not found", {{"lock", lock_.description()}});
    } else {
      log_.error(error.message, "error retrieving resource lock", {{"lock", lock_.description()}});
    }
    co_return false;
  }
  // Unlike upstream, the lease is read from the server, not taken as last seen: a successor's lease
  // is left alone.
  observe(*current);
  if (!holds()) co_return false;

  const WallTime now = in_microseconds(loop_.wall_now());
  LeaseRecord blank{.holder = {},
                    .duration_seconds = 1,
                    .acquire_time = now,
                    .renew_time = now,
                    .transitions = current->transitions,
                    .strategy = {},
                    .preferred_holder = {}};
  Task<std::expected<void, ApiFailure>> updating = lock_.update(blank, cancel);
  const std::expected<void, ApiFailure> updated = co_await updating;
  if (updated) {
    observe(std::move(blank));
    co_return false;
  }
  if (updated.error().error.kind == ErrorKind::kConflict) {
    log_.info(4, "Conflict when releasing lease, retrying", {{"lock", lock_.description()}});
    co_return true;
  }
  log_.error(updated.error().error.message, "Failed to release lease",
             {{"lock", lock_.description()}});
  co_return false;
}

// ---- what is known ------------------------------------------------------------------------------

// The record to write over `current` when beginning to lead. Others see a renewal by nothing but
// its time: it has to be another one each time, whatever the clock shows.
LeaseRecord LeaderElector::own_record(const LeaseRecord& current) const {
  WallTime now = in_microseconds(loop_.wall_now());
  if (now == current.renew_time) now = now + std::chrono::microseconds(1);
  return {.holder = options_.identity,
          .duration_seconds = whole_seconds(options_.lease_duration),
          .acquire_time = now,
          .renew_time = now,
          .transitions = 0,
          .strategy = {},
          .preferred_holder = {}};
}

bool LeaderElector::lease_valid(TimePoint now) const {
  return now < observed_time_ + std::chrono::seconds(observed_.duration_seconds);
}

void LeaderElector::observe(LeaseRecord record) {
  if (seen_ && record == observed_) return;
  seen_ = true;
  observed_ = std::move(record);
  observed_time_ = loop_.now();
  if (!holds()) write_until_ = TimePoint{};
}

// A record of ours has been written; the request was sent at `sent`.
void LeaderElector::renewed(LeaseRecord record, TimePoint sent) {
  hold_until_ = sent + std::chrono::seconds(record.duration_seconds);
  write_until_ = sent + options_.renew_deadline;
  renewed_at_ = loop_.now();
  seen_ = true;
  observed_ = std::move(record);
  observed_time_ = loop_.now();
}

void LeaderElector::report_leader() {
  if (observed_.holder == reported_leader_) return;
  reported_leader_ = observed_.holder;
  if (callbacks_.on_new_leader) callbacks_.on_new_leader(reported_leader_);
}

void LeaderElector::count_slow_path() {
  if (options_.metrics) options_.metrics->slowpath.counter({options_.metrics_name}).add();
}

void LeaderElector::record_event(std::string_view what) {
  if (callbacks_.on_event)
    callbacks_.on_event(lock_.reference(), fmt::format("{} {}", options_.identity, what));
}

WritePermit LeaderElector::write_permit() const {
  if (!leading()) return WritePermit::kDrop;
  return loop_.now() < write_until_.load() ? WritePermit::kSend : WritePermit::kWait;
}

Result<void> LeaderElector::healthy(TimePoint now) const {
  if (!leading_.load(std::memory_order_relaxed)) return {};
  const Duration since = now - renewed_at_.load(std::memory_order_relaxed);
  if (since <= saturating_add(options_.lease_duration, kTolerance)) return {};
  return fail(
      ErrorKind::kUnavailable,
      fmt::format("failed election to renew leadership on lease {}", options_.metrics_name));
}

std::string election_identity(std::string_view hostname, Random random) {
  // A random UUID is one of version 4, variant 1.
  const std::uint64_t high = (random.next() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = (random.next() & ~(3ULL << 62)) | (2ULL << 62);
  return fmt::format("{}_{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", hostname, high >> 32,
                     (high >> 16) & 0xffff, high & 0xffff, low >> 48, low & 0xffffffffffffULL);
}

}  // namespace berth::kube
