#include "trace/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "api/decode.h"
#include "base/file.h"
#include "base/testing/names.h"
#include "trace/trace.h"

namespace berth::trace {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHead[] = R"({"berthTrace":1,"start":"2026-03-02T08:00:00Z"})"
                         "\n";

std::string pod_text(const std::string& name, const std::string& version,
                     const std::string& spec = "", const std::string& status = "",
                     const std::string& metadata = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"(","namespace":"shop","uid":"u-)" + name + R"(","resourceVersion":")" + version + "\"" +
         metadata + R"(},"spec":{"schedulerName":"default-scheduler")" + spec + R"(},"status":{)" +
         status + "}}";
}

struct RecordingTest : ::testing::Test {
  RecordingTest() {
    path = ::testing::TempDir() + "berth-" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl";
  }
  ~RecordingTest() override { std::filesystem::remove(path); }

  Result<Trace> read(const std::string& lines) {
    EXPECT_TRUE(write_file(path, lines));
    return read_traces({path}, {}, interner);
  }
  std::string error(const std::string& lines) {
    const Result<Trace> trace = read(lines);
    return trace ? "none" : trace.error().message.substr(path.size());
  }
  // "0s +Pod a", "5s ~Node n", "9s -Pod a": the steps.
  static std::vector<std::string> shown(const Trace& trace) {
    std::vector<std::string> steps;
    for (const Step& step : trace.steps) {
      const char sign = step.type == DeltaType::kAdded     ? '+'
                        : step.type == DeltaType::kUpdated ? '~'
                                                           : '-';
      std::string text = std::to_string(std::chrono::duration_cast<seconds>(step.at).count());
      text += "s ";
      text += sign;
      if (const auto* const pod = std::get_if<Ref<const Pod>>(&step.object)) {
        text += "Pod " + std::string((*pod)->name());
        if (!(*pod)->node().empty()) text += " on " + std::string((*pod)->node_name());
        if ((*pod)->finished()) text += " finished";
      } else {
        const auto& object = std::get<Ref<const Object>>(step.object);
        text += std::string(to_string(object->kind)) + " " + object->name;
      }
      steps.push_back(text);
    }
    return steps;
  }

  std::string path;
  Interner interner;
};

std::string line(const std::string& at, const std::string& type, const std::string& object,
                 const std::string& more = "") {
  return R"({"at":)" + at + R"(,"type":")" + type + "\"" + more + R"(,"object":)" + object + "}\n";
}
std::string gone(const std::string& at, const std::string& kind, const std::string& name) {
  return R"({"at":)" + at + R"(,"type":"DELETED","kind":")" + kind +
         R"(","namespace":"shop","name":")" + name + "\"}\n";
}
constexpr char kEnd[] = R"({"at":100,"type":"END"})"
                        "\n";
constexpr char kOnNode[] = R"(,"nodeName":"n1")";

TEST_F(RecordingTest, APodArrivesWithoutTheNodeThatItGot) {
  const Result<Trace> trace =
      read(kHead + line("5", "ADDED", pod_text("a", "1")) +
           line("6.5", "MODIFIED", pod_text("a", "2", kOnNode)) +
           line("20", "MODIFIED", pod_text("a", "3", kOnNode, R"("phase":"Succeeded")")) +
           gone("25", "Pod", "a") + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("5s +Pod a"));
  ASSERT_THAT(trace->pods, SizeIs(1));
  const PodPast& past = trace->pods[0];
  EXPECT_TRUE(past.scheduled_there);
  EXPECT_EQ(past.arrived, seconds(5));
  EXPECT_EQ(past.bound, milliseconds(6500));
  EXPECT_EQ(past.node, "n1");
  EXPECT_EQ(past.run_time, milliseconds(13500));
  EXPECT_EQ(past.end, PodPhase::kSucceeded);
  EXPECT_EQ(past.removed_after_end, seconds(5));
  EXPECT_EQ(trace->length, seconds(100));
  EXPECT_TRUE(trace->tells_nodes);
  EXPECT_THAT(trace->notes, IsEmpty());
}

TEST_F(RecordingTest, APodThatWasDeletedGoesWhenItWent) {
  const Result<Trace> trace =
      read(kHead + line("0.01", "LISTED", pod_text("old", "1", kOnNode)) +
           line("5", "ADDED", pod_text("new", "1")) +
           line("7", "MODIFIED", pod_text("new", "2", "", "", R"(,"labels":{"a":"b"})")) +
           gone("9", "Pod", "new") + gone("10", "Pod", "old") + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("0s +Pod old on n1", "5s +Pod new", "7s ~Pod new",
                                         "9s -Pod new", "10s -Pod old on n1"));
  EXPECT_FALSE(trace->pods[0].scheduled_there);
  EXPECT_TRUE(trace->pods[1].scheduled_there);
  EXPECT_FALSE(trace->pods[1].run_time);
}

