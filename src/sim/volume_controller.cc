#include "sim/volume_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/node.h"
#include "sim/scenario.h"

namespace berth::sim {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

template <typename T>
Ref<const T> as(const Ref<const Object>& object) {
  return Ref<const T>(static_cast<const T*>(object.get()));
}

}  // namespace

VolumeController::VolumeController(Loop& loop, SimCluster& cluster, Interner& interner,
                                   VolumeRules rules)
    : loop_(loop), cluster_(cluster), interner_(interner), rules_(std::move(rules)) {
  cluster_.on_change([this, alive = std::weak_ptr<int>(alive_)](const Delta& delta) {
    if (!alive.expired()) changed(delta);
  });
}

void VolumeController::forget_rules() {
  rules_.claims.clear();
  under_way_.clear();
  look_at_unbound_claims();
}

void VolumeController::changed(const Delta& delta) {
  const auto* object = std::get_if<Ref<const Object>>(&delta.object);
  if (object == nullptr) return;
  const bool gone = delta.type == DeltaType::kDeleted;
  switch ((*object)->kind) {
    case ObjectKind::kPersistentVolumeClaim:
      gone ? claim_gone(*as<Claim>(*object)) : claim_changed(*as<Claim>(*object));
      break;
    case ObjectKind::kPersistentVolume:
      if (gone) {
        volumes_.remove((*object)->name);
        volume_gone(*as<Volume>(*object));
      } else {
        volumes_.put(as<Volume>(*object));
        volume_changed(*as<Volume>(*object));
      }
      break;
    case ObjectKind::kStorageClass: look_at_unbound_claims(); break;
    default: break;
  }
}

void VolumeController::claim_changed(const Claim& claim) {
  const ClaimKey key{std::string(namespace_of(claim)), claim.name};
  if (claim.fully_bound()) {
    unbound_.erase(key);
    return;
  }
  unbound_.insert(key);
  look_at(claim);
}

void VolumeController::volume_changed(const Volume& volume) {
  if (volume.phase == Volume::Phase::kPending &&
      (!volume.claim_ref || volume.claim_ref->uid.empty()))
    make_available(volume);
  if (!volume.claim_ref) return look_at_unbound_claims();
  const ClaimKey key{std::string(volume.symbols.text(volume.claim_ref->namespace_name)),
                     volume.claim_ref->name};
  if (!unbound_.contains(key)) return;
  if (const Ref<const Claim> claim = find(key)) look_at(*claim);
}

void VolumeController::make_available(const Volume& volume) {
  loop_.post([this, name = volume.name, alive = std::weak_ptr<int>(alive_)] {
    const Ref<const Volume> present = alive.expired() ? nullptr : volumes_.find(name);
    if (!present || present->phase != Volume::Phase::kPending) return;
    auto available = make_ref<Volume>(*present);
    available->phase = Volume::Phase::kAvailable;
    static_cast<void>(cluster_.update_object(Ref<const Object>(available)));
  });
}

void VolumeController::look_at_unbound_claims() {
  for (const ClaimKey& key : unbound_)
    if (const Ref<const Claim> claim = find(key)) look_at(*claim);
}

// In a turn of its own: whoever changed the object is in the middle of it.
void VolumeController::look_at(const Claim& claim) {
  if (claim.fully_bound()) return;
  loop_.post([this, key = ClaimKey{std::string(namespace_of(claim)), claim.name},
              alive = std::weak_ptr<int>(alive_)] {
    if (!alive.expired()) look_at(key);
  });
}

