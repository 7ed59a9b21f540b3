#include "serve/resource_metrics.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth::serve {
namespace {

std::string samples(const std::vector<Ref<const Pod>>& pods) {
  std::string text = pod_resource_page(pods, telemetry::MetricsFormat::kText);
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (text[at] != '#') lines += text.substr(at, end - at + 1);
    at = end + 1;
  }
  return lines;
}

ResourceList amounts(PodBuilder& pod,
                     std::initializer_list<std::pair<const char*, const char*>> of) {
  ResourceList list;
  for (const auto& [name, amount] : of) list.set(pod.symbol(name), Quantity::parse(amount).value());
  return list;
}

TEST(ResourceMetrics, WithoutPodsThereIsNothingToSay) {
  EXPECT_EQ(pod_resource_page({}, telemetry::MetricsFormat::kText), "");
}

TEST(ResourceMetrics, RequestsWithTheirUnits) {
  World world;
  PodBuilder pod = world.pod("a");
  pod.cpu("1500m").memory("1Gi").request("ephemeral-storage", "10").request("nvidia.com/gpu", "2");
  pod.request("hugepages-2Mi", "4Mi").request("attachable-volumes-aws-ebs", "3");
  pod.request("example.com/none", "0").priority(7).on("n1");
  EXPECT_EQ(
      samples({pod.build()}),
      "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"a\",priority=\"7\","
      "resource=\"attachable-volumes-aws-ebs\",scheduler=\"default-scheduler\",unit=\"integer\"} "
      "3\n"
      "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"a\",priority=\"7\","
      "resource=\"cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 1.5\n"
      "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"a\",priority=\"7\","
      "resource=\"ephemeral-storage\",scheduler=\"default-scheduler\",unit=\"bytes\"} 10\n"
      "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"a\",priority=\"7\","
      "resource=\"hugepages-2Mi\",scheduler=\"default-scheduler\",unit=\"bytes\"} 4.194304e+06\n"
      "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"a\",priority=\"7\","
      "resource=\"memory\",scheduler=\"default-scheduler\",unit=\"bytes\"} 1.073741824e+09\n"
      "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"a\",priority=\"7\","
      "resource=\"nvidia.com/gpu\",scheduler=\"default-scheduler\",unit=\"\"} 2\n");
}

TEST(ResourceMetrics, LimitsFollowTheRulesOfRequests) {
  World world;
  PodBuilder pod = world.pod("a");
  pod.container({}).init_container({}).sidecar({}).init_container({}).overhead(
      {{"cpu", "100m"}, {"memory", "1"}});
  PodSpec& spec = pod.spec();
  spec.containers[0].limits = amounts(pod, {{"cpu", "1"}});
  spec.init_containers[0].limits = amounts(pod, {{"cpu", "2"}});
  spec.init_containers[1].limits = amounts(pod, {{"cpu", "500m"}});
  spec.init_containers[2].limits = amounts(pod, {{"cpu", "2"}, {"example.com/x", "1"}});
  // The last init container beside the sidecar is the most: 2.5; overhead on top. There is no limit
  // of memory that overhead could add to.
  const std::string text = samples({pod.build()});
  EXPECT_NE(
      text.find("kube_pod_resource_limit{namespace=\"default\",node=\"\",pod=\"a\",priority="
                "\"0\",resource=\"cpu\",scheduler=\"default-scheduler\",unit=\"cores\"} 2.6\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("resource=\"example.com/x\""), std::string::npos) << text;
  EXPECT_EQ(text.find("kube_pod_resource_limit{namespace=\"default\",node=\"\",pod=\"a\",priority="
                      "\"0\",resource=\"memory\""),
            std::string::npos)
      << text;
}

TEST(ResourceMetrics, LimitsOfThePodGoBeforeThoseOfContainers) {
  World world;
  PodBuilder pod = world.pod("a");
  pod.container({});
  pod.spec().containers[0].limits = amounts(pod, {{"cpu", "1"}, {"example.com/x", "1"}});
  pod.spec().pod_limits = amounts(pod, {{"cpu", "3"}, {"example.com/x", "3"}});
  const std::string text = samples({pod.build()});
  EXPECT_NE(text.find("unit=\"cores\"} 3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("unit=\"\"} 1\n"), std::string::npos) << text;
}

TEST(ResourceMetrics, PodsThatHaveEndedOnANodeDoNotCount) {
  World world;
  const auto pod = [&](std::string name, std::string node, PodPhase phase) {
    return Ref<const Pod>(world.pod(std::move(name)).cpu("1").on(std::move(node)).phase(phase));
  };
  const std::string text =
      samples({pod("ended", "n1", PodPhase::kSucceeded), pod("broken", "n1", PodPhase::kFailed),
               pod("nowhere", "", PodPhase::kFailed), pod("runs", "n1", PodPhase::kRunning)});
  EXPECT_EQ(text.find("ended"), std::string::npos);
  EXPECT_EQ(text.find("broken"), std::string::npos);
  EXPECT_NE(text.find("nowhere"), std::string::npos);
  EXPECT_NE(text.find("runs"), std::string::npos);
}

}  // namespace
}  // namespace berth::serve
