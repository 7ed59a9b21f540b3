#include "reservation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "base/check.h"
#include "config/load.h"
#include "door.h"
#include "framework/pods_in_pre_bind.h"
#include "manifests.h"
#include "plugins/table.h"

namespace berth::simulation {
namespace {

using namespace std::chrono_literals;

constexpr int kReservationLooks = 40;
constexpr int kDevices = 3;  // on each node
constexpr Duration kReservationMischief = 8min;
constexpr Duration kReservationRest = 60min;

// Lets the run see what the plugins share, and has no opinion about pods.
class Spyglass final : public PostBindPlugin {
 public:
  std::string_view name() const override { return "Spyglass"; }
  void post_bind(Cycle&, std::string_view) override {}
};

// Forgets to do what it is told.
class ForgetfulApi final : public Door {
 public:
  using Door::Door;
  Task<Result<void>> unreserve_claim(Ref<const Object>, std::string) override {
    co_return Result<void>();
  }
};

const ResourceClaim& as_claim(const Ref<const Object>& object) {
  return static_cast<const ResourceClaim&>(*object);
}
const PersistentVolumeClaim& as_volume_claim(const Ref<const Object>& object) {
  return static_cast<const PersistentVolumeClaim&>(*object);
}

// The claims of a pod, by name; of those made from a template the name is in the status.
std::vector<std::string> claims_of(const Pod& pod) {
  std::vector<std::string> names;
  for (const PodResourceClaim& entry : pod.spec().resource_claims) {
    if (!entry.claim_name.empty()) names.emplace_back(pod.text(entry.claim_name));
    if (entry.template_name.empty() || !pod.extra()) continue;
    for (const PodResourceClaimStatus& status : pod.extra()->resource_claim_statuses)
      if (status.name == pod.text(entry.name) && status.claim_name)
        names.push_back(*status.claim_name);
  }
  if (pod.extra() && pod.extra()->extended_resource_claim_status)
    names.push_back(pod.extra()->extended_resource_claim_status->claim_name);
  return names;
}

}  // namespace

ReservationRun::ReservationRun(std::uint64_t seed, PlantedReservationBug bug)
    : bug_(bug), random_(seed), timeline_(loop_), cluster_(loop_, sim::SimTiming{}) {
  cluster_.count_bindings();
  sim::VolumeRules rules;
  rules.provision = 3s;
  if (random_.chance(0.5)) rules.claims.push_back({"*-1", sim::VolumeRule::Outcome::kFail, 2, {}});
  if (random_.chance(0.5))
    rules.claims.push_back({"*-2", sim::VolumeRule::Outcome::kDone, {}, 90s});
  if (random_.chance(0.3)) rules.claims.push_back({"*-3", sim::VolumeRule::Outcome::kNever, 1, {}});
  volumes_ = std::make_unique<sim::VolumeController>(loop_, cluster_, interner_, std::move(rules));
  pods_ = std::make_unique<sim::PodWatch>(loop_, cluster_);
  claims_ = std::make_unique<sim::ResourceClaimController>(loop_, cluster_, *pods_, interner_);
  cluster_.set_fates([this](ApiCall call, const Pod&) { return fate_of(call); });
  cluster_.set_object_fates([this](ApiCall call, ObjectKind, const std::string& name) {
    const CallFate fate = fate_of(call);
    if (fate.error) refused_.insert(name);
    return fate;
  });
  cluster_.on_delta([this](const Delta& delta) {
    if (engine_) engine_->apply(delta);
  });
  cluster_.on_change([this](const Delta& delta) {
    if (!prints_) return;
    const double now = std::chrono::duration<double>(loop_.now().since_start).count();
    const char* how = delta.type == DeltaType::kAdded     ? "added"
                      : delta.type == DeltaType::kUpdated ? "updated"
                                                          : "deleted";
    if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object))
      fmt::print("{:8.3f}   {} pod {} on \"{}\"{}\n", now, how, (*pod)->name(), (*pod)->node_name(),
                 (*pod)->terminating() ? ", going" : "");
    const auto* object = std::get_if<Ref<const Object>>(&delta.object);
    if (!object || (*object)->kind != ObjectKind::kResourceClaim) return;
    const ResourceClaim& claim = as_claim(*object);
    std::string devices;
    if (claim.allocated())
      for (const DeviceRequestAllocationResult& result : claim.status.allocation->results)
        devices += fmt::format(" {}/{}", claim.symbols.text(result.pool),
                               claim.symbols.text(result.device));
    std::string consumers;
    for (const ResourceClaimConsumerReference& consumer : claim.status.reserved_for)
      consumers += " " + consumer.name;
    fmt::print("{:8.3f}   {} claim {} v{} has{} for{}{}\n", now, how, claim.name,
               claim.resource_version, devices, consumers, claim.deleting() ? ", going" : "");
  });
  if (bug_.loses_unreserve) buggy_api_ = std::make_unique<ForgetfulApi>(cluster_);
}

