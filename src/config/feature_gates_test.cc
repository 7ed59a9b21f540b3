#include "config/feature_gates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "config/known_gates.h"

namespace berth::config {
namespace {

std::string set_error(const std::vector<std::string_view>& flags) {
  FeatureGates gates;
  for (const std::string_view flag : flags) {
    if (const Result<void> result = gates.set(flag); !result) return result.error().message;
  }
  const Result<void> result = gates.validate();
  return result ? "" : result.error().message;
}

TEST(KnownGates, AreAllThatTheBinaryKnows) {
  const std::span<const Gate> gates = known_gates();
  EXPECT_EQ(gates.size(), 253u);
  EXPECT_TRUE(std::ranges::is_sorted(gates, {}, &Gate::name));
  for (const Gate& gate : gates) {
    if (gate.locked) {
      EXPECT_TRUE(gate.stage == Gate::Stage::kStable || gate.stage == Gate::Stage::kDeprecated)
          << gate.name;
    }
    if (gate.stage == Gate::Stage::kAlpha) {
      EXPECT_FALSE(gate.enabled_by_default) << gate.name;
    }
  }
}

TEST(KnownGates, NeedsNameKnownGatesThatHoldByDefault) {
  const FeatureGates defaults;
  const auto is_known = [](std::string_view name) {
    return std::ranges::find(known_gates(), name, &Gate::name) != known_gates().end();
  };
  for (const GateNeed& need : gate_needs()) {
    EXPECT_TRUE(is_known(need.gate)) << need.gate;
    EXPECT_TRUE(is_known(need.needs)) << need.needs;
  }
  EXPECT_TRUE(defaults.validate());
}

TEST(FeatureGates, HaveV137Defaults) {
  const FeatureGates gates;
  for (const std::string_view on :
       {"StorageCapacityScoring", "SchedulerAsyncPreemption", "SchedulerPopFromBackoffQ",
        "VolumeLimitScaling", "DRADeviceTaintRules", "NativeHistograms", "OpportunisticBatching",
        "NominatedNodeNameForExpectation", "NodeDeclaredFeatures", "DynamicResourceAllocation",
        "DRAExtendedResource", "DRAPrioritizedList", "PodLevelResources",
        "MatchLabelKeysInPodTopologySpread", "ComponentFlagz", "WatchListClient"}) {
    EXPECT_TRUE(gates.enabled(on)) << on;
  }
  for (const std::string_view off :
       {"SchedulerAsyncAPICalls", "GenericWorkload", "DRAWorkloadResourceClaims",
        "TopologyAwareWorkloadScheduling", "CompositePodGroup", "DRAFractionalCapacityRange",
        "SchedulerPreQueueingHints", "TaintTolerationComparisonOperators",
        "CoordinatedLeaderElection", "AllAlpha", "AllBeta", "NoSuchGate"}) {
    EXPECT_FALSE(gates.enabled(off)) << off;
  }
}

TEST(FeatureGates, TellWhichOfThoseThatAreOnHaveNoEffect) {
  FeatureGates gates;
  EXPECT_TRUE(gates.without_effect().empty());
  ASSERT_TRUE(
      gates.set("GenericWorkload=true,CompositePodGroup=true,StorageCapacityScoring=true,"
                "ImageVolumeWithDigest=true,SchedulerPreQueueingHints=false"));
  EXPECT_EQ(gates.without_effect(), (std::vector<std::string_view>{"CompositePodGroup"}));
}

TEST(FeatureGates, AreSetByName) {
  FeatureGates gates;
  ASSERT_TRUE(gates.set(" SchedulerAsyncAPICalls = T , StorageCapacityScoring=0,"));
  ASSERT_TRUE(gates.set("GenericWorkload=true,GenericWorkload=false"));
  EXPECT_TRUE(gates.enabled("SchedulerAsyncAPICalls"));
  EXPECT_FALSE(gates.enabled("StorageCapacityScoring"));
  EXPECT_FALSE(gates.enabled("GenericWorkload"));  // the last one counts
  EXPECT_EQ(gates.settings().size(), 3u);
}

TEST(FeatureGates, SayWhyTheyCannotBeSet) {
  const std::string mixed =
      "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix "
      "use";
  const struct {
    std::vector<std::string_view> flags;
    std::string error;
  } cases[] = {
      {{""}, ""},
      {{","}, ""},
      {{"kube:"}, ""},
      {{"kube:GenericWorkload=true"}, ""},
      {{"NodeDeclaredFeatures=true"}, ""},
      {{"Foo=true"}, "unrecognized feature gate: Foo"},
      {{"GangScheduling=true"}, "unrecognized feature gate: GangScheduling"},
      {{":Foo=true"}, "unrecognized feature gate: Foo"},
      {{"=true"}, "unrecognized feature gate: "},
      {{"Foo"}, "missing bool value for Foo"},
      {{"kube:Foo"}, "missing bool value for Foo"},
      {{"Foo=maybe"},
       "invalid value of Foo=maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax"},
      {{"GenericWorkload="},
       "invalid value of GenericWorkload=, err: strconv.ParseBool: parsing \"\": invalid syntax"},
      {{"GenericWorkload=true=false"},
       "invalid value of GenericWorkload=true=false, err: strconv.ParseBool: parsing "
       "\"true=false\": invalid syntax"},
      {{"NodeDeclaredFeatures=false"},
       "cannot set feature gate NodeDeclaredFeatures to false, feature is locked to true"},
      {{"DRAPrioritizedList=false,DRAAdminAccess=false"},
       "[cannot set feature gate DRAAdminAccess to false, feature is locked to true, cannot set "
       "feature gate DRAPrioritizedList to false, feature is locked to true]"},
      {{"other:Foo=true"}, "component not registered: other"},
      {{"a:b:c=true"}, "component not registered: a"},
      {{"kube:GenericWorkload=true,DRAPrioritizedList=false"}, mixed},
      {{"kube:GenericWorkload=true", "DRAPrioritizedList=false"}, mixed},
  };
  for (const auto& [flags, error] : cases) EXPECT_EQ(set_error(flags), error) << flags.front();
}

TEST(FeatureGates, NeedEachOther) {
  const std::string needs = " is enabled, but depends on features that are disabled: ";
  const struct {
    std::vector<std::string_view> flags;
    std::string error;
  } cases[] = {
      {{"TopologyAwareWorkloadScheduling=true"},
       "TopologyAwareWorkloadScheduling" + needs + "[GenericWorkload]"},
      {{"TopologyAwareWorkloadScheduling=true", "GenericWorkload=true"}, ""},
      {{"CompositePodGroup=true"},
       "CompositePodGroup" + needs + "[GenericWorkload TopologyAwareWorkloadScheduling]"},
      {{"PodLevelResources=false"},
       "[InPlacePodLevelResourcesVerticalScaling" + needs +
           "[PodLevelResources], PodLevelResourcesFixDefaulting" + needs +
           "[PodLevelResources], PodLevelResourcesFixKubeletQOSClass" + needs +
           "[PodLevelResources]]"},
      {{"DRAWorkloadResourceClaims=true"},
       "DRAWorkloadResourceClaims" + needs + "[GenericWorkload]"},
      {{"AllAlpha=true,AllBeta=true"}, ""},
      {{"AllBeta=false"}, ""},
      {{"AllAlpha=true,GenericWorkload=false"},
       "[CompositePodGroup" + needs + "[GenericWorkload], PodGroupPreemptionPolicy" + needs +
           "[GenericWorkload], TopologyAwareWorkloadScheduling" + needs +
           "[GenericWorkload], WorkloadWithJob" + needs + "[GenericWorkload]]"},
  };
  for (const auto& [flags, error] : cases) EXPECT_EQ(set_error(flags), error) << flags.front();
}

TEST(FeatureGates, AreWhatTheyWereInTheVersionThatIsEmulated) {
  const auto emulating = [](int minor) {
    FeatureGates gates;
    gates.emulate({"1." + std::to_string(minor), minor},
                  {"1." + std::to_string(minor - 1), minor - 1});
    return gates;
  };
  FeatureGates now = emulating(37);
  EXPECT_TRUE(now.enabled("StorageCapacityScoring"));
  EXPECT_FALSE(now.set("NodeDeclaredFeatures=false"));
  FeatureGates before = emulating(36);
  for (const std::string_view off :
       {"StorageCapacityScoring", "VolumeLimitScaling", "DRADeviceTaintRules", "NativeHistograms"})
    EXPECT_FALSE(before.enabled(off)) << off;
  EXPECT_TRUE(before.enabled("NodeDeclaredFeatures"));
  EXPECT_TRUE(before.set("DRAPrioritizedList=false"));  // not locked yet
  EXPECT_EQ(before.find("GenericWorkload")->stage, Gate::Stage::kAlpha);
  EXPECT_EQ(before.set("CompositePodGroup=false").error().message,
            "cannot set feature gate CompositePodGroup to false, feature is PreAlpha at emulated "
            "version 1.36, min compatibility version 1.35");
  EXPECT_FALSE(emulating(35).enabled("NodeDeclaredFeatures"));
  EXPECT_EQ(emulating(34).find("GenericWorkload")->stage, Gate::Stage::kPreAlpha);
}

TEST(FeatureGates, MayBeOnOnlyWhereNoComponentIsOlder) {
  const auto enabled = [](int minor, int min_compatibility) {
    FeatureGates gates;
    gates.emulate({"", minor}, {"", min_compatibility});
    return gates.enabled("DRAFractionalCapacityRange");
  };
  EXPECT_FALSE(enabled(37, 36));
  EXPECT_TRUE(enabled(37, 37));
  EXPECT_FALSE(enabled(36, 36));  // it was not there
  FeatureGates off;
  off.emulate({"1.37", 37}, {"1.37", 37});
  ASSERT_TRUE(off.set("AllBeta=false"));
  EXPECT_FALSE(off.enabled("DRAFractionalCapacityRange"));
}

TEST(FeatureGates, ClassesAreSwitchedWithoutOverridingNames) {
  FeatureGates gates;
  ASSERT_TRUE(gates.set("GenericWorkload=false,AllAlpha=true,AllBeta=false"));
  ASSERT_TRUE(gates.set("OpportunisticBatching=true"));
  EXPECT_FALSE(gates.enabled("GenericWorkload"));
  EXPECT_TRUE(gates.enabled("SchedulerPreQueueingHints"));
  EXPECT_TRUE(gates.enabled("OpportunisticBatching"));
  EXPECT_FALSE(gates.enabled("SchedulerAsyncPreemption"));
  EXPECT_TRUE(gates.enabled("DynamicResourceAllocation"));  // stable
  EXPECT_TRUE(gates.enabled("AllAlpha"));
  EXPECT_FALSE(gates.enabled("AllBeta"));
}

}  // namespace
}  // namespace berth::config
