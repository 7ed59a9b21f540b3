// VolumeBinding: PreFilter and Filter (volumes-dra-gang.md §3.1 to 3.4).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

struct VolumeBindingFilter : ::testing::Test, VolumeFixture {
  static Verdict ok() { return {}; }
  static Verdict no(std::vector<std::string> reasons) { return unresolvable(std::move(reasons)); }
};

// ---- PreFilter ----------------------------------------------------------------------------------

TEST_F(VolumeBindingFilter, APodWithoutClaimsIsLeftAlone) {
  PodBuilder pod = world.pod("p");
  Volume config;
  config.source = VolumeSource::kConfigMap;
  pod.spec().volumes.push_back(config);
  EXPECT_EQ(pre_filter(pod).code, Code::kSkip);
}

TEST_F(VolumeBindingFilter, ClaimsThatWillNotDoRejectThePod) {
  put(storage_class("late"));
  put(storage_class("now").immediate());
  put(claim("lost").phase(PersistentVolumeClaim::Phase::kLost).volume("pv-gone"));
  put(claim("going").of("late").terminating());
  put(claim("now").of("now"));
  put(claim("classless"));
  put(claim("of-unknown-class").of("nowhere"));
  put(claim("half-bound").of("late").volume("pv"));
  put(claim("elsewhere").of("late").in("other"));
  struct Row {
    std::string claim;
    std::string reason;
  };
  const Row rows[] = {
      {"missing", R"(persistentvolumeclaim "missing" not found)"},
      {"elsewhere", R"(persistentvolumeclaim "elsewhere" not found)"},
      {"lost", R"(persistentvolumeclaim "lost" bound to non-existent persistentvolume "pv-gone")"},
      {"going", R"(persistentvolumeclaim "going" is being deleted)"},
      {"now", "pod has unbound immediate PersistentVolumeClaims"},
      {"classless", "pod has unbound immediate PersistentVolumeClaims"},
      {"of-unknown-class", "pod has unbound immediate PersistentVolumeClaims"},
      {"half-bound", "pod has unbound immediate PersistentVolumeClaims"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = pre_filter(pod_with({row.claim}));
    EXPECT_EQ(outcome.code, Code::kUnschedulableAndUnresolvable) << row.claim;
    EXPECT_EQ(outcome.message(), row.reason);
  }
}

TEST_F(VolumeBindingFilter, AClassWithoutAModeIsAnError) {
  put(storage_class("odd").without_mode());
  put(claim("c").of("odd"));
  const Outcome outcome = pre_filter(pod_with({"c"}));
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(), R"(VolumeBindingMode not set for StorageClass "odd")");
}

TEST_F(VolumeBindingFilter, ClaimsOfEphemeralVolumesBelongToTheirPod) {
  put(storage_class("late"));
  PodBuilder builder = world.pod("p");
  const Ref<const Pod> pod = with_ephemeral(builder, "scratch");
  EXPECT_EQ(pre_filter(pod).message(),
            "waiting for ephemeral volume controller to create the persistentvolumeclaim "
            "\"p-scratch\"");
  put(claim("p-scratch").of("late"));
  EXPECT_EQ(pre_filter(pod).message(),
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)");
  put(claim("p-scratch").of("late").made_for(*pod));
  EXPECT_TRUE(pre_filter(pod).ok());
}

// ---- bound claims -------------------------------------------------------------------------------

