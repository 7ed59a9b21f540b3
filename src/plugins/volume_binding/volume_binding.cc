#include "plugins/volume_binding/volume_binding.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <chrono>
#include <utility>

#include "base/go_quote.h"
#include "berth/observer.h"
#include "config/feature_gates.h"
#include "plugins/arguments.h"
#include "plugins/storage_objects.h"
#include "plugins/volume_binding/memory.h"

namespace berth::plugins {
namespace {

// In the order of Conflict's bits.
constexpr std::string_view kReasons[] = {
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
};

std::vector<BrokenLinear::Point> points_of(
    const std::vector<config::UtilizationShapePoint>& shape) {
  // A shape's scores go to 10.
  constexpr std::int64_t kScale = kMaxScore / 10;
  if (shape.empty()) return {{0, 10 * kScale}, {100, 0}};
  std::vector<BrokenLinear::Point> points;
  for (const config::UtilizationShapePoint& point : shape)
    points.emplace_back(point.utilization, point.score * kScale);
  return points;
}

Result<bool> binds_late(const PersistentVolumeClaim& claim, const Cluster& cluster) {
  const std::string_view name = claim.symbols.text(claim.storage_class);
  if (name.empty()) return false;
  const Result<Ref<const StorageClass>> found = find_storage_class(cluster, name);
  if (!found) return false;
  const StorageClass& storage_class = **found;
  if (!storage_class.binding_mode)
    return fail(ErrorKind::kInvalid,
                fmt::format("VolumeBindingMode not set for StorageClass {}", go_quoted(name)));
  return *storage_class.binding_mode == StorageClass::BindingMode::kWaitForFirstConsumer;
}

// Gives a row its verdict. The sentences are made once for all rows with the same conflicts.
class Rejections {
 public:
  explicit Rejections(FilterPass& pass, const Cycle& cycle) : pass_(pass), cycle_(cycle) {}

  void reject(NodeRow row, std::uint8_t conflicts) {
    if (std::has_single_bit(conflicts))
      return pass_.reject(row, Code::kUnschedulableAndUnresolvable,
                          static_cast<std::uint8_t>(std::countr_zero(conflicts)));
    std::optional<std::uint32_t>& listed = listed_[conflicts];
    if (!listed) {
      std::vector<std::string> sentences;
      for (std::size_t i = 0; i < std::size(kReasons); ++i)
        if ((conflicts >> i & 1) != 0) sentences.emplace_back(kReasons[i]);
      listed = cycle_.list_reasons(std::move(sentences));
    }
    pass_.reject_listed(row, Code::kUnschedulableAndUnresolvable, *listed);
  }