ReservationRun::~ReservationRun() {
  tracker_.reset();
  engine_.reset();  // its attempts refer to everything else
}

void ReservationRun::note(std::string_view what, std::string_view about) {
  ++report_.happened[std::string(what)];
  if (prints_)
    fmt::print("{:8.3f} {} {}\n", std::chrono::duration<double>(loop_.now().since_start).count(),
               what, about);
}

Duration ReservationRun::delay(Duration longest) {
  return Duration(
      static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(longest.count()) + 1)));
}

// What a scheduler finds when it begins: everything there is, and nothing of what it knew before.
void ReservationRun::start_scheduler() {
  plugins_ = plugins::make_plugin_table();
  EngineOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.seed = random_.next();
  PluginEntry entry;
  entry.name = "Spyglass";
  entry.create = [this](const config::PluginArgs&,
                        const Handle& handle) -> Result<std::unique_ptr<Plugin>> {
    tracker_ = plugins::ClaimTracker::of(handle);
    in_pre_bind_ = &handle.pods_in_pre_bind;
    return std::make_unique<Spyglass>();
  };
  BERTH_CHECK(plugins_.add(std::move(entry)).has_value());
  for (config::Profile& profile : options.configuration.profiles)
    profile.plugins.at(config::ExtensionPoint::kPostBind).enabled.push_back({"Spyglass", 0});
  Result<std::unique_ptr<Engine>> engine =
      Engine::make(loop_, interner_, plugins_, buggy_api_ ? *buggy_api_ : cluster_, timeline_,
                   std::move(options));
  BERTH_CHECK(engine.has_value());
  engine_ = std::move(*engine);
  for (AnyObject& object : cluster_.relist()) engine_->apply({DeltaType::kAdded, object});
  engine_->start();
}

// ---- the cluster

void ReservationRun::put(const std::string& json) {
  const Admission admission = cluster_.admission();
  const Result<AnyObject> object = decode_object(json, interner_, &admission);
  BERTH_CHECK(object.has_value());
  const Result<void> created = cluster_.create_object(*object);
  if (!created) static_cast<void>(cluster_.update_object(*object));
}

void ReservationRun::put_all(const std::vector<std::string>& manifests) {
  for (const std::string& manifest : manifests) put(manifest);
}

void ReservationRun::add_node(const std::string& name) {
  put_all(node_manifests(name));
  add_slice(name, ++nodes_[name]);
  // A disk that is only there.
  if (!cluster_.object(ObjectKind::kPersistentVolume, "", fmt::format("disk-{}", name)))
    put(disk_manifest(name));
}

void ReservationRun::add_slice(const std::string& node, std::int64_t generation) {
  put(slice_manifest(node, generation, kDevices));
}

void ReservationRun::build_cluster() {
  put_all(class_manifests());
  const std::uint64_t nodes = 2 + random_.below(3);
  for (std::uint64_t i = 1; i <= nodes; ++i) add_node(fmt::format("n{}", i));
  for (int i = 0; i < 6; ++i) add_pod();
}

void ReservationRun::add_pod() {
  const PodManifests made = pod_manifests(++made_, random_, {.priority = true});
  for (const std::string& claim : made.shared_claims)
    if (!cluster_.object(ObjectKind::kResourceClaim, "default", claim))
      put(shared_claim_manifest(claim));
  put_all(made.own_claims);
  note("create pod", made.summary);
  put(made.pod);
}

// ---- what goes wrong