TEST_F(RecordingTest, WhatTheSchedulerAndTheKubeletWriteIsNoStep) {
  const std::string status =
      R"("phase":"Running","startTime":"2026-03-02T08:00:07Z","conditions":[{"type":"PodScheduled","status":"True"}])";
  const Result<Trace> trace = read(
      kHead + line("5", "ADDED", pod_text("a", "1")) +
      line(
          "5", "MODIFIED",
          pod_text(
              "a", "2", "",
              R"("conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes"}])")) +
      line("6", "MODIFIED", pod_text("a", "3", "", R"("nominatedNodeName":"n2")")) +
      line("7", "MODIFIED", pod_text("a", "4", kOnNode)) +
      line("8", "MODIFIED", pod_text("a", "5", kOnNode, status)) + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("5s +Pod a"));
  EXPECT_EQ(trace->pods[0].message, "0/1 nodes");
}

TEST_F(RecordingTest, AnEvictionForAPreemptionIsForTheReplayToDecide) {
  const std::string target =
      R"("conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}])";
  const std::string deleting = R"(,"deletionTimestamp":"2026-03-02T08:00:39Z")";
  const Result<Trace> trace =
      read(kHead + line("0", "LISTED", pod_text("a", "1", kOnNode)) +
           line("8", "MODIFIED", pod_text("a", "2", kOnNode, target)) +
           line("9", "MODIFIED", pod_text("a", "3", kOnNode, target, deleting)) +
           gone("39", "Pod", "a") + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("0s +Pod a on n1"));
}

// It may have been bound while nobody watched; a static pod never was.
TEST_F(RecordingTest, APodThatALaterListShowsOnANodeCameWhenItWasCreated) {
  const std::string relisted = R"(,"relisted":true)";
  const std::string created = R"(,"creationTimestamp":"2026-03-02T08:00:12Z")";
  const std::string of_node =
      R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"x","controller":true}])";
  const Result<Trace> trace =
      read(kHead + line("30", "ADDED", pod_text("a", "1", kOnNode, "", created), relisted) +
           line("30", "ADDED", pod_text("static", "1", kOnNode, "", created + of_node), relisted) +
           line("40", "ADDED", pod_text("placed", "1", kOnNode)) + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace),
              ElementsAre("12s +Pod a", "12s +Pod static on n1", "40s +Pod placed on n1"));
  EXPECT_EQ(trace->pods[0].bound, seconds(30));
  EXPECT_TRUE(trace->pods[0].scheduled_there);
  EXPECT_FALSE(trace->pods[1].scheduled_there);
  EXPECT_FALSE(trace->pods[2].scheduled_there);
}

TEST_F(RecordingTest, ClaimsComeUnboundAndVolumesThatWereMadeForThemDoNotCome) {
  const auto claim = [](const std::string& version, const std::string& more) {
    return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data",)"
           R"("namespace":"shop","resourceVersion":")" +
           version + "\"" + more + "}";
  };
  const Result<Trace> trace = read(
      kHead + line("1", "ADDED", claim("1", R"(},"spec":{"storageClassName":"fast"})")) +
      line("2", "MODIFIED",
           claim("2", R"(,"annotations":{"volume.kubernetes.io/selected-node":"n1"}})")) +
      line("3", "ADDED",
           R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pvc-1"},)"
           R"("spec":{"claimRef":{"name":"data","namespace":"shop","uid":"x"}}})") +
      line(
          "3", "ADDED",
          R"({"apiVersion":"storage.k8s.io/v1","kind":"VolumeAttachment","metadata":{"name":"va"}})") +
      gone("9", "PersistentVolumeClaim", "data") + gone("9", "PersistentVolume", "pvc-1") + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace),
              ElementsAre("1s +PersistentVolumeClaim data", "9s -PersistentVolumeClaim data"));
}

TEST_F(RecordingTest, UnknownLinesAndFieldsArePassedOver) {
  const Result<Trace> trace =
      read(kHead + std::string("{\"at\":1,\"type\":\"WEATHER\",\"sky\":\"blue\"}\n\n") +
           line("2", "ADDED", R"({"apiVersion":"x.io/v1","kind":"Sky","metadata":{"name":"s"}})") +
           line("3", "ADDED", pod_text("a", "1"), R"(,"sky":["blue"])") + kEnd);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(shown(*trace), ElementsAre("3s +Pod a"));
}

TEST_F(RecordingTest, ARecorderThatWasKilledInTheMiddleIsNotedAndNoMore) {
  const std::string lines = kHead + line("3", "ADDED", pod_text("a", "1"));
  for (const std::string& cut : {lines, lines + R"({"at":4,"type":"ADD)"}) {
    const Result<Trace> trace = read(cut);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_THAT(shown(*trace), ElementsAre("3s +Pod a"));
    EXPECT_THAT(trace->notes, ElementsAre(HasSubstr("the recorder was stopped in the middle")));
  }
}

