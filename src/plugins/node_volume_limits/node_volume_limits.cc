#include "plugins/node_volume_limits/node_volume_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/feature_gates.h"
#include "plugins/csi_translation.h"
#include "plugins/event_objects.h"
#include "plugins/node_volume_limits/attach_table.h"
#include "plugins/node_volume_limits/attachable.h"
#include "plugins/obstacles.h"
#include "plugins/storage_objects.h"

namespace berth::plugins {
namespace {

constexpr std::array<std::string_view, 1> kReasons = {"node(s) exceed max volume count"};
enum Reason : std::uint8_t { kTooMany };

// One driver's share of what the pod needs.
struct DriverShare {
  Symbol driver;  // empty: the symbol is not held, so no node names the driver
  std::string name;
  std::int32_t count = 0;
  bool is_required = false;  // by its CSIDriver: no pods that need it on nodes without it
};

// What the pod needs attached.
struct Wanted {
  std::optional<Error> error;
  AttachableVolumes volumes;  // sorted
  std::vector<DriverShare> shares;
};

Wanted wanted_on_node(const Cluster& cluster, const Pod& pod, bool has_csi_node) {
  Wanted wanted;
  const AttachableFinder finder(cluster, has_csi_node);
  if (Result<void> added = finder.add_new_pod(pod, wanted.volumes); !added) {
    wanted.error = std::move(added.error());
    return wanted;
  }
  make_set(wanted.volumes);
  for (const AttachableVolume& volume : wanted.volumes) {
    const auto share = std::ranges::find(wanted.shares, volume.driver(), &DriverShare::name);
    if (share != wanted.shares.end()) {
      ++share->count;
      continue;
    }
    const Ref<const CSIDriver> driver = find_csi_driver(cluster, volume.driver());
    wanted.shares.push_back({cluster.symbols().find(volume.driver()), std::string(volume.driver()),
                             1, driver && driver->prevent_scheduling_if_missing});
  }
  return wanted;
}

// How many volumes a driver has on a node, and how many more it would need.
struct DriverUse {
  std::int32_t limit = 0;
  std::int32_t attached = 0;
  std::int64_t missing = 0;

