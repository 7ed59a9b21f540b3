#include "controllers/volumes.h"

#include <fmt/format.h>

#include <utility>

#include "api/names.h"

namespace berth::controllers {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
constexpr std::string_view kClaimPrefix = "claim/";
constexpr std::string_view kVolumePrefix = "volume/";
// How long a provisioner waits that has failed and has no node to give back.
constexpr Duration kRetryAfterFailure = std::chrono::seconds(1);

std::string claim_key(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}{}/{}", kClaimPrefix, namespace_name, name);
}

std::string claim_key(const PersistentVolumeClaim& claim) {
  return claim_key(claim.symbols.text(claim.namespace_name), claim.name);
}

std::string volume_key(std::string_view name) { return fmt::format("{}{}", kVolumePrefix, name); }

bool waits_for_consumer(const StorageClass* storage_class) {
  return storage_class != nullptr &&
         storage_class->binding_mode == StorageClass::BindingMode::kWaitForFirstConsumer;
}

ClaimReference reference_to(const PersistentVolumeClaim& claim) {
  return {claim.namespace_name, claim.name, claim.uid, claim.resource_version};
}

}  // namespace

void VolumeController::enqueue_unbound() {
  for (const std::string& key : unbound_) enqueue(key);
}

void VolumeController::start_over() {
  under_way_.clear();
  enqueue_unbound();
}

void VolumeController::claim_changed(const Claim& claim, bool gone) {
  const std::string key = claim_key(claim);
  if (gone) {
    unbound_.erase(key);
    under_way_.erase(key);
    if (const Ref<const PersistentVolume> volume = volumes_.of(claim))
      enqueue(volume_key(volume->name));
    return;
  }
  if (claim.fully_bound()) {
    unbound_.erase(key);
    enqueue(volume_key(claim.volume_name));
    return;
  }
  unbound_.insert(key);
  enqueue(key);
}

void VolumeController::volume_changed(const Ref<const PersistentVolume>& volume, bool gone) {
  if (gone) {
    volumes_.remove(volume->name);
  } else {
    volumes_.put(volume);
    enqueue(volume_key(volume->name));
  }
  if (volume->claim_ref)
    enqueue(claim_key(volume->symbols.text(volume->claim_ref->namespace_name),
                      volume->claim_ref->name));
  else if (!gone)
    enqueue_unbound();
}

void VolumeController::sync(const std::string& key) {
  if (key.starts_with(kClaimPrefix))
    sync_claim(key);
  else
    sync_volume(key.substr(kVolumePrefix.size()));
}

// A volume's phase follows from what it says and from its claim.
void VolumeController::sync_volume(const std::string& name) {
  const Ref<const PersistentVolume> volume = volumes_.find(name);
  if (!volume || volume->terminating) return;
  using Phase = PersistentVolume::Phase;
  Phase phase = Phase::kAvailable;
  if (volume->claim_ref && !volume->claim_ref->uid.empty()) {
    const Ref<const Claim> claim = world_.claim(
        volume->symbols.text(volume->claim_ref->namespace_name), volume->claim_ref->name);
    if (!claim || claim->uid != volume->claim_ref->uid) {
      if (volume->phase == Phase::kReleased || volume->phase == Phase::kFailed) return;
      if (world_.deletes_released(*volume)) return world_.remove(*volume);
      phase = Phase::kReleased;
    } else if (claim->volume_name == name) {
      phase = Phase::kBound;
    } else if (volume->phase == Phase::kBound) {
      return;  // its claim is about to say so too
    }
  }
  if (volume->phase == phase) return;
  auto wanted = make_ref<PersistentVolume>(*volume);
  wanted->phase = phase;
  world_.write(*wanted);
}

void VolumeController::sync_claim(const std::string& key) {
  const Ref<const Claim> claim = find(key);
  if (!claim || claim->terminating || claim->phase == Claim::Phase::kLost) return;
  if (claim->fully_bound()) {
    if (volumes_.find(claim->volume_name)) return;
    auto lost = make_ref<Claim>(*claim);
    lost->phase = Claim::Phase::kLost;
    world_.write(*lost, nullptr);
    return;
  }
  const VolumeStep step = step_of(*claim);
  if (step == VolumeStep::kNone) return;
  if (step == VolumeStep::kWait) {
    under_way_.erase(key);
    world_.begin(*claim, step);
    return;
  }
  // What is under way for this version goes on.
  const auto [entry, is_new] = under_way_.try_emplace(key);
  if (!is_new && entry->second == claim->resource_version) return;
  entry->second = claim->resource_version;
  const std::optional<Duration> delay = world_.begin(*claim, step);
  if (!delay) return;
  if (*delay <= Duration::zero()) {
    under_way_.erase(entry);
    return take_step(key);
  }
  loop_.after(*delay, lifetime().guard([this, key, version = claim->resource_version] {
    const auto present = under_way_.find(key);
    if (present == under_way_.end() || present->second != version) return;  // overtaken
    under_way_.erase(present);
    take_step(key);
  }));
}

Ref<const PersistentVolumeClaim> VolumeController::find(const std::string& key) const {
  const ObjectName name = name_of(std::string_view(key).substr(kClaimPrefix.size()));
  return world_.claim(name.namespace_name, name.name);
}

