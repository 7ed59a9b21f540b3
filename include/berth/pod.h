// Pod: everything about a pod that scheduling reads, as an immutable value. Annotations are not kept: a
// plugin that needs a mark on pods takes a label.
//
// A cluster has a million pods but few kinds of them, so a pod is three parts:
//
//   Pod ──► PodSpec   what its containers ask for and where it may run; equal specs are one object
//       ──► PodMeta   namespace, labels, controller: shared by siblings
//       ──► PodExtra  only where there is something unusual in the status (rare)
//
// and itself only holds what is its own: name, UID, node, times. Make one with make_pod().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/labels.h"
#include "berth/loop.h"
#include "berth/node_selector.h"
#include "berth/object.h"
#include "berth/ref.h"
#include "berth/resources.h"
#include "berth/symbols.h"

namespace berth {

// A UID as 16 bytes. The usual form (lower-case RFC 4122) is kept as its bits; any other text as
// 128 bits of hash, with the text beside it in the pod.
struct Uid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  static Uid of(std::string_view text);
  bool empty() const { return high == 0 && low == 0; }
  friend auto operator<=>(const Uid&, const Uid&) = default;
};

// ---- the shared parts -------------------------------------------------------------------------

struct ContainerPort {
  std::int32_t container_port = 0;
  std::int32_t host_port = 0;
  Symbol protocol;  // "TCP" when the manifest names none
  Symbol host_ip;

  friend bool operator==(const ContainerPort&, const ContainerPort&) = default;
};

struct Container {
  Symbol name;
  Symbol image;
  ResourceList requests;
  ResourceList limits;
  std::vector<ContainerPort> ports;
  bool restart_always = false;      // of an init container: it is a sidecar
  bool restarts_all = false;        // a rule of its restart policy restarts all of the pod
  bool bind_mount_options = false;  // a volume mount has bindMountOptions

  friend bool operator==(const Container&, const Container&) = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  std::optional<LabelSelector> namespace_selector;
  std::vector<Symbol> namespaces;
  Symbol topology_key;
  std::vector<Symbol> match_label_keys;
  std::vector<Symbol> mismatch_label_keys;

  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct WeightedPodAffinityTerm {
  std::int32_t weight = 0;
  PodAffinityTerm term;

  friend bool operator==(const WeightedPodAffinityTerm&, const WeightedPodAffinityTerm&) = default;
};

struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;

  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

struct Affinity {
  std::optional<NodeAffinity> node;
  std::optional<PodAffinity> pod;
  std::optional<PodAffinity> pod_anti;

  friend bool operator==(const Affinity&, const Affinity&) = default;
};

enum class UnsatisfiableAction : std::uint8_t { kDoNotSchedule, kScheduleAnyway, kUnknown };
enum class NodeInclusionPolicy : std::uint8_t { kHonor, kIgnore };

struct TopologySpreadConstraint {
  std::int32_t max_skew = 1;
  Symbol topology_key;
  UnsatisfiableAction when_unsatisfiable = UnsatisfiableAction::kDoNotSchedule;
  std::optional<LabelSelector> label_selector;
  std::optional<std::int32_t> min_domains;
  std::optional<NodeInclusionPolicy> node_affinity_policy;  // default Honor
  std::optional<NodeInclusionPolicy> node_taints_policy;    // default Ignore
  std::vector<Symbol> match_label_keys;

  friend bool operator==(const TopologySpreadConstraint&,
                         const TopologySpreadConstraint&) = default;
};

enum class VolumeSource : std::uint8_t {
  kPersistentVolumeClaim,
  kEphemeral,
  kConfigMap,
  kSecret,
  kGcePersistentDisk,
  kAwsElasticBlockStore,
  kAzureDisk,
  kIscsi,
  kRbd,
  kCsi,
  kCinder,
  kAzureFile,
  kVsphereVolume,
  kPortworxVolume,
  kImage,
  kOther,
};

struct Volume {
  Symbol name;
  VolumeSource source = VolumeSource::kOther;
  bool read_only = false;
  Symbol source_name;  // claim, disk, IQN, share, path, image, driver: what the source is called
  // RBD: the pool; Azure disk: its URI; Azure file: the secret's name; CSI, in a PersistentVolume:
  // the volumeHandle.
  Symbol detail;
  Symbol kind;                   // of an Azure disk: "Shared", "Dedicated" or "Managed"
  std::vector<Symbol> monitors;  // of RBD

  friend bool operator==(const Volume&, const Volume&) = default;
};

struct PodResourceClaim {
  Symbol name;
  Symbol claim_name;
  Symbol template_name;

