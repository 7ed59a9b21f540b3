#include "controllers/cron_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "base/go_quote.h"
#include "base/time_text.h"

namespace berth::controllers {
namespace {

using std::chrono::seconds;

// Parity: a little after the time, so that it is over.
constexpr Duration kAfterTheTime = std::chrono::milliseconds(100);
constexpr std::int64_t kManyMissed = 100;

WallTime whole_seconds(WallTime time) { return {std::chrono::floor<seconds>(time.since_epoch)}; }

bool names(const std::vector<JobName>& jobs, std::string_view uid) {
  return std::ranges::find(jobs, uid, &JobName::uid) != jobs.end();
}

// "Mon, 02 Jan 2006 15:04:05 UTC"
std::string rfc1123(WallTime time) {
  constexpr std::string_view kDays[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::int64_t moment = std::chrono::floor<seconds>(time.since_epoch).count();
  const std::int64_t day = moment / 86400;
  const std::string text = rfc3339(time);  // 2006-01-02T15:04:05Z
  const auto month = static_cast<std::size_t>((text[5] - '0') * 10 + text[6] - '1');
  return fmt::format("{}, {} {} {} {} UTC", kDays[static_cast<std::size_t>(day % 7)],
                     text.substr(8, 2), kMonths[month], text.substr(0, 4), text.substr(11, 8));
}

// As clocks there show it: "2026-07-01T08:00:00+02:00".
std::string local_time(WallTime time, const TimeZone& zone) {
  const std::int64_t moment = std::chrono::floor<seconds>(time.since_epoch).count();
  const std::int64_t offset = zone.offset_at(moment);
  std::string text = rfc3339(time + seconds(offset));
  if (offset == 0) return text;
  text.pop_back();
  const std::int64_t ahead = std::abs(offset);
  return fmt::format("{}{}{:02}:{:02}", text, offset < 0 ? '-' : '+', ahead / 3600,
                     ahead / 60 % 60);
}

}  // namespace

struct CronJobController::Plan {
  CronSchedule schedule;
  TimeZone zone;
  WallTime now;
  std::optional<WallTime> due;  // the last time that has come and no Job was made for
  std::int64_t missed = 0;      // about how many have
  bool never = false;           // there is no such time

  // Looks for `due` after `earliest`.
  void look_back(WallTime earliest) {
    const std::optional<WallTime> first = schedule.next(earliest, zone);
    const std::optional<WallTime> second = first ? schedule.next(*first, zone) : std::nullopt;
    never = !second;
    if (!second || now < *first) return;
    if (now < *second) {
      missed = 1;
      due = first;
      return;
    }
    // Parity: how many have passed is guessed from the first two, and so is where to look for the
    // last one, which may not be found when times are not equally far from each other.
    const Duration apart = *second - *first;
    missed = (now - *first) / apart + 1;
    for (std::optional<WallTime> time = schedule.next(*first + apart * (missed - 2), zone);
         time && *time <= now; time = schedule.next(*time, zone))
      due = time;
  }