TEST_F(RecordingTest, SaysWhereItIsWrong) {
  EXPECT_EQ(
      error("{}\n"),
      R"(: line 1: no recording: it does not begin with {"berthTrace": 1, …} (docs/trace.md))");
  EXPECT_EQ(error(R"({"berthTrace":2})"
                  "\n"),
            ": line 1: a recording of version 2; this berth reads version 1");
  EXPECT_THAT(error(kHead + std::string("{\"at\":\"soon\",\"type\":\"END\"}\n") + kEnd),
              ": line 2: at: expected a number of seconds since the start, ten years at most");
  EXPECT_THAT(error(kHead + std::string("{\"at\":-1,\"type\":\"END\"}\n") + kEnd),
              HasSubstr("line 2: at: expected"));
  EXPECT_THAT(error(kHead + std::string("{\"at\":1,\"type\":\"ADDED\"}\n") + kEnd),
              ": line 2: ADDED without an object");
  EXPECT_THAT(error(kHead + line("1", "ADDED", pod_text("a", "1", R"(,"priority":"high")")) + kEnd),
              HasSubstr("line 2: object: spec.priority: expected an integer"));
  EXPECT_THAT(error(kHead + std::string("no json\n") + kEnd), HasSubstr(": line 2: "));
}

// ---- writing ------------------------------------------------------------------------------------

struct RecordingWriterTest : RecordingTest {
  void put(Duration at, RecordType type, const std::string& json, bool relisted = false) {
    const AnyObject object = decode_object(json, interner, nullptr).value();
    ASSERT_TRUE(writer.put(at, type, relisted, object, json));
    last = object;
  }
  std::string written() {
    EXPECT_TRUE(file->finish());
    return *read_file(path);
  }

  std::unique_ptr<OutputFile> file = OutputFile::create(path).value();
  RecordedFields fields{std::nullopt};
  RecordingWriter writer{*file, fields, {{ObjectKind::kPod, "v1"}}};
  AnyObject last;
};

TEST_F(RecordingWriterTest, WritesALineForEachChangeAndWhatTheSchedulerDid) {
  ASSERT_TRUE(writer.begin({WallTime{seconds(1772438400)}, "berth 1", {"pods"}, false}));
  put(milliseconds(12), RecordType::kListed, pod_text("a", "1"));
  put(seconds(1), RecordType::kModified, pod_text("a", "2", "", R"("nominatedNodeName":"n1")"));
  put(seconds(2), RecordType::kModified, pod_text("a", "3", kOnNode));
  put(seconds(3), RecordType::kModified, pod_text("a", "4", kOnNode, R"("podIP":"10.0.0.1")"),
      true);
  ASSERT_TRUE(writer.remove(seconds(4), false, last));
  ASSERT_TRUE(writer.end(seconds(5)));
  const auto object = [](const char* version, const char* node, const char* status) {
    return std::string(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":)"
                       R"("shop","uid":"u-a","resourceVersion":")") +
           version + R"("},"spec":{"schedulerName":"default-scheduler")" + node +
           R"(},"status":{)" + status + "}}}\n";
  };
  EXPECT_EQ(
      written(),
      R"({"berthTrace":1,"start":"2026-03-02T08:00:00.000000Z","recorder":"berth 1","resources":["pods"],"anonymous":false})"
      "\n"
      R"({"at":0.012,"type":"LISTED","object":)" +
          object("1", "", "") + R"({"at":1,"type":"MODIFIED","object":)" +
          object("2", "", R"("nominatedNodeName":"n1")") +
          R"({"at":1,"type":"NOMINATED","namespace":"shop","name":"a","uid":"u-a","node":"n1"})"
          "\n"
          R"({"at":2,"type":"MODIFIED","object":)" +
          object("3", kOnNode, "") +
          R"({"at":2,"type":"BOUND","namespace":"shop","name":"a","uid":"u-a","node":"n1"})"
          "\n"
          R"({"at":3,"type":"TOUCHED","relisted":true,"kind":"Pod","namespace":"shop","name":"a","uid":"u-a","resourceVersion":"4"})"
          "\n"
          R"({"at":4,"type":"DELETED","kind":"Pod","namespace":"shop","name":"a","uid":"u-a","resourceVersion":"4"})"
          "\n"
          R"({"at":5,"type":"END"})"
          "\n");
}

TEST_F(RecordingWriterTest, WhatItWritesIsRead) {
  ASSERT_TRUE(writer.begin({WallTime{seconds(1772438400)}, "berth 1", {"pods"}, false}));
  put(seconds(1), RecordType::kAdded, pod_text("a", "1"));
  put(seconds(2), RecordType::kModified, pod_text("a", "3", kOnNode));
  ASSERT_TRUE(writer.end(seconds(5)));
  const Result<Trace> trace = read(written());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->start, WallTime{seconds(1772438400)});
  EXPECT_EQ(trace->pods.at(0).node, "n1");
}

}  // namespace
}  // namespace berth::trace
