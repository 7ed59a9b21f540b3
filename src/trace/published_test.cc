// Traces that others have published: openb's tables, SimKube's traces.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "api/devices.h"
#include "base/file.h"
#include "base/testing/names.h"
#include "berth/node.h"
#include "trace/trace.h"

namespace berth::trace {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using std::string_literals::operator""s;

struct PublishedTest : ::testing::Test {
  PublishedTest() {
    folder = std::filesystem::path(::testing::TempDir()) /
             ("berth_"s + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~PublishedTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, std::string_view text) {
    EXPECT_TRUE(write_file((folder / name).string(), text));
    return (folder / name).string();
  }
  std::string error(const std::vector<std::string>& files) {
    const Result<Trace> trace = read_traces(files, options, interner);
    return trace ? "none" : trace.error().message;
  }
  template <typename T>
  static const T& object(const Trace& trace, std::size_t step) {
    return static_cast<const T&>(*std::get<Ref<const Object>>(trace.steps.at(step).object));
  }
  static const Pod& pod(const Trace& trace, std::size_t step) {
    return *std::get<Ref<const Pod>>(trace.steps.at(step).object);
  }
  static std::vector<std::string> shown(const Trace& trace) {
    std::vector<std::string> names;
    for (const Step& step : trace.steps) {
      std::string name = step.type == DeltaType::kDeleted ? "-" : "+";
      if (!step.manifest.empty())
        name += "manifest";
      else if (const auto* const found = std::get_if<Ref<const Pod>>(&step.object))
        name += "Pod " + std::string((*found)->name());
      else
        name += std::string(to_string(std::get<Ref<const Object>>(step.object)->kind)) + " " +
                std::get<Ref<const Object>>(step.object)->name;
      names.push_back(name);
    }
    return names;
  }

  std::filesystem::path folder;
  Interner interner;
  TraceOptions options;
};

constexpr char kNodes[] =
    "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,64000,1024,2,P100\n";
constexpr char kPods[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
    "deletion_time,scheduled_time\n"
    "p0,12000,16384,1,460,P100|T4,LS,Running,10,100,12\n"
    "p1,1000,16,0,0,,BE,Pending,20,30,\n";

TEST_F(PublishedTest, GpusOfOpenbAreDevicesWithACapacity) {
  const Result<Trace> trace =
      read_traces({file("pods.csv", kPods), file("nodes.csv", kNodes)}, options, interner);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace),
              ElementsAre("+DeviceClass gpu.openb", "+Node n0", "+Node n1", "+ResourceSlice n1",
                          "+ResourceClaim p0", "+Pod p0", "+Pod p1", "-Pod p1"));
  EXPECT_EQ(object<ResourceSlice>(*trace, 3).devices.size(), 2U);
  EXPECT_TRUE(object<ResourceSlice>(*trace, 3).devices[0].allow_multiple_allocations);
  EXPECT_EQ(trace->steps[5].at, seconds(10));
  EXPECT_THAT(pod(*trace, 5).spec().resource_claims, SizeIs(1));
  EXPECT_TRUE(pod(*trace, 5).spec().affinity);
  EXPECT_FALSE(pod(*trace, 6).spec().affinity);
  ASSERT_THAT(trace->pods, SizeIs(2));
  EXPECT_EQ(trace->pods[0].bound, seconds(12));
  EXPECT_EQ(trace->pods[0].run_time, seconds(88));
  EXPECT_EQ(trace->pods[0].node, "");
  EXPECT_FALSE(trace->pods[1].bound);
  EXPECT_EQ(trace->steps[7].at, seconds(30));
  EXPECT_EQ(trace->length, seconds(100));
}

TEST_F(PublishedTest, GpusOfOpenbAreThousandthsOnTheNodeIfThatIsAskedFor) {
  options.gpu_share = GpuShare::kExtendedResource;
  const Result<Trace> trace =
      read_traces({file("pods.csv", kPods), file("nodes.csv", kNodes)}, options, interner);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("+Node n0", "+Node n1", "+Pod p0", "+Pod p1", "-Pod p1"));
  const auto amount = [](const ResourceList& list, const SymbolHold& symbols) {
    for (const ResourceAmount& one : list)
      if (symbols.text(one.name) == "openb/gpu-milli") return one.amount.value();
    return std::int64_t{-1};
  };
  const Node& node = object<Node>(*trace, 1);
  EXPECT_EQ(amount(node.allocatable, node.symbols), 2000);
  const PodSpec& spec = pod(*trace, 2).spec();
  EXPECT_EQ(amount(spec.containers[0].requests, spec.symbols), 460);
}

TEST_F(PublishedTest, ATableWithoutTimesArrivesInTheOrderOfItsRows) {
  const Result<Trace> trace = read_traces(
      {file("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nb,1,1,0,0\na,1,1,0,0\n")},
      options, interner);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("+Pod b", "+Pod a"));
  EXPECT_EQ(trace->steps[0].at, milliseconds(0));
  EXPECT_EQ(trace->steps[1].at, milliseconds(1));
  EXPECT_FALSE(trace->pods[0].scheduled_there);
}