  bool exceeds() const { return missing > 0 && attached + missing > limit; }
};

// nullopt: the node does not limit the driver.
std::optional<DriverUse> driver_use(const DriverShare& share, const AttachedVolumes& attached,
                                    const Wanted& wanted, const CSINode& node) {
  std::optional<std::int32_t> limit;
  for (const CSINodeDriver& driver : node.drivers)
    if (driver.name == share.driver && driver.allocatable_count) limit = driver.allocatable_count;
  if (!limit) return std::nullopt;
  const auto missing = std::ranges::count_if(wanted.volumes, [&](const AttachableVolume& volume) {
    return volume.driver() == share.name && !std::ranges::binary_search(attached.by_pods, volume);
  });
  return DriverUse{*limit, attached.count(share.name), missing};
}

// Whether the volumes that the node does not have yet exceed a limit.
bool exceeds(const AttachedVolumes& attached, const Wanted& wanted, const CSINode& node) {
  return std::ranges::any_of(wanted.shares, [&](const DriverShare& share) {
    const std::optional<DriverUse> use = driver_use(share, attached, wanted, node);
    return use && use->exceeds();
  });
}

bool any_required(const Wanted& wanted) {
  return std::ranges::any_of(wanted.shares, &DriverShare::is_required);
}

// The first required driver that is not installed on the node; null if there is none.
const DriverShare* missing_driver(const Wanted& wanted, const CSINode* node) {
  for (const DriverShare& share : wanted.shares) {
    if (!share.is_required) continue;
    if (!node ||
        std::ranges::find(node->drivers, share.driver, &CSINodeDriver::name) == node->drivers.end())
      return &share;
  }
  return nullptr;
}

bool has_limits(const CSINode& node) {
  return std::ranges::any_of(node.drivers, [](const CSINodeDriver& driver) {
    return driver.allocatable_count.has_value();
  });
}

Code code_of(const Error& error) {
  return error.kind == ErrorKind::kNotFound ? Code::kUnschedulableAndUnresolvable : Code::kError;
}

std::string not_installed(const DriverShare& share) {
  return fmt::format("{} CSI driver is not installed on the node", share.name);
}

void judge(NodeRow row, const AttachedVolumes& attached, const Wanted& wanted, const CSINode& node,
           FilterPass& pass) {
  if (attached.error)
    pass.reject(row, Code::kError, {*attached.error});
  else if (exceeds(attached, wanted, node))
    pass.reject(row, Code::kUnschedulable, kTooMany);
}

// ---- obstacles

Obstacle limit_obstacle(const std::string& driver, const DriverUse& use) {
  return {.code = "VolumeLimitExceeded",
          .reason = std::string(kReasons[kTooMany]),
          .subject = driver,
          .text = fmt::format("driver {}: {} of {} volumes attached, needs {} more", driver,
                              use.attached, use.limit, use.missing),
          .facts = {{"driver", driver},
                    {"attached", std::to_string(use.attached)},
                    {"limit", std::to_string(use.limit)},
                    {"needed", std::to_string(use.missing)}},
          .distance = missing_part(use.missing, use.limit - use.attached)};
}

Obstacle driver_obstacle(const DriverShare& share) {
  return {.code = "DriverNotInstalled",
          .reason = not_installed(share),
          .subject = share.name,
          .text = fmt::format("driver {} is not installed on the node", share.name),
          .facts = {{"driver", share.name}}};
}

// The claim that cannot be found.
Obstacle lookup_obstacle(const Cluster& cluster, const Pod& pod, const Error& error) {
  for (const Volume& volume : pod.spec().volumes) {
    if (volume.source != VolumeSource::kPersistentVolumeClaim &&
        volume.source != VolumeSource::kEphemeral)
      continue;
    const std::string name = volume.source == VolumeSource::kEphemeral
                                 ? ephemeral_claim_name(pod, volume)
                                 : std::string(pod.text(volume.source_name));
    if (!find_claim(cluster, pod.namespace_name(), name))
      return missing_claim(pod, name, error.message);
  }
  return {.code = "ClaimNotFound",
          .reason = error.message,
          .subject = {},
          .text = error.message,
          .facts = {}};
}

}  // namespace

// What PreFilter leaves behind: it depends on the node only by whether that has a CSINode.
struct NodeVolumeLimits::WantedByNode {
  Wanted without_csi_node;
  Wanted with_csi_node;
};

NodeVolumeLimits::NodeVolumeLimits(const Cluster& cluster, bool needs_driver)
    : table_(std::make_unique<AttachTable>(cluster)), needs_driver_(needs_driver) {}
NodeVolumeLimits::~NodeVolumeLimits() = default;

NodeVolumeLimits::WantedByNode NodeVolumeLimits::wanted_by(const Cluster& cluster, const Pod& pod) {
  return {wanted_on_node(cluster, pod, false), wanted_on_node(cluster, pod, true)};
}

Result<std::unique_ptr<Plugin>> NodeVolumeLimits::create(const config::PluginArgs&,
                                                         const Handle& handle) {
  return std::make_unique<NodeVolumeLimits>(handle.cluster,
                                            handle.gates.enabled("VolumeLimitScaling"));
}

std::span<const std::string_view> NodeVolumeLimits::reasons() const { return kReasons; }

PreFilterResult NodeVolumeLimits::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  if (std::ranges::none_of(pod.spec().volumes,
                           [](const Volume& volume) { return may_attach(volume.source); }))
    return PreFilterResult::skip();
  // Parity: what is wrong with the pod's claims is told in Filter.
  cycle.put(*this, wanted_by(cycle.cluster(), pod));
  return PreFilterResult::success();
}

void NodeVolumeLimits::filter(const Cycle& cycle, FilterPass& pass) const {
  if (cycle.pod().spec().volumes.empty()) return;
  std::optional<WantedByNode> made;
  const WantedByNode* wanted = cycle.find<WantedByNode>(*this);
  if (!wanted) wanted = &made.emplace(wanted_by(cycle.cluster(), cycle.pod()));
  if (pass.nodes().on_trial())
    filter_on_trial(cycle, *wanted, pass);
  else
    filter_kept(cycle, *wanted, pass);
}

