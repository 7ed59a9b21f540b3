#include "config/defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "config/testing/parse.h"

namespace berth::config {
namespace {

std::vector<std::string> names_of(const std::vector<PluginConfig>& configs) {
  std::vector<std::string> names;
  for (const PluginConfig& config : configs) names.push_back(config.name);
  return names;
}

template <typename Args>
Args args_of(const Configuration& configuration, std::string_view plugin) {
  for (const PluginConfig& config : configuration.profiles.front().plugin_config) {
    if (config.name == plugin) return std::get<Args>(config.args);
  }
  ADD_FAILURE() << "no arguments for " << plugin;
  return {};
}

TEST(DefaultMultiPoint, IsUpstreamsListWithItsWeights) {
  const std::vector<PluginRef> expected{
      {"SchedulingGates", 0},
      {"PrioritySort", 0},
      {"NodeName", 0},
      {"NodeUnschedulable", 0},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts", 0},
      {"NodeResourcesFit", 1},
      {"VolumeRestrictions", 0},
      {"NodeVolumeLimits", 0},
      {"VolumeBinding", 0},
      {"VolumeZone", 0},
      {"PodTopologySpread", 2},
      {"InterPodAffinity", 2},
      {"DynamicResources", 2},
      {"DefaultPreemption", 0},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder", 0},
      {"NodeDeclaredFeatures", 0},
  };
  EXPECT_THAT(default_multi_point({}), ElementsAreArray(expected));
}

TEST(DefaultMultiPoint, FollowsTheGates) {
  std::vector<PluginRef> expected = default_multi_point({});
  expected.insert(expected.begin() + 7, {"DeferredPodScheduling", 0});
  ASSERT_EQ(expected[8].name, "NodeResourcesFit");
  expected.push_back({"GangScheduling", 0});
  expected.push_back({"TopologyPlacementGenerator", 0});
  expected.push_back({"PodGroupPodsCount", 1});
  EXPECT_THAT(default_multi_point(gates("InPlacePodVerticalScalingSchedulerPreemption=true,"
                                        "GenericWorkload=true,"
                                        "TopologyAwareWorkloadScheduling=true")),
              ElementsAreArray(expected));
  // Before v1.36 NodeDeclaredFeatures could be off.
  FeatureGates earlier;
  earlier.emulate({"1.35", 35}, {"1.34", 34});
  expected = default_multi_point({});
  expected.pop_back();
  EXPECT_THAT(default_multi_point(earlier), ElementsAreArray(expected));
}

TEST(Defaults, WithoutAFile) {
  const Configuration configuration = default_configuration({});
  EXPECT_EQ(configuration.parallelism, 16);
  EXPECT_TRUE(configuration.leader_election.leader_elect);
  EXPECT_EQ(configuration.leader_election.lease_duration, std::chrono::seconds(15));
  EXPECT_EQ(configuration.client_connection.content_type, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(configuration.client_connection.qps, 50);
  EXPECT_EQ(configuration.client_connection.burst, 100);
  EXPECT_EQ(configuration.percentage_of_nodes_to_score, 0);
  EXPECT_EQ(configuration.pod_initial_backoff_seconds, 1);
  EXPECT_EQ(configuration.pod_max_backoff_seconds, 10);
  EXPECT_TRUE(configuration.enable_contention_profiling);
  ASSERT_EQ(configuration.profiles.size(), 1u);
  const Profile& profile = configuration.profiles.front();
  EXPECT_EQ(profile.scheduler_name, "default-scheduler");
  EXPECT_FALSE(profile.percentage_of_nodes_to_score);
  EXPECT_EQ(profile.plugins.at(ExtensionPoint::kMultiPoint).enabled, default_multi_point({}));
  EXPECT_THAT(names_of(profile.plugin_config),
              ElementsAre("DefaultPreemption", "DynamicResources", "InterPodAffinity",
                          "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit",
                          "PodTopologySpread", "VolumeBinding"));
}

TEST(Defaults, OfEveryPluginsArguments) {
  const Configuration configuration = default_configuration({});
  EXPECT_EQ(args_of<DefaultPreemptionArgs>(configuration, "DefaultPreemption")
                .min_candidate_nodes_percentage,
            10);
  const auto dynamic = args_of<DynamicResourcesArgs>(configuration, "DynamicResources");
  EXPECT_EQ(dynamic.filter_timeout, std::chrono::seconds(10));
  EXPECT_EQ(dynamic.binding_timeout, std::chrono::minutes(10));
  EXPECT_EQ(
      args_of<InterPodAffinityArgs>(configuration, "InterPodAffinity").hard_pod_affinity_weight, 1);
  EXPECT_FALSE(args_of<NodeAffinityArgs>(configuration, "NodeAffinity").added_affinity);
  const auto fit = args_of<NodeResourcesFitArgs>(configuration, "NodeResourcesFit");
  EXPECT_EQ(fit.strategy, ScoringStrategyType::kLeastAllocated);
  EXPECT_THAT(fit.resources, ElementsAre(ResourceWeight{"cpu", 1}, ResourceWeight{"memory", 1}));
  EXPECT_TRUE(validate(fit).empty());
  EXPECT_TRUE(args_of<PodTopologySpreadArgs>(configuration, "PodTopologySpread").system_defaults);
  EXPECT_EQ(args_of<VolumeBindingArgs>(configuration, "VolumeBinding").bind_timeout_seconds, 600);
  EXPECT_THAT(args_of<VolumeBindingArgs>(configuration, "VolumeBinding").shape,
              ElementsAre(UtilizationShapePoint{0, 10}, UtilizationShapePoint{100, 0}));
}

TEST(Defaults, OfArgumentsFollowTheGates) {
  const Configuration configuration = default_configuration(
      gates("DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false,"
            "StorageCapacityScoring=false"));
  const auto dynamic = args_of<DynamicResourcesArgs>(configuration, "DynamicResources");
  EXPECT_FALSE(dynamic.filter_timeout);
  EXPECT_FALSE(dynamic.binding_timeout);
  EXPECT_TRUE(args_of<VolumeBindingArgs>(configuration, "VolumeBinding").shape.empty());
}

TEST(Defaults, ZeroAndEmptyMeanTheDefaultWhereUpstreamSaysSo) {
  const auto configuration = parse(file(
      "leaderElection: {leaseDuration: 0s, resourceLock: \"\", resourceName: \"\"}\n"
      "clientConnection: {qps: 0, burst: 0, contentType: \"\"}\nparallelism: null\nprofiles: []"));
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(configuration->leader_election.lease_duration, std::chrono::seconds(15));
  EXPECT_EQ(configuration->leader_election.resource_lock, "leases");
  EXPECT_EQ(configuration->leader_election.resource_name, "kube-scheduler");
  EXPECT_EQ(configuration->client_connection.qps, 50);
  EXPECT_EQ(configuration->client_connection.burst, 100);
  EXPECT_EQ(configuration->parallelism, 16);
  EXPECT_EQ(configuration->profiles.size(), 1u);
}

TEST(Defaults, ContentionProfilingFollowsProfiling) {
  EXPECT_FALSE(parse(file("enableProfiling: false"))->enable_contention_profiling);
  EXPECT_TRUE(parse(file("enableProfiling: false\nenableContentionProfiling: true"))
                  ->enable_contention_profiling);
}

TEST(Defaults, OnlyASingleProfileIsNamed) {
  EXPECT_EQ(parse(file("profiles: [{percentageOfNodesToScore: 5}]"))->profiles[0].scheduler_name,
            "default-scheduler");
  EXPECT_EQ(error_of(file("profiles: [{schedulerName: a}, {}]")),
            "profiles[1].schedulerName: Required value");
}

TEST(Defaults, WrittenArgumentsStandBeforeTheDefaultOnes) {
  const auto configuration = parse(file(
      "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeAffinity}], disabled: [{name: "
      "\"*\"}]}, score: {enabled: [{name: VolumeBinding}]}}, pluginConfig: [{name: Other}, {name: "
      "InterPodAffinity, args: {hardPodAffinityWeight: 0}}]}]"));
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_THAT(names_of(configuration->profiles[0].plugin_config),
              ElementsAre("Other", "InterPodAffinity", "NodeAffinity", "VolumeBinding"));
  EXPECT_EQ(
      args_of<InterPodAffinityArgs>(*configuration, "InterPodAffinity").hard_pod_affinity_weight,
      0);
}

TEST(PluginArgs, NodeResourcesFit) {
  const auto configuration = parse(with_args(
      "NodeResourcesFit",
      "{ignoredResources: [a.b/c], ignoredResourceGroups: [d.e], scoringStrategy: {type: "
      "RequestedToCapacityRatio, resources: [{name: x}, {name: cpu, weight: 3}], "
      "requestedToCapacityRatio: {shape: [{utilization: 0, score: 2}, {utilization: 100, score: "
      "10}]}}}"));
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto args = args_of<NodeResourcesFitArgs>(*configuration, "NodeResourcesFit");
  EXPECT_THAT(args.ignored_resources, ElementsAre("a.b/c"));
  EXPECT_THAT(args.ignored_resource_groups, ElementsAre("d.e"));
  EXPECT_EQ(args.strategy, ScoringStrategyType::kRequestedToCapacityRatio);
  EXPECT_THAT(args.resources, ElementsAre(ResourceWeight{"x", 1}, ResourceWeight{"cpu", 3}));
  EXPECT_THAT(args.shape, ElementsAre(UtilizationShapePoint{0, 2}, UtilizationShapePoint{100, 10}));
}

TEST(PluginArgs, NodeResourcesFitIgnoresWhatExtendersManage) {
  const std::string extenders =
      "extenders: [{managedResources: [{name: a.b/c, ignoredByScheduler: true}, {name: a.b/d}]}]\n";
  const auto configuration =
      parse(with_args("NodeResourcesFit", "{ignoredResources: [x.y/z]}") + extenders);
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_THAT(args_of<NodeResourcesFitArgs>(*configuration, "NodeResourcesFit").ignored_resources,
              ElementsAre("a.b/c"));
  EXPECT_EQ(error_of(file(extenders + "profiles: [{plugins: {multiPoint: {disabled: [{name: "
                                      "NodeResourcesFit}]}}}]")),
            "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
}

TEST(PluginArgs, ASetStrategyWithoutResourcesHasTheDefaultOnes) {
  const auto configuration =
      parse(with_args("NodeResourcesFit", "{scoringStrategy: {type: MostAllocated}}"));
  const auto args = args_of<NodeResourcesFitArgs>(*configuration, "NodeResourcesFit");
  EXPECT_EQ(args.strategy, ScoringStrategyType::kMostAllocated);
  EXPECT_THAT(args.resources, ElementsAre(ResourceWeight{"cpu", 1}, ResourceWeight{"memory", 1}));
}

TEST(PluginArgs, NodeAffinityHoldsItsSymbols) {
  Interner interner;
  const auto configuration = parse_configuration(
      with_args(
          "NodeAffinity",
          "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
          "{nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: NotIn, values: "
          "[hdd, tape]}]}, {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}, "
          "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, preference: "
          "{matchExpressions: [{key: cores, operator: Gt, values: [\"8\"]}]}}]}}"),
      {}, interner);
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto args = args_of<NodeAffinityArgs>(*configuration, "NodeAffinity");
  ASSERT_TRUE(args.added_affinity && args.added_affinity->required);
  ASSERT_EQ(args.added_affinity->required->size(), 2u);
  const SelectorRequirement& disk = (*args.added_affinity->required)[0].match_expressions.at(0);
  EXPECT_EQ(args.symbols.text(disk.key), "disk");
  EXPECT_EQ(disk.op, SelectorOperator::kNotIn);
  EXPECT_EQ(args.symbols.text(disk.values.at(1)), "tape");
  EXPECT_EQ(disk.key, interner.symbols()->find("disk"));
  EXPECT_EQ((*args.added_affinity->required)[1].match_fields.size(), 1u);
  ASSERT_EQ(args.added_affinity->preferred.size(), 1u);
  EXPECT_EQ(args.added_affinity->preferred[0].weight, 7);
  EXPECT_EQ(args.added_affinity->preferred[0].preference.match_expressions.at(0).op,
            SelectorOperator::kGreaterThan);
}

TEST(PluginArgs, PodTopologySpread) {
  Interner interner;
  const auto configuration = parse_configuration(
      with_args("PodTopologySpread",
                "{defaultingType: List, defaultConstraints: [{maxSkew: 3, topologyKey: rack, "
                "whenUnsatisfiable: ScheduleAnyway, minDomains: 2, nodeAffinityPolicy: Ignore, "
                "nodeTaintsPolicy: Honor, matchLabelKeys: [rev]}]}"),
      {}, interner);
  ASSERT_TRUE(configuration) << configuration.error().message;
  const auto args = args_of<PodTopologySpreadArgs>(*configuration, "PodTopologySpread");
  EXPECT_FALSE(args.system_defaults);
  ASSERT_EQ(args.default_constraints.size(), 1u);
  const TopologySpreadConstraint& constraint = args.default_constraints.front();
  EXPECT_EQ(constraint.max_skew, 3);
  EXPECT_EQ(args.symbols.text(constraint.topology_key), "rack");
  EXPECT_EQ(constraint.when_unsatisfiable, UnsatisfiableAction::kScheduleAnyway);
  EXPECT_EQ(constraint.min_domains, 2);
  EXPECT_EQ(constraint.node_affinity_policy, NodeInclusionPolicy::kIgnore);
  EXPECT_EQ(constraint.node_taints_policy, NodeInclusionPolicy::kHonor);
  EXPECT_EQ(args.symbols.text(constraint.match_label_keys.at(0)), "rev");
}

}  // namespace
}  // namespace berth::config