Ref<const StorageClass> VolumeController::class_of(const Claim& claim) const {
  if (claim.storage_class.empty()) return nullptr;
  return world_.storage_class(claim.symbols.text(claim.storage_class));
}

Ref<const PersistentVolume> VolumeController::volume_for(const Claim& claim, bool waits) const {
  if (!claim.volume_name.empty()) {
    const Ref<const PersistentVolume> named = volumes_.find(claim.volume_name);
    const bool free = named && (!named->claim_ref || names_claim(*named, claim));
    return free ? named : nullptr;
  }
  if (const Ref<const PersistentVolume> chosen = volumes_.of(claim)) return chosen;
  if (waits) return nullptr;
  return volumes_.smallest_for(claim, *interner_.symbols());
}

VolumeStep VolumeController::step_of(const Claim& claim) const {
  if (claim.fully_bound() || claim.phase == Claim::Phase::kLost) return VolumeStep::kNone;
  const Ref<const StorageClass> storage_class = class_of(claim);
  const bool waits = waits_for_consumer(storage_class.get());
  if (volume_for(claim, waits)) return VolumeStep::kBind;
  if (!claim.volume_name.empty()) return VolumeStep::kNone;  // waits for that very volume
  if (!storage_class || storage_class->symbols.text(storage_class->provisioner) == kNoProvisioner)
    return VolumeStep::kNone;
  return waits && !claim.selected_node ? VolumeStep::kWait : VolumeStep::kProvision;
}

void VolumeController::take_step(const std::string& key) {
  const Ref<const Claim> claim = find(key);
  if (!claim || claim->terminating) return;
  const VolumeStep step = step_of(*claim);
  if (step == VolumeStep::kNone || step == VolumeStep::kWait) return;
  const StepOutcome outcome = world_.finish(*claim);
  if (outcome == StepOutcome::kNever) return;
  if (outcome == StepOutcome::kFail) return give_back_node(*claim);
  if (step == VolumeStep::kProvision) return provision(*claim);
  if (const Ref<const PersistentVolume> volume =
          volume_for(*claim, waits_for_consumer(class_of(*claim).get())))
    bind(*claim, *volume);
}

// The volume first, then the claim: a volume that names its claim will be found again.
void VolumeController::bind(const Claim& claim, const PersistentVolume& volume) {
  auto bound_volume = make_ref<PersistentVolume>(volume);
  if (!bound_volume->claim_ref) bound_volume->bound_by_controller = true;
  bound_volume->claim_ref = reference_to(claim);
  bound_volume->symbols.retain(claim.namespace_name);
  bound_volume->phase = PersistentVolume::Phase::kBound;
  if (!world_.write(*bound_volume)) return;
  volumes_.put(bound_volume);  // reserves the volume until the watch shows the write
  auto bound_claim = make_ref<Claim>(claim);
  bound_claim->volume_name = volume.name;
  bound_claim->bind_completed = true;
  bound_claim->has_annotations = true;
  bound_claim->phase = Claim::Phase::kBound;
  world_.write(*bound_claim, bound_volume.get());
}

// A volume that can be used where the node is: in its zone, else on it alone, as labels say.
void VolumeController::provision(const Claim& claim) {
  auto volume = make_ref<PersistentVolume>(interner_.hold());
  SymbolHold& symbols = volume->symbols;
  volume->name = fmt::format("pvc-{}", claim.uid);
  if (volumes_.find(volume->name)) return;
  if (claim.request) volume->capacity = *claim.request;
  volume->access_modes = claim.access_modes;
  volume->block = claim.block;
  for (const Symbol symbol : {claim.storage_class, claim.attributes_class, claim.namespace_name})
    symbols.retain(symbol);
  volume->storage_class = volume->spec_storage_class = claim.storage_class;
  volume->attributes_class = claim.attributes_class;
  volume->source.source = VolumeSource::kCsi;
  const Ref<const StorageClass> storage_class = class_of(claim);
  volume->source.source_name =
      symbols.intern(storage_class->symbols.text(storage_class->provisioner));
  volume->source.detail = symbols.intern(volume->name);
  if (claim.selected_node) {
    const Ref<const Node> node = world_.node(claim.symbols.text(*claim.selected_node));
    if (!node) return give_back_node(claim);
    const Symbol key = node->labels.contains(names::kZone) ? names::kZone : names::kHostname;
    if (const Symbol* value = node->labels.find(key)) {
      SelectorRequirement requirement;
      requirement.key = key;
      requirement.values = {*value};
      symbols.retain(*value);
      NodeSelectorTerm term;
      term.match_expressions.push_back(std::move(requirement));
      volume->node_affinity.emplace().push_back(std::move(term));
    }
  }
  volume->claim_ref = reference_to(claim);
  if (!world_.create(*volume, claim)) return;
  const Ref<const PersistentVolume> made = volumes_.find(volume->name);
  bind(claim, made ? *made : *volume);
}

// As a provisioner does that cannot make the volume where it was asked to.
void VolumeController::give_back_node(const Claim& claim) {
  if (!claim.selected_node) return enqueue_after(kRetryAfterFailure, claim_key(claim));
  auto back = make_ref<Claim>(claim);
  back->selected_node.reset();
  world_.write(*back, nullptr);
}

}  // namespace berth::controllers
