// StatefulSetController: pods with numbers ("db-0", "db-1", …), one after the other or all at once,
// with a claim per volume template, replaced from the highest number down when the template
// changes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class StatefulSetController final : public Controller {
 public:
  StatefulSetController(LocalClient& api, PodIndex& pods);

 private:
  using Members = std::map<std::int64_t, const PodFacts*>;  // by number

  void sync(const std::string& key) override;
  Members members_of(const StoredObject& set) const;
  void bring_in_line(const StoredObject& set, const JsonValue& tree, const Members& members);
  void update_members(const StoredObject& set, const JsonValue& tree, const Members& members);
  bool start(const StoredObject& set, const JsonValue& tree, std::int64_t number);
  void stop(const StoredObject& set, const PodFacts& pod);
  void write_status(const StoredObject& set, const JsonValue& tree);

  PodIndex& pods_;
};

}  // namespace berth::memapi