TEST_F(VolumeBindingFilter, BoundVolumesHoldTheNodesThatReachThem) {
  add_zoned_nodes({"a", "b"});
  put(volume("in-a").only_from({{"zone", "a"}}));
  put(volume("in-a-or-b").only_from({{"zone", "a"}}).only_from({{"zone", "b"}}));
  put(volume("nowhere").no_term());
  put(volume("anywhere"));
  for (const char* name : {"in-a", "in-a-or-b", "nowhere", "anywhere", "missing"})
    put(claim(name).bound_to(name));
  const Verdict conflict = no({kNodeConflictReason});
  const Verdict gone = no({kNoVolumeReason});
  struct Row {
    std::vector<std::string> claims;
    Verdicts verdicts;
  };
  const Row rows[] = {
      {{"anywhere"}, {{"a", ok()}, {"b", ok()}}},
      {{"in-a"}, {{"a", ok()}, {"b", conflict}}},
      {{"in-a-or-b", "anywhere"}, {{"a", ok()}, {"b", ok()}}},
      {{"nowhere"}, {{"a", conflict}, {"b", conflict}}},
      {{"missing"}, {{"a", gone}, {"b", gone}}},
      // The first conflict ends the look at bound claims.
      {{"in-a", "missing"}, {{"a", gone}, {"b", conflict}}},
      {{"missing", "in-a"}, {{"a", gone}, {"b", gone}}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(filter(pod_with(row.claims)), row.verdicts) << row.claims.front();
    EXPECT_EQ(filter_one_by_one(plugin(), pod_with(row.claims)), row.verdicts);
  }
}

TEST_F(VolumeBindingFilter, AffinityIsAskedWithLabelsAlone) {
  add_zoned_nodes({"a", "b"});
  VolumeBuilder by_name = volume("by-name");
  // Parity: fields are checked and then ignored, so this is every node.
  by_name.term(
      {{}, {{by_name.symbol("metadata.name"), SelectorOperator::kIn, {}, {by_name.symbol("a")}}}});
  VolumeBuilder broken = volume("broken");
  broken.term(
      {{{broken.symbol("zone"), SelectorOperator::kUnknown, broken.symbol("Near"), {}}}, {}});
  VolumeBuilder half = volume("half-broken");
  half.term({{{half.symbol("zone"), SelectorOperator::kExists, {}, {half.symbol("x")}}}, {}});
  half.only_from({{"zone", "b"}});
  VolumeBuilder beyond = volume("beyond-a");
  beyond.term({{{beyond.symbol("zone"), SelectorOperator::kNotIn, {}, {beyond.symbol("a")}}}, {}});
  for (const VolumeBuilder& built : {by_name, broken, half, beyond}) {
    put(built);
    put(claim(built.build()->name).bound_to(built.build()->name));
  }
  const Verdict conflict = no({kNodeConflictReason});
  EXPECT_EQ(filter(pod_with({"by-name"})), (Verdicts{{"a", ok()}, {"b", ok()}}));
  EXPECT_EQ(filter(pod_with({"broken"})), (Verdicts{{"a", conflict}, {"b", conflict}}));
  EXPECT_EQ(filter(pod_with({"half-broken"})), (Verdicts{{"a", conflict}, {"b", ok()}}));
  EXPECT_EQ(filter(pod_with({"beyond-a"})), (Verdicts{{"a", conflict}, {"b", ok()}}));
}

TEST_F(VolumeBindingFilter, MigratedVolumesAreJudgedAsTheirDriverWould) {
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  constexpr const char* kDriversZone = "topology.ebs.csi.aws.com/zone";
  add_node(world.node("old").label(kZone, "a"));
  add_node(world.node("new").label(kZone, "x").label(kDriversZone, "a"));
  add_node(world.node("told").label(kZone, "a"));
  add_node(world.node("both").label(kZone, "a").label(kDriversZone, "a"));
  put(csi_node(world, "new", "kubernetes.io/gce-pd,kubernetes.io/aws-ebs"));
  put(csi_node(world, "told", "kubernetes.io/aws-ebs"));
  put(volume("ebs").source(VolumeSource::kAwsElasticBlockStore, "vol-1").only_from({{kZone, "a"}}));
  put(volume("csi")
          .source(VolumeSource::kCsi, "ebs.csi.aws.com", "vol-1")
          .only_from({{kZone, "a"}}));
  put(claim("ebs").bound_to("ebs"));
  put(claim("csi").bound_to("csi"));
  const Verdict conflict = no({kNodeConflictReason});
  EXPECT_EQ(filter(pod_with({"ebs"})),
            (Verdicts{{"old", ok()}, {"new", ok()}, {"told", conflict}, {"both", ok()}}));
  EXPECT_EQ(filter(pod_with({"csi"})),
            (Verdicts{{"old", ok()}, {"new", conflict}, {"told", ok()}, {"both", ok()}}));
  // A CSINode that comes or changes counts at once.
  put(csi_node(world, "told", ""));
  put(csi_node(world, "old", "kubernetes.io/aws-ebs"));
  EXPECT_EQ(filter(pod_with({"ebs"})),
            (Verdicts{{"old", conflict}, {"new", ok()}, {"told", ok()}, {"both", ok()}}));
}

TEST_F(VolumeBindingFilter, WhatCannotBeTranslatedIsAnErrorWhereItWouldBe) {
  add_zoned_nodes({"a", "b"});
  put(csi_node(world, "a", "kubernetes.io/gce-pd"));
  put(volume("pd")
          .source(VolumeSource::kGcePersistentDisk, "disk")
          .label("topology.kubernetes.io/zone", "us-a-1__eu-b-1"));
  put(claim("pd").bound_to("pd"));
  const Verdicts verdicts = filter(pod_with({"pd"}));
  EXPECT_EQ(verdicts.at("a").code, Code::kError);
  EXPECT_THAT(verdicts.at("a").reasons,
              ElementsAre(::testing::StartsWith("could not translate pv: ")));
  EXPECT_EQ(verdicts.at("b"), ok());
}

// ---- matching -----------------------------------------------------------------------------------

TEST_F(VolumeBindingFilter, WhatMakesAVolumeFitAClaim) {
  using Phase = PersistentVolume::Phase;
  add_zoned_nodes({"a"});
  put(storage_class("local").static_only());
  const Ref<const PersistentVolumeClaim> plain = claim("c").of("local").asks("5Gi");
  const VolumeBuilder good = volume("pv").of("local").size("5Gi");
  struct Row {
    std::string name;
    Ref<const PersistentVolume> pv;
    Ref<const PersistentVolumeClaim> pvc;
    bool fits;
  };
  const auto like = [&] { return volume("pv").of("local").size("5Gi"); };
  const auto asking = [&] { return claim("c").of("local").asks("5Gi"); };
  const Row rows[] = {
      {"exactly as large", good, plain, true},
      {"a byte too small", like().size("5368709119"), plain, false},
      {"no capacity, nothing asked", like().size("0"), asking().asks_nothing(), true},
      {"of another class", volume("pv").of("other").size("5Gi"), plain, false},
      {"block for files", like().block(), plain, false},
      {"block for block", like().block(), asking().block(), true},
      {"attributes class", like().attributes_class("gold"), plain, false},
      {"the same attributes class", like().attributes_class("gold"),
       asking().attributes_class("gold"), true},
      {"going", like().terminating(), plain, false},
      {"bound", like().phase(Phase::kBound), plain, false},
      {"released", like().phase(Phase::kReleased), plain, false},
      {"pending", like().phase(Phase::kPending), plain, false},
      {"all modes", like().modes({"ReadWriteOnce", "ReadOnlyMany"}), plain, true},
      {"too few modes", good, asking().modes({"ReadWriteOnce", "ReadOnlyMany"}), false},
      {"selected", like().label("disk", "fast"), asking().selects("disk", "fast"), true},
      {"not selected", good, asking().selects("disk", "fast"), false},
      {"elsewhere", like().only_from({{"zone", "b"}}), plain, false},
      {"for another claim", like().claimed_by("default", "d"), plain, false},
      {"for that claim elsewhere", like().claimed_by("other", "c"), plain, false},
      {"for an earlier claim", like().claimed_by("default", "c", "u-old"), plain, false},
      {"for this claim", like().claimed_by("default", "c"), plain, true},
      {"for this very claim", like().claimed_by("default", "c", "uid-of-c"), plain, true},
      // A volume that was meant for the claim is not asked for its phase, labels or modes …
      {"meant, not available", like().claimed_by("default", "c").phase(Phase::kPending), plain,
       true},
      {"meant, not selected", like().claimed_by("default", "c"), asking().selects("x", "y"), true},
      {"meant, few modes", like().claimed_by("default", "c"), asking().modes({"ReadOnlyMany"}),
       true},
      // … but for what it is.
      {"meant, too small", like().claimed_by("default", "c").size("1Gi"), plain, false},
      {"meant, going", like().claimed_by("default", "c").terminating(), plain, false},
      {"meant, elsewhere", like().claimed_by("default", "c").only_from({{"zone", "b"}}), plain,
       false},
  };
  for (const Row& row : rows) {
    cluster.put(row.pv);
    cluster.put(row.pvc);
    const Verdict expected = row.fits ? ok() : no({kBindConflictReason});
    EXPECT_THAT(filter(pod_with({"c"})), ElementsAre(Pair("a", expected))) << row.name;
  }
}

TEST_F(VolumeBindingFilter, APrebindingThatDoesNotReachTheNodeLeavesNoChoice) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("local").static_only());
  put(volume("free").of("local"));
  put(volume("meant").of("local").claimed_by("default", "c").only_from({{"zone", "b"}}));
  put(claim("c").of("local"));
  EXPECT_EQ(filter(pod_with({"c"})), (Verdicts{{"a", no({kBindConflictReason})}, {"b", ok()}}));
}

