// The storage kinds, in both encodings.

#include "api/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode.h"
#include "api/defaulting.h"
#include "api/proto_json.h"
#include "base/testing/names.h"

namespace berth {
namespace {

class Storage : public ::testing::Test {
 protected:
  // The object as JSON gives it and as protobuf gives it.
  template <typename T>
  std::vector<Ref<const T>> decoded(ObjectKind kind, std::string_view api_version,
                                    std::string_view json) {
    const auto from_json = decode_object(kind, json, interner_, nullptr);
    const auto bytes = json_to_proto(api_version, to_string(kind), json);
    EXPECT_TRUE(bytes) << bytes.error().message;
    const auto from_proto = decode_object_proto(kind, bytes.value_or(std::string()), interner_);
    std::vector<Ref<const T>> objects;
    for (const auto* object : {&from_json, &from_proto}) {
      EXPECT_TRUE(object->has_value());
      objects.emplace_back(
          static_cast<const T*>(std::get<Ref<const Object>>(object->value()).get()));
    }
    return objects;
  }
  std::vector<Ref<const PersistentVolume>> volumes(std::string_view json) {
    return decoded<PersistentVolume>(ObjectKind::kPersistentVolume, "v1", json);
  }
  std::vector<Ref<const PersistentVolumeClaim>> claims(std::string_view json) {
    return decoded<PersistentVolumeClaim>(ObjectKind::kPersistentVolumeClaim, "v1", json);
  }
  std::string text(Symbol symbol) const { return std::string(interner_.symbols()->text(symbol)); }
  std::vector<std::string> texts(const std::vector<Symbol>& symbols) const {
    std::vector<std::string> all;
    for (const Symbol symbol : symbols) all.push_back(text(symbol));
    return all;
  }

  Interner interner_;
};

TEST_F(Storage, AVolumeWithEverythingThatSchedulingReads) {
  const auto both = volumes(R"({"metadata":{"name":"pv-1","uid":"u1","resourceVersion":"7",
      "labels":{"disk":"fast"},"deletionTimestamp":"2026-01-01T00:00:00Z",
      "annotations":{"volume.beta.kubernetes.io/storage-class":"beta",
                     "pv.kubernetes.io/bound-by-controller":"yes","other":"x"}},
    "spec":{"capacity":{"storage":"10Gi","iops":"5"},
      "accessModes":["ReadWriteOnce","ReadOnlyMany","Odd"],
      "claimRef":{"kind":"PersistentVolumeClaim","apiVersion":"v1","namespace":"prod",
                  "name":"data","uid":"cu","resourceVersion":"3"},
      "storageClassName":"spec-class","volumeMode":"Block","volumeAttributesClassName":"gold",
      "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"zone","operator":"In","values":["a","b"]}]}]}},
      "csi":{"driver":"d.example.com","volumeHandle":"h-1","readOnly":true}},
    "status":{"phase":"Released"}})");
  for (const auto& volume : both) {
    EXPECT_EQ(volume->name, "pv-1");
    EXPECT_EQ(volume->uid, "u1");
    EXPECT_EQ(volume->resource_version, "7");
    EXPECT_TRUE(volume->namespace_name.empty());
    EXPECT_EQ(text(volume->labels.get(interner_.symbols()->find("disk"))), "fast");
    EXPECT_TRUE(volume->terminating);
    EXPECT_TRUE(volume->bound_by_controller);
    EXPECT_EQ(text(volume->storage_class), "beta") << "the annotation comes first";
    EXPECT_EQ(text(volume->spec_storage_class), "spec-class");
    EXPECT_EQ(text(volume->attributes_class), "gold");
    EXPECT_EQ(volume->capacity.to_string(), "10Gi");
    EXPECT_TRUE(volume->block);
    EXPECT_TRUE(volume->access_modes.contains(AccessModes::kReadWriteOnce));
    EXPECT_TRUE(volume->access_modes.contains(AccessModes::kReadOnlyMany));
    EXPECT_TRUE(volume->access_modes.contains(AccessModes::kUnknown));
    EXPECT_FALSE(volume->access_modes.contains(AccessModes::kReadWriteMany));
    ASSERT_TRUE(volume->claim_ref);
    EXPECT_EQ(text(volume->claim_ref->namespace_name), "prod");
    EXPECT_EQ(volume->claim_ref->name, "data");
    EXPECT_EQ(volume->claim_ref->uid, "cu");
    EXPECT_EQ(volume->claim_ref->resource_version, "3");
    ASSERT_TRUE(volume->node_affinity);
    ASSERT_EQ(volume->node_affinity->size(), 1U);
    EXPECT_THAT(texts((*volume->node_affinity)[0].match_expressions.at(0).values),
                ElementsAre("a", "b"));
    EXPECT_EQ(volume->source.source, VolumeSource::kCsi);
    EXPECT_EQ(text(volume->source.source_name), "d.example.com");
    EXPECT_EQ(text(volume->source.detail), "h-1");
    EXPECT_TRUE(volume->source.read_only);
    EXPECT_EQ(volume->phase, PersistentVolume::Phase::kReleased);
  }
}