void VolumeController::look_at(const ClaimKey& key) {
  const Ref<const Claim> claim = find(key);
  if (!claim || claim->terminating) return;
  const Step step = step_of(*claim);
  if (step == Step::kNone) return;
  // What is under way for this version goes on.
  if (const auto present = under_way_.find(key);
      present != under_way_.end() && present->second == claim->resource_version)
    return;
  Duration delay = step == Step::kBind ? rules_.bind : rules_.provision;
  under_way_[key] = claim->resource_version;
  if (VolumeRule* rule = rule_for(*claim)) {
    if (rule->outcome == VolumeRule::Outcome::kNever) {
      if (rule->times) --*rule->times;
      return;
    }
    delay = rule->delay.value_or(delay);
  }
  loop_.after(delay,
              [this, key, version = claim->resource_version, alive = std::weak_ptr<int>(alive_)] {
                if (alive.expired()) return;
                const auto present = under_way_.find(key);
                if (present == under_way_.end() || present->second != version) return;  // overtaken
                under_way_.erase(present);
                take_step(key);
              });
}

VolumeController::Step VolumeController::step_of(const Claim& claim) const {
  if (claim.fully_bound() || claim.phase == Claim::Phase::kLost) return Step::kNone;
  if (volume_for(claim)) return Step::kBind;
  if (!claim.volume_name.empty()) return Step::kNone;  // waits for that very volume
  const StorageClass* storage_class = class_of(claim);
  if (storage_class == nullptr ||
      storage_class->symbols.text(storage_class->provisioner) == kNoProvisioner)
    return Step::kNone;
  if (waits_for_consumer(claim) && !claim.selected_node) return Step::kNone;
  return Step::kProvision;
}

void VolumeController::take_step(const ClaimKey& key) {
  const Ref<const Claim> claim = find(key);
  if (!claim || claim->terminating) return;
  const Step step = step_of(*claim);
  if (step == Step::kNone) return;
  if (VolumeRule* rule = rule_for(*claim)) {
    if (rule->outcome == VolumeRule::Outcome::kNever) return;
    if (rule->times) --*rule->times;
    if (rule->outcome == VolumeRule::Outcome::kFail) return give_back_node(*claim);
  }
  if (step == Step::kProvision)
    provision(*claim);
  else if (const Ref<const Volume> volume = volume_for(*claim))
    bind(*claim, *volume);
}

Ref<const PersistentVolumeClaim> VolumeController::find(const ClaimKey& key) const {
  return as<Claim>(
      cluster_.object(ObjectKind::kPersistentVolumeClaim, key.namespace_name, key.name));
}

const StorageClass* VolumeController::class_of(const Claim& claim) const {
  if (claim.storage_class.empty()) return nullptr;
  return static_cast<const StorageClass*>(
      cluster_.object(ObjectKind::kStorageClass, "", claim.symbols.text(claim.storage_class))
          .get());
}

bool VolumeController::waits_for_consumer(const Claim& claim) const {
  const StorageClass* storage_class = class_of(claim);
  return storage_class &&
         storage_class->binding_mode == StorageClass::BindingMode::kWaitForFirstConsumer;
}

VolumeRule* VolumeController::rule_for(const Claim& claim) {
  const std::string full_name = fmt::format("{}/{}", namespace_of(claim), claim.name);
  for (VolumeRule& rule : rules_.claims)
    if ((!rule.times || *rule.times > 0) &&
        (glob_matches(rule.claims, claim.name) || glob_matches(rule.claims, full_name)))
      return &rule;
  return nullptr;
}

Ref<const PersistentVolume> VolumeController::volume_for(const Claim& claim) const {
  if (!claim.volume_name.empty()) {
    const Ref<const Volume> named = volumes_.find(claim.volume_name);
    const bool free = named && (!named->claim_ref || names_claim(*named, claim));
    return free ? named : nullptr;
  }
  if (const Ref<const Volume> chosen = volumes_.of(claim)) return chosen;
  if (waits_for_consumer(claim)) return nullptr;
  return volumes_.smallest_for(claim, *interner_.symbols());
}

