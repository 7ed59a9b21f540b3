// Values of the wrong type, field by field. The sentences are those of kube-scheduler v1.37.1,
// taken from runs of it.
#include <gtest/gtest.h>

#include "config/testing/parse.h"

namespace berth::config {
namespace {

TEST(Decode, ValuesOfTheWrongTypeAreNamedAsGoDoes) {
  const struct {
    std::string_view text;
    std::string_view value;
    std::string_view field;
    std::string_view type;
  } cases[] = {
      {"parallelism: abc", "string", "KubeSchedulerConfiguration.parallelism", "int32"},
      {"parallelism: 1.5", "number 1.5", "KubeSchedulerConfiguration.parallelism", "int32"},
      {"parallelism: 3000000000", "number 3000000000", "KubeSchedulerConfiguration.parallelism",
       "int32"},
      {"parallelism: [1]", "array", "KubeSchedulerConfiguration.parallelism", "int32"},
      {"parallelism: {a: 1}", "object", "KubeSchedulerConfiguration.parallelism", "int32"},
      {"parallelism: true", "bool", "KubeSchedulerConfiguration.parallelism", "int32"},
      {"parallelism: \"5\"", "string", "KubeSchedulerConfiguration.parallelism", "int32"},
      {"leaderElection: 5", "number", "KubeSchedulerConfiguration.leaderElection",
       "v1alpha1.LeaderElectionConfiguration"},
      {"leaderElection: [1]", "array", "KubeSchedulerConfiguration.leaderElection",
       "v1alpha1.LeaderElectionConfiguration"},
      {"leaderElection: abc", "string", "KubeSchedulerConfiguration.leaderElection",
       "v1alpha1.LeaderElectionConfiguration"},
      {"leaderElection: {leaseDuration: 5}", "number",
       "LeaderElectionConfiguration.leaderElection.leaseDuration", "string"},
      {"leaderElection: {leaseDuration: {a: 1}}", "object",
       "LeaderElectionConfiguration.leaderElection.leaseDuration", "string"},
      {"leaderElection: {leaseDuration: true}", "bool",
       "LeaderElectionConfiguration.leaderElection.leaseDuration", "string"},
      {"leaderElection: {leaseDuration: 0s, leaderElect: 3}", "number",
       "LeaderElectionConfiguration.leaderElection.leaderElect", "bool"},
      {"leaderElection: {resourceLock: 3, foo: 1}", "number",
       "LeaderElectionConfiguration.leaderElection.resourceLock", "string"},
      {"enableProfiling: 3", "number",
       "KubeSchedulerConfiguration.DebuggingConfiguration.enableProfiling", "bool"},
      {"profiles: 3", "number", "KubeSchedulerConfiguration.profiles", "[]v1.KubeSchedulerProfile"},
      {"profiles: {a: 1}", "object", "KubeSchedulerConfiguration.profiles",
       "[]v1.KubeSchedulerProfile"},
      {"profiles: [3]", "number", "KubeSchedulerConfiguration.profiles", "v1.KubeSchedulerProfile"},
      {"profiles: [{plugins: 3}]", "number", "KubeSchedulerProfile.profiles.plugins", "v1.Plugins"},
      {"profiles: [{plugins: {score: 3}}]", "number", "Plugins.profiles.plugins.score",
       "v1.PluginSet"},
      {"profiles: [{plugins: {score: {enabled: 3}}}]", "number",
       "PluginSet.profiles.plugins.score.enabled", "[]v1.Plugin"},
      {"profiles: [{plugins: {score: {enabled: [3]}}}]", "number",
       "PluginSet.profiles.plugins.score.enabled", "v1.Plugin"},
      {"profiles: [{plugins: {score: {enabled: [{name: 3}]}}}]", "number",
       "Plugin.profiles.plugins.score.enabled.name", "string"},
      {"profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: abc}]}}}]", "string",
       "Plugin.profiles.plugins.score.enabled.weight", "int32"},
      {"profiles: [{pluginConfig: 3}]", "number", "KubeSchedulerProfile.profiles.pluginConfig",
       "[]v1.PluginConfig"},
      {"profiles: [{pluginConfig: [3]}]", "number", "KubeSchedulerProfile.profiles.pluginConfig",
       "v1.PluginConfig"},
      {"profiles: [{schedulerName: 3}]", "number", "KubeSchedulerProfile.profiles.schedulerName",
       "string"},
      {"profiles: [{percentageOfNodesToScore: abc}]", "string",
       "KubeSchedulerProfile.profiles.percentageOfNodesToScore", "int32"},
      {"extenders: 3", "number", "KubeSchedulerConfiguration.extenders", "[]v1.Extender"},
      {"extenders: [{urlPrefix: 3}]", "number", "Extender.extenders.urlPrefix", "string"},
      {"extenders: [{tlsConfig: 3}]", "number", "Extender.extenders.tlsConfig",
       "v1.ExtenderTLSConfig"},
      {"extenders: [{tlsConfig: {certData: 5}}]", "number",
       "ExtenderTLSConfig.extenders.tlsConfig.certData", "[]uint8"},
      {"extenders: [{httpTimeout: 5}]", "number", "Extender.extenders.httpTimeout", "string"},
      {"extenders: [{managedResources: [{name: 3}]}]", "number",
       "ExtenderManagedResource.extenders.managedResources.name", "string"},
      {"extenders: [{managedResources: 3}]", "number", "Extender.extenders.managedResources",
       "[]v1.ExtenderManagedResource"},
      {"extenders: [{weight: 9223372036854775808}]", "number 9223372036854775808",
       "Extender.extenders.weight", "int64"},
      {"extenders: [{urlPrefix: a, bindVerb: x}, {urlPrefix: b, bindVerb: y, prioritizeVerb: z, "
       "weight: -1}]",
       "bool", "Extender.extenders.bindVerb", "string"},
      {"clientConnection: {qps: abc}", "string",
       "ClientConnectionConfiguration.clientConnection.qps", "float32"},
      {"clientConnection: {qps: 1e39}", "number 1e+39",
       "ClientConnectionConfiguration.clientConnection.qps", "float32"},
  };
  for (const auto& [text, value, field, type] : cases) {
    EXPECT_EQ(error_of(file(text)), type_error(value, field, type)) << text;
  }
}

TEST(Decode, ArgumentsOfTheWrongTypeAreNamedAsGoDoes) {
  const struct {
    std::string_view plugin;
    std::string_view args;
    std::string_view value;
    std::string_view field;
    std::string_view type;
  } cases[] = {
      {"InterPodAffinity", "{hardPodAffinityWeight: abc}", "string",
       "InterPodAffinityArgs.hardPodAffinityWeight", "int32"},
      {"DynamicResources", "{filterTimeout: 3}", "number", "DynamicResourcesArgs.filterTimeout",
       "string"},
      {"DynamicResources", "{filterTimeout: null, bindingTimeout: 3}", "number",
       "DynamicResourcesArgs.bindingTimeout", "string"},
      {"NodeResourcesFit", "{scoringStrategy: {type: 3}}", "number",
       "ScoringStrategy.scoringStrategy.type", "v1.ScoringStrategyType"},
      {"NodeResourcesFit",
       "{scoringStrategy: {requestedToCapacityRatio: {shape: [{utilization: a}]}}}", "string",
       "UtilizationShapePoint.scoringStrategy.requestedToCapacityRatio.shape.utilization", "int32"},
      {"NodeResourcesFit", "{scoringStrategy: {resources: [{name: 3}]}}", "number",
       "ResourceSpec.scoringStrategy.resources.name", "string"},
      {"NodeResourcesFit", "{scoringStrategy: 3}", "number", "NodeResourcesFitArgs.scoringStrategy",
       "v1.ScoringStrategy"},
      {"NodeResourcesFit", "{ignoredResources: 3}", "number",
       "NodeResourcesFitArgs.ignoredResources", "[]string"},
      {"NodeResourcesFit", "{ignoredResources: [3]}", "number",
       "NodeResourcesFitArgs.ignoredResources", "string"},
      {"NodeAffinity", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: 3}}",
       "number", "NodeAffinity.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution",
       "v1.NodeSelector"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: 3}}}",
       "number",
       "NodeSelector.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms",
       "[]v1.NodeSelectorTerm"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[3]}}}",
       "number",
       "NodeSelector.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms",
       "v1.NodeSelectorTerm"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: 3}]}}}",
       "number",
       "NodeSelectorTerm.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms.matchExpressions",
       "[]v1.NodeSelectorRequirement"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{values: [3], operator: 5}]}]}}}",
       "number",
       "NodeSelectorRequirement.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms.matchExpressions.operator",
       "v1.NodeSelectorOperator"},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{operator: 5}]}]}}}",
       "number",
       "NodeSelectorRequirement.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms.matchExpressions.operator",
       "v1.NodeSelectorOperator"},
      {"NodeAffinity", "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: 3}}",
       "number", "NodeAffinity.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution",
       "[]v1.PreferredSchedulingTerm"},
      {"NodeAffinity",
       "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: a, preference: "
       "3}]}}",
       "number",
       "PreferredSchedulingTerm.addedAffinity.preferredDuringSchedulingIgnoredDuringExecution."
       "preference",
       "v1.NodeSelectorTerm"},
      {"PodTopologySpread", "{defaultConstraints: 3, defaultingType: 3}", "number",
       "PodTopologySpreadArgs.defaultConstraints", "[]v1.TopologySpreadConstraint"},
      {"PodTopologySpread", "{defaultingType: 3}", "number", "PodTopologySpreadArgs.defaultingType",
       "v1.PodTopologySpreadConstraintsDefaulting"},
      {"PodTopologySpread", "{defaultConstraints: [{maxSkew: a}]}", "string",
       "TopologySpreadConstraint.defaultConstraints.maxSkew", "int32"},
      {"PodTopologySpread", "{defaultConstraints: [{whenUnsatisfiable: 3}]}", "number",
       "TopologySpreadConstraint.defaultConstraints.whenUnsatisfiable",
       "v1.UnsatisfiableConstraintAction"},
      {"PodTopologySpread", "{defaultConstraints: [{labelSelector: 3}]}", "number",
       "TopologySpreadConstraint.defaultConstraints.labelSelector", "v1.LabelSelector"},
      {"PodTopologySpread", "{defaultConstraints: [{labelSelector: {matchLabels: 3}}]}", "number",
       "LabelSelector.defaultConstraints.labelSelector.matchLabels", "map[string]string"},
      {"PodTopologySpread", "{defaultConstraints: [{labelSelector: {matchLabels: {a: 3}}}]}",
       "number", "LabelSelector.defaultConstraints.labelSelector.matchLabels", "string"},
      {"PodTopologySpread",
       "{defaultConstraints: [{labelSelector: {matchExpressions: [{key: 3}]}}]}", "number",
       "LabelSelectorRequirement.defaultConstraints.labelSelector.matchExpressions.key", "string"},
      {"PodTopologySpread",
       "{defaultConstraints: [{labelSelector: {matchExpressions: [{operator: 3}]}}]}", "number",
       "LabelSelectorRequirement.defaultConstraints.labelSelector.matchExpressions.operator",
       "v1.LabelSelectorOperator"},
      {"PodTopologySpread", "{defaultConstraints: [{nodeAffinityPolicy: 3}]}", "number",
       "TopologySpreadConstraint.defaultConstraints.nodeAffinityPolicy", "v1.NodeInclusionPolicy"},
      {"PodTopologySpread", "{defaultConstraints: [3]}", "number",
       "PodTopologySpreadArgs.defaultConstraints", "v1.TopologySpreadConstraint"},
      {"PodTopologySpread", "{defaultConstraints: [{labelSelector: {matchExpressions: [3]}}]}",
       "number", "LabelSelector.defaultConstraints.labelSelector.matchExpressions",
       "v1.LabelSelectorRequirement"},
      {"PodTopologySpread", "{defaultConstraints: [{labelSelector: {matchExpressions: 3}}]}",
       "number", "LabelSelector.defaultConstraints.labelSelector.matchExpressions",
       "[]v1.LabelSelectorRequirement"},
      {"PodTopologySpread", "{defaultConstraints: [{matchLabelKeys: 3}]}", "number",
       "TopologySpreadConstraint.defaultConstraints.matchLabelKeys", "[]string"},
      {"NodeResourcesFit", "{scoringStrategy: {requestedToCapacityRatio: 3}}", "number",
       "ScoringStrategy.scoringStrategy.requestedToCapacityRatio",
       "v1.RequestedToCapacityRatioParam"},
      {"NodeResourcesFit", "{scoringStrategy: {requestedToCapacityRatio: {shape: 3}}}", "number",
       "RequestedToCapacityRatioParam.scoringStrategy.requestedToCapacityRatio.shape",
       "[]v1.UtilizationShapePoint"},
      {"NodeResourcesFit", "{scoringStrategy: {requestedToCapacityRatio: {shape: [3]}}}", "number",
       "RequestedToCapacityRatioParam.scoringStrategy.requestedToCapacityRatio.shape",
       "v1.UtilizationShapePoint"},
      {"NodeResourcesFit", "{scoringStrategy: {resources: [3]}}", "number",
       "ScoringStrategy.scoringStrategy.resources", "v1.ResourceSpec"},
      {"NodeResourcesFit", "{scoringStrategy: {resources: 3}}", "number",
       "ScoringStrategy.scoringStrategy.resources", "[]v1.ResourceSpec"},
      {"VolumeBinding", "{shape: 3, bindTimeoutSeconds: a}", "string",
       "VolumeBindingArgs.bindTimeoutSeconds", "int64"},
  };
  for (const auto& [plugin, args, value, field, type] : cases) {
    EXPECT_EQ(error_of(with_args(plugin, args)),
              "decoding .profiles[0].pluginConfig[0]: decoding args for plugin " +
                  std::string(plugin) + ": " + type_error(value, field, type))
        << args;
  }
}

}  // namespace
}  // namespace berth::config