// Few rows, and nothing of what is seen there may be kept.
void NodeVolumeLimits::filter_on_trial(const Cycle& cycle, const WantedByNode& by_node,
                                       FilterPass& pass) const {
  pass.feasible().for_each([&](NodeRow row) {
    const Ref<const CSINode> node = find_csi_node(cycle.cluster(), pass.nodes().name_text(row));
    const Wanted& wanted = node ? by_node.with_csi_node : by_node.without_csi_node;
    if (wanted.error) return pass.reject(row, code_of(*wanted.error), {wanted.error->message});
    if (wanted.volumes.empty()) return;
    if (needs_driver_)
      if (const DriverShare* share = missing_driver(wanted, node.get()))
        return pass.reject(row, Code::kUnschedulable, {not_installed(*share)});
    if (node && has_limits(*node)) judge(row, table_->look_at(row), wanted, *node, pass);
  });
}

void NodeVolumeLimits::filter_kept(const Cycle& cycle, const WantedByNode& by_node,
                                   FilterPass& pass) const {
  table_->refresh();
  const auto reject_all = [&](const Error& error, bool has_csi_node) {
    const std::uint32_t listed = cycle.list_reasons({error.message});
    pass.feasible().for_each([&](NodeRow row) {
      if (table_->with_csi_node().contains(row) == has_csi_node)
        pass.reject_listed(row, code_of(error), listed);
    });
  };
  const Wanted& wanted = by_node.with_csi_node;
  if (by_node.without_csi_node.error) reject_all(*by_node.without_csi_node.error, false);
  if (wanted.error) reject_all(*wanted.error, true);
  if (needs_driver_ && (any_required(wanted) || any_required(by_node.without_csi_node)))
    pass.feasible().for_each([&](NodeRow row) {
      const CSINode* node = table_->csi_node(row);
      const DriverShare* share = missing_driver(node ? wanted : by_node.without_csi_node, node);
      if (share) pass.reject(row, Code::kUnschedulable, {not_installed(*share)});
    });

  // Without a CSINode there are no limits.
  if (wanted.error || wanted.volumes.empty()) return;
  struct Limited {
    std::span<const std::int32_t> limits;
    std::int32_t count;
  };
  std::vector<Limited> limited;
  for (const DriverShare& share : wanted.shares)
    if (const auto limits = table_->limits(share.driver); !limits.empty())
      limited.push_back({limits, share.count});
  NodeSet::for_each_common(pass.feasible(), table_->with_limits(), [&](NodeRow row) {
    const bool fits = std::ranges::all_of(limited, [&](const Limited& driver) {
      return std::int64_t{table_->at_most()[row]} + driver.count <= driver.limits[row];
    });
    if (fits && !table_->may_fail().contains(row)) return;
    judge(row, table_->attached(row), wanted, *table_->csi_node(row), pass);
  });
}

std::vector<Obstacle> NodeVolumeLimits::obstacles(const Cycle& cycle, NodeRow row) const {
  const WantedByNode* by_node = cycle.find<WantedByNode>(*this);
  if (!by_node || row == kNoRow) return {};
  const Ref<const CSINode> node = find_csi_node(cycle.cluster(), cycle.nodes().name_text(row));
  const Wanted& wanted = node ? by_node->with_csi_node : by_node->without_csi_node;
  if (wanted.error) return {lookup_obstacle(cycle.cluster(), cycle.pod(), *wanted.error)};
  std::vector<Obstacle> all;
  if (wanted.volumes.empty()) return all;
  if (needs_driver_)
    if (const DriverShare* share = missing_driver(wanted, node.get()))
      return {driver_obstacle(*share)};
  if (!node || !has_limits(*node)) return all;
  const bool on_trial = cycle.nodes().on_trial();
  if (!on_trial) table_->refresh();
  AttachedVolumes looked_at;
  if (on_trial) looked_at = table_->look_at(row);
  const AttachedVolumes& attached = on_trial ? looked_at : table_->attached(row);
  if (attached.error) return all;
  for (const DriverShare& share : wanted.shares)
    if (const std::optional<DriverUse> use = driver_use(share, attached, wanted, *node);
        use && use->exceeds())
      all.push_back(limit_obstacle(share.name, *use));
  return all;
}

