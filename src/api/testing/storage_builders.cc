#include "api/testing/storage_builders.h"

#include "base/check.h"

namespace berth::testing {
namespace {

Quantity quantity(std::string_view text) {
  Result<Quantity> parsed = Quantity::parse(text);
  BERTH_CHECK(parsed.has_value());
  return *parsed;
}

template <typename T>
Ref<T> named(World& world, std::string name) {
  auto object = make_ref<T>(world.interner.hold());
  object->uid = "uid-of-" + name;
  object->name = std::move(name);
  object->resource_version = "1";
  return object;
}

void add_label(LabelSet& labels, Symbol key, Symbol value) {
  std::vector<Label> all(labels.begin(), labels.end());
  all.push_back({key, value});
  labels = LabelSet(std::move(all));
}

AccessModes modes_of(std::initializer_list<std::string_view> texts) {
  AccessModes modes;
  for (const std::string_view text : texts) modes.add(text);
  return modes;
}

}  // namespace

// ---- PersistentVolume ---------------------------------------------------------------------------

VolumeBuilder::VolumeBuilder(World& world, std::string name)
    : volume_(named<PersistentVolume>(world, std::move(name))) {
  volume_->phase = PersistentVolume::Phase::kAvailable;
  size("1Gi").modes({"ReadWriteOnce"});
}
VolumeBuilder& VolumeBuilder::of(std::string_view storage_class) {
  volume_->storage_class = volume_->spec_storage_class = symbol(storage_class);
  return *this;
}
VolumeBuilder& VolumeBuilder::size(std::string_view amount) {
  volume_->capacity = quantity(amount);
  return *this;
}
VolumeBuilder& VolumeBuilder::modes(std::initializer_list<std::string_view> modes) {
  volume_->access_modes = modes_of(modes);
  return *this;
}
VolumeBuilder& VolumeBuilder::block() {
  volume_->block = true;
  return *this;
}
VolumeBuilder& VolumeBuilder::attributes_class(std::string_view name) {
  volume_->attributes_class = symbol(name);
  return *this;
}
VolumeBuilder& VolumeBuilder::label(std::string_view key, std::string_view value) {
  add_label(volume_->labels, symbol(key), symbol(value));
  return *this;
}
VolumeBuilder& VolumeBuilder::phase(PersistentVolume::Phase phase) {
  volume_->phase = phase;
  return *this;
}
VolumeBuilder& VolumeBuilder::terminating() {
  volume_->terminating = true;
  return *this;
}
VolumeBuilder& VolumeBuilder::version(std::string version) {
  volume_->resource_version = std::move(version);
  return *this;
}
VolumeBuilder& VolumeBuilder::only_from(
    std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  NodeSelectorTerm all;
  for (const auto& [key, value] : labels)
    all.match_expressions.push_back({symbol(key), SelectorOperator::kIn, {}, {symbol(value)}});
  return term(std::move(all));
}
VolumeBuilder& VolumeBuilder::term(NodeSelectorTerm term) {
  no_term();
  volume_->node_affinity->push_back(std::move(term));
  return *this;
}
VolumeBuilder& VolumeBuilder::no_term() {
  if (!volume_->node_affinity) volume_->node_affinity.emplace();
  return *this;
}
VolumeBuilder& VolumeBuilder::claimed_by(std::string_view namespace_name, std::string name,
                                         std::string uid) {
  volume_->claim_ref = {symbol(namespace_name), std::move(name), std::move(uid), {}};
  return *this;
}
VolumeBuilder& VolumeBuilder::bound_by_controller() {
  volume_->bound_by_controller = true;
  return *this;
}
VolumeBuilder& VolumeBuilder::source(VolumeSource source, std::string_view name,
                                     std::string_view detail) {
  volume_->source.source = source;
  volume_->source.source_name = symbol(name);
  volume_->source.detail = symbol(detail);
  return *this;
}

// ---- PersistentVolumeClaim ----------------------------------------------------------------------

ClaimBuilder::ClaimBuilder(World& world, std::string name)
    : claim_(named<PersistentVolumeClaim>(world, std::move(name))) {
  in("default").asks("1Gi").modes({"ReadWriteOnce"});
}
ClaimBuilder& ClaimBuilder::in(std::string_view namespace_name) {
  claim_->namespace_name = symbol(namespace_name);
  return *this;
}
ClaimBuilder& ClaimBuilder::of(std::string_view storage_class) {
  claim_->storage_class = claim_->spec_storage_class = symbol(storage_class);
  return *this;
}
ClaimBuilder& ClaimBuilder::asks(std::string_view amount) {
  claim_->request = quantity(amount);
  return *this;
}
ClaimBuilder& ClaimBuilder::asks_nothing() {
  claim_->request.reset();
  return *this;
}
ClaimBuilder& ClaimBuilder::modes(std::initializer_list<std::string_view> modes) {
  claim_->access_modes = modes_of(modes);
  return *this;
}
ClaimBuilder& ClaimBuilder::block() {
  claim_->block = true;
  return *this;
}
ClaimBuilder& ClaimBuilder::attributes_class(std::string_view name) {
  claim_->attributes_class = symbol(name);
  return *this;
}
ClaimBuilder& ClaimBuilder::selects(std::string_view key, std::string_view value) {
  if (!claim_->selector) claim_->selector.emplace();
  claim_->selector->match_labels.push_back({symbol(key), symbol(value)});
  return *this;
}
ClaimBuilder& ClaimBuilder::selector(LabelSelector selector) {
  claim_->selector = std::move(selector);
  return *this;
}
ClaimBuilder& ClaimBuilder::uid(std::string uid) {
  claim_->uid = std::move(uid);
  return *this;
}
ClaimBuilder& ClaimBuilder::version(std::string version) {
  claim_->resource_version = std::move(version);
  return *this;
}
ClaimBuilder& ClaimBuilder::made_for(const Pod& pod) {
  claim_->namespace_name = symbol(pod.namespace_name());
  claim_->controller = pod.uid();
  return *this;
}
ClaimBuilder& ClaimBuilder::phase(PersistentVolumeClaim::Phase phase) {
  claim_->phase = phase;
  return *this;
}
ClaimBuilder& ClaimBuilder::terminating() {
  claim_->terminating = true;
  return *this;
}
ClaimBuilder& ClaimBuilder::volume(std::string name) {
  claim_->volume_name = std::move(name);
  return *this;
}
ClaimBuilder& ClaimBuilder::bound_to(std::string name) {
  claim_->volume_name = std::move(name);
  claim_->bind_completed = claim_->has_annotations = true;
  claim_->phase = PersistentVolumeClaim::Phase::kBound;
  return *this;
}
ClaimBuilder& ClaimBuilder::selected_node(std::string_view node) {
  claim_->selected_node = symbol(node);
  claim_->has_annotations = true;
  return *this;
}

// ---- the others ---------------------------------------------------------------------------------

StorageClassBuilder::StorageClassBuilder(World& world, std::string name)
    : class_(named<StorageClass>(world, std::move(name))) {
  class_->binding_mode = StorageClass::BindingMode::kWaitForFirstConsumer;
  provisioner("csi.example.com");
}
StorageClassBuilder& StorageClassBuilder::provisioner(std::string_view name) {
  class_->provisioner = class_->symbols.intern(name);
  return *this;
}
StorageClassBuilder& StorageClassBuilder::immediate() {
  class_->binding_mode = StorageClass::BindingMode::kImmediate;
  return *this;
}
StorageClassBuilder& StorageClassBuilder::without_mode() {
  class_->binding_mode.reset();
  return *this;
}
StorageClassBuilder& StorageClassBuilder::topology(std::string_view key,
                                                   std::initializer_list<std::string_view> values) {
  TopologyRequirement requirement{class_->symbols.intern(key), {}};
  for (const std::string_view value : values)
    requirement.values.push_back(class_->symbols.intern(value));
  class_->allowed_topologies.push_back({std::move(requirement)});
  return *this;
}
StorageClassBuilder& StorageClassBuilder::empty_topology() {
  class_->allowed_topologies.emplace_back();
  return *this;
}

CapacityBuilder::CapacityBuilder(World& world, std::string name, std::string_view storage_class)
    : capacity_(named<CSIStorageCapacity>(world, std::move(name))) {
  capacity_->namespace_name = capacity_->symbols.intern("kube-system");
  capacity_->storage_class = capacity_->symbols.intern(storage_class);
}
CapacityBuilder& CapacityBuilder::capacity(std::string_view amount) {
  capacity_->capacity = quantity(amount);
  return *this;
}
CapacityBuilder& CapacityBuilder::maximum(std::string_view amount) {
  capacity_->maximum_volume_size = quantity(amount);
  return *this;
}
CapacityBuilder& CapacityBuilder::from(std::string_view key, std::string_view value) {
  from_everywhere();
  capacity_->node_topology->match_labels.push_back(
      {capacity_->symbols.intern(key), capacity_->symbols.intern(value)});
  return *this;
}
CapacityBuilder& CapacityBuilder::from_everywhere() {
  if (!capacity_->node_topology) capacity_->node_topology.emplace();
  return *this;
}

Ref<const CSIDriver> csi_driver(World& world, std::string name, bool storage_capacity) {
  const Ref<CSIDriver> driver = named<CSIDriver>(world, std::move(name));
  driver->storage_capacity = storage_capacity;
  return driver;
}

Ref<const CSINode> csi_node(World& world, std::string name, std::string migrated_plugins) {
  const Ref<CSINode> node = named<CSINode>(world, std::move(name));
  node->migrated_plugins = std::move(migrated_plugins);
  return node;
}

PodBuilder& with_claim(PodBuilder& pod, std::string_view claim) {
  Volume volume;
  volume.name = pod.symbol(claim);
  volume.source = VolumeSource::kPersistentVolumeClaim;
  volume.source_name = volume.name;
  pod.spec().volumes.push_back(std::move(volume));
  return pod;
}

PodBuilder& with_ephemeral(PodBuilder& pod, std::string_view name) {
  Volume volume;
  volume.name = pod.symbol(name);
  volume.source = VolumeSource::kEphemeral;
  pod.spec().volumes.push_back(std::move(volume));
  return pod;
}

}  // namespace berth::testing
