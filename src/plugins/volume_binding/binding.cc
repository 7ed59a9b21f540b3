// VolumeBinding: writes what Reserve has assumed, and waits until it is so.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <utility>

#include "base/go_quote.h"
#include "plugins/storage_objects.h"
#include "plugins/volume_binding/memory.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {
namespace {

constexpr const char* kDeadlineExceeded = "context deadline exceeded";

std::optional<std::uint64_t> version_of(const Object& object) {
  std::uint64_t version = 0;
  const char* end = object.resource_version.data() + object.resource_version.size();
  const auto [rest, error] = std::from_chars(object.resource_version.data(), end, version);
  if (error != std::errc() || rest != end) return std::nullopt;
  return version;
}

// Whether the watch has not shown yet what we have written.
bool is_newer(const Object& written, const Object& seen) {
  const std::optional<std::uint64_t> ours = version_of(written), theirs = version_of(seen);
  return ours && theirs && *ours > *theirs;
}

// The answer to a write, as the kind that was written; what was written, if there is no object in
// the answer.
template <typename T>
Ref<const T> answered(const AnyObject& answer, const Ref<const T>& written) {
  const auto* object = std::get_if<Ref<const Object>>(&answer);
  if (object == nullptr || !*object || (*object)->kind != written->kind) return written;
  return Ref<const T>(static_cast<const T*>(object->get()));
}

std::string_view namespace_of(const PersistentVolumeClaim& claim) {
  return claim.symbols.text(claim.namespace_name);
}

Error told(std::string_view what, const Error& error) {
  return {error.kind, fmt::format("{}: {}", what, error.message)};
}

}  // namespace

PreBindPreFlight VolumeBinding::pre_bind_pre_flight(Cycle& cycle, std::string_view) const {
  const bool to_do = cycle.find<Reservation>(*this) != nullptr;
  return {.outcome = to_do ? Outcome::success() : Outcome::skip(), .allow_parallel = true};
}

Task<Outcome> VolumeBinding::pre_bind(Cycle& cycle, std::string_view node_name,
                                      CancelToken cancel) {
  Reservation* reservation = cycle.find<Reservation>(*this);
  if (reservation == nullptr) co_return Outcome::success();
  Written written{*reservation, reservation->provisions};
  Task<Result<void>> writing = write(*reservation, written, cancel);
  Result<void> done = co_await writing;
  if (done) {
    Task<Result<void>> waiting = wait_until_bound(cycle.pod(), node_name, written, cancel);
    done = co_await waiting;
    if (!done) done = fail(told("binding volumes", done.error()));
  }
  if (done) co_return Outcome::success();
  count_failure("bind");
  co_return Outcome::failure(done.error().message);
}

// ---- the writes ---------------------------------------------------------------------------------

// One after the other. What has been written is not taken back when a later write fails; what has
// not been is no longer assumed.
Task<Result<void>> VolumeBinding::write(Reservation& reservation, Written& written,
                                        CancelToken cancel) const {
  Result<void> done;
  const auto take = [&](Result<AnyObject>& answer) {
    if (!answer) done = fail(std::move(answer.error()));
    return done.has_value();
  };
  std::size_t volumes = 0, claims = 0;
  for (; done && volumes < reservation.bindings.size(); ++volumes) {
    Ref<const PersistentVolume>& volume = reservation.bindings[volumes].volume;
    if (cancel.cancelled()) done = fail(ErrorKind::kCancelled, std::string(kContextCanceled));
    if (!done) break;
    Task<Result<AnyObject>> writing = api_.update(AnyObject(Ref<const Object>(volume)));
    Result<AnyObject> answer = co_await writing;
    if (!take(answer)) break;
    volume = answered(*answer, volume);
  }
  for (; done && claims < written.provisions.size(); ++claims) {
    Ref<const PersistentVolumeClaim>& claim = written.provisions[claims];
    if (cancel.cancelled()) done = fail(ErrorKind::kCancelled, std::string(kContextCanceled));
    if (!done) break;
    Task<Result<AnyObject>> writing = api_.update(AnyObject(Ref<const Object>(claim)));
    Result<AnyObject> answer = co_await writing;
    if (!take(answer)) break;
    claim = answered(*answer, claim);
  }
  for (; volumes < reservation.bindings.size(); ++volumes)
    memory_->volumes.restore(*reservation.bindings[volumes].volume);
  for (; claims < written.provisions.size(); ++claims)
    memory_->claims.restore(*written.provisions[claims]);
  co_return done;
}

// ---- the wait -----------------------------------------------------------------------------------

Task<Result<void>> VolumeBinding::wait_until_bound(const Pod& pod, std::string_view node_name,
                                                   const Written& written,
                                                   CancelToken cancel) const {
  const TimePoint deadline = loop_.now() + bind_timeout_;
  // Parity: without any time not even what is bound already counts.
  if (bind_timeout_ <= Duration(0)) co_return fail(ErrorKind::kTimeout, kDeadlineExceeded);
  for (;;) {
    const Result<bool> bound = check(pod, node_name, written);
    if (!bound) co_return fail(bound.error());
    if (*bound) co_return Result<void>();
    NextChange change = waits_.next_change(waited_for(pod, node_name, written), deadline, cancel);
    const WaitEnd end = co_await change;
    if (end == WaitEnd::kDeadline) co_return fail(ErrorKind::kTimeout, kDeadlineExceeded);
    if (end == WaitEnd::kCancelled)
      co_return fail(ErrorKind::kCancelled, std::string(kContextCanceled));
  }
}

