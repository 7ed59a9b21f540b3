#include "trace/recorded_fields.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "api/decode.h"
#include "api/testing/golden.h"
#include "berth/interner.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct RecordedFieldsTest : ::testing::Test {
  JsonValue object(std::string_view kind, std::string_view name) {
    return parse_json(berth::testing::golden(kind, name).json).value();
  }
  template <typename T>
  Ref<const T> decoded(ObjectKind kind, const JsonValue& json) {
    kept.push_back(decode_object(kind, to_json(json), interner, nullptr).value());
    if constexpr (std::is_same_v<T, Pod>)
      return std::get<Ref<const Pod>>(kept.back());
    else
      return Ref<const T>(static_cast<const T*>(std::get<Ref<const Object>>(kept.back()).get()));
  }

  Interner interner;
  std::vector<AnyObject> kept;
  RecordedFields fields{std::nullopt};
  RecordedFields anonymous{Anonymiser({1, 2})};
};

// The names of Secrets and ConfigMaps apart, which scheduling does not look at.
TEST_F(RecordedFieldsTest, KeepWhatSchedulingReadsOfAPod) {
  for (const auto& [name, known] : {std::pair("rich-1", "Pod"), {"web-7d4b9c-x2x5q", "Pod"}}) {
    JsonValue whole = object(known, name);
    const JsonValue recorded = fields.of(ObjectKind::kPod, whole);
    const auto without_sources = [&](const JsonValue& json) {
      PodDraft draft = draft_of(*decoded<Pod>(ObjectKind::kPod, json));
      PodSpec spec(*draft.spec);
      for (Volume& volume : spec.volumes)
        if (volume.source == VolumeSource::kSecret || volume.source == VolumeSource::kConfigMap)
          volume.source_name = Symbol();
      spec.symbols = interner.hold();
      draft.spec = interner.share(std::move(spec));
      return make_pod(std::move(draft));
    };
    const Ref<const Pod> a = without_sources(whole);
    const Ref<const Pod> b = without_sources(recorded);
    EXPECT_EQ(a->spec().containers, b->spec().containers);
    EXPECT_EQ(a->spec().volumes, b->spec().volumes);
    EXPECT_EQ(a->spec().tolerations, b->spec().tolerations);
    EXPECT_EQ(a->spec().node_selector, b->spec().node_selector);
    EXPECT_EQ(a->spec().topology_spread_constraints, b->spec().topology_spread_constraints);
    EXPECT_EQ(!a->spec().affinity, !b->spec().affinity);
    if (a->spec().affinity) {
      EXPECT_EQ(*a->spec().affinity, *b->spec().affinity);
    }
    EXPECT_EQ(a->spec().priority, b->spec().priority);
    EXPECT_EQ(a->spec().overhead, b->spec().overhead);
    EXPECT_EQ(a->spec().resource_claims, b->spec().resource_claims);
    EXPECT_EQ(a->spec().scheduling_gates, b->spec().scheduling_gates);
    EXPECT_EQ(a->meta_ref(), b->meta_ref());
    EXPECT_EQ(a->uid(), b->uid());
    EXPECT_EQ(a->resource_version(), b->resource_version());
    EXPECT_EQ(a->node(), b->node());
    EXPECT_EQ(a->nominated_node(), b->nominated_node());
    EXPECT_EQ(a->phase(), b->phase());
    EXPECT_EQ(a->deletion_time(), b->deletion_time());
    EXPECT_EQ(a->scheduled_condition(), b->scheduled_condition());
    ASSERT_EQ(!a->extra(), !b->extra());
    if (!a->extra()) continue;
    EXPECT_EQ(a->extra()->container_resources, b->extra()->container_resources);
    EXPECT_EQ(a->extra()->resource_claim_statuses, b->extra()->resource_claim_statuses);
  }
}

TEST_F(RecordedFieldsTest, KeepWhatSchedulingReadsOfANode) {
  const JsonValue whole = object("Node", "node-7");
  const auto a = decoded<Node>(ObjectKind::kNode, whole);
  const auto b = decoded<Node>(ObjectKind::kNode, fields.of(ObjectKind::kNode, whole));
  EXPECT_EQ(a->labels, b->labels);
  EXPECT_EQ(a->taints, b->taints);
  EXPECT_EQ(a->unschedulable, b->unschedulable);
  EXPECT_EQ(a->capacity, b->capacity);
  EXPECT_EQ(a->allocatable, b->allocatable);
  EXPECT_EQ(a->images, b->images);
  EXPECT_EQ(a->conditions, b->conditions);
  EXPECT_TRUE(b->annotations.empty());
}

