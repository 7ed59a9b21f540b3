#include "berth/resources.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/names.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth {
namespace {

struct ResourcesTest : ::testing::Test {
  World world;

  ResourceList list(const Amounts& amounts) {
    ResourceList made;
    for (const auto& [name, amount] : amounts)
      made.set(world.symbol(name), Quantity::parse(amount).value());
    return made;
  }
  // "cpu=1 memory=1Gi", by name.
  std::string show(const ResourceList& list) {
    std::vector<std::string> parts;
    for (const auto& [name, amount] : list)
      parts.push_back(std::string(world.interner.symbols()->text(name)) + "=" + amount.to_string());
    std::ranges::sort(parts);
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
    return text;
  }
  std::string requests(const PodBuilder& pod, RequestOptions options = {}) {
    return show(pod_requests(*pod.build(), options));
  }
};

TEST_F(ResourcesTest, ListsAddRaiseAndFill) {
  ResourceList sum = list({{"cpu", "1"}, {"memory", "1Gi"}});
  sum.add(list({{"cpu", "500m"}, {"example.com/gpu", "2"}}));
  EXPECT_EQ(show(sum), "cpu=1500m example.com/gpu=2 memory=1Gi");

  ResourceList maximum = list({{"cpu", "1"}, {"memory", "1Gi"}, {"a/b", "-3"}});
  maximum.raise_to(list({{"cpu", "1100m"}, {"memory", "1Mi"}, {"c/d", "-1"}}));
  EXPECT_EQ(show(maximum), "a/b=-3 c/d=-1 cpu=1100m memory=1Gi");

  ResourceList filled = list({{"cpu", "0"}});
  filled.fill_from(list({{"cpu", "100m"}, {"memory", "200Mi"}}));
  EXPECT_EQ(show(filled), "cpu=0 memory=200Mi");
}

TEST_F(ResourcesTest, AListIsSortedAndHasEachNameOnce) {
  const Symbol a = world.symbol("x.io/a"), b = world.symbol("x.io/b");
  const ResourceList made({{b, Quantity::of(1)}, {a, Quantity::of(2)}, {b, Quantity::of(3)}});
  EXPECT_EQ(made.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(made, {}, &ResourceAmount::name));
  EXPECT_EQ(*made.find(b), Quantity::of(3));
  EXPECT_EQ(made.find(names::kCpu), nullptr);
  EXPECT_EQ(made, ResourceList({{a, Quantity::of_milli(2000)}, {b, Quantity::of(3)}}));
}

TEST(ResourceNames, ExtendedAndScalarOnes) {
  struct Row {
    std::string name;
    bool extended, scalar;
  };
  const std::vector<Row> rows = {
      {"example.com/gpu", true, true},
      {"nvidia.com/gpu", true, true},
      {"gpu", false, false},
      {"cpu", false, false},
      {"hugepages-2Mi", false, true},
      {"attachable-volumes-aws-ebs", false, true},
      {"kubernetes.io/something", false, true},
      {"sub.kubernetes.io/something", false, true},
      {"kubernetes.io.example.com/gpu", true, true},
      {"requests.example.com/gpu", false, false},
      {"Example.com/gpu", false, false},
      {"example.com/", false, false},
      {"a/b/c", false, false},
      {std::string(244, 'a') + "/gpu", true, true},
      {std::string(245, 'a') + "/gpu", false, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(is_extended_resource(row.name), row.extended) << row.name;
    EXPECT_EQ(is_scalar_resource(row.name), row.scalar) << row.name;
  }
}

TEST_F(ResourcesTest, TheVectorTakesWhatSchedulingCounts) {
  const ResourceList written = list({{"cpu", "1500u"},
                                     {"memory", "0.5"},
                                     {"ephemeral-storage", "1Ki"},
                                     {"pods", "110"},
                                     {"example.com/gpu", "1500m"},
                                     {"hugepages-2Mi", "0"},
                                     {"storage", "5"}});
  const Symbols& symbols = *world.interner.symbols();
  const Resources resources = to_resources(written, symbols);
  EXPECT_EQ(resources.milli_cpu, 2);
  EXPECT_EQ(resources.memory, 1);
  EXPECT_EQ(resources.ephemeral_storage, 1024);
  EXPECT_EQ(resources.pods, 110);
  EXPECT_EQ(resources.scalars.size(), 2U);
  EXPECT_EQ(resources.scalar(world.symbol("example.com/gpu")), 2);
  EXPECT_TRUE(resources.has_scalar(world.symbol("hugepages-2Mi")));
  EXPECT_FALSE(resources.has_scalar(world.symbol("storage")));
  EXPECT_EQ(resources.scalar(world.symbol("storage")), 0);
}

TEST_F(ResourcesTest, ARequestHasNoNegativesAndNoPods) {
  const ResourceList written = list({{"cpu", "-1"},
                                     {"memory", "-1Gi"},
                                     {"pods", "3"},
                                     {"example.com/gpu", "-2"},
                                     {"a.b/c", "4"}});
  const Symbols& symbols = *world.interner.symbols();
  const Resources asked = to_resources(written, symbols);
  EXPECT_EQ(asked.milli_cpu, -1000);
  EXPECT_EQ(asked.scalar(world.symbol("example.com/gpu")), -2);
  const Resources request = to_request(written, symbols);
  EXPECT_EQ(request.milli_cpu, 0);
  EXPECT_EQ(request.memory, 0);
  EXPECT_EQ(request.pods, 0);
  EXPECT_TRUE(request.has_scalar(world.symbol("example.com/gpu")));
  EXPECT_EQ(request.scalar(world.symbol("example.com/gpu")), 0);
  EXPECT_EQ(request.scalar(world.symbol("a.b/c")), 4);
}

TEST_F(ResourcesTest, ContainersAddUpAndInitContainersPeak) {
  EXPECT_EQ(requests(world.pod("p")), "");
  EXPECT_EQ(requests(std::move(world.pod("p")
                                   .container({{"cpu", "1m"}})
                                   .container({{"cpu", "1m"}})
                                   .init_container({{"cpu", "3m"}}))),
            "cpu=3m");
  EXPECT_EQ(requests(std::move(world.pod("p")
                                   .container({{"cpu", "1"}, {"memory", "1Gi"}})
                                   .container({{"cpu", "1"}})
                                   .init_container({{"cpu", "1500m"}, {"memory", "2Gi"}})
                                   .init_container({{"cpu", "1500m"}, {"memory", "3Gi"}})
                                   .overhead({{"cpu", "10m"}, {"x.io/y", "1"}}))),
            "cpu=2010m memory=3Gi x.io/y=1");
}

TEST_F(ResourcesTest, SidecarsRunBesideWhatComesAfterThem) {
  EXPECT_EQ(requests(std::move(world.pod("p")
                                   .container({{"cpu", "1"}})
                                   .init_container({{"cpu", "4"}})
                                   .sidecar({{"cpu", "1"}})
                                   .init_container({{"cpu", "3500m"}})
                                   .sidecar({{"cpu", "2"}}))),
            "cpu=4500m");
  EXPECT_EQ(
      requests(std::move(world.pod("p").container({{"cpu", "1"}}).sidecar({{"memory", "1Gi"}}))),
      "cpu=1 memory=1Gi");
}

TEST_F(ResourcesTest, RoundingHappensOncePerPod) {
  const Ref<const Pod> pod = world.pod("p")
                                 .container({{"cpu", "500u"}, {"memory", "0.5"}})
                                 .container({{"cpu", "500u"}, {"memory", "0.5"}});
  EXPECT_EQ(pod->usage().requests.milli_cpu, 1);
  EXPECT_EQ(pod->usage().requests.memory, 1);
}

TEST_F(ResourcesTest, DefaultsFillEveryContainer) {
  const ResourceList defaults = list({{"cpu", "100m"}});
  RequestOptions options;
  options.defaults = &defaults;
  EXPECT_EQ(requests(std::move(world.pod("p").container({{"cpu", "0"}}).container({})), options),
            "cpu=100m");
  EXPECT_EQ(
      requests(std::move(world.pod("p").container({{"cpu", "1m"}}).init_container({})), options),
      "cpu=100m");
}

TEST_F(ResourcesTest, PodLevelRequestsReplaceThoseOfContainers) {
  PodBuilder pod = world.pod("p");
  pod.container({{"cpu", "1"}, {"memory", "1Gi"}, {"hugepages-2Mi", "4Mi"}, {"x.io/y", "1"}})
      .pod_level({{"cpu", "500m"}, {"hugepages-2Mi", "2Mi"}, {"x.io/y", "7"}})
      .overhead({{"cpu", "10m"}});
  EXPECT_EQ(requests(pod), "cpu=510m hugepages-2Mi=2Mi memory=1Gi x.io/y=1");
  RequestOptions off;
  off.pod_level = false;
  EXPECT_EQ(requests(pod, off), "cpu=1010m hugepages-2Mi=4Mi memory=1Gi x.io/y=1");

  PodBuilder unsupported = world.pod("p");
  unsupported.container({{"cpu", "1"}}).pod_level({{"x.io/y", "7"}});
  EXPECT_EQ(requests(unsupported), "cpu=1") << "only names that pods can ask for count";
}

TEST_F(ResourcesTest, ScoringCountsSomethingForContainersThatAskForNothing) {
  constexpr std::int64_t kMi = 1024 * 1024;
  struct Row {
    PodBuilder pod;
    std::int64_t milli_cpu, memory;
  };
  std::vector<Row> rows;
  const auto row = [&](PodBuilder& pod, std::int64_t milli_cpu, std::int64_t memory) {
    rows.push_back({std::move(pod), milli_cpu, memory});
  };
  row(world.pod("one").container({}), 100, 200 * kMi);
  row(world.pod("two").container({}).container({}), 200, 400 * kMi);
  row(world.pod("mixed").container({{"cpu", "1"}}).container({}), 1100, 400 * kMi);
  row(world.pod("zero").container({{"cpu", "0"}, {"memory", "0"}}), 0, 0);
  row(world.pod("overhead").container({}).container({}).overhead({{"cpu", "10m"}}), 210,
      209715200 * 2);
  row(world.pod("init")
          .init_container({})
          .init_container({{"cpu", "1m"}})
          .container({{"cpu", "3m"}}),
      100, 200 * kMi);
  row(world.pod("more")
          .init_container({})
          .init_container({{"cpu", "1m"}})
          .container({{"cpu", "3m"}})
          .container({}),
      103, 400 * kMi);
  row(world.pod("level").container({}).container({}).pod_level({{"cpu", "5"}}), 5000, 400 * kMi);
  row(world.pod("both").container({}).pod_level({{"cpu", "5"}, {"memory", "1Mi"}}), 5000, kMi);
  row(world.pod("named").container({{"memory", "1Mi"}}).container({}).pod_level({{"cpu", "5"}}),
      5000, kMi);  // a container names memory, so none is made up for the other
  for (const Row& expected : rows) {
    const Ref<const Pod> pod = expected.pod;
    EXPECT_EQ(pod->usage().nonzero_milli_cpu, expected.milli_cpu) << pod->name();
    EXPECT_EQ(pod->usage().nonzero_memory, expected.memory) << pod->name();
  }

  PodSpec bare(world.interner.hold());
  bare.overhead = list({{"cpu", "7m"}});
  EXPECT_EQ(pod_usage(bare, *world.interner.symbols()).nonzero_milli_cpu, 7)
      << "without containers there is only the overhead";
  EXPECT_EQ(pod_usage(bare, *world.interner.symbols()).nonzero_memory, 0);
}

// A pod that is being resized, with what its status says.
struct ResizeTest : ResourcesTest {
  PodDraft draft;
  RequestOptions options{.use_status = true, .pod_level_status = true};

  void start(const PodBuilder& pod) {
    draft = draft_of(*pod.build());
    draft.extra = std::make_unique<PodExtra>(world.interner.hold());
  }
  // Null: the status does not have it.
  void status(std::string_view container, const std::optional<Amounts>& requests,
              const std::optional<Amounts>& allocated = {}) {
    draft.extra->container_resources.push_back(
        {world.symbol(container), amounts(requests), amounts(allocated)});
  }
  void pod_status(const std::optional<Amounts>& requests,
                  const std::optional<Amounts>& allocated = {}) {
    draft.extra->pod_resources = {{}, amounts(requests), amounts(allocated)};
  }
  std::optional<ResourceList> amounts(const std::optional<Amounts>& given) {
    return given ? std::optional(list(*given)) : std::nullopt;
  }
  void condition(std::string type, std::string reason) {
    PodCondition made;
    made.type = std::move(type);
    made.status = "True";
    made.reason = std::move(reason);
    draft.extra->conditions.push_back(std::move(made));
  }
  Ref<const Pod> pod() { return make_pod(std::move(draft)); }
};

TEST_F(ResizeTest, TheLargestOfSpecStatusAndAllocatedCounts) {
  start(std::move(
      world.pod("p").container({{"cpu", "1"}, {"memory", "3Gi"}}).container({{"cpu", "1"}})));
  status("c0", Amounts{{"cpu", "2"}, {"memory", "1Gi"}}, Amounts{{"cpu", "3"}, {"x.io/y", "1"}});
  const Ref<const Pod> resized = pod();
  EXPECT_EQ(show(pod_requests(*resized, options)), "cpu=4 memory=3Gi x.io/y=1");
  EXPECT_EQ(show(pod_requests(*resized, {})), "cpu=2 memory=3Gi") << "by the spec alone";
  EXPECT_EQ(resized->usage().requests.milli_cpu, 4000) << "what it takes from its node";
  EXPECT_EQ(resized->spec().usage.requests.milli_cpu, 2000);
}

TEST_F(ResizeTest, TotalsAreComparedNotContainers) {
  start(std::move(world.pod("p").container({{"cpu", "1"}}).container({{"cpu", "2"}})));
  status("c0", Amounts{{"cpu", "2"}}, Amounts{{"cpu", "1"}});
  status("c1", Amounts{{"cpu", "1"}}, Amounts{{"cpu", "3"}});
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=4") << "1 + 3, not 2 + 3";
}

TEST_F(ResizeTest, AnInfeasibleResizeDoesNotCount) {
  start(std::move(world.pod("p").container({{"cpu", "8"}, {"memory", "1Gi"}})));
  status("c0", Amounts{{"cpu", "2"}}, Amounts{{"cpu", "1"}});
  condition("PodScheduled", "Infeasible");
  condition("PodResizePending", "Infeasible");
  condition("PodResizePending", "Deferred");  // only the first one is looked at
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=2");
}

TEST_F(ResizeTest, AnInfeasibleResizeOfWhichNothingElseIsKnownCountsNothing) {
  start(std::move(world.pod("p").container({{"cpu", "8"}}).overhead({{"cpu", "1"}})));
  condition("PodResizePending", "Infeasible");
  const Ref<const Pod> stuck = pod();
  EXPECT_EQ(show(pod_requests(*stuck, options)), "cpu=1");
  EXPECT_EQ(stuck->usage().requests.milli_cpu, 1000);
  EXPECT_EQ(stuck->usage().nonzero_milli_cpu, 1100);
}

TEST_F(ResizeTest, ADeferredResizeCounts) {
  start(std::move(world.pod("p").container({{"cpu", "8"}})));
  status("c0", Amounts{{"cpu", "2"}});
  condition("PodResizePending", "Deferred");
  condition("PodResizePending", "Infeasible");
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=8");
}

TEST_F(ResizeTest, StatusCountsForContainersSidecarsAndInitContainers) {
  const auto resized = [&](const char* init, const char* sidecar) {
    start(std::move(world.pod("p")
                        .container({{"cpu", "1"}})
                        .init_container({{"cpu", "1"}})
                        .sidecar({{"cpu", "1"}})));
    status("i0", Amounts{{"cpu", init}});
    status("i1", Amounts{{"cpu", sidecar}});
    return show(pod_requests(*pod(), options));
  };
  EXPECT_EQ(resized("1", "3"), "cpu=4");
  EXPECT_EQ(resized("20", "3"), "cpu=20");
}

TEST_F(ResizeTest, WhatAStatusDoesNotHaveIsReadFromTheNextBest) {
  struct Row {
    std::optional<Amounts> requests, allocated;
    const char* feasible;
    const char* infeasible;
  };
  const Amounts none;
  const Amounts two{{"cpu", "2"}}, six{{"cpu", "6"}};
  const std::vector<Row> rows = {
      {two, {}, "cpu=4", "cpu=2"},  // allocated: by the spec, or nothing
      {six, {}, "cpu=6", "cpu=6"},   {{}, two, "cpu=4", "cpu=2"}, {{}, six, "cpu=6", "cpu=6"},
      {two, six, "cpu=6", "cpu=6"},  {{}, {}, "cpu=4", ""},       {none, none, "cpu=4", ""},
      {none, six, "cpu=6", "cpu=6"},  // an empty list is a list
  };
  for (const Row& row : rows) {
    for (const bool infeasible : {false, true}) {
      start(std::move(world.pod("p").container({{"cpu", "4"}})));
      status("c0", row.requests, row.allocated);
      if (infeasible) condition("PodResizePending", "Infeasible");
      EXPECT_EQ(show(pod_requests(*pod(), options)), infeasible ? row.infeasible : row.feasible)
          << &row - rows.data() << " " << infeasible;
    }
  }
}

TEST_F(ResizeTest, DefaultsFillEveryReading) {
  start(std::move(world.pod("p").container({{"cpu", "50m"}, {"memory", "1Mi"}})));
  status("c0", {}, Amounts{{"memory", "1Mi"}});
  const Ref<const Pod> resized = pod();
  EXPECT_EQ(resized->usage().nonzero_milli_cpu, 100) << "the status does not name cpu";
  EXPECT_EQ(resized->usage().nonzero_memory, 1024 * 1024);
  EXPECT_EQ(resized->usage().requests.milli_cpu, 50);
}

TEST_F(ResizeTest, OfEqualNamesTheFirstStatusCounts) {
  start(std::move(world.pod("p").container({{"cpu", "1"}})));
  status("c0", Amounts{{"cpu", "5"}});
  status("c0", Amounts{{"cpu", "3"}});
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=5");
}

TEST_F(ResizeTest, PodLevelStatusStandsForTheContainers) {
  const auto resized = [&](const std::optional<Amounts>& requests,
                           const std::optional<Amounts>& allocated) {
    start(std::move(
        world.pod("p").container({{"cpu", "1"}, {"memory", "1Gi"}}).overhead({{"cpu", "500m"}})));
    status("c0", Amounts{{"cpu", "9"}});
    pod_status(requests, allocated);
  };
  const Amounts three{{"cpu", "3"}, {"x.io/y", "1"}}, two{{"cpu", "2"}};
  resized(three, two);
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=3500m memory=1Gi x.io/y=1");
  resized(two, three);
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=3500m memory=1Gi x.io/y=1");
  resized(two, three);
  condition("PodResizePending", "Infeasible");
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=3500m x.io/y=1");
  // Only both together do.
  resized(three, {});
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=9500m memory=1Gi");
  resized({}, three);
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=9500m memory=1Gi");
  RequestOptions without = options;
  without.pod_level_status = false;
  resized(three, two);
  EXPECT_EQ(show(pod_requests(*pod(), without)), "cpu=9500m memory=1Gi");
  without.overhead = false;
  resized(three, two);
  EXPECT_EQ(show(pod_requests(*pod(), without)), "cpu=9 memory=1Gi");
}

TEST_F(ResizeTest, PodLevelStatusCountsWithPodLevelRequests) {
  const auto resized = [&](const std::optional<Amounts>& requests,
                           const std::optional<Amounts>& allocated = {}) {
    start(std::move(world.pod("p").container({{"cpu", "1"}}).pod_level({{"cpu", "2"}})));
    pod_status(requests, allocated);
  };
  const Amounts more{{"cpu", "3"}, {"memory", "1Gi"}, {"x.io/y", "1"}};
  resized(more);
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=3 memory=1Gi")
      << "names the spec does not have, too";
  resized({}, more);
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=3 memory=1Gi");
  resized(more);
  RequestOptions without = options;
  without.pod_level_status = false;
  EXPECT_EQ(show(pod_requests(*pod(), without)), "cpu=2");
}

TEST_F(ResizeTest, APodLevelNameThatTheStatusLacksIsTheContainersWhenInfeasible) {
  start(std::move(world.pod("p").container({{"cpu", "1"}}).pod_level({{"cpu", "2"}})));
  status("c0", Amounts{{"cpu", "500m"}});
  pod_status(Amounts{{"memory", "1Gi"}});
  condition("PodResizePending", "Infeasible");
  EXPECT_EQ(show(pod_requests(*pod(), options)), "cpu=500m memory=1Gi");
}

}  // namespace
}  // namespace berth