TEST_F(Storage, AnEmptyVolumeHasDefaults) {
  for (const auto& volume : volumes(R"({"metadata":{"name":"pv"}})")) {
    EXPECT_EQ(volume->phase, PersistentVolume::Phase::kPending);
    EXPECT_TRUE(volume->capacity.is_zero());
    EXPECT_FALSE(volume->node_affinity);
    EXPECT_FALSE(volume->claim_ref);
    EXPECT_FALSE(volume->block || volume->terminating || volume->bound_by_controller);
    EXPECT_TRUE(volume->storage_class.empty());
    EXPECT_EQ(volume->access_modes, AccessModes());
    EXPECT_EQ(volume->source, Volume());
  }
}

TEST_F(Storage, AnAnnotatedEmptyClassCounts) {
  constexpr std::string_view kAnnotated =
      R"({"metadata":{"name":"x","annotations":{"volume.beta.kubernetes.io/storage-class":""}},
          "spec":{"storageClassName":"c"}})";
  for (const auto& volume : volumes(kAnnotated)) EXPECT_TRUE(volume->storage_class.empty());
  for (const auto& claim : claims(kAnnotated)) EXPECT_TRUE(claim->storage_class.empty());
}

TEST_F(Storage, AffinityWithoutTermsIsNotTheSameAsNone) {
  for (const auto& volume : volumes(R"({"spec":{"nodeAffinity":{"required":
         {"nodeSelectorTerms":[]}}}})")) {
    ASSERT_TRUE(volume->node_affinity);
    EXPECT_TRUE(volume->node_affinity->empty());
  }
  for (const auto& volume : volumes(R"({"spec":{"nodeAffinity":{}}})"))
    EXPECT_FALSE(volume->node_affinity);
}

TEST_F(Storage, WhereVolumesComeFrom) {
  struct Row {
    std::string json;
    VolumeSource source;
    std::string name, detail, kind;
    bool read_only;
  };
  const Row rows[] = {
      {R"("gcePersistentDisk":{"pdName":"p","readOnly":true})", VolumeSource::kGcePersistentDisk,
       "p", "", "", true},
      {R"("awsElasticBlockStore":{"volumeID":"v"})", VolumeSource::kAwsElasticBlockStore, "v", "",
       "", false},
      {R"("azureDisk":{"diskName":"d","diskURI":"u","kind":"Managed","readOnly":true})",
       VolumeSource::kAzureDisk, "d", "u", "Managed", true},
      {R"("azureFile":{"secretName":"s","shareName":"f"})", VolumeSource::kAzureFile, "f", "s", "",
       false},
      {R"("cinder":{"volumeID":"v"})", VolumeSource::kCinder, "v", "", "", false},
      {R"("iscsi":{"iqn":"q","lun":0,"targetPortal":"t"})", VolumeSource::kIscsi, "q", "", "",
       false},
      {R"("portworxVolume":{"volumeID":"v"})", VolumeSource::kPortworxVolume, "v", "", "", false},
      {R"("vsphereVolume":{"volumePath":"p"})", VolumeSource::kVsphereVolume, "p", "", "", false},
      {R"("rbd":{"image":"i","pool":"p","monitors":["a","b"]})", VolumeSource::kRbd, "i", "p", "",
       false},
      {R"("rbd":{"image":"i","monitors":["a","b"]})", VolumeSource::kRbd, "i", "rbd", "", false},
      {R"("hostPath":{"path":"/x"})", VolumeSource::kOther, "", "", "", false},
      {R"("local":{"path":"/x"})", VolumeSource::kOther, "", "", "", false},
  };
  for (const Row& row : rows) {
    for (const auto& volume : volumes("{\"spec\":{" + row.json + "}}")) {
      EXPECT_EQ(volume->source.source, row.source) << row.json;
      EXPECT_EQ(text(volume->source.source_name), row.name) << row.json;
      EXPECT_EQ(text(volume->source.detail), row.detail) << row.json;
      EXPECT_EQ(text(volume->source.kind), row.kind) << row.json;
      EXPECT_EQ(volume->source.read_only, row.read_only) << row.json;
      if (row.source == VolumeSource::kRbd) {
        EXPECT_THAT(texts(volume->source.monitors), ElementsAre("a", "b"));
      }
    }
  }
}