// What is kept is the same when it is taken again, so that every list names what it keeps.
TEST_F(RecordedFieldsTest, EveryKindThatIsWatchedHasAList) {
  int known = 0;
  for (const berth::testing::Golden& golden : berth::testing::golden_objects()) {
    const JsonValue whole = parse_json(golden.json).value();
    const JsonValue *version = whole.find("apiVersion"), *name = whole.find("kind");
    if (!version || !name) continue;
    const ObjectKind kind = object_kind(version->text, name->text);
    if (!fields.knows(kind)) continue;
    ++known;
    const JsonValue once = fields.of(kind, whole);
    EXPECT_EQ(to_json(fields.of(kind, once)), to_json(once));
    EXPECT_TRUE(decode_object(kind, to_json(once), interner, nullptr)) << to_json(once);
    EXPECT_TRUE(decode_object(kind, to_json(anonymous.of(kind, whole)), interner, nullptr));
  }
  EXPECT_GE(known, 18);
}

// Wherever the schema lets somebody put it.
TEST_F(RecordedFieldsTest, NothingSecretIsKept) {
  const JsonValue pod = parse_json(R"({"metadata":{"name":"a","annotations":{"x":"hush",
      "kubectl.kubernetes.io/last-applied-configuration":"hush"},"managedFields":[{"x":"hush"}]},
      "spec":{"containers":[{"name":"c","image":"i","command":["hush"],"args":["hush"],
      "workingDir":"hush","env":[{"name":"K","value":"hush"}],"envFrom":[{"prefix":"hush"}],
      "lifecycle":{"postStart":{"exec":{"command":["hush"]}}},
      "livenessProbe":{"exec":{"command":["hush"]},"httpGet":{"httpHeaders":[{"value":"hush"}]}},
      "volumeMounts":[{"name":"hush","mountPath":"hush","subPathExpr":"hush"}]}],
      "initContainers":[{"name":"c","env":[{"name":"K","value":"hush"}],"args":["hush"]}],
      "ephemeralContainers":[{"name":"c","env":[{"name":"K","value":"hush"}],"command":["hush"]}],
      "volumes":[{"name":"v","secret":{"secretName":"hush","items":[{"key":"hush"}]}},
      {"name":"w","configMap":{"name":"hush"}},{"name":"x","csi":{"driver":"d","volumeAttributes":
      {"a":"hush"},"nodePublishSecretRef":{"name":"hush"}}},{"name":"y","flexVolume":{"options":
      {"p":"hush"}}},{"name":"z","ephemeral":{"volumeClaimTemplate":{"metadata":{"annotations":
      {"a":"hush"}}}}}],"imagePullSecrets":[{"name":"hush"}],"hostAliases":[{"hostnames":["hush"]}],
      "serviceAccountName":"hush"},
      "status":{"message":"hush","podIP":"hush","containerStatuses":[{"name":"c","state":
      {"waiting":{"message":"hush"}}}],"conditions":[{"type":"Ready","message":"hush"}]}})")
                            .value();
  EXPECT_THAT(to_json(fields.of(ObjectKind::kPod, pod)), Not(HasSubstr("hush")));
  const JsonValue template_of_pod = parse_json(R"({"metadata":{"name":"a"},"spec":{"selector":
      {"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"},"annotations":
      {"a":"hush"}},"spec":{"containers":[{"env":[{"value":"hush"}],"args":["hush"]}]}},
      "volumeClaimTemplates":[{"metadata":{"annotations":{"a":"hush"}}}]}})")
                                        .value();
  for (const ObjectKind kind :
       {ObjectKind::kReplicaSet, ObjectKind::kStatefulSet, ObjectKind::kReplicationController})
    EXPECT_THAT(to_json(fields.of(kind, template_of_pod)), Not(HasSubstr("hush")));
  const JsonValue with_parameters =
      parse_json(R"({"metadata":{"name":"a","annotations":{"a":"hush"}},
      "parameters":{"a":"hush"},"mountOptions":["hush"],"spec":{"config":[{"opaque":{"parameters":
      "hush"}}],"devices":{"config":[{"opaque":{"parameters":"hush"}}]},"csi":{"driver":"d",
      "volumeAttributes":{"a":"hush"},"nodeStageSecretRef":{"name":"hush"}},"mountOptions":["hush"],
      "claimRef":{"name":"c","fieldPath":"hush"}},"status":{"message":"hush","allocation":{"devices":
      {"config":[{"opaque":{"parameters":"hush"}}]}},"devices":[{"data":"hush","networkData":
      {"ips":["hush"]},"conditions":[{"message":"hush"}]}]}})")
          .value();
  for (const ObjectKind kind : {ObjectKind::kStorageClass, ObjectKind::kPersistentVolume,
                                ObjectKind::kResourceClaim, ObjectKind::kDeviceClass})
    EXPECT_THAT(to_json(fields.of(kind, with_parameters)), Not(HasSubstr("hush")));
}

