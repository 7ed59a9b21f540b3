// VolumeBinding: volumes and claims as they are to be, before anybody else knows.

#include <fmt/format.h>

#include <set>
#include <string>
#include <utility>

#include "base/go_quote.h"
#include "plugins/volume_binding/memory.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {
namespace {

ClaimReference reference_to(const PersistentVolumeClaim& claim, SymbolHold& symbols) {
  symbols.retain(claim.namespace_name);
  return {.namespace_name = claim.namespace_name,
          .name = claim.name,
          .uid = claim.uid,
          .resource_version = claim.resource_version};
}

// The volume as it is when it is bound to the claim; itself, if it is already.
Ref<const PersistentVolume> bound_to(const Ref<const PersistentVolume>& volume,
                                     const PersistentVolumeClaim& claim) {
  const bool prebound = is_bound_to(*volume, claim);
  const bool refers = prebound && volume->claim_ref->uid == claim.uid;
  const bool by_controller = volume->bound_by_controller || !prebound;
  if (refers && by_controller == volume->bound_by_controller) return volume;
  auto changed = make_ref<PersistentVolume>(*volume);
  if (!refers) changed->claim_ref = reference_to(claim, changed->symbols);
  changed->bound_by_controller = by_controller;
  return changed;
}

Ref<const PersistentVolumeClaim> with_selected_node(const PersistentVolumeClaim& claim,
                                                    std::string_view node_name) {
  auto changed = make_ref<PersistentVolumeClaim>(claim);
  changed->selected_node = changed->symbols.intern(node_name);
  changed->has_annotations = true;
  return changed;
}

}  // namespace

Outcome VolumeBinding::reserve(Cycle& cycle, std::string_view node_name) {
  // What PreFilter left behind is of no use after this, and may be large.
  std::unique_ptr<VolumeSearch> search;
  if (Search* kept = cycle.find<Search>(*this)) {
    search = std::move(kept->volumes);
  } else {
    Result<std::unique_ptr<VolumeSearch>> made = search_for(cycle.pod());
    if (!made) return Outcome::failure(made.error().message);
    search = *std::move(made);
  }
  if (!search || search->all_bound()) return Outcome::success();

  const NodeRow row = cycle.nodes().find(cycle.symbols().find(node_name));
  if (row == kNoRow || !cycle.nodes().has_node(row))
    return Outcome::failure(fmt::format("no pod volume found for node {}", go_quoted(node_name)));
  NodeVolumes found;
  const VolumeSearch::Answer answer = search->find(cycle.nodes().node(row), found);
  if (!answer.error.empty()) return Outcome::failure(answer.error);
  if (answer.conflicts != 0)
    return Outcome::failure(fmt::format("no pod volume found for node {}", go_quoted(node_name)));

  Result<Reservation> reservation = assume(found, node_name);
  if (!reservation) {
    count_failure("assume");
    return Outcome::failure(reservation.error().message);
  }
  cycle.put(*this, *std::move(reservation));
  return Outcome::success();
}

Result<VolumeBinding::Reservation> VolumeBinding::assume(const NodeVolumes& volumes,
                                                         std::string_view node_name) const {
  Reservation reservation;
  const auto undo = [&](const Error& error) {
    restore(reservation);
    return fail(error);
  };
  for (const StaticBinding& binding : volumes.bindings) {
    Ref<const PersistentVolume> volume = bound_to(binding.volume, *binding.claim);
    if (volume != binding.volume)
      if (const auto assumed = memory_->volumes.assume(volume); !assumed)
        return undo(assumed.error());
    reservation.bindings.push_back({binding.claim, std::move(volume)});
  }
  for (const DynamicProvision& provision : volumes.provisions) {
    Ref<const PersistentVolumeClaim> claim = with_selected_node(*provision.claim, node_name);
    if (const auto assumed = memory_->claims.assume(claim); !assumed) return undo(assumed.error());
    reservation.provisions.push_back(std::move(claim));
  }
  return reservation;
}

// What has been written is another version by now, and stays assumed until the watch shows it.
// Parity: claims are let go of even then.
void VolumeBinding::unreserve(Cycle& cycle, std::string_view) {
  if (const Reservation* reservation = cycle.find<Reservation>(*this)) restore(*reservation);
}

void VolumeBinding::restore(const Reservation& reservation) const {
  for (const StaticBinding& binding : reservation.bindings)
    memory_->volumes.restore(*binding.volume);
  for (const Ref<const PersistentVolumeClaim>& claim : reservation.provisions)
    memory_->claims.restore(*claim);
}

void VolumeBinding::remember_as(const Plugin& other) {
  const auto& from = dynamic_cast<const VolumeBinding&>(other);
  memory_->volumes.assume_as(from.memory_->volumes);
  memory_->claims.assume_as(from.memory_->claims);
}

Callback VolumeBinding::forget(const Pod& pod) {
  std::set<std::string> names;
  for (const Volume& volume : pod.spec().volumes)
    if (has_claim(volume)) names.insert(claim_name(pod, volume));
  Reservation forgotten;
  for (const Ref<const PersistentVolumeClaim>& claim : memory_->claims.assumed())
    if (claim->symbols.text(claim->namespace_name) == pod.namespace_name() &&
        names.contains(claim->name))
      forgotten.provisions.push_back(claim);
  for (const Ref<const PersistentVolume>& volume : memory_->volumes.assumed())
    if (volume->claim_ref &&
        volume->symbols.text(volume->claim_ref->namespace_name) == pod.namespace_name() &&
        names.contains(volume->claim_ref->name))
      forgotten.bindings.push_back({{}, volume});
  restore(forgotten);
  return [this, forgotten] {
    for (const StaticBinding& binding : forgotten.bindings)
      (void)memory_->volumes.assume(binding.volume);
    for (const Ref<const PersistentVolumeClaim>& claim : forgotten.provisions)
      (void)memory_->claims.assume(claim);
  };
}

}  // namespace berth::plugins
