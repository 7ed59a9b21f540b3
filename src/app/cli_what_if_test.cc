// capacity and compare on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/cli.h"
#include "app/compare_words.h"

namespace berth::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNodeAndPods[] = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  capacity: {cpu: "4", memory: 4Gi, pods: "10"}
  allocatable: {cpu: "4", memory: 4Gi, pods: "10"}
---
apiVersion: v1
kind: Pod
metadata: {name: there}
spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: pending}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
)";
constexpr char kWeb[] = R"(apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
)";

struct WhatIfTest : ::testing::Test {
  std::filesystem::path folder;
  std::string cluster, web;
  std::ostringstream out, err;

  WhatIfTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(::testing::TempDir()) /
             ("berth_what_if_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    cluster = file("cluster.yaml", kNodeAndPods);
    web = file("web.yaml", kWeb);
  }
  ~WhatIfTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder / name;
    std::ofstream(path) << text;
    return path.string();
  }
  int call(const std::vector<std::string>& args) {
    out.str(""), err.str("");
    return run(args, out, err);
  }
  // What one line says after the program's name; the exit code goes first.
  std::string complaint(const std::vector<std::string>& args) {
    const int code = call(args);
    EXPECT_EQ(std::ranges::count(err.str(), '\n'), 1) << err.str();
    return std::to_string(code) + " " + err.str().substr(err.str().find(' ') + 1);
  }
};

TEST_F(WhatIfTest, CapacitySaysHowManyMoreFit) {
  ASSERT_EQ(call({"capacity", "-f", web, "--cluster", cluster}), 0) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("3 more pods like default/web fit"));
  EXPECT_THAT(out.str(), HasSubstr("0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_THAT(out.str(), HasSubstr("Bottleneck: cpu (NodeResourcesFit)"));
  EXPECT_THAT(out.str(), HasSubstr("Pods of the cluster without a node: 1."));
  ASSERT_EQ(call({"capacity", "-f", web, "-f", web, "--ratio", "2:1", "--max", "2", "--cluster",
                  cluster, "-o", "json"}),
            0);
  EXPECT_THAT(out.str(), HasSubstr("\"failType\": \"LimitReached\""));
}

TEST_F(WhatIfTest, WrongCapacityQuestionsAreOneLineEach) {
  EXPECT_THAT(complaint({"capacity", "--cluster", cluster}), HasSubstr("2 capacity needs -f FILE"));
  EXPECT_THAT(complaint({"capacity", "-f", web, "--cluster", cluster, "--ratio", "2:x"}),
              HasSubstr("2 --ratio: \"2:x\" is not a ratio"));
  EXPECT_THAT(complaint({"capacity", "-f", web, "--cluster", cluster, "--ratio", "1:0"}),
              HasSubstr("is not a ratio"));
  EXPECT_THAT(complaint({"capacity", "-f", web, "--cluster", cluster, "--ratio", "2:1"}),
              HasSubstr("1 --ratio has 2 numbers for 1 pods"));
  EXPECT_THAT(complaint({"capacity", "-f", web, "--cluster", cluster, "--profile", "no"}),
              HasSubstr("1 no profile is named \"no\""));
  EXPECT_THAT(complaint({"capacity", "-f", "/missing", "--cluster", cluster}),
              HasSubstr("1 cannot read /missing"));
  EXPECT_THAT(complaint({"capacity", "-f", "-", "--cluster", "-"}),
              HasSubstr("standard input can be read once only"));
}

TEST_F(WhatIfTest, CompareShowsAConfigurationEqualToItself) {
  ASSERT_EQ(call({"compare", "--config", "default", "--config", "default", "-f", cluster}), 0)
      << err.str();
  EXPECT_THAT(out.str(), HasSubstr("default#2 against default: no difference\n"));
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST_F(WhatIfTest, ATraceIsReplayedOnEverySide) {
  constexpr char kTrace[] =
      R"({"berthTrace":1,"start":"2026-03-02T08:00:00Z","recorder":"t","resources":["pods","nodes"],"anonymous":false}
{"at":0.02,"type":"LISTED","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","uid":"n1","resourceVersion":"1"},"spec":{},"status":{"allocatable":{"cpu":"4","memory":"16Gi","pods":"110"}}}}
{"at":60,"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"web","resourceVersion":"2"},"spec":{"schedulerName":"default-scheduler","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":"Pending"}}}
)";
  const std::string trace = file("trace.jsonl", kTrace);
  ASSERT_EQ(call({"compare", "--config", "default", "--seeds", "1,2", "--trace", trace}), 0)
      << err.str();
  EXPECT_THAT(out.str(), HasSubstr("seed 2 against seed 1: no difference\n"));
  EXPECT_THAT(out.str(), ::testing::ContainsRegex("pods bound +1 +1\n"));
  EXPECT_THAT(out.str(), ::testing::ContainsRegex("duration +1m"));
  EXPECT_THAT(complaint({"compare", "--seeds", "1,2", "--trace", "/missing"}),
              HasSubstr("/missing"));
}

