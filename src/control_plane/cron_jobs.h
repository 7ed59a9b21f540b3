// CronJobs of the embedded API server and their Jobs, as their controller (controllers/cron_job.h)
// sees them. World thread only.
#pragma once

#include "control_plane/controller.h"
#include "controllers/cron_job.h"

namespace berth::control_plane {

class CronJobs final : public ApiFollower, private controllers::CronJobWorld {
 public:
  explicit CronJobs(LocalClient& api);

 private:
  std::optional<controllers::CronJob> find(std::string_view namespace_name,
                                           std::string_view name) override;
  std::vector<controllers::CronChild> jobs_of(const controllers::CronJob& cron) override;
  Result<controllers::JobName> create_job(const controllers::CronJob& cron, const std::string& name,
                                          const std::string& scheduled) override;
  bool remove_job(const controllers::CronJob& cron, const controllers::JobName& job) override;
  void write_status(const controllers::CronJob& cron) override;
  void record(const controllers::CronJob& cron, controllers::EventType type,
              std::string_view reason, const std::string& message) override;

  controllers::CronJobController controller_;
};

}  // namespace berth::control_plane