TEST_F(Storage, AClaimWithEverythingThatSchedulingReads) {
  const auto both = claims(R"({"metadata":{"name":"data","namespace":"prod","uid":"cu",
      "resourceVersion":"9",
      "annotations":{"volume.kubernetes.io/selected-node":"n1",
                     "pv.kubernetes.io/bind-completed":""},
      "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"other","uid":"ou"},
                         {"apiVersion":"v1","kind":"Pod","name":"p","uid":"pu","controller":true}]},
    "spec":{"accessModes":["ReadWriteOncePod"],"resources":{"requests":{"storage":"5Gi"}},
      "selector":{"matchLabels":{"disk":"fast"}},"volumeName":"pv-1","storageClassName":"c",
      "volumeMode":"Block","volumeAttributesClassName":"gold"},
    "status":{"phase":"Lost"}})");
  for (const auto& claim : both) {
    EXPECT_EQ(text(claim->namespace_name), "prod");
    EXPECT_EQ(claim->name, "data");
    EXPECT_EQ(claim->controller, Uid::of("pu"));
    EXPECT_EQ(claim->request->to_string(), "5Gi");
    ASSERT_TRUE(claim->selector);
    EXPECT_EQ(claim->selector->match_labels.size(), 1U);
    EXPECT_EQ(claim->access_modes, AccessModes(AccessModes::kReadWriteOncePod));
    EXPECT_EQ(claim->volume_name, "pv-1");
    EXPECT_EQ(text(claim->storage_class), "c");
    EXPECT_EQ(text(claim->spec_storage_class), "c");
    EXPECT_EQ(text(claim->attributes_class), "gold");
    EXPECT_EQ(text(claim->selected_node.value()), "n1");
    EXPECT_TRUE(claim->bind_completed) << "the annotation is there, whatever it says";
    EXPECT_TRUE(claim->has_annotations && claim->block && claim->fully_bound());
    EXPECT_FALSE(claim->terminating);
    EXPECT_EQ(claim->phase, PersistentVolumeClaim::Phase::kLost);
  }
}

TEST_F(Storage, AnEmptyClaimIsInTheDefaultNamespace) {
  for (const auto& claim : claims(R"({"metadata":{"name":"c"}})")) {
    EXPECT_EQ(text(claim->namespace_name), "default");
    EXPECT_TRUE(claim->controller.empty());
    EXPECT_FALSE(claim->request || claim->selector || claim->selected_node);
    EXPECT_FALSE(claim->has_annotations || claim->bind_completed || claim->fully_bound());
    EXPECT_EQ(claim->phase, PersistentVolumeClaim::Phase::kPending);
  }
}

TEST_F(Storage, AClass) {
  const auto classes = [&](std::string_view json) {
    return decoded<StorageClass>(ObjectKind::kStorageClass, "storage.k8s.io/v1", json);
  };
  for (const auto& fast : classes(R"({"metadata":{"name":"fast"},"provisioner":"p.example.com",
         "volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[
           {"matchLabelExpressions":[{"key":"zone","values":["a","b"]}]},{}]})")) {
    EXPECT_EQ(text(fast->provisioner), "p.example.com");
    EXPECT_EQ(fast->binding_mode, StorageClass::BindingMode::kWaitForFirstConsumer);
    ASSERT_EQ(fast->allowed_topologies.size(), 2U);
    EXPECT_EQ(text(fast->allowed_topologies[0].at(0).key), "zone");
    EXPECT_THAT(texts(fast->allowed_topologies[0][0].values), ElementsAre("a", "b"));
    EXPECT_TRUE(fast->allowed_topologies[1].empty());
  }
  for (const auto& plain : classes(R"({"metadata":{"name":"plain"},"provisioner":"x"})"))
    EXPECT_FALSE(plain->binding_mode);
}