  Duration until_next(const CronJob& cron) const {
    const WallTime from = due.value_or(cron.status.last_schedule.value_or(cron.created));
    std::optional<WallTime> time = schedule.next(from, zone);
    if (time && *time <= now) time = schedule.next(now, zone);
    return time ? *time + kAfterTheTime - now : Duration::max();
  }
};

std::optional<CronJobController::Plan> CronJobController::plan_for(const CronJob& cron) {
  const auto warn = [&](std::string_view reason, const std::string& message) {
    world_.record(cron, EventType::kWarning, reason, message);
    return std::nullopt;
  };
  Result<TimeZone> zone = TimeZone::load(cron.time_zone.value_or(""));
  if (!zone) {
    return warn("UnknownTimeZone", fmt::format("invalid timeZone: {}: {}",
                                               go_quoted(*cron.time_zone), zone.error().message));
  }
  if (cron.suspended) return std::nullopt;
  const Result<CronSchedule> schedule = CronSchedule::parse(cron.schedule);
  if (!schedule) {
    return warn("UnparseableSchedule",
                fmt::format("unparseable schedule: {} : {}", go_quoted(cron.schedule),
                            schedule.error().message));
  }
  Plan plan{*schedule, std::move(*zone), now(), std::nullopt, 0, false};
  WallTime earliest = cron.status.last_schedule.value_or(cron.created);
  if (cron.starting_deadline) earliest = std::max(earliest, plan.now + -*cron.starting_deadline);
  plan.look_back(earliest);
  if (plan.never) {
    return warn("InvalidSchedule",
                fmt::format("invalid schedule: {} : time difference between two schedules is less "
                            "than 1 second",
                            cron.schedule));
  }
  if (plan.missed > kManyMissed) {
    world_.record(cron, EventType::kWarning, "TooManyMissedTimes",
                  "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or "
                  "check clock skew");
  }
  return plan;
}

void CronJobController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  std::optional<CronJob> cron = world_.find(name.namespace_name, name.name);
  if (!cron) return;
  const std::vector<CronChild> jobs = world_.jobs_of(*cron);
  bool changed = note_jobs(*cron, jobs);
  if (!cron->terminating) {
    if (const std::optional<Plan> plan = plan_for(*cron)) {
      changed = run_due_job(*cron, *plan) || changed;
      if (const Duration left = plan->until_next(*cron); left < Duration::max())
        enqueue_after(left, key);
    }
  }
  changed = forget_history(*cron, jobs) || changed;
  if (changed) world_.write_status(*cron);
}

bool CronJobController::note_jobs(CronJob& cron, const std::vector<CronChild>& jobs) {
  bool changed = false;
  std::vector<JobName>& active = cron.status.active;
  for (const CronChild& child : jobs) {
    const bool listed = names(active, child.job.uid);
    if (!listed && !child.finished()) {
      world_.record(cron, EventType::kWarning, "UnexpectedJob",
                    fmt::format("Saw a job that the controller did not create or forgot: {}",
                                child.job.name));
    } else if (listed && child.finished()) {
      std::erase_if(active, [&](const JobName& job) { return job.uid == child.job.uid; });
      world_.record(cron, EventType::kNormal, "SawCompletedJob",
                    fmt::format("Saw completed job: {}, condition: {}", child.job.name,
                                child.succeeded ? "Complete" : "Failed"));
      changed = true;
    }
    std::optional<WallTime>& last = cron.status.last_success;
    if (child.succeeded && child.completion && (!last || *last < *child.completion)) {
      last = child.completion;
      changed = true;
    }
  }
  for (const JobName& job : std::vector<JobName>(active)) {
    const bool there =
        std::ranges::any_of(jobs, [&](const CronChild& child) { return child.job.uid == job.uid; });
    if (there) continue;
    world_.record(cron, EventType::kNormal, "MissingJob",
                  fmt::format("Active job went missing: {}", job.name));
    std::erase_if(active, [&](const JobName& one) { return one.uid == job.uid; });
    changed = true;
  }
  return changed;
}

// Whether the status changed.
bool CronJobController::run_due_job(CronJob& cron, const Plan& plan) {
  if (!plan.due) return false;
  if (cron.starting_deadline && *plan.due + *cron.starting_deadline < plan.now) {
    world_.record(cron, EventType::kWarning, "MissSchedule",
                  fmt::format("Missed scheduled time to start a job: {}", rfc1123(*plan.due)));
    return false;
  }
  const std::string name = fmt::format(
      "{}-{}", cron.name, std::chrono::floor<std::chrono::minutes>(plan.due->since_epoch).count());
  std::vector<JobName>& active = cron.status.active;
  if (std::ranges::find(active, name, &JobName::name) != active.end() ||
      (cron.status.last_schedule && *cron.status.last_schedule == whole_seconds(*plan.due)))
    return false;
  if (cron.concurrency == CronConcurrency::kForbid && !active.empty()) {
    world_.record(cron, EventType::kNormal, "JobAlreadyActive",
                  "Not starting job because prior execution is running and concurrency policy is "
                  "Forbid");
    return false;
  }
  bool changed = false;
  if (cron.concurrency == CronConcurrency::kReplace) {
    changed = !active.empty();
    if (!make_room(cron)) return changed;
  }
  Result<JobName> created = world_.create_job(cron, name, local_time(*plan.due, plan.zone));
  if (!created) {
    if (created.error().kind == ErrorKind::kConflict) return changed;
    world_.record(cron, EventType::kWarning, "FailedCreate",
                  fmt::format("Error creating job: {}", created.error().message));
    enqueue_after(kRetryAfterRefusal, cron.key(), TimerKind::kHousekeeping);
    return changed;
  }
  world_.record(cron, EventType::kNormal, "SuccessfulCreate",
                fmt::format("Created job {}", created->name));
  active.push_back(std::move(*created));
  cron.status.last_schedule = plan.due;
  return true;
}

// Removes the Jobs that run. False: some stay.
bool CronJobController::make_room(CronJob& cron) {
  for (const JobName& job : std::vector<JobName>(cron.status.active))
    if (!remove_job(cron, job)) return false;
  return true;
}

bool CronJobController::remove_job(CronJob& cron, const JobName& job) {
  if (!world_.remove_job(cron, job)) {
    world_.record(cron, EventType::kWarning, "FailedDelete",
                  fmt::format("Deleted job: {}", job.name));
    enqueue_after(kRetryAfterRefusal, cron.key(), TimerKind::kHousekeeping);
    return false;
  }
  std::erase_if(cron.status.active, [&](const JobName& one) { return one.uid == job.uid; });
  world_.record(cron, EventType::kNormal, "SuccessfulDelete",
                fmt::format("Deleted job {}", job.name));
  return true;
}

bool CronJobController::forget_history(CronJob& cron, std::vector<CronChild> jobs) {
  std::ranges::sort(jobs, {}, [](const CronChild& child) {
    return std::tuple(!child.start.has_value(), child.start.value_or(WallTime{}),
                      std::string_view(child.job.name));
  });
  const auto remove_oldest = [&](bool CronChild::* how, const std::optional<std::int64_t>& kept) {
    if (!kept) return;
    std::int64_t surplus = std::ranges::count(jobs, true, how) - *kept;
    for (const CronChild& child : jobs)
      if (child.*how && surplus-- > 0) remove_job(cron, child.job);
  };
  const std::size_t before = cron.status.active.size();
  remove_oldest(&CronChild::succeeded, cron.successes_kept);
  remove_oldest(&CronChild::failed, cron.failures_kept);
  return cron.status.active.size() != before;
}

}  // namespace berth::controllers
