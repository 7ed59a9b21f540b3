// JobController: pods of a template until enough of them have succeeded, or too many failed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class JobController final : public Controller {
 public:
  JobController(LocalClient& api, PodIndex& pods);

 private:
  struct Tally;  // of a job's pods

  void sync(const std::string& key) override;
  Tally count(const StoredObject& job, const JsonValue& tree) const;
  void start_pods(const StoredObject& job, const JsonValue& tree, const Tally& tally);
  void stop_pods(const StoredObject& job, std::size_t how_many);
  void write_status(const StoredObject& job, const JsonValue& tree, const Tally& tally);

  PodIndex& pods_;
};

}  // namespace berth::memapi