TEST_F(Storage, AdmissionGivesAClassItsMode) {
  const Admission admission;
  const auto object =
      decode_object(ObjectKind::kStorageClass, R"({"metadata":{"name":"c"},"provisioner":"x"})",
                    interner_, &admission);
  const auto& made = static_cast<const StorageClass&>(*std::get<Ref<const Object>>(object.value()));
  EXPECT_EQ(made.binding_mode, StorageClass::BindingMode::kImmediate);
}

TEST_F(Storage, WhatDriversSay) {
  for (const auto& node : decoded<CSINode>(ObjectKind::kCSINode, "storage.k8s.io/v1",
                                           R"({"metadata":{"name":"n1","annotations":
              {"storage.alpha.kubernetes.io/migrated-plugins":"a,b"}},
              "spec":{"drivers":[{"name":"d","nodeID":"i","allocatable":{"count":0}},
                                 {"name":"e","nodeID":"i","topologyKeys":["z"]}]}})")) {
    EXPECT_EQ(node->migrated_plugins, "a,b");
    ASSERT_EQ(node->drivers.size(), 2U);
    EXPECT_EQ(text(node->drivers[0].name), "d");
    EXPECT_EQ(node->drivers[0].allocatable_count, 0);
    EXPECT_EQ(node->drivers[1].allocatable_count, std::nullopt);
  }
  for (const auto& driver :
       decoded<CSIDriver>(ObjectKind::kCSIDriver, "storage.k8s.io/v1",
                          R"({"metadata":{"name":"d"},"spec":{"storageCapacity":true,
                              "preventPodSchedulingIfMissing":true}})"))
    EXPECT_TRUE(driver->storage_capacity && driver->prevent_scheduling_if_missing);
  for (const auto& capacity : decoded<CSIStorageCapacity>(
           ObjectKind::kCSIStorageCapacity, "storage.k8s.io/v1",
           R"({"metadata":{"name":"c","namespace":"ns"},"storageClassName":"fast",
               "nodeTopology":{},"capacity":"10Gi","maximumVolumeSize":"2Gi"})")) {
    EXPECT_EQ(text(capacity->namespace_name), "ns");
    EXPECT_EQ(text(capacity->storage_class), "fast");
    EXPECT_TRUE(capacity->node_topology);
    EXPECT_EQ(capacity->capacity->to_string(), "10Gi");
    EXPECT_EQ(capacity->limit()->to_string(), "2Gi") << "the more precise one";
  }
  for (const auto& attachment :
       decoded<VolumeAttachment>(ObjectKind::kVolumeAttachment, "storage.k8s.io/v1",
                                 R"({"metadata":{"name":"a"},"spec":{"attacher":"d","nodeName":"n1",
               "source":{"persistentVolumeName":"pv"}}})")) {
    EXPECT_EQ(text(attachment->attacher), "d");
    EXPECT_EQ(text(attachment->node_name), "n1");
    EXPECT_EQ(attachment->persistent_volume_name, "pv");
  }
}

TEST_F(Storage, LongAnnotationsAreNotKept) {
  const auto claim = decode_object(
      ObjectKind::kPersistentVolumeClaim,
      R"({"metadata":{"name":"c","annotations":{"note":"some long text"}}})", interner_, nullptr);
  ASSERT_TRUE(claim);
  EXPECT_TRUE(interner_.symbols()->find("some long text").empty());
}

TEST_F(Storage, WhatMakesNoSenseIsRefused) {
  const auto error = [&](ObjectKind kind, std::string_view json) {
    const auto object = decode_object(kind, json, interner_, nullptr);
    return object ? std::string() : object.error().message;
  };
  EXPECT_EQ(error(ObjectKind::kPersistentVolume, R"({"spec":{"accessModes":[1]}})"),
            "spec.accessModes[0]: expected a string, got a number");
  EXPECT_EQ(error(ObjectKind::kPersistentVolumeClaim, R"({"spec":{"resources":{"requests":7}}})"),
            "spec.resources.requests: expected a map, got a number");
  EXPECT_NE(error(ObjectKind::kCSIStorageCapacity, R"({"capacity":"many"})"), "");
}

}  // namespace
}  // namespace berth