TEST_F(WhatIfTest, ShardsAreWrittenAndMerged) {
  const std::vector<std::string> sweep{"compare", "--config", "default", "--config", "default",
                                       "-f",      cluster,    "--seeds", "1..3"};
  const auto with = [&sweep](std::vector<std::string> more) {
    std::vector<std::string> args = sweep;
    args.insert(args.end(), more.begin(), more.end());
    return args;
  };
  ASSERT_EQ(call(with({"-o", "json"})), 0) << err.str();
  const std::string whole = out.str();
  const std::string first = (folder / "p0.json").string(), second = (folder / "p1.json").string();
  ASSERT_EQ(call(with({"--shard", "0/2", "-o", first})), 0) << err.str();
  EXPECT_THAT(out.str(), IsEmpty());
  ASSERT_EQ(call(with({"--shard", "1/2"})), 0) << err.str();
  std::ofstream(second) << out.str();
  ASSERT_EQ(call({"compare", "--merge", second, first, "-o", "json"}), 0) << err.str();
  EXPECT_EQ(out.str(), whole);
  EXPECT_THAT(complaint({"compare", "--merge", first}), HasSubstr("1 shard 1/2 is missing"));
  EXPECT_THAT(complaint(with({"--merge", first})), HasSubstr("2 --merge makes no runs"));
  EXPECT_THAT(complaint(with({"--shard", "2/2"})),
              HasSubstr("2 --shard: \"2/2\" is not I/N with I from 0 to N-1"));
  EXPECT_THAT(complaint(with({"--shard", "0/2", "-o", "table"})), HasSubstr("2 a part is JSON"));
}

TEST_F(WhatIfTest, WrongComparisonsAreOneLineEach) {
  EXPECT_THAT(complaint({"compare", "-f", cluster}), HasSubstr("2 compare needs two sides"));
  EXPECT_THAT(complaint({"compare", "--seeds", "1..2"}), HasSubstr("2 compare needs an input"));
  EXPECT_THAT(complaint({"compare", "--seeds", "2..1", "-f", cluster}), HasSubstr("2 --seeds: "));
  EXPECT_THAT(complaint({"compare", "--side", "name=a,color=b", "-f", cluster}),
              HasSubstr("2 --side: \"color=b\" in \"name=a,color=b\" is none of name="));
  EXPECT_THAT(complaint({"compare", "--seeds", "1,2", "-f", cluster, "-o", "xml"}),
              HasSubstr("2 --output: \"xml\" is none of table, json, yaml, html"));
  EXPECT_THAT(complaint({"compare", "--config", "/missing", "--config", "default", "-f", cluster}),
              HasSubstr("1 cannot read /missing"));
  EXPECT_THAT(complaint({"compare", "--config", file("bad.yaml", "kind: 3"), "--config", "default",
                         "-f", cluster}),
              HasSubstr("bad.yaml"));
}

TEST(CompareWords, SidesKeepTheirGatesAndGetNamesOfTheirOwn) {
  CompareWords words;
  words.configs = {"default"};
  words.sides = {"name=x,feature-gates=DynamicResourceAllocation=true,seed=7", "seed=8"};
  words.feature_gates = "DRAPartitionableDevices=true";
  const auto sides = sides_of(words);
  ASSERT_TRUE(sides) << sides.error().message;
  ASSERT_EQ(sides->size(), 3U);
  EXPECT_EQ((*sides)[0].feature_gates, words.feature_gates);
  EXPECT_EQ((*sides)[1].feature_gates, "DynamicResourceAllocation=true");
  EXPECT_EQ((*sides)[1].seed, 7U);
  EXPECT_EQ((*sides)[2].name, "default#2");
}

TEST(CompareWords, SeedsOfOneSideAreSides) {
  CompareWords words;
  words.configs = {"a/b.yaml"};
  words.seeds = "3..5";
  const auto sides = sides_of(words);
  ASSERT_TRUE(sides);
  ASSERT_EQ(sides->size(), 3U);
  EXPECT_EQ((*sides)[2].name, "seed 5");
  EXPECT_EQ((*sides)[2].config, "a/b.yaml");
  EXPECT_THAT(*seeds_of(words), ElementsAre(0));
  words.configs.emplace_back("default");
  EXPECT_EQ(sides_of(words)->size(), 2U);
  EXPECT_THAT(*seeds_of(words), ElementsAre(3, 4, 5));
}

}  // namespace
}  // namespace berth::app
