// VolumeBinding: how much of the free storage of a node the pod would take.

#include <cmath>
#include <map>

#include "plugins/arithmetic.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kFullyUsed = 100;  // percent

struct Storage {
  std::int64_t requested = 0;
  std::int64_t capacity = 0;
};
using StorageByClass = std::map<Symbol, Storage>;

std::int64_t requested(const PersistentVolumeClaim& claim) {
  return claim.request ? claim.request->value() : 0;
}

StorageByClass storage_of(const NodeVolumes& volumes) {
  StorageByClass classes;
  for (const StaticBinding& binding : volumes.bindings) {
    Storage& storage = classes[binding.volume->spec_storage_class];
    storage.requested = wrapping_add(storage.requested, requested(*binding.claim));
    storage.capacity = wrapping_add(storage.capacity, binding.volume->capacity.value());
  }
  // Parity: where something is bound, what is provisioned does not count.
  if (!volumes.bindings.empty()) return classes;
  for (const DynamicProvision& provision : volumes.provisions) {
    if (!provision.capacity) continue;
    Storage& storage = classes[provision.claim->spec_storage_class];
    // All volumes of a class come out of the same storage; of several objects the last counts.
    storage.capacity = provision.capacity->capacity ? provision.capacity->capacity->value() : 0;
    storage.requested = wrapping_add(storage.requested, requested(*provision.claim));
  }
  return classes;
}

}  // namespace

// Without volumes to be found all rows are alike.
bool VolumeBinding::score_keys(Cycle& cycle, RowKeys&) const {
  return !shape_ || !cycle.find<Search>(*this);
}

Outcome VolumeBinding::pre_score(Cycle&, const NodeSet&) const {
  return shape_ ? Outcome::success() : Outcome::skip();
}

Outcome VolumeBinding::score(const Cycle& cycle, const NodeSet& feasible,
                             std::span<Score> by_row) const {
  const Search* kept = cycle.find<Search>(*this);
  const VolumeSearch* search = kept ? kept->volumes.get() : nullptr;
  if (!shape_ || search == nullptr || search->all_bound()) {
    feasible.for_each([&](NodeRow row) { by_row[row] = 0; });
    return Outcome::success();
  }
  NodeVolumes found;
  feasible.for_each([&](NodeRow row) {
    const VolumeSearch::Answer answer = search->find(cycle.nodes().node(row), found);
    const bool suits = answer.error.empty() && answer.conflicts == 0;
    by_row[row] = suits ? score_of(found) : 0;
  });
  return Outcome::success();
}

Score VolumeBinding::score_of(const NodeVolumes& volumes) const {
  const StorageByClass classes = storage_of(volumes);
  if (classes.empty()) return 0;
  Score sum = 0;
  for (const auto& [name, storage] : classes) {
    const bool full = storage.capacity == 0 || storage.requested > storage.capacity;
    sum += (*shape_)(
        full ? kFullyUsed
             : wrapping_div(wrapping_mul(storage.requested, kFullyUsed), storage.capacity));
  }
  return truncated(std::round(static_cast<double>(sum) / static_cast<double>(classes.size())));
}

}  // namespace berth::plugins
