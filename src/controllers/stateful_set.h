// StatefulSetController: pods with numbers ("db-0", "db-1", …), one after the other or all at once,
// with a claim per volume template, replaced from the highest number down when the template
// changes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "controllers/controller.h"
#include "controllers/workload_world.h"

namespace berth::controllers {

class StatefulSetController final : public Controller {
 public:
  // What is passed by reference outlives it.
  StatefulSetController(Loop& loop, PodIndex& pods, WorkloadWorld& world);

 private:
  using Members = std::map<std::int64_t, PodFacts>;  // by number

  void sync(const std::string& key) override;
  Members members_of(const Workload& set) const;
  void bring_in_line(const Workload& set, const Members& members);
  void update_members(const Workload& set, const Members& members);
  bool start(const Workload& set, std::int64_t number);
  void stop(const Workload& set, const PodFacts& pod);
  void write_status(const Workload& set);

  PodIndex& pods_;
  WorkloadWorld& world_;
};

}  // namespace berth::controllers
