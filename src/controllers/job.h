// JobController: pods of a template until enough of them have succeeded, or too many failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "controllers/controller.h"
#include "controllers/workload_world.h"

namespace berth::controllers {

class JobController final : public Controller {
 public:
  // What is passed by reference outlives it.
  JobController(Loop& loop, PodIndex& pods, WorkloadWorld& world);

 private:
  struct Tally;  // of a job's pods
  // Ended pods that were removed: they still count.
  struct Removed {
    std::string job_uid;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
  };

  void sync(const std::string& key) override;
  // A Job that is done goes when its time is over.
  void sync_finished(const Workload& job);
  Tally count(const Workload& job) const;
  // Whether the job is over, and how many pods it wants.
  void settle(const Workload& job, Tally& tally) const;
  static std::int64_t missing_pods(const Workload& job, const Tally& tally);
  void start_pods(const Workload& job, const Tally& tally);
  void stop_pods(const Workload& job, std::size_t how_many);

  void pod_changed(const PodFacts* before, const PodFacts* after);

  PodIndex& pods_;
  WorkloadWorld& world_;
  std::map<std::string, Removed> removed_;  // by the key of a Job that is not finished
};

}  // namespace berth::controllers
