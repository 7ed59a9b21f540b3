#include "plugins/dynamic_resources/extended_resources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "plugins/device_class_resources.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::plugins {
namespace {

constexpr const char* kGpu = "example.com/gpu";
constexpr const char* kNic = "example.com/nic";

// "container-0-request-0=gpu:2", and "c0 gpu container-0-request-0" for each mapping.
std::string planned(World& world, PodBuilder& builder) {
  const Ref<const Pod> pod = builder.build();
  SymbolHold hold(world.interner.symbols());
  DeviceClass gpu_class(SymbolHold(world.interner.symbols()));
  gpu_class.name = "gpu";
  DeviceClass nic_class(SymbolHold(world.interner.symbols()));
  nic_class.name = "nic";
  const std::vector<BackedResource> resources{{hold.intern(kGpu), &gpu_class},
                                              {hold.intern(kNic), &nic_class}};
  const ExtendedResourceRequests all = requests_for(*pod, resources, hold);
  std::vector<std::string> requests, mappings;
  for (const DeviceRequest& request : all.requests) {
    EXPECT_EQ(hold.text(request.exactly->allocation_mode), "ExactCount");
    requests.push_back(fmt::format("{}={}:{}", hold.text(request.name),
                                   hold.text(request.exactly->device_class_name),
                                   request.exactly->count));
  }
  for (const auto& mapping : all.mappings)
    mappings.push_back(fmt::format("{} {} {}", mapping.container_name,
                                   mapping.resource_name.substr(12), mapping.request_name));
  return fmt::format("{} | {}", fmt::join(requests, ", "), fmt::join(mappings, ", "));
}

// Containers by name: i0, i1, … in the order of init containers and containers.
PodBuilder& named(PodBuilder& builder) {
  int next = 0;
  for (auto* containers : {&builder.spec().init_containers, &builder.spec().containers})
    for (Container& container : *containers)
      container.name = builder.symbol("i" + std::to_string(next++));
  return builder;
}

TEST(ExtendedResources, ContainersThatLiveTogetherGetDevicesOfTheirOwn) {
  World world;
  PodBuilder pod = world.pod("p");
  pod.container({{"cpu", "1"}, {kGpu, "2"}}).container({{kGpu, "1"}, {kNic, "1"}}).container({});
  EXPECT_EQ(planned(world, named(pod)),
            "container-0-request-1=gpu:2, container-1-request-0=gpu:1, "
            "container-1-request-1=nic:1 | i0 gpu container-0-request-1, "
            "i1 gpu container-1-request-0, i1 nic container-1-request-1");
}

TEST(ExtendedResources, InitContainersUseWhatLaterOnesWillNeed) {
  World world;
  PodBuilder pod = world.pod("p");
  pod.init_container({{kGpu, "2"}}).container({{kGpu, "1"}}).container({{kGpu, "1"}});
  EXPECT_EQ(planned(world, named(pod)),
            "container-1-request-0=gpu:1, container-2-request-0=gpu:1 | "
            "i1 gpu container-1-request-0, i2 gpu container-2-request-0, "
            "i0 gpu container-1-request-0, i0 gpu container-2-request-0");
}

TEST(ExtendedResources, WhatIsMissingIsAskedForOnceByTheGreediest) {
  World world;
  PodBuilder pod = world.pod("p");
  pod.init_container({{kGpu, "2"}})
      .init_container({{kGpu, "4"}})
      .init_container({{kGpu, "4"}})
      .container({{kGpu, "1"}});
  EXPECT_EQ(planned(world, named(pod)),
            "container-1-request-0=gpu:3, container-3-request-0=gpu:1 | "
            "i3 gpu container-3-request-0, "
            "i0 gpu container-3-request-0, i0 gpu container-1-request-0, "
            "i1 gpu container-3-request-0, i1 gpu container-1-request-0, "
            "i2 gpu container-3-request-0, i2 gpu container-1-request-0");
}

TEST(ExtendedResources, ASidecarsDevicesAreLentOnlyToThoseBeforeIt) {
  World world;
  PodBuilder pod = world.pod("p");
  pod.init_container({{kGpu, "1"}})
      .sidecar({{kGpu, "1"}})
      .init_container({{kGpu, "1"}})
      .container({});
  EXPECT_EQ(planned(world, named(pod)),
            "container-1-request-0=gpu:1, container-2-request-0=gpu:1 | "
            "i1 gpu container-1-request-0, i0 gpu container-1-request-0, "
            "i2 gpu container-2-request-0");
}

TEST(ExtendedResources, RequestsAreInTheOrderOfTheirNamesText) {
  World world;
  PodBuilder pod = world.pod("p");
  for (int i = 0; i < 11; ++i) pod.container({{kGpu, i == 2 || i == 10 ? "1" : "0"}});
  EXPECT_EQ(planned(world, named(pod)),
            "container-10-request-0=gpu:1, container-2-request-0=gpu:1 | "
            "i2 gpu container-2-request-0, i10 gpu container-10-request-0");
}

TEST(ExtendedResources, AnAmountThatIsNoWholeNumberIsNone) {
  World world;
  PodBuilder pod = world.pod("p");
  pod.container({{kGpu, "500m"}}).container({{kGpu, "2k"}});
  EXPECT_EQ(planned(world, named(pod)),
            "container-1-request-0=gpu:2000 | i1 gpu container-1-request-0");
}

TEST(ExtendedResources, TheClaimIsMadeForItsPod) {
  World world;
  Random random(1);
  const Ref<const Pod> pod = world.pod("p").uid("u-1").in("ns");
  const Ref<const ResourceClaim> claim =
      make_extended_resource_claim(*pod, world.interner.symbols(), random);
  EXPECT_TRUE(is_in_memory(*claim));
  EXPECT_TRUE(is_extended_resource_claim(*claim));
  EXPECT_EQ(claim->name, "<extended-resources>");
  EXPECT_EQ(claim->generate_name, "p-extended-resources-");
  EXPECT_EQ(claim->symbols.text(claim->namespace_name), "ns");
  EXPECT_EQ(claim->symbols.text(claim->controller.kind), "Pod");
  EXPECT_EQ(claim->symbols.text(claim->controller.api_version), "v1");
  EXPECT_EQ(claim->symbols.text(claim->controller.name), "p");
  EXPECT_EQ(claim->controller_uid, "u-1");
  EXPECT_TRUE(claim->spec.requests.empty());
  const Ref<const ResourceClaim> other =
      make_extended_resource_claim(*pod, world.interner.symbols(), random);
  EXPECT_NE(other->uid, claim->uid);
  EXPECT_EQ(claim->uid.size(), 36U);
  EXPECT_EQ(claim->uid[14], '4');
  EXPECT_TRUE(std::string_view("89ab").contains(claim->uid[19])) << claim->uid;
}

// ---- which class stands behind a resource

struct Classes : ::testing::Test {
  PluginFixture fixture;
  DeviceClassResources classes{fixture.cluster};

