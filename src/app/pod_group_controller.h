// PodGroupController: keeps the status of Coscheduling's PodGroups at a real API server, so that no
// second program is needed for it. It follows the groups and the pods that name one, finished pods
// too, and writes what controllers/pod_group.h decides. World thread; only while this scheduler
// leads.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "api/coscheduling.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/random.h"
#include "berth/task.h"
#include "controllers/controller.h"
#include "kube/api_client.h"
#include "kube/reflectors.h"
#include "telemetry/log.h"

namespace berth::app {

class PodGroupController final : public controllers::Controller {
 public:
  // Its word in --controllers.
  static constexpr std::string_view kName = "podgroup-controller";

  PodGroupController(Loop& loop, kube::ApiClient& client, Interner& interner, Random random,
                     telemetry::Log log);

  void start();  // once
  void stop();

 private:
  struct Group {
    Ref<const CoschedulingPodGroup> object;                   // null: there is no such PodGroup
    std::map<std::string, Ref<const Pod>, std::less<>> pods;  // by name
  };

  void apply(const Delta& delta);
  void pod_changed(DeltaType type, const Ref<const Pod>& pod);
  void leave(const std::string& pod_key, std::string_view pod_name);
  void sync(const std::string& key) override;
  Task<void> write(std::string key, CoschedulingPodGroup::Status status);

  kube::ApiClient& client_;
  telemetry::Log log_;
  SymbolHold symbols_;
  const Symbol label_;
  std::map<std::string, Group, std::less<>> groups_;  // by "namespace/name"
  std::map<std::string, std::string> group_of_;       // by the pod's "namespace/name"
  std::set<std::string> being_written_;
  TaskSet tasks_;
  std::unique_ptr<kube::Reflectors> reflectors_;
};

}  // namespace berth::app
