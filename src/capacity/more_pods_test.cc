#include "capacity/more_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/defaulting.h"
#include "api/manifest.h"
#include "capacity/more_fit_text.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::capacity {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string node(const std::string& name, const std::string& cpu, const std::string& spec = "{}") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         ", labels: {kubernetes.io/hostname: " + name + "}}\nspec: " + spec +
         "\nstatus: {capacity: {cpu: \"" + cpu + "\", memory: 64Gi, pods: \"110\"}}\n";
}

std::string pod(const std::string& name, const std::string& cpu, const std::string& spec = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: " + name +
         "}}\nspec: {" + spec + "containers: [{name: c, image: i, resources: {requests: {cpu: \"" +
         cpu + "\"}}}]}\n";
}

struct MorePodsTest : ::testing::Test {
  Interner interner;
  std::unique_ptr<explain::Evaluator> evaluator;

  std::vector<ManifestObject> read(const std::string& manifests) {
    Result<std::vector<ManifestObject>> objects = read_manifest(manifests, "test.yaml", interner);
    EXPECT_TRUE(objects) << objects.error().message;
    const Result<void> admitted = admit_all(*objects, interner, VirtualLoop::kDefaultStart);
    EXPECT_TRUE(admitted) << admitted.error().message;
    return *std::move(objects);
  }
  void cluster(const std::string& manifests) {
    explain::EvaluatorOptions options;
    options.configuration = config::default_configuration(options.gates);
    auto made = explain::Evaluator::make(interner, plugins::make_plugin_table(), options);
    ASSERT_TRUE(made) << made.error().message;
    evaluator = *std::move(made);
    const Result<void> loaded = evaluator->load(read(manifests));
    ASSERT_TRUE(loaded) << loaded.error().message;
  }
  Shape shape(const std::string& manifest, std::int64_t in_round = 1) {
    const auto object = std::get<Ref<const Pod>>(read(manifest).front().object);
    return {object->full_name(), object, in_round};
  }
  MoreFit place(const std::vector<Shape>& shapes, std::optional<std::int64_t> most = {}) {
    Result<MoreFit> fit = MorePods(*evaluator).place(shapes, most);
    EXPECT_TRUE(fit) << fit.error().message;
    return fit ? *std::move(fit) : MoreFit();
  }
};

TEST_F(MorePodsTest, PlacesPodsUntilNoneFitsAndNamesTheResource) {
  cluster(node("a", "4") + node("b", "2") + pod("there", "1", "nodeName: a, "));
  const MoreFit fit = place({shape(pod("web", "1"))});
  EXPECT_EQ(fit.pods, 5);
  EXPECT_THAT(fit.shapes.front().by_node, ElementsAre(Pair("a", 3), Pair("b", 2)));
  EXPECT_EQ(fit.ending.type, Ending::Type::kUnschedulable);
  EXPECT_EQ(fit.ending.message, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_THAT(fit.ending.plugins, ElementsAre(Pair("NodeResourcesFit", 2)));
  ASSERT_EQ(fit.ending.lacks.size(), 1);
  EXPECT_EQ(fit.ending.lacks[0].subject, "cpu");
  EXPECT_TRUE(fit.ending.lacks[0].resource);
  EXPECT_EQ(fit.ending.lacks[0].alone, 2);
}

TEST_F(MorePodsTest, LeavesTheClusterAsItWas) {
  cluster(node("a", "4"));
  const std::vector<Shape> shapes{shape(pod("web", "1"))};
  EXPECT_EQ(place(shapes).pods, 4);
  EXPECT_EQ(place(shapes).pods, 4);
  EXPECT_EQ(evaluator->cluster().placed_count(), 0);
}

TEST_F(MorePodsTest, ShapesTakeTurnsAtTheirRatio) {
  cluster(node("a", "10"));
  const MoreFit fit = place({shape(pod("web", "1"), 2), shape(pod("db", "3"), 1)});
  EXPECT_EQ(fit.rounds, 2);  // 2 × (1 + 1 + 3) = 10
  EXPECT_EQ(fit.shapes[0].pods, 4);
  EXPECT_EQ(fit.shapes[1].pods, 2);
  EXPECT_EQ(fit.ending.shape, "default/web");
}

TEST_F(MorePodsTest, StopsAtTheLimit) {
  cluster(node("a", "10"));
  const MoreFit fit = place({shape(pod("web", "1"))}, 3);
  EXPECT_EQ(fit.pods, 3);
  EXPECT_EQ(fit.ending.type, Ending::Type::kLimitReached);
}

TEST_F(MorePodsTest, NoMoreThanTheScheduleAllowsByOtherPlugins) {
  cluster(node("a", "10") + node("b", "10") +
          node("c", "10", "{taints: [{key: team, value: red, effect: NoSchedule}]}"));
  const MoreFit fit = place({shape(pod(
      "web", "1",
      "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}, "))});
  EXPECT_EQ(fit.pods, 2);
  EXPECT_THAT(fit.ending.plugins,
              ElementsAre(Pair("InterPodAffinity", 2), Pair("TaintToleration", 1)));
  EXPECT_EQ(fit.ending.lacks.front().plugin, "InterPodAffinity");
  EXPECT_FALSE(fit.ending.lacks.front().resource);
}

TEST_F(MorePodsTest, NobodyIsPreempted) {
  cluster(node("a", "2") + pod("low", "2", "nodeName: a, "));
  EXPECT_EQ(place({shape(pod("high", "1", "priority: 1000, "))}).pods, 0);
}

TEST_F(MorePodsTest, ClaimsAreMadeFromTheirTemplate) {
  cluster(node("a", "100") + R"(---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: default}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: a}
spec:
  driver: d
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  devices: [{name: g0}, {name: g1}, {name: g2}]
)");
  const Shape gpus =
      shape(pod("train", "1", "resourceClaims: [{name: g, resourceClaimTemplateName: one}], "));
  for (int again = 0; again < 2; ++again) {
    const MoreFit fit = place({gpus});
    EXPECT_EQ(fit.pods, 3) << fit.ending.message;
    EXPECT_THAT(fit.ending.plugins, ElementsAre(Pair("DynamicResources", 1)));
  }
  const Result<MoreFit> failed =
      MorePods(*evaluator)
          .place({shape(pod("x", "1",
                            "resourceClaims: [{name: g, resourceClaimTemplateName: missing}], "))},
                 {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "pod default/x names the ResourceClaimTemplate \"missing\", which is not there");
}

TEST_F(MorePodsTest, TheTableSaysWhereAndWhy) {
  cluster(node("a", "2"));
  EXPECT_EQ(to_table(place({shape(pod("web", "1"))})),
            "2 more pods like default/web fit\n"
            "\n"
            "POD          NODE   PODS\n"
            "default/web  a         2\n"
            "\n"
            "Ended because default/web fits on no node\n"
            "  0/1 nodes are available: 1 Insufficient cpu.\n"
            "  NodeResourcesFit rejects 1 of 1 nodes\n"
            "Bottleneck: cpu (NodeResourcesFit) on 1 of 1 nodes, which lack nothing else\n");
}

}  // namespace
}  // namespace berth::capacity