void VolumeController::bind(const Claim& claim, const Volume& volume) {
  auto bound_volume = make_ref<Volume>(volume);
  if (!bound_volume->claim_ref) bound_volume->bound_by_controller = true;
  bound_volume->claim_ref =
      ClaimReference{claim.namespace_name, claim.name, claim.uid, claim.resource_version};
  bound_volume->symbols.retain(claim.namespace_name);
  bound_volume->phase = Volume::Phase::kBound;
  auto bound_claim = make_ref<Claim>(claim);
  bound_claim->volume_name = volume.name;
  bound_claim->bind_completed = true;
  bound_claim->has_annotations = true;
  bound_claim->phase = Claim::Phase::kBound;
  static_cast<void>(cluster_.update_object(Ref<const Object>(bound_volume)));
  static_cast<void>(cluster_.update_object(Ref<const Object>(bound_claim)));
}

// A volume that can be used where the node is: in its zone, else on it alone, as labels say.
void VolumeController::provision(const Claim& claim) {
  auto volume = make_ref<Volume>(interner_.hold());
  SymbolHold& symbols = volume->symbols;
  volume->name = fmt::format("pvc-{}", claim.uid);
  if (cluster_.object(ObjectKind::kPersistentVolume, "", volume->name)) return;
  if (claim.request) volume->capacity = *claim.request;
  volume->access_modes = claim.access_modes;
  volume->block = claim.block;
  for (const Symbol symbol : {claim.storage_class, claim.attributes_class, claim.namespace_name})
    symbols.retain(symbol);
  volume->storage_class = volume->spec_storage_class = claim.storage_class;
  volume->attributes_class = claim.attributes_class;
  volume->source.source = VolumeSource::kCsi;
  const StorageClass* storage_class = class_of(claim);
  volume->source.source_name =
      symbols.intern(storage_class->symbols.text(storage_class->provisioner));
  volume->source.detail = symbols.intern(volume->name);
  if (claim.selected_node) {
    const std::string_view node_name = claim.symbols.text(*claim.selected_node);
    const Ref<const Node> node = as<Node>(cluster_.object(ObjectKind::kNode, "", node_name));
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
  volume->claim_ref =
      ClaimReference{claim.namespace_name, claim.name, claim.uid, claim.resource_version};
  static_cast<void>(cluster_.create_object(Ref<const Object>(volume)));
  const Ref<const Object> made = cluster_.object(ObjectKind::kPersistentVolume, "", volume->name);
  if (made) bind(claim, *as<Volume>(made));
}

// As a provisioner does that cannot make the volume where it was asked to.
void VolumeController::give_back_node(const Claim& claim) {
  if (!claim.selected_node) return look_at(claim);
  auto back = make_ref<Claim>(claim);
  back->selected_node.reset();
  static_cast<void>(cluster_.update_object(Ref<const Object>(back)));
}

void VolumeController::claim_gone(const Claim& claim) {
  unbound_.erase({std::string(namespace_of(claim)), claim.name});
  const Ref<const Volume> volume = volumes_.of(claim);
  if (!volume) return;
  loop_.post([this, volume, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    const Ref<const Volume> present = volumes_.find(volume->name);
    if (!present || present->uid != volume->uid) return;
    if (volume->name == fmt::format("pvc-{}", volume->claim_ref->uid)) {
      static_cast<void>(cluster_.remove_object(ObjectKind::kPersistentVolume, "", volume->name));
      return;
    }
    auto released = make_ref<Volume>(*present);
    released->phase = Volume::Phase::kReleased;
    static_cast<void>(cluster_.update_object(Ref<const Object>(released)));
  });
}

void VolumeController::volume_gone(const Volume& volume) {
  if (!volume.claim_ref) return;
  const ClaimKey key{std::string(volume.symbols.text(volume.claim_ref->namespace_name)),
                     volume.claim_ref->name};
  loop_.post([this, key, name = volume.name, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    const Ref<const Claim> claim = find(key);
    if (!claim || !claim->fully_bound() || claim->volume_name != name || volumes_.find(name))
      return;
    auto lost = make_ref<Claim>(*claim);
    lost->phase = Claim::Phase::kLost;
    static_cast<void>(cluster_.update_object(Ref<const Object>(lost)));
  });
}

}  // namespace berth::sim