CallFate ReservationRun::fate_of(ApiCall call) {
  static constexpr ErrorKind kKinds[] = {ErrorKind::kTimeout, ErrorKind::kUnavailable,
                                         ErrorKind::kInternal, ErrorKind::kConflict};
  CallFate fate;
  if (happens(0.15)) {
    // Who only reads is in nobody's way.
    const std::size_t kinds = std::size(kKinds) - (call == ApiCall::kGet ? 1 : 0);
    const ErrorKind kind = kKinds[random_.below(kinds)];
    fate.error = Error{kind, fmt::format("mischief: {} {}", to_string(call), to_string(kind))};
    // A server that says "conflict" has not written. A binding that is reported as failed and took
    // effect all the same has its reservations taken back, here as upstream: nobody can know.
    fate.takes_effect =
        kind != ErrorKind::kConflict && call != ApiCall::kBind && random_.chance(0.5);
    note(fate.takes_effect ? "write reported as failed" : "write failed", to_string(call));
  }
  if (happens(0.15)) fate.extra_delay = delay(5s);
  if (happens(0.15)) fate.answer_delay = delay(5s);
  if (call != ApiCall::kCreate && !fate.error) fate.takes_effect_twice = happens(0.03);
  return fate;
}

Ref<const Pod> ReservationRun::some_pod(bool bound) {
  std::vector<Ref<const Pod>> pods = cluster_.pods();
  std::erase_if(pods, [bound](const Ref<const Pod>& pod) {
    return pod->finished() || pod->terminating() || pod->node().empty() == bound;
  });
  return pods.empty() ? nullptr : pods[random_.below(pods.size())];
}

Ref<const Object> ReservationRun::some_object(ObjectKind kind) {
  const std::vector<Ref<const Object>> objects = cluster_.objects(kind);
  return objects.empty() ? nullptr : objects[random_.below(objects.size())];
}

void ReservationRun::something_happens() {
  struct Way {
    void (ReservationRun::*happen)();
    int weight;
  };
  static constexpr Way kWays[] = {
      {&ReservationRun::add_pod, 12},
      {&ReservationRun::delete_pod, 8},
      {&ReservationRun::finish_pod, 4},
      {&ReservationRun::delete_claim, 2},
      {&ReservationRun::delete_volume_claim, 2},
      {&ReservationRun::delete_volume, 1},
      {&ReservationRun::remove_slice, 1},
      {&ReservationRun::replace_slice, 2},
      {&ReservationRun::remove_node, 1},
      {&ReservationRun::bring_node_back, 2},
      {&ReservationRun::write_behind_the_back, 6},
      {&ReservationRun::preempt, 2},
      {&ReservationRun::lag_watch, 1},
      {&ReservationRun::scheduler_dies, 3},
  };
  std::uint64_t total = 0;
  for (const Way& way : kWays) total += static_cast<std::uint64_t>(way.weight);
  std::uint64_t drawn = random_.below(total);
  for (const Way& way : kWays) {
    if (drawn < static_cast<std::uint64_t>(way.weight)) return (this->*way.happen)();
    drawn -= static_cast<std::uint64_t>(way.weight);
  }
}

void ReservationRun::delete_pod() {
  const bool bound = random_.chance(0.5);
  const Ref<const Pod> pod = some_pod(bound);
  if (!pod) return;
  const bool binding = engine_->cluster().is_assumed(pod->uid());
  note(binding ? "delete binding pod"
       : bound ? "delete bound pod"
               : "delete pending pod",
       pod->name());
  static_cast<void>(cluster_.remove_object(ObjectKind::kPod, pod->namespace_name(), pod->name()));
}

void ReservationRun::finish_pod() {
  const Ref<const Pod> pod = some_pod(true);
  if (!pod) return;
  note("finish pod", pod->name());
  PodDraft draft = draft_of(*pod);
  draft.phase = PodPhase::kSucceeded;
  static_cast<void>(cluster_.update_object(make_pod(std::move(draft))));
}

void ReservationRun::delete_claim() {
  const Ref<const Object> claim = some_object(ObjectKind::kResourceClaim);
  if (!claim) return;
  note("delete claim", claim->name);
  static_cast<void>(cluster_.remove_object(claim->kind, namespace_of(*claim), claim->name));
}