TEST_F(RecordedFieldsTest, AnAnonymousPodHasNoNameOfItsOwn) {
  const JsonValue pod = parse_json(R"({"apiVersion":"v1","kind":"Pod","metadata":{
      "name":"acme-web-1","namespace":"acme","uid":"acme","labels":{"app":"acme"},
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"acme-web","uid":"acme",
      "controller":true}]},"spec":{"nodeName":"acme-n1","priorityClassName":"acme",
      "schedulerName":"default-scheduler","nodeSelector":{"zone":"acme"},"containers":[{
      "name":"acme","image":"registry.acme.com/acme:acme"}],"tolerations":[{"key":"k","operator":
      "Equal","value":"acme"}],"affinity":{"podAntiAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","namespaces":["acme"],
      "labelSelector":{"matchExpressions":[{"key":"app","operator":"In","values":["acme"]}]}}]}},
      "volumes":[{"name":"acme","persistentVolumeClaim":{"claimName":"acme"}}]},
      "status":{"nominatedNodeName":"acme-n1","conditions":[{"type":"PodScheduled",
      "status":"False","reason":"Unschedulable","message":"not acme"}]}})")
                            .value();
  const std::string recorded = to_json(anonymous.of(ObjectKind::kPod, pod));
  EXPECT_THAT(recorded, Not(HasSubstr("acme")));
  const std::string word = anonymous.name("acme");
  EXPECT_THAT(recorded, HasSubstr(fmt::format(R"("namespace":"{}")", word)));
  EXPECT_THAT(recorded, HasSubstr(fmt::format(R"("name":"{0}-{1}")", word, anonymous.name("web"))));
  EXPECT_THAT(recorded, HasSubstr(fmt::format(R"("nodeName":"{}")", anonymous.name("acme-n1"))));
  EXPECT_THAT(recorded, HasSubstr(R"("topologyKey":"zone")"));
  EXPECT_THAT(recorded, HasSubstr(R"("operator":"In")"));
  EXPECT_THAT(recorded, HasSubstr(R"("schedulerName":"default-scheduler")"));
}

TEST(AnonymiserTest, KeepsWhatBelongsTogetherTogether) {
  const Anonymiser other({1, 2});
  EXPECT_EQ(other.name("web"), other.name("web"));
  EXPECT_NE(other.name("web"), other.name("wed"));
  EXPECT_EQ(other.name("data-web-0"),
            other.name("data") + "-" + other.name("web") + "-" + other.name("0"));
  EXPECT_NE(other.name("web"), Anonymiser({1, 3}).name("web"));
  EXPECT_NE(other.uid("u1"), other.uid("u2"));
  EXPECT_EQ(other.uid("u1").size(), 36U);
}

TEST(AnonymiserTest, KeepsWhatSaysNothingAboutAnybody) {
  const Anonymiser other({1, 2});
  for (const char* const text :
       {"", "true", "amd64", "kube-system", "default", "system-node-critical"})
    EXPECT_EQ(other.name(text), text);
  EXPECT_EQ(other.node_label("16"), "16");
  EXPECT_EQ(other.node_label("-3"), "-3");
  EXPECT_NE(other.name("16"), "16");
  EXPECT_THAT(other.name("acme/app:latest"), ::testing::EndsWith(":latest"));
}

}  // namespace
}  // namespace berth::trace