  friend bool operator==(const PodResourceClaim&, const PodResourceClaim&) = default;
};

enum class PreemptionPolicy : std::uint8_t { kPreemptLowerPriority, kNever };

// spec, without nodeName (which is the pod's own). Immutable and shared once Interner::share has
// seen it; `usage` is filled in there.
struct PodSpec : RefCounted<PodSpec> {
  explicit PodSpec(SymbolHold hold) : symbols(std::move(hold)) {}
  PodSpec(const PodSpec&) = default;
  PodSpec(PodSpec&&) = default;
  PodSpec& operator=(const PodSpec&) = default;
  PodSpec& operator=(PodSpec&&) = default;

  std::vector<Container> containers;
  std::vector<Container> init_containers;
  std::optional<ResourceList> pod_requests;  // spec.resources.requests
  std::optional<ResourceList> pod_limits;    // spec.resources.limits
  ResourceList overhead;
  std::vector<Label> node_selector;          // sorted by key
  std::shared_ptr<const Affinity> affinity;  // null: none
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  std::vector<Symbol> scheduling_gates;
  std::vector<Volume> volumes;
  std::vector<PodResourceClaim> resource_claims;
  Symbol scheduler_name;
  Symbol priority_class_name;
  Symbol scheduling_group;  // spec.schedulingGroup.podGroupName
  std::int32_t priority = 0;
  std::int32_t termination_grace_seconds = 30;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  bool host_network = false;
  bool own_users = false;                     // spec.hostUsers is given as false
  bool ephemeral_bind_mount_options = false;  // a mount of an ephemeral container has them

  PodUsage usage;      // derived: what such a pod takes from its node
  SymbolHold symbols;  // everything the symbols above refer to

  // By what was written; derived parts follow from it.
  friend bool operator==(const PodSpec& a, const PodSpec& b);
};

std::size_t hash_of(const PodSpec& spec);

// The owner that is a pod's controller.
struct ControllerRef {
  Symbol api_version;
  Symbol kind;
  Symbol name;

  bool empty() const { return kind.empty(); }
  friend bool operator==(const ControllerRef&, const ControllerRef&) = default;
};

struct PodMeta : RefCounted<PodMeta> {
  explicit PodMeta(SymbolHold hold) : symbols(std::move(hold)) {}

  Symbol namespace_name;
  LabelSet labels;
  ControllerRef controller;
  SymbolHold symbols;

  friend bool operator==(const PodMeta& a, const PodMeta& b);
};

std::size_t hash_of(const PodMeta& meta);

// ---- a pod's own parts ------------------------------------------------------------------------

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct PodCondition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::optional<WallTime> last_probe_time;
  std::optional<WallTime> last_transition_time;
  std::int64_t observed_generation = 0;

  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

// Resources of one container (or of the pod as a whole) as its status has them.
struct StatusResources {
  Symbol container;                       // empty for the pod itself
  std::optional<ResourceList> requests;   // resources.requests: what the kubelet has set up
  std::optional<ResourceList> allocated;  // allocatedResources: what it has promised

  friend bool operator==(const StatusResources&, const StatusResources&) = default;
};

// status.resourceClaimStatuses: the claim that stands for an entry of spec.resourceClaims.
struct PodResourceClaimStatus {
  std::string name;
  std::optional<std::string> claim_name;  // absent: there is none, and none is needed

  friend bool operator==(const PodResourceClaimStatus&, const PodResourceClaimStatus&) = default;
};

// Which request of a claim stands for a container's extended resource.
struct ContainerExtendedResourceRequest {
  std::string container_name;
  std::string resource_name;
  std::string request_name;

  friend bool operator==(const ContainerExtendedResourceRequest&,
                         const ContainerExtendedResourceRequest&) = default;
};

// status.extendedResourceClaimStatus: the claim that was made for the pod's extended resources.
struct PodExtendedResourceClaimStatus {
  std::vector<ContainerExtendedResourceRequest> request_mappings;
  std::string claim_name;

  friend bool operator==(const PodExtendedResourceClaimStatus&,
                         const PodExtendedResourceClaimStatus&) = default;
};

// The rare parts of a status. A running pod of which nothing unusual is known has none. Of the
// conditions only those are kept that scheduling looks at; PodScheduled=True alone is a bit in Pod.
struct PodExtra {
  explicit PodExtra(SymbolHold hold) : symbols(std::move(hold)) {}

  std::vector<PodCondition> conditions;
  std::vector<StatusResources> container_resources;  // regular containers, then init containers
  std::optional<StatusResources> pod_resources;      // if there is a status.resources
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  std::optional<PodExtendedResourceClaimStatus> extended_resource_claim_status;
  std::optional<PodUsage> usage;  // derived, if has_resources()
  SymbolHold symbols;

