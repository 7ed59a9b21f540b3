#include "sim/volume_controller.h"

#include <fmt/format.h>

#include <utility>

#include "berth/node.h"
#include "sim/scenario.h"

namespace berth::sim {

VolumeController::VolumeController(Loop& loop, SimCluster& cluster, Interner& interner,
                                   VolumeRules rules)
    : cluster_(cluster), rules_(std::move(rules)), controller_(loop, interner, *this) {
  cluster_.on_change(lifetime_.guard([this](const Delta& delta) { changed(delta); }));
}

void VolumeController::forget_rules() {
  rules_.claims.clear();
  controller_.start_over();
}

void VolumeController::changed(const Delta& delta) {
  const auto* object = std::get_if<Ref<const Object>>(&delta.object);
  if (object == nullptr) return;
  const bool gone = delta.type == DeltaType::kDeleted;
  switch ((*object)->kind) {
    case ObjectKind::kPersistentVolumeClaim:
      controller_.claim_changed(*cast_to<Claim>(*object), gone);
      break;
    case ObjectKind::kPersistentVolume:
      controller_.volume_changed(cast_to<PersistentVolume>(*object), gone);
      break;
    case ObjectKind::kStorageClass: controller_.class_changed(); break;
    default: break;
  }
}

Ref<const PersistentVolumeClaim> VolumeController::claim(std::string_view namespace_name,
                                                         std::string_view name) const {
  return cast_to<Claim>(cluster_.object(ObjectKind::kPersistentVolumeClaim, namespace_name, name));
}

Ref<const StorageClass> VolumeController::storage_class(std::string_view name) const {
  return cast_to<StorageClass>(cluster_.object(ObjectKind::kStorageClass, "", name));
}

Ref<const Node> VolumeController::node(std::string_view name) const {
  return cast_to<Node>(cluster_.object(ObjectKind::kNode, "", name));
}

// ---- how the steps go

VolumeRule* VolumeController::rule_for(const Claim& claim) {
  const std::string full_name = fmt::format("{}/{}", namespace_of(claim), claim.name);
  for (VolumeRule& rule : rules_.claims)
    if ((!rule.times || *rule.times > 0) &&
        (glob_matches(rule.claims, claim.name) || glob_matches(rule.claims, full_name)))
      return &rule;
  return nullptr;
}

std::optional<Duration> VolumeController::begin(const Claim& claim, controllers::VolumeStep step) {
  if (step == controllers::VolumeStep::kWait) return std::nullopt;
  const Duration usual = step == controllers::VolumeStep::kBind ? rules_.bind : rules_.provision;
  VolumeRule* rule = rule_for(claim);
  if (rule == nullptr) return usual;
  if (rule->outcome != VolumeRule::Outcome::kNever) return rule->delay.value_or(usual);
  if (rule->times) --*rule->times;
  return std::nullopt;
}

controllers::StepOutcome VolumeController::finish(const Claim& claim) {
  VolumeRule* rule = rule_for(claim);
  if (rule == nullptr) return VolumeRule::Outcome::kDone;
  if (rule->outcome != VolumeRule::Outcome::kNever && rule->times) --*rule->times;
  return rule->outcome;
}

// ---- writing

bool VolumeController::write(const PersistentVolume& wanted) {
  return cluster_.update_object(Ref<const Object>(make_ref<PersistentVolume>(wanted))).has_value();
}

bool VolumeController::write(const Claim& wanted, const PersistentVolume*) {
  return cluster_.update_object(Ref<const Object>(make_ref<Claim>(wanted))).has_value();
}

bool VolumeController::create(const PersistentVolume& volume, const Claim&) {
  return cluster_.create_object(Ref<const Object>(make_ref<PersistentVolume>(volume))).has_value();
}

void VolumeController::remove(const PersistentVolume& volume) {
  static_cast<void>(cluster_.remove_object(ObjectKind::kPersistentVolume, "", volume.name));
}

// Those that were provisioned do.
bool VolumeController::deletes_released(const PersistentVolume& volume) const {
  return volume.claim_ref && volume.name == fmt::format("pvc-{}", volume.claim_ref->uid);
}

}  // namespace berth::sim