// Claims that pods use are protected from deletion.
void ReservationRun::delete_volume_claim() {
  const Ref<const Object> claim = some_object(ObjectKind::kPersistentVolumeClaim);
  if (!claim) return;
  for (const Ref<const Pod>& pod : cluster_.pods())
    for (const Volume& volume : pod->spec().volumes)
      if (pod->text(volume.source_name) == claim->name && !pod->node().empty() && !pod->finished())
        return;
  note("delete volume claim", claim->name);
  static_cast<void>(cluster_.remove_object(claim->kind, namespace_of(*claim), claim->name));
}

void ReservationRun::delete_volume() {
  const Ref<const Object> object = some_object(ObjectKind::kPersistentVolume);
  if (!object) return;
  const auto& volume = static_cast<const PersistentVolume&>(*object);
  if (volume.phase == PersistentVolume::Phase::kBound) return;  // protected
  note(volume.claim_ref ? "delete chosen volume" : "delete free volume", volume.name);
  static_cast<void>(cluster_.remove_object(volume.kind, "", volume.name));
}

void ReservationRun::remove_slice() {
  const Ref<const Object> slice = some_object(ObjectKind::kResourceSlice);
  if (!slice) return;
  note("remove slice", slice->name);
  static_cast<void>(cluster_.remove_object(slice->kind, "", slice->name));
}

// A driver that publishes anew: the new generation first, then the old slice goes.
void ReservationRun::replace_slice() {
  std::vector<std::string> names;
  for (const auto& [name, generation] : nodes_)
    if (cluster_.object(ObjectKind::kNode, "", name)) names.push_back(name);
  if (names.empty()) return;
  const std::string& node = names[random_.below(names.size())];
  const std::int64_t old = nodes_[node]++;
  note("replace slice", node);
  add_slice(node, old + 1);
  static_cast<void>(
      cluster_.remove_object(ObjectKind::kResourceSlice, "", fmt::format("{}-{}", node, old)));
}

void ReservationRun::remove_node() {
  const Ref<const Object> node = some_object(ObjectKind::kNode);
  if (!node || cluster_.objects(ObjectKind::kNode).size() < 2) return;
  note("remove node", node->name);
  static_cast<void>(cluster_.remove_object(ObjectKind::kNode, "", node->name));
  // The pods on it are removed by whoever watches over nodes.
  for (const Ref<const Pod>& pod : cluster_.pods())
    if (pod->node_name() == node->name)
      static_cast<void>(
          cluster_.remove_object(ObjectKind::kPod, pod->namespace_name(), pod->name()));
}

void ReservationRun::bring_node_back() {
  for (const auto& [name, generation] : nodes_) {
    if (cluster_.object(ObjectKind::kNode, "", name)) continue;
    note("bring node back", name);
    const std::string node = name;
    static_cast<void>(cluster_.remove_object(ObjectKind::kResourceSlice, "",
                                             fmt::format("{}-{}", node, generation)));
    return add_node(node);
  }
}

// Somebody else writes a claim: the version that the scheduler knows is old by now.
void ReservationRun::write_behind_the_back() {
  static constexpr ObjectKind kKinds[] = {ObjectKind::kResourceClaim,
                                          ObjectKind::kPersistentVolumeClaim,
                                          ObjectKind::kPersistentVolume};
  const Ref<const Object> object = some_object(kKinds[random_.below(std::size(kKinds))]);
  if (!object) return;
  note("write behind the back", object->name);
  static_cast<void>(cluster_.update_object(Ref<const Object>(copy_of(*object))));
}

void ReservationRun::preempt() {
  const Ref<const Pod> pod = some_pod(false);
  if (!pod || !in_pre_bind_->cancel(pod->uid(), "preempted by mischief")) return;
  note("preempt in PreBind", pod->name());
}

void ReservationRun::lag_watch() {
  const Duration lag = random_.chance(0.5) ? 0s : delay(10s);
  note("watch lags", fmt::format("{}", lag / 1ms));
  cluster_.set_watch_lag(lag);
}

void ReservationRun::scheduler_dies() {
  note(engine_->cluster().assumed_count() > 0 ? "scheduler dies while it binds" : "scheduler dies",
       "");
  engine_->cluster().for_each_placed([this](const Pod& pod, NodeRow, bool assumed) {
    if (assumed) orphaned_.insert(pod.uid_text());
  });
  tracker_.reset();
  engine_.reset();
  start_scheduler();
}

// ---- the run

