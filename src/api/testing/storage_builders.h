// Builders for tests, of the kinds about storage. Like those of builders.h:
//
//   World world;
//   Ref<const PersistentVolume> pv =
//       VolumeBuilder(world, "pv").of("local").size("10Gi").only_from({{"zone", "a"}});
//   Ref<const PersistentVolumeClaim> claim = ClaimBuilder(world, "data").of("local").asks("5Gi");
//
// UIDs follow from the name unless given; the version is "1".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "api/storage.h"
#include "api/testing/builders.h"

namespace berth::testing {

// An available volume of 1Gi, ReadWriteOnce, of no class.
class VolumeBuilder {
 public:
  VolumeBuilder(World& world, std::string name);

  VolumeBuilder& of(std::string_view storage_class);
  VolumeBuilder& size(std::string_view amount);
  VolumeBuilder& modes(std::initializer_list<std::string_view> modes);
  VolumeBuilder& block();
  VolumeBuilder& attributes_class(std::string_view name);
  VolumeBuilder& label(std::string_view key, std::string_view value);
  VolumeBuilder& phase(PersistentVolume::Phase phase);
  VolumeBuilder& terminating();
  VolumeBuilder& version(std::string version);
  // A node needs all these labels; several calls: any of them.
  VolumeBuilder& only_from(
      std::initializer_list<std::pair<std::string_view, std::string_view>> labels);
  VolumeBuilder& term(NodeSelectorTerm term);
  VolumeBuilder& no_term();  // spec.nodeAffinity.required without any
  VolumeBuilder& claimed_by(std::string_view namespace_name, std::string name,
                            std::string uid = {});
  VolumeBuilder& bound_by_controller();
  VolumeBuilder& source(VolumeSource source, std::string_view name, std::string_view detail = {});
  Symbol symbol(std::string_view text) { return volume_->symbols.intern(text); }

  Ref<const PersistentVolume> build() const { return make_ref<PersistentVolume>(*volume_); }
  operator Ref<const PersistentVolume>() const { return build(); }  // NOLINT

 private:
  Ref<PersistentVolume> volume_;
};

// An unbound claim for 1Gi, ReadWriteOnce, of no class, in namespace "default".
class ClaimBuilder {
 public:
  ClaimBuilder(World& world, std::string name);

  ClaimBuilder& in(std::string_view namespace_name);
  ClaimBuilder& of(std::string_view storage_class);
  ClaimBuilder& asks(std::string_view amount);
  ClaimBuilder& asks_nothing();
  ClaimBuilder& modes(std::initializer_list<std::string_view> modes);
  ClaimBuilder& block();
  ClaimBuilder& attributes_class(std::string_view name);
  ClaimBuilder& selects(std::string_view key, std::string_view value);
  ClaimBuilder& selector(LabelSelector selector);
  ClaimBuilder& uid(std::string uid);
  ClaimBuilder& version(std::string version);
  ClaimBuilder& made_for(const Pod& pod);
  ClaimBuilder& phase(PersistentVolumeClaim::Phase phase);
  ClaimBuilder& terminating();
  ClaimBuilder& volume(std::string name);    // spec.volumeName alone
  ClaimBuilder& bound_to(std::string name);  // that, and the binding is complete
  ClaimBuilder& selected_node(std::string_view node);
  Symbol symbol(std::string_view text) { return claim_->symbols.intern(text); }

  Ref<const PersistentVolumeClaim> build() const {
    return make_ref<PersistentVolumeClaim>(*claim_);
  }
  operator Ref<const PersistentVolumeClaim>() const { return build(); }  // NOLINT

 private:
  Ref<PersistentVolumeClaim> claim_;
};

// A class that waits for the first consumer, with provisioner "csi.example.com".
class StorageClassBuilder {
 public:
  StorageClassBuilder(World& world, std::string name);

  StorageClassBuilder& provisioner(std::string_view name);
  StorageClassBuilder& static_only() { return provisioner("kubernetes.io/no-provisioner"); }
  StorageClassBuilder& immediate();
  StorageClassBuilder& without_mode();
  // One of these values; several calls: any of them.
  StorageClassBuilder& topology(std::string_view key,
                                std::initializer_list<std::string_view> values);
  StorageClassBuilder& empty_topology();

  Ref<const StorageClass> build() const { return make_ref<StorageClass>(*class_); }
  operator Ref<const StorageClass>() const { return build(); }  // NOLINT

 private:
  Ref<StorageClass> class_;
};

class CapacityBuilder {
 public:
  CapacityBuilder(World& world, std::string name, std::string_view storage_class);

  CapacityBuilder& capacity(std::string_view amount);
  CapacityBuilder& maximum(std::string_view amount);
  CapacityBuilder& from(std::string_view key, std::string_view value);
  CapacityBuilder& from_everywhere();

  Ref<const CSIStorageCapacity> build() const { return make_ref<CSIStorageCapacity>(*capacity_); }
  operator Ref<const CSIStorageCapacity>() const { return build(); }  // NOLINT

 private:
  Ref<CSIStorageCapacity> capacity_;
};

Ref<const CSIDriver> csi_driver(World& world, std::string name, bool storage_capacity);
Ref<const CSINode> csi_node(World& world, std::string name, std::string migrated_plugins);

// Volumes of pods: a claim by name, and a generic ephemeral one.
PodBuilder& with_claim(PodBuilder& pod, std::string_view claim);
PodBuilder& with_ephemeral(PodBuilder& pod, std::string_view volume);

}  // namespace berth::testing