TEST_F(VolumeBindingFilter, ASelectorThatMakesNoSenseIsAnError) {
  add_zoned_nodes({"a"});
  put(storage_class("local").static_only());
  ClaimBuilder odd = claim("c").of("local");
  odd.selector({{}, {{odd.symbol("k"), SelectorOperator::kIn, {}, {}}}});
  put(odd);
  const Verdict verdict = filter(pod_with({"c"})).at("a");
  EXPECT_EQ(verdict.code, Code::kError);
  EXPECT_THAT(verdict.reasons,
              ElementsAre(::testing::StartsWith(
                  "error creating internal label selector for claim: default/c: ")));
}

TEST_F(VolumeBindingFilter, EveryNodeIsMatchedWithItsOwnVolumes) {
  std::vector<std::string> names;
  for (char name = 'a'; name <= 'z'; ++name) names.emplace_back(1, name);
  add_zoned_nodes(names);
  put(storage_class("local").static_only());
  put(claim("c").of("local"));
  // On every other node, each filed under its host name.
  for (std::size_t i = 0; i < names.size(); i += 2)
    put(volume("pv-" + names[i]).of("local").only_from({{"kubernetes.io/hostname", names[i]}}));
  const Verdicts verdicts = filter(pod_with({"c"}));
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(verdicts.at(names[i]), i % 2 == 0 ? ok() : no({kBindConflictReason})) << names[i];
}