ReservationReport ReservationRun::run() {
  build_cluster();
  start_scheduler();
  const std::uint64_t happenings = 40 + random_.below(60);
  for (std::uint64_t i = 0; i < happenings; ++i)
    loop_.at(TimePoint{delay(kReservationMischief)}, [this] {
      if (!lifted_) something_happens();
    });
  for (int round = 1; round <= kReservationLooks; ++round) {
    loop_.run_until(TimePoint{kReservationMischief * round / kReservationLooks});
    if (!look(false)) return std::move(report_);
  }
  lifted_ = true;
  cluster_.set_watch_lag(0s);
  volumes_->forget_rules();
  loop_.run_until(TimePoint{kReservationMischief + kReservationRest});
  for (int steps = 0; steps < 100'000 && loop_.work_pending(); ++steps) loop_.step();
  if (bug_.gives_devices_twice) {
    const std::vector<Ref<const Object>> all = cluster_.objects(ObjectKind::kResourceClaim);
    for (const Ref<const Object>& from : all)
      for (const Ref<const Object>& to : all) {
        if (from == to || !as_claim(from).allocated()) continue;
        auto copy = make_ref<ResourceClaim>(as_claim(to));
        copy->status.allocation = as_claim(from).status.allocation;
        static_cast<void>(cluster_.update_object(Ref<const Object>(copy)));
      }
  }
  if (look(true)) look_for_leaks();
  return std::move(report_);
}

// ---- what must be true

void ReservationRun::violated(std::string text) {
  report_.violations.push_back(
      fmt::format("at {}s: {}", loop_.now().since_start / 1s, std::move(text)));
}

bool ReservationRun::look(bool at_rest) {
  look_at_devices();
  look_at_volumes();
  for (const auto& [uid, times] : cluster_.bindings())
    if (times > 1) violated("a pod is bound twice");
  if (at_rest) {
    look_at_reservations();
    look_at_bound_pods();
    const Cluster& cluster = engine_->cluster();
    if (cluster.assumed_count() != 0) violated("pods are still assumed");
    if (cluster.object_changes().assumed() != 0)
      violated(fmt::format("{} volumes or claims are still assumed",
                           cluster.object_changes().assumed()));
    if (cluster.assumed_claims().assumed_count() != 0)
      violated("resource claims are still assumed");
    if (tracker_->pending_count() != 0)
      violated(fmt::format("{} allocations are still in flight", tracker_->pending_count()));
    if (cluster.object_changes().watched() != 0) violated("somebody still waits for objects");
    if (engine_->tasks() != 0) violated("an attempt is left over");
  }
  return report_.violations.empty();
}

void ReservationRun::look_at_devices() {
  std::map<std::string, std::string> taken;  // by device: whose it is
  for (const Ref<const Object>& object : cluster_.objects(ObjectKind::kResourceClaim)) {
    const ResourceClaim& claim = as_claim(object);
    if (!claim.allocated()) continue;
    for (const DeviceRequestAllocationResult& result : claim.status.allocation->results) {
      const std::string device =
          fmt::format("{}/{}", claim.symbols.text(result.pool), claim.symbols.text(result.device));
      const auto [other, fresh] = taken.emplace(device, claim.name);
      if (!fresh)
        violated(fmt::format("{} is given to {} and to {}", device, other->second, claim.name));
    }
  }
}

void ReservationRun::look_at_volumes() {
  std::map<std::string, std::string> taken;
  for (const Ref<const Object>& object : cluster_.objects(ObjectKind::kPersistentVolumeClaim)) {
    const PersistentVolumeClaim& claim = as_volume_claim(object);
    if (claim.volume_name.empty()) continue;
    const auto [other, fresh] = taken.emplace(claim.volume_name, claim.name);
    if (!fresh)
      violated(
          fmt::format("{} is bound to {} and to {}", claim.volume_name, other->second, claim.name));
  }
}

void ReservationRun::look_at_reservations() {
  std::map<std::string, std::set<std::string>> users;  // by claim: UIDs of pods on nodes
  for (const Ref<const Pod>& pod : cluster_.pods())
    if (!pod->node().empty() && !pod->finished())
      for (const std::string& claim : claims_of(*pod)) users[claim].insert(pod->uid_text());
  for (const Ref<const Object>& object : cluster_.objects(ObjectKind::kResourceClaim)) {
    const ResourceClaim& claim = as_claim(object);
    std::set<std::string> reserved;
    for (const ResourceClaimConsumerReference& consumer : claim.status.reserved_for) {
      if (!reserved.insert(consumer.uid).second)
        violated(fmt::format("{} is reserved twice for {}", claim.name, consumer.name));
      if (users[claim.name].contains(consumer.uid) || may_be_left(claim, consumer)) continue;
      violated(
          fmt::format("{} is reserved for {}, which is on no node", claim.name, consumer.name));
    }
    for (const std::string& uid : users[claim.name])
      if (!reserved.contains(uid))
        violated(fmt::format("{} is used by {}, and not reserved for it", claim.name, uid));
  }
}

// A pod that waits may still have what it got before its scheduler died, or what could not be taken
// back because the write was refused: until it is bound or goes, as upstream. Also if it can never
// be bound because somebody is deleting the claim.
bool ReservationRun::may_be_left(const ResourceClaim& claim,
                                 const ResourceClaimConsumerReference& consumer) const {
  const Ref<const Pod> pod = cluster_.pod("default", consumer.name);
  if (!pod || pod->uid_text() != consumer.uid || pod->finished()) return false;
  return orphaned_.contains(consumer.uid) || refused_.contains("default/" + claim.name);
}

void ReservationRun::look_at_bound_pods() {
  for (const Ref<const Pod>& pod : cluster_.pods()) {
    if (pod->node().empty() || pod->finished() || pod->terminating()) continue;
    for (const std::string& name : claims_of(*pod)) {
      const Ref<const Object> claim = cluster_.object(ObjectKind::kResourceClaim, "default", name);
      if (!claim || !as_claim(claim).allocated()) {
        violated(fmt::format("{} runs without its claim {}", pod->name(), name));
        continue;
      }
      for (const DeviceRequestAllocationResult& result : as_claim(claim).status.allocation->results)
        if (as_claim(claim).symbols.text(result.pool) != pod->node_name())
          violated(fmt::format("{} runs on {}, its device is on {}", pod->name(), pod->node_name(),
                               as_claim(claim).symbols.text(result.pool)));
    }
    for (const Volume& volume : pod->spec().volumes) {
      const Ref<const Object> claim = cluster_.object(ObjectKind::kPersistentVolumeClaim, "default",
                                                      pod->text(volume.source_name));
      if (claim && !as_volume_claim(claim).fully_bound())
        violated(fmt::format("{} runs with an unbound volume", pod->name()));
    }
  }
}

// All pods go; then as many new ones as there are devices find one each.
void ReservationRun::look_for_leaks() {
  while (std::ranges::any_of(nodes_, [this](const auto& node) {
    return !cluster_.object(ObjectKind::kNode, "", node.first);
  }))
    bring_node_back();
  for (const auto& [node, generation] : nodes_)
    if (!cluster_.object(ObjectKind::kResourceSlice, "", fmt::format("{}-{}", node, generation)))
      add_slice(node, generation);
  for (const Ref<const Pod>& pod : cluster_.pods())
    static_cast<void>(cluster_.remove_at_once(ObjectKind::kPod, "default", pod->name()));
  loop_.run_until(loop_.now() + 20min);
  // Parity: a claim that was given back before anybody ran with it stays allocated. It is its
  // owner's to delete.
  for (const Ref<const Object>& claim : cluster_.objects(ObjectKind::kResourceClaim))
    static_cast<void>(cluster_.remove_object(claim->kind, "default", claim->name));
  loop_.run_until(loop_.now() + 20min);
  if (!cluster_.objects(ObjectKind::kResourceClaim).empty()) violated("claims do not go");
  const std::size_t devices = nodes_.size() * kDevices;
  for (std::size_t i = 0; i < devices; ++i)
    put(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"last-{}","namespace":"default"}},)"
        R"("spec":{{"resourceClaims":[{{"name":"dev","resourceClaimTemplateName":"one"}}],)"
        R"("containers":[{{"name":"c","image":"i"}}]}}}})",
        i));
  loop_.run_until(loop_.now() + 20min);
  std::size_t bound = 0;
  for (const Ref<const Pod>& pod : cluster_.pods())
    if (!pod->node().empty()) ++bound;
  if (bound != devices)
    violated(fmt::format("of {} devices only {} can still be used", devices, bound));
  static_cast<void>(look(true));
}

}  // namespace berth::simulation