  void add(const std::string& name, const std::string& states, const std::string& created) {
    put(fixture, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: " + name +
                     ", creationTimestamp: '" + created + "'}, spec: {" +
                     (states.empty() ? "" : "extendedResourceName: " + states) + "}}");
  }
  std::string behind(const std::string& resource) {
    const DeviceClass* found = classes.find(fixture.world.symbol(resource));
    return found ? found->name : "-";
  }
};

TEST_F(Classes, HaveAResourceOfTheirOwnAndTheOneTheyState) {
  EXPECT_EQ(behind(kGpu), "-");
  add("a", kGpu, "2026-01-01T00:00:00Z");
  add("b", "", "2026-01-01T00:00:00Z");
  EXPECT_EQ(behind(kGpu), "a");
  EXPECT_EQ(behind("deviceclass.resource.kubernetes.io/a"), "a");
  EXPECT_EQ(behind("deviceclass.resource.kubernetes.io/b"), "b");
  EXPECT_EQ(behind("deviceclass.resource.kubernetes.io/c"), "-");
  fixture.cluster.remove(ObjectKind::kDeviceClass, "", "a");
  EXPECT_EQ(behind(kGpu), "-");
  EXPECT_EQ(behind("deviceclass.resource.kubernetes.io/a"), "-");
}

TEST_F(Classes, OfSeveralTheYoungestHasTheNameThatAllState) {
  add("old", kGpu, "2026-01-01T00:00:00Z");
  add("young-b", kGpu, "2026-02-01T00:00:00Z");
  add("young-a", kGpu, "2026-02-01T00:00:00Z");
  EXPECT_EQ(behind(kGpu), "young-a");
  EXPECT_EQ(behind("deviceclass.resource.kubernetes.io/old"), "old");
  fixture.cluster.remove(ObjectKind::kDeviceClass, "", "young-a");
  EXPECT_EQ(behind(kGpu), "young-b");
}

}  // namespace
}  // namespace berth::plugins
