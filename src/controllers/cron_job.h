// CronJobController: Jobs at the times of a schedule, one beside, after or in place of the other,
// and how many of those that are done are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cron_schedule.h"
#include "berth/loop.h"
#include "berth/result.h"
#include "controllers/controller.h"
#include "controllers/workload_world.h"

namespace berth::controllers {

enum class CronConcurrency : std::uint8_t { kAllow, kForbid, kReplace };

// A Job that a CronJob's status names as running.
struct JobName {
  std::string name;
  std::string uid;
};

struct CronJobStatus {
  std::vector<JobName> active;
  std::optional<WallTime> last_schedule;
  std::optional<WallTime> last_success;
};

struct CronJob {
  std::string namespace_name;
  std::string name;
  std::string uid;
  WallTime created;
  bool terminating = false;
  std::string schedule;
  std::optional<std::string> time_zone;
  bool suspended = false;
  CronConcurrency concurrency = CronConcurrency::kAllow;
  std::optional<Duration> starting_deadline;
  std::optional<std::int64_t> successes_kept;
  std::optional<std::int64_t> failures_kept;
  CronJobStatus status;

  std::string key() const { return object_key(namespace_name, name); }
};

// One of its Jobs.
struct CronChild {
  JobName job;
  bool succeeded = false;  // has the condition Complete
  bool failed = false;     // has the condition Failed
  std::optional<WallTime> start;
  std::optional<WallTime> completion;

  bool finished() const { return succeeded || failed; }
};

// What the controller sees and does.
class CronJobWorld {
 public:
  virtual ~CronJobWorld() = default;

  virtual std::optional<CronJob> find(std::string_view namespace_name, std::string_view name) = 0;
  // The Jobs that it controls.
  virtual std::vector<CronChild> jobs_of(const CronJob& cron) = 0;
  // From its template. kConflict: there is one of that name.
  virtual Result<JobName> create_job(const CronJob& cron, const std::string& name,
                                     const std::string& scheduled) = 0;
  // False: refused.
  virtual bool remove_job(const CronJob& cron, const JobName& job) = 0;
  virtual void write_status(const CronJob& cron) = 0;
  virtual void record(const CronJob& cron, EventType type, std::string_view reason,
                      const std::string& message) = 0;
};

class CronJobController final : public Controller {
 public:
  // What is passed by reference outlives it. Whoever has the objects enqueues a CronJob when it or
  // one of its Jobs changes.
  CronJobController(Loop& loop, CronJobWorld& world) : Controller(loop), world_(world) {}

 private:
  struct Plan;  // a CronJob's schedule and what it means now

  void sync(const std::string& key) override;
  // Brings status.active in line with the Jobs. Whether the status changed.
  bool note_jobs(CronJob& cron, const std::vector<CronChild>& jobs);
  bool run_due_job(CronJob& cron, const Plan& plan);
  bool make_room(CronJob& cron);
  bool forget_history(CronJob& cron, std::vector<CronChild> jobs);
  bool remove_job(CronJob& cron, const JobName& job);
  std::optional<Plan> plan_for(const CronJob& cron);

  CronJobWorld& world_;
};

}  // namespace berth::controllers