  // Whether the first PodResizePending condition says that the resize cannot be done.
  bool resize_is_infeasible() const;
  // Whether the pod's requests depend on its status, and not on its spec alone.
  bool has_resources() const {
    return pod_resources || !container_resources.empty() || resize_is_infeasible();
  }
};

// All fields of a pod, to be filled in by whoever makes one.
struct PodDraft {
  std::string name;
  std::string uid;
  Ref<const PodMeta> meta;
  Ref<const PodSpec> spec;
  std::string node_name;
  std::string nominated_node_name;
  std::string resource_version;
  std::int64_t generation = 0;
  PodPhase phase = PodPhase::kPending;
  bool scheduled_condition = false;  // has PodScheduled=True
  std::optional<WallTime> creation_time;
  std::optional<WallTime> start_time;
  std::optional<WallTime> deletion_time;
  std::unique_ptr<PodExtra> extra;
};

class Pod : public RefCounted<Pod> {
 public:
  Pod(const Pod&) = delete;
  ~Pod();

  std::string_view name() const { return {text_.get(), name_length_}; }
  std::string_view namespace_name() const { return text(meta_->namespace_name); }
  std::string full_name() const;  // "namespace/name"
  const Uid& uid() const { return uid_; }
  std::string uid_text() const;
  std::string_view resource_version() const;

  const PodSpec& spec() const { return *spec_; }
  const Ref<const PodSpec>& spec_ref() const { return spec_; }
  const PodMeta& meta() const { return *meta_; }
  const Ref<const PodMeta>& meta_ref() const { return meta_; }
  const LabelSet& labels() const { return meta_->labels; }
  const Symbols& symbols() const { return *spec_->symbols.table(); }
  std::string_view text(Symbol symbol) const { return symbols().text(symbol); }

  std::int32_t priority() const { return spec_->priority; }
  Symbol scheduler_name() const { return spec_->scheduler_name; }
  Symbol node() const { return node_; }  // empty while unassigned
  std::string_view node_name() const { return text(node_); }
  Symbol nominated_node() const { return nominated_node_; }
  std::string_view nominated_node_name() const { return text(nominated_node_); }

  PodPhase phase() const { return phase_; }
  bool finished() const { return phase_ == PodPhase::kSucceeded || phase_ == PodPhase::kFailed; }
  bool terminating() const { return deletion_time_.since_epoch.count() != 0; }
  bool scheduled_condition() const { return scheduled_condition_; }
  std::int64_t generation() const { return generation_; }
  std::optional<WallTime> creation_time() const { return present(creation_time_); }
  std::optional<WallTime> start_time() const { return present(start_time_); }
  std::optional<WallTime> deletion_time() const { return present(deletion_time_); }

  const PodExtra* extra() const { return extra_.get(); }
  const PodCondition* condition(std::string_view type) const;

  // What the pod takes from its node, status resources included.
  const PodUsage& usage() const { return extra_ && extra_->usage ? *extra_->usage : spec_->usage; }

 private:
  friend Ref<const Pod> make_pod(PodDraft draft);
  friend Ref<const Pod> with_node(const Pod& pod, std::string_view node_name);
  friend Ref<const Pod> bound_to(const Pod& pod, std::string_view node_name,
                                 std::string_view resource_version);
  Pod() = default;
  void set_texts(std::string_view name, std::string_view version, std::string_view uid);
  // A copy without nodeName and nominatedNodeName, with this resource version.
  Ref<Pod> unplaced_copy(std::string_view resource_version) const;
  static std::optional<WallTime> present(WallTime time) {
    return time.since_epoch.count() == 0 ? std::nullopt : std::optional(time);
  }

  // Ordered and packed for size; name_length_ fills the padding after the reference count.
  std::uint32_t name_length_ = 0;
  Ref<const PodSpec> spec_;
  Ref<const PodMeta> meta_;
  Uid uid_;
  std::unique_ptr<char[]> text_;  // name, resource version, and the UID if it has an unusual form
  std::uint32_t uid_length_ = 0;  // 0: the usual form
  std::uint32_t version_length_ : 28 = 0;
  PodPhase phase_ : 3 = PodPhase::kPending;
  bool scheduled_condition_ : 1 = false;
  Symbol node_;
  Symbol nominated_node_;
  std::int64_t generation_ = 0;
  WallTime creation_time_;  // the epoch itself stands for "none"
  WallTime start_time_;
  WallTime deletion_time_;
  std::unique_ptr<const PodExtra> extra_;
};

static_assert(sizeof(Pod) <= 104);  // a multiple of 16 less malloc's own 8

// `meta` and `spec` must be there; node names become symbols of the spec's table.
Ref<const Pod> make_pod(PodDraft draft);
// All of a pod's fields, to make a changed one.
PodDraft draft_of(const Pod& pod);
// A copy of the pod with this nodeName: how an assumed pod is shown to observers.
Ref<const Pod> with_node(const Pod& pod, std::string_view node_name);
// The pod as an API server stores it after a binding: nodeName set, PodScheduled=True, no extra
// status.
Ref<const Pod> bound_to(const Pod& pod, std::string_view node_name,
                        std::string_view resource_version);

}  // namespace berth

template <>
struct std::hash<berth::Uid> {
  std::size_t operator()(const berth::Uid& uid) const noexcept {
    return uid.low ^ (uid.high * 0x9e3779b97f4a7c15ULL);
  }
};