std::vector<ObjectName> VolumeBinding::waited_for(const Pod& pod, std::string_view node_name,
                                                  const Written& written) const {
  std::vector<ObjectName> names = {
      {ObjectKind::kPod, std::string(pod.namespace_name()), std::string(pod.name())},
      {ObjectKind::kNode, {}, std::string(node_name)},
      {ObjectKind::kCSINode, {}, std::string(node_name)}};
  const auto add_claim = [&](const PersistentVolumeClaim& claim) {
    names.push_back(
        {ObjectKind::kPersistentVolumeClaim, std::string(namespace_of(claim)), claim.name});
  };
  for (const StaticBinding& binding : written.reservation.bindings) {
    names.push_back({ObjectKind::kPersistentVolume, {}, binding.volume->name});
    add_claim(*binding.claim);
  }
  for (const Ref<const PersistentVolumeClaim>& claim : written.provisions) {
    add_claim(*claim);
    // The volume that was made for it, once it is known.
    const auto now = memory_->claims.stored(namespace_of(*claim), claim->name);
    if (now && !(*now)->volume_name.empty())
      names.push_back({ObjectKind::kPersistentVolume, {}, (*now)->volume_name});
  }
  return names;
}

// ---- what it waits for --------------------------------------------------------------------------

// By what the watch shows, not by what is assumed: another pod may have assumed something since.
Result<bool> VolumeBinding::check(const Pod& pod, std::string_view node_name,
                                  const Written& written) const {
  const NodeRow row = cluster_.nodes().find(cluster_.symbols().find(node_name));
  if (row == kNoRow || !cluster_.nodes().has_node(row))
    return fail(ErrorKind::kNotFound,
                fmt::format("failed to get node {0}: node {0} not found", go_quoted(node_name)));
  if (!cluster_.seen_pod(pod))
    return fail(ErrorKind::kNotFound, fmt::format("pod does not exist any more: pod {} not found",
                                                  go_quoted(pod.name())));
  const Node& node = cluster_.nodes().node(row);
  for (const StaticBinding& binding : written.reservation.bindings)
    if (const Result<bool> bound = check_binding(binding, node); !bound || !*bound) return bound;
  for (const Ref<const PersistentVolumeClaim>& claim : written.provisions)
    if (const Result<bool> bound = check_provision(*claim, node); !bound || !*bound) return bound;
  return true;
}

Result<bool> VolumeBinding::check_binding(const StaticBinding& binding, const Node& node) const {
  constexpr std::string_view kChecking = "failed to check binding";
  const auto volume = memory_->volumes.stored({}, binding.volume->name);
  if (!volume) return fail(told(kChecking, volume.error()));
  const auto claim = memory_->claims.stored(namespace_of(*binding.claim), binding.claim->name);
  if (!claim) return fail(told(kChecking, claim.error()));
  if (is_newer(*binding.volume, **volume)) return false;
  if (const auto reachable = check_affinity(**volume, node); !reachable) {
    const bool untranslated = reachable.error().kind == ErrorKind::kInternal;
    return fail(untranslated ? told("failed to translate pv to csi", reachable.error())
                             : reachable.error());
  }
  if (!(*volume)->claim_ref || (*volume)->claim_ref->uid.empty())
    return fail(ErrorKind::kInvalid,
                fmt::format("ClaimRef got reset for pv {}", go_quoted((*volume)->name)));
  return (*claim)->fully_bound();
}

Result<bool> VolumeBinding::check_provision(const PersistentVolumeClaim& written,
                                            const Node& node) const {
  const auto found = memory_->claims.stored(namespace_of(written), written.name);
  if (!found) return fail(told("failed to check provisioning pvc", found.error()));
  const PersistentVolumeClaim& claim = **found;
  if (is_newer(written, claim)) return false;
  if (!claim.has_annotations)
    return fail(ErrorKind::kInvalid,
                fmt::format("selectedNode annotation reset for PVC {}", go_quoted(claim.name)));
  // A provisioner that fails takes the annotation away.
  if (!claim.selected_node || *claim.selected_node != node.symbol)
    return fail(ErrorKind::kInvalid,
                fmt::format("provisioning failed for PVC {}", go_quoted(claim.name)));
  if (!claim.volume_name.empty()) {
    const auto volume = memory_->volumes.stored({}, claim.volume_name);
    if (!volume) return false;  // it may yet come
    if (const auto reachable = check_affinity(**volume, node); !reachable)
      return fail(reachable.error());
  }
  return claim.fully_bound();
}

// An error of kind kInternal: the volume cannot be translated.
Result<void> VolumeBinding::check_affinity(const PersistentVolume& volume, const Node& node) const {
  const Symbols& symbols = cluster_.symbols();
  const InTreeVolumeType* type = in_tree_type(volume.source.source);
  std::optional<std::vector<NodeSelectorTerm>> translated;
  SymbolHold hold(cluster_.symbol_table());
  const bool migrated =
      type != nullptr && type->migrated && type->is_migrated_on(memory_->csi_nodes.of(node));
  if (migrated) {
    auto terms = csi_node_affinity(volume, hold);
    if (!terms)
      return fail(ErrorKind::kInternal,
                  fmt::format("could not translate pv: {}", terms.error().message));
    translated = *std::move(terms);
  }
  const VolumeAffinity affinity(migrated ? translated : volume.node_affinity, symbols);
  const Result<void> checked = affinity.check(node.labels, symbols);
  if (checked) return {};
  return fail(ErrorKind::kInvalid,
              fmt::format("pv {} node affinity doesn't match node {}: {}", go_quoted(volume.name),
                          go_quoted(node.name), checked.error().message));
}

}  // namespace berth::plugins