TEST_F(VolumeBindingFilter, AVolumeIsGivenToOneClaimOnly) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("local").static_only());
  put(volume("one").of("local"));
  put(volume("two").of("local").only_from({{"zone", "b"}}));
  put(claim("c").of("local"));
  put(claim("d").of("local"));
  EXPECT_EQ(filter(pod_with({"c", "d"})),
            (Verdicts{{"a", no({kBindConflictReason})}, {"b", ok()}}));
  // A claim that the pod has twice wants two volumes.
  EXPECT_EQ(filter(pod_with({"c", "c"})),
            (Verdicts{{"a", no({kBindConflictReason})}, {"b", ok()}}));
}

TEST_F(VolumeBindingFilter, SmallClaimsChooseFirst) {
  add_zoned_nodes({"a"});
  put(storage_class("local").static_only());
  put(volume("large").of("local").size("10Gi"));
  put(volume("small").of("local").size("2Gi"));
  put(claim("wants-much").of("local").asks("5Gi"));
  put(claim("wants-little").of("local").asks("1Gi"));
  EXPECT_THAT(filter(pod_with({"wants-much", "wants-little"})), ElementsAre(Pair("a", ok())));
  EXPECT_THAT(filter(pod_with({"wants-little", "wants-much"})), ElementsAre(Pair("a", ok())));
}

// ---- provisioning -------------------------------------------------------------------------------

TEST_F(VolumeBindingFilter, WhereVolumesCanBeMade) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("anywhere"));
  put(storage_class("never").static_only());
  put(storage_class("nobody").provisioner(""));
  put(storage_class("in-a").topology("zone", {"a"}));
  put(storage_class("in-a-or-b").topology("zone", {"a"}).topology("zone", {"b", "c"}));
  put(storage_class("empty-term").empty_topology());
  put(storage_class("broken-term").topology("zone", {}).topology("zone", {"b"}));
  const Verdict conflict = no({kBindConflictReason});
  const std::map<std::string, Verdicts> expected = {
      {"anywhere", {{"a", ok()}, {"b", ok()}}},
      {"never", {{"a", conflict}, {"b", conflict}}},
      {"nobody", {{"a", conflict}, {"b", conflict}}},
      {"in-a", {{"a", ok()}, {"b", conflict}}},
      {"in-a-or-b", {{"a", ok()}, {"b", ok()}}},
      {"empty-term", {{"a", conflict}, {"b", conflict}}},
      {"broken-term", {{"a", conflict}, {"b", ok()}}},
  };
  for (const auto& [name, verdicts] : expected) {
    put(claim("c").of(name));
    EXPECT_EQ(filter(pod_with({"c"})), verdicts) << name;
  }
}