 private:
  FilterPass& pass_;
  const Cycle& cycle_;
  std::array<std::optional<std::uint32_t>, kConflictSets> listed_;
};

}  // namespace

bool has_claim(const Volume& volume) {
  return volume.source == VolumeSource::kPersistentVolumeClaim ||
         volume.source == VolumeSource::kEphemeral;
}

std::string claim_name(const Pod& pod, const Volume& volume) {
  return volume.source == VolumeSource::kEphemeral ? ephemeral_claim_name(pod, volume)
                                                   : std::string(pod.text(volume.source_name));
}

Result<std::unique_ptr<Plugin>> VolumeBinding::create(const config::PluginArgs& arguments,
                                                      const Handle& handle) {
  const auto args = typed_arguments<config::VolumeBindingArgs>(arguments, "VolumeBindingArgs");
  if (!args) return fail(args.error());
  return std::make_unique<VolumeBinding>(*args, handle.gates.enabled("StorageCapacityScoring"),
                                         handle);
}

VolumeBinding::VolumeBinding(const config::VolumeBindingArgs& arguments, bool scores_capacity,
                             const Handle& handle)
    : cluster_(handle.cluster),
      loop_(handle.loop),
      api_(handle.api),
      observer_(handle.observer),
      waits_(handle),
      bind_timeout_(std::chrono::seconds(arguments.bind_timeout_seconds)),
      memory_(std::make_unique<Memory>(handle.cluster)) {
  if (scores_capacity) shape_.emplace(points_of(arguments.shape));
}

VolumeBinding::~VolumeBinding() = default;

std::span<const std::string_view> VolumeBinding::reasons() const { return kReasons; }

std::size_t VolumeBinding::assumed_count() const {
  return memory_->volumes.assumed_count() + memory_->claims.assumed_count();
}

void VolumeBinding::count_failure(std::string_view operation) const {
  if (observer_ == nullptr) return;
  if (Observer* measurements = observer_->measuring()) measurements->volume_stage_failed(operation);
}

// ---- PreFilter ----------------------------------------------------------------------------------

// Whether the pod has any claim; an error: one of them will not do.
Result<bool> VolumeBinding::check_claims(const Pod& pod) const {
  bool any = false;
  for (const Volume& volume : pod.spec().volumes) {
    if (!has_claim(volume)) continue;
    any = true;
    if (Result<void> checked = check_claim(pod, volume); !checked)
      return fail(std::move(checked).error());
  }
  return any;
}

Result<void> VolumeBinding::check_claim(const Pod& pod, const Volume& volume) const {
  const bool ephemeral = volume.source == VolumeSource::kEphemeral;
  const std::string name = claim_name(pod, volume);
  const Result<Ref<const PersistentVolumeClaim>> found =
      find_claim(cluster_, pod.namespace_name(), name);
  if (!found && ephemeral)
    return fail(ErrorKind::kNotFound,
                fmt::format("waiting for ephemeral volume controller to create the "
                            "persistentvolumeclaim {}",
                            go_quoted(name)));
  if (!found) return fail(found.error());
  const PersistentVolumeClaim& claim = **found;
  if (claim.phase == PersistentVolumeClaim::Phase::kLost)
    return fail(ErrorKind::kInvalid,
                fmt::format("persistentvolumeclaim {} bound to non-existent persistentvolume {}",
                            go_quoted(name), go_quoted(claim.volume_name)));
  if (claim.terminating)
    return fail(ErrorKind::kInvalid,
                fmt::format("persistentvolumeclaim {} is being deleted", go_quoted(name)));
  if (!ephemeral) return {};
  return check_made_for(pod, claim);
}

// By what is assumed of them. False: one should be bound by now, and is not.
Result<bool> VolumeBinding::sort_claims(const Pod& pod, PodClaims& claims) const {
  for (const Volume& volume : pod.spec().volumes) {
    if (!has_claim(volume)) continue;
    const std::string name = claim_name(pod, volume);
    Result<Ref<const PersistentVolumeClaim>> found =
        memory_->claims.get(pod.namespace_name(), name);
    if (!found)
      return fail(found.error().kind,
                  fmt::format("error getting PVC {}: {}",
                              go_quoted(fmt::format("{}/{}", pod.namespace_name(), name)),
                              found.error().message));
    if ((*found)->fully_bound()) {
      claims.bound.push_back(*std::move(found));
      continue;
    }
    const Result<bool> late = binds_late(**found, cluster_);
    if (!late) return fail(late.error());
    if (*late && (*found)->volume_name.empty()) {
      claims.delayed.push_back(*std::move(found));
    } else {
      claims.late.push_back(*std::move(found));
    }
  }
  return claims.late.empty();
}

std::unique_ptr<VolumeSearch> VolumeBinding::make_search(const PodClaims& claims) const {
  return std::make_unique<VolumeSearch>(claims, cluster_, memory_->volumes, memory_->csi_nodes,
                                        memory_->capacities);
}

Result<std::unique_ptr<VolumeSearch>> VolumeBinding::search_for(const Pod& pod) const {
  const Result<bool> any = check_claims(pod);
  if (!any) return fail(any.error());
  if (!*any) return nullptr;
  PodClaims claims;
  const Result<bool> sorted = sort_claims(pod, claims);
  if (!sorted) return fail(sorted.error());
  if (!*sorted) return fail(ErrorKind::kInvalid, kUnboundImmediate);
  return make_search(claims);
}

PreFilterResult VolumeBinding::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  const Result<bool> any = check_claims(pod);
  if (!any) return Outcome::of(Code::kUnschedulableAndUnresolvable, any.error().message);
  if (!*any) return PreFilterResult::skip();
  PodClaims claims;
  const Result<bool> sorted = sort_claims(pod, claims);
  if (!sorted) return Outcome::failure(sorted.error().message);
  if (!*sorted) return Outcome::of(Code::kUnschedulableAndUnresolvable, kUnboundImmediate);
  cycle.put(*this, Search{make_search(claims)});
  return PreFilterResult::success();
}

// ---- Filter -------------------------------------------------------------------------------------

void VolumeBinding::filter(const Cycle& cycle, FilterPass& pass) const {
  const Search* kept = cycle.find<Search>(*this);
  const VolumeSearch* search = kept ? kept->volumes.get() : nullptr;
  if (search == nullptr || search->suits_everywhere()) return;
  Rejections rejections(pass, cycle);
  NodeVolumes found;
  pass.feasible().for_each([&](NodeRow row) {
    const VolumeSearch::Answer answer = search->find(cycle.nodes().node(row), found);
    if (!answer.error.empty()) {
      count_failure("predicate");
      pass.reject(row, Code::kError, {answer.error});
    } else if (answer.conflicts != 0) {
      rejections.reject(row, answer.conflicts);
    }
  });
}

}  // namespace berth::plugins