TEST_F(PublishedTest, WrongTablesAreNamedWithTheirLine) {
  const std::string head = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  const auto said = [&](const std::string& rows) {
    const std::string path = file("p.csv", head + rows);
    return error({path}).substr(path.size());
  };
  EXPECT_EQ(said("a,1,1,0\n"), ": line 2: 4 values, where there are 5 columns");
  EXPECT_EQ(said("a,1,1,0,0\nb,x,1,0,0\n"), ": line 3: cpu_milli: expected a number, got \"x\"");
  EXPECT_EQ(said("a,-1,1,0,0\n"), ": line 2: cpu_milli: -1 is not between 0 and 1099511627776");
  EXPECT_EQ(said("a,1,1,1,2000\n"), ": line 2: gpu_milli: 2000 is not between 0 and 1000");
  EXPECT_EQ(said("a,1,1,1,0\n"), ": line 2: gpu_milli: nothing of its GPUs");
  EXPECT_EQ(said(",1,1,0,0\n"), ": line 2: name: is missing");
  EXPECT_THAT(error({file("x.csv", "a,b\n1,2\n")}), HasSubstr("x.csv: no trace: neither"));
  EXPECT_THAT(error({file("empty", "")}), HasSubstr("empty: no trace: neither"));
  EXPECT_THAT(error({file("p.csv", head), file("r.jsonl", R"({"berthTrace":1})")}),
              HasSubstr("r.jsonl: a recording is a trace by itself, give no other file"));
}

// ---- SimKube ------------------------------------------------------------------------------------

std::string map_of(std::initializer_list<std::string> parts) {
  std::string bytes(1, static_cast<char>(0x80 + parts.size() / 2));
  for (const std::string& part : parts) bytes += part;
  return bytes;
}
std::string list_of(std::initializer_list<std::string> parts) {
  std::string bytes(1, static_cast<char>(0x90 + parts.size()));
  for (const std::string& part : parts) bytes += part;
  return bytes;
}
std::string text(const std::string& value) {
  return std::string("\xd9") + static_cast<char>(value.size()) + value;
}
std::string number(int value) {
  return {'\xcd', static_cast<char>(value >> 8), static_cast<char>(value)};
}
std::string named(const char* api_version, const char* kind, const char* name) {
  return map_of({text("apiVersion"), text(api_version), text("kind"), text(kind), text("metadata"),
                 map_of({text("name"), text(name), text("namespace"), text("shop")})});
}

TEST_F(PublishedTest, SimKubesPodsRunAsLongAsTheyDid) {
  const std::string bytes = map_of(
      {text("version"), number(2), text("events"),
       list_of(
           {map_of({text("ts"), number(1000), text("applied_objs"),
                    list_of({named("v1", "Pod", "a"), named("apps/v1", "Deployment", "web")}),
                    text("deleted_objs"), list_of({})}),
            map_of({text("ts"), number(1090), text("applied_objs"),
                    list_of({named("x.io/v1", "Sky", "s")}), text("deleted_objs"),
                    list_of({named("v1", "Pod", "a"), named("apps/v1", "Deployment", "web")})})}),
       text("pod_lifecycles"),
       map_of({list_of({text("v1.Pod"), text("shop/a")}),
               map_of({number(7), list_of({map_of({text("Finished"),
                                                   list_of({number(1002), number(1032)})})})}),
               list_of({text("apps/v1.Deployment"), text("shop/web")}),
               map_of({number(8),
                       list_of({map_of({text("Finished"), list_of({number(1005), number(1006)})}),
                                map_of({text("Running"), number(1005)})})})})});
  const Result<Trace> trace = read_traces({file("t.sktrace", bytes)}, options, interner);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("+manifest", "+Pod a", "-manifest"));
  EXPECT_THAT(trace->steps[0].manifest, HasSubstr("Deployment"));
  EXPECT_EQ(trace->steps[2].at, seconds(90));
  ASSERT_THAT(trace->pods, SizeIs(1));
  EXPECT_EQ(trace->pods[0].bound, seconds(2));
  EXPECT_EQ(trace->pods[0].run_time, seconds(30));
  EXPECT_EQ(trace->pods[0].removed_after_end, seconds(58));
  EXPECT_THAT(trace->run_times_by_owner.at("Deployment shop/web"), ElementsAre(seconds(1)));
  EXPECT_THAT(trace->notes, ElementsAre(HasSubstr("objects of the kind Sky are not read")));
  EXPECT_EQ(trace->start, WallTime{seconds(1000)});
}

TEST_F(PublishedTest, WhatIsNoTraceOfSimKubeIsSaidToBeNone) {
  EXPECT_THAT(error({file("t", map_of({text("a"), number(1)}))}),
              HasSubstr("t: no trace of SimKube: it has no list of events"));
  EXPECT_THAT(error({file("t", map_of({text("events"), list_of({number(1)})}))}),
              HasSubstr("t: events[0].ts: expected a number of seconds"));
  EXPECT_THAT(error({file("t",
                          "\x81\xa6"
                          "eve")}),
              HasSubstr("t: byte 2: ends within a text"));
  const std::string unnamed =
      map_of({text("events"), list_of({map_of({text("ts"), number(5), text("applied_objs"),
                                               list_of({map_of({text("kind"), text("Pod")})})})})});
  EXPECT_THAT(error({file("t", unnamed)}),
              HasSubstr("t: events[0].applied_objs[0]: metadata.name: is missing"));
}

}  // namespace
}  // namespace berth::trace