// ---- events -------------------------------------------------------------------------------------

namespace {

Result<QueueingHint> after_csi_node_update(const Pod&, const AnyObject& before,
                                           const AnyObject& after) {
  const auto change = change_in<CSINode>(before, after);
  if (!change) return fail(change.error());
  if (!change->after) return QueueingHint::kSkip;
  const auto count_before = [&](Symbol name) {
    std::int32_t count = 0;
    if (change->before)
      for (const CSINodeDriver& driver : change->before->drivers)
        if (driver.name == name) count = driver.allocatable_count.value_or(0);
    return count;
  };
  for (const CSINodeDriver& driver : change->after->drivers)
    if (driver.allocatable_count.value_or(0) > count_before(driver.name))
      return QueueingHint::kQueue;
  return QueueingHint::kSkip;
}

Result<QueueingHint> after_attached_pod_delete(const Pod&, const AnyObject& before,
                                               const AnyObject& after) {
  const Result<const Pod*> deleted = deleted_assigned_pod(before, after);
  if (!deleted) return fail(deleted.error());
  const Pod* gone = *deleted;
  if (!gone || (gone->node().empty() && gone->nominated_node().empty())) return QueueingHint::kSkip;
  return queue_if(std::ranges::any_of(
      gone->spec().volumes, [](const Volume& volume) { return may_attach(volume.source); }));
}

Result<QueueingHint> after_limited_claim_add(const Pod& pod, const AnyObject& before,
                                             const AnyObject& after) {
  const auto change = change_in<PersistentVolumeClaim>(before, after);
  if (!change) return fail(change.error());
  const PersistentVolumeClaim* added = change->after;
  if (!added || added->namespace_name != pod.meta().namespace_name) return QueueingHint::kSkip;
  if (refers_to(pod, *added)) return QueueingHint::kQueue;
  return queue_if(std::ranges::any_of(pod.spec().volumes, [&](const Volume& volume) {
    return volume.source == VolumeSource::kEphemeral &&
           ephemeral_claim_name(pod, volume) == added->name;
  }));
}

Result<QueueingHint> after_attachment_delete(const Pod& pod, const AnyObject& before,
                                             const AnyObject& after) {
  const auto change = change_in<VolumeAttachment>(before, after);
  if (!change) return fail(change.error());
  if (!change->before) return QueueingHint::kSkip;
  const std::string_view attacher = change->before->symbols.text(change->before->attacher);
  for (const Volume& volume : pod.spec().volumes) {
    // Parity: claims of ephemeral volumes are not thought of.
    if (volume.source == VolumeSource::kPersistentVolumeClaim) return QueueingHint::kQueue;
    const InTreeVolumeType* type = in_tree_type(volume.source);
    if (!type) continue;
    if (Result<std::string> handle = csi_handle(volume, pod.symbols()); !handle)
      return fail(handle.error().kind, fmt::format("converting volume({}) from inline to csi: {}",
                                                   pod.text(volume.name), handle.error().message));
    if (type->driver == attacher) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

}  // namespace

std::optional<std::vector<EventRegistration>> NodeVolumeLimits::events_to_register() const {
  return {
      {{{EventResource::kCSINode, action::kAdd, {}}, {}},
       {{EventResource::kCSINode, action::kUpdate, {}}, after_csi_node_update, HintScope::kClass},
       {{EventResource::kAssignedPod, action::kDelete, {}},
        after_attached_pod_delete,
        HintScope::kClass},
       {{EventResource::kPersistentVolumeClaim, action::kAdd, {}}, after_limited_claim_add},
       {{EventResource::kVolumeAttachment, action::kDelete, {}},
        after_attachment_delete,
        HintScope::kClass}}};
}

}  // namespace berth::plugins