TEST_F(VolumeBindingFilter, FreeSpaceCountsWhereTheDriverTellsOfIt) {
  add_zoned_nodes({"a", "b", "c"});
  put(storage_class("csi"));
  put(claim("c").of("csi").asks("5Gi"));
  const Verdicts everywhere{{"a", ok()}, {"b", ok()}, {"c", ok()}};
  EXPECT_EQ(filter(pod_with({"c"})), everywhere) << "no driver";
  put(csi_driver(world, "csi.example.com", false));
  EXPECT_EQ(filter(pod_with({"c"})), everywhere) << "it does not tell";

  put(csi_driver(world, "csi.example.com", true));
  const Verdict full = no({kNoSpaceReason});
  EXPECT_EQ(filter(pod_with({"c"})), (Verdicts{{"a", full}, {"b", full}, {"c", full}}));
  put(capacity("in-a", "csi").from("zone", "a").capacity("5Gi"));
  put(capacity("in-b", "csi").from("zone", "b").capacity("4Gi"));
  put(capacity("other-class", "other").from_everywhere().capacity("100Gi"));
  put(capacity("unreachable", "csi").capacity("100Gi"));
  put(capacity("unknown", "csi").from_everywhere());
  EXPECT_EQ(filter(pod_with({"c"})), (Verdicts{{"a", ok()}, {"b", full}, {"c", full}}));
  put(capacity("in-a", "csi").from("zone", "a").capacity("50Gi").maximum("1Gi"));
  put(capacity("in-b", "csi").from("zone", "b").capacity("1Gi").maximum("50Gi"));
  EXPECT_EQ(filter(pod_with({"c"})), (Verdicts{{"a", full}, {"b", ok()}, {"c", full}}));
  put(capacity("shared", "csi").from_everywhere().capacity("5Gi"));
  EXPECT_EQ(filter(pod_with({"c"})), everywhere);
  put(claim("c").of("csi").asks("6Gi"));
  EXPECT_EQ(filter(pod_with({"c"})), (Verdicts{{"a", full}, {"b", ok()}, {"c", full}}));
  put(claim("c").of("csi").asks_nothing());
  EXPECT_EQ(filter(pod_with({"c"})), everywhere) << "nothing to check for";
}

TEST_F(VolumeBindingFilter, ClaimsDoNotAddUp) {
  add_zoned_nodes({"a"});
  put(storage_class("csi"));
  put(csi_driver(world, "csi.example.com", true));
  put(capacity("x", "csi").from_everywhere().capacity("5Gi"));
  put(claim("c").of("csi").asks("5Gi"));
  put(claim("d").of("csi").asks("5Gi"));
  EXPECT_THAT(filter(pod_with({"c", "d"})), ElementsAre(Pair("a", ok())));
}

TEST_F(VolumeBindingFilter, WhatIsNotThereIsMade) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("csi").topology("zone", {"a"}));
  put(volume("in-b").of("csi").only_from({{"zone", "b"}}));
  put(claim("c").of("csi"));
  put(claim("d").of("csi"));
  EXPECT_EQ(filter(pod_with({"c"})), (Verdicts{{"a", ok()}, {"b", ok()}}));
  EXPECT_EQ(filter(pod_with({"c", "d"})),
            (Verdicts{{"a", ok()}, {"b", no({kBindConflictReason})}}));
}

TEST_F(VolumeBindingFilter, AClaimWhoseNodeIsSelectedStaysThere) {
  add_zoned_nodes({"a", "b"});
  put(storage_class("csi"));
  put(storage_class("static").static_only());
  put(volume("bound").only_from({{"zone", "a"}}));
  put(claim("bound").bound_to("bound"));
  put(claim("to-b").of("csi").selected_node("b"));
  put(claim("to-a").of("csi").selected_node("a"));
  put(claim("static").of("static").selected_node("a"));
  put(volume("static").of("static"));
  const Verdict conflict = no({kBindConflictReason});
  EXPECT_EQ(filter(pod_with({"to-b"})), (Verdicts{{"a", conflict}, {"b", ok()}}));
  EXPECT_EQ(filter(pod_with({"to-a", "to-b"})), (Verdicts{{"a", conflict}, {"b", conflict}}));
  // It is provisioned, even if there is a volume that would fit.
  EXPECT_EQ(filter(pod_with({"static"})), (Verdicts{{"a", conflict}, {"b", conflict}}));
  // Both kinds of conflict, in order.
  EXPECT_EQ(filter(pod_with({"bound", "to-a"})),
            (Verdicts{{"a", ok()}, {"b", no({kNodeConflictReason, kBindConflictReason})}}));
}

TEST_F(VolumeBindingFilter, SeveralConflictsAreAllTold) {
  add_zoned_nodes({"a"});
  put(storage_class("csi"));
  put(csi_driver(world, "csi.example.com", true));
  put(claim("bound").bound_to("nowhere"));
  put(claim("c").of("csi"));
  EXPECT_THAT(filter(pod_with({"bound", "c"})),
              ElementsAre(Pair("a", no({kNoSpaceReason, kNoVolumeReason}))));
}

}  // namespace
}  // namespace berth::plugins
