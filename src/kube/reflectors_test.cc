// All kinds together, and the way from the client's thread to the world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "kube/reflector.h"
#include "kube/testing/reflector_rig.h"

namespace berth::kube::testing {
namespace {

// ---- the world and the client's thread

TEST(Reflector, AWorldThatIsTooFarBehindHasTheWatchCutAndGoesOnFromThere) {
  Rig rig(BodyFormat::kProtobuf, {kPods}, {.limits = {.max_waiting = 3}});
  rig.sync({});
  // The world does not run in between.
  for (std::uint64_t version = 11; version < 20; ++version)
    rig.stream().chunk(rig.words.event("ADDED", pod_json(fmt::format("p{}", version), version)));
  rig.settle();
  EXPECT_THAT(rig.taken(), ElementsAre("+p11@11", "+p12@12", "+p13@13", "+p14@14"));
  EXPECT_TRUE(rig.client.stream_at(0).ended());
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=14&"));
  EXPECT_THAT(rig.log_text, HasSubstr("4 events wait to be applied"));
}

TEST(Reflector, AListIsNeverTooMuch) {
  Rig rig(BodyFormat::kProtobuf, {kPods}, {.limits = {.max_waiting = 3}});
  rig.stream().begin(200, rig.words.watch_type());
  for (std::uint64_t version = 1; version < 10; ++version)
    rig.stream().chunk(rig.words.event("ADDED", pod_json(fmt::format("p{}", version), version)));
  rig.settle();
  rig.say(rig.words.bookmark("Pod", 10, true));
  EXPECT_EQ(rig.taken().size(), 9U);
  EXPECT_FALSE(rig.stream().ended());
}

TEST(Reflector, ManyEventsWakeTheWorldOnce) {
  VirtualLoop loop;
  auto feed = std::make_shared<StreamFeed>(loop);
  for (int i = 0; i < 100; ++i) {
    std::vector<WatchedEvent> events(10);
    feed->hand_over(events);
  }
  EXPECT_TRUE(loop.step());  // everything that is posted
  EXPECT_FALSE(loop.step());
  StreamFeed::Next next(*feed);
  ASSERT_TRUE(next.await_ready());
  EXPECT_EQ(next.await_resume().events.size(), 1000U);
}

// ---- what is counted

TEST(Reflector, CountsWhatClientGoCountsOfAnInformer) {
  telemetry::Registry registry;
  telemetry::WatchMetrics metrics(registry);
  Rig rig(BodyFormat::kProtobuf, {kPods}, {.metrics = &metrics});
  const std::string labels = R"({group="",name="kube-scheduler",resource="pods",version="v1"} )";
  const auto shows = [&](const std::string& name, const std::string& value) {
    return registry.text().find("\ninformer_" + name + labels + value + "\n") != std::string::npos;
  };
  EXPECT_TRUE(shows("queued_items", "0")) << "from the beginning";
  EXPECT_TRUE(shows("processing_latency_seconds_count", "0"));
  EXPECT_TRUE(shows("store_resource_version", "0"));
  rig.sync({pod_json("a", 3)});
  EXPECT_TRUE(shows("processing_latency_seconds_count", "1"));
  EXPECT_TRUE(shows("store_resource_version", "10"));
  for (std::uint64_t version = 11; version < 14; ++version)
    rig.stream().chunk(rig.words.event("MODIFIED", pod_json("a", version)));
  EXPECT_TRUE(shows("queued_items", "3"));
  rig.settle();
  EXPECT_TRUE(shows("queued_items", "0"));
  EXPECT_TRUE(shows("processing_latency_seconds_count", "2")) << "they were taken together";
  EXPECT_TRUE(shows("store_resource_version", "13"));
}

TEST(InformerMetrics, ResourcesAreNamedAsUpstreamNamesThem) {
  const struct {
    const char* api_version;
    const char* kind_name;
    const char* group;
    const char* resource;
  } cases[] = {
      {"v1", "Node", "", "nodes"},
      {"storage.k8s.io/v1", "StorageClass", "storage.k8s.io", "storageclasss"},
      {"storage.k8s.io/v1", "CSIStorageCapacity", "storage.k8s.io", "csistoragecapacitys"},
  };
  for (const auto& one : cases) {
    telemetry::Registry registry;
    telemetry::WatchMetrics families(registry);
    WatchedKind kind;
    kind.api_version = one.api_version;
    kind.kind_name = one.kind_name;
    const InformerMetrics metrics(families, kind);
    const std::string labels = fmt::format(
        R"(group="{}",name="kube-scheduler",resource="{}",version="v1")", one.group, one.resource);
    EXPECT_THAT(registry.text(), HasSubstr("informer_queued_items{" + labels + "} 0\n"));
  }
}

TEST(InformerMetrics, AVersionIsItsLastFifteenDigits) {
  EXPECT_EQ(version_for_metrics("42"), 42);
  EXPECT_EQ(version_for_metrics("123456789012345"), 123456789012345);
  EXPECT_EQ(version_for_metrics("9123456789012345678"), 456789012345678);
  EXPECT_EQ(version_for_metrics(""), std::nullopt);
  EXPECT_EQ(version_for_metrics("12a"), std::nullopt);
}

TEST(Reflectors, StoppingEndsTheStreamsAndTheDeltas) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  rig.stream().chunk(rig.words.event("ADDED", pod_json("b", 11)));
  rig.reflectors->stop();
  rig.settle();
  EXPECT_TRUE(rig.stream().ended());
  EXPECT_THAT(rig.taken(), IsEmpty());
  rig.pass(minutes(30));
  EXPECT_EQ(rig.client.streams(), 1U);
}

TEST(Reflectors, TheyMayGoWhileTheyWait) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  rig.pass(minutes(6));
  rig.end();
  rig.stream().end(fail(ErrorKind::kUnavailable, "connection refused"));
  rig.settle();
  bool told = false;
  rig.reflectors->on_synced([&told] { told = true; });
  rig.reflectors.reset();
  rig.pass(minutes(30));
  EXPECT_FALSE(told);
}

TEST(Reflectors, AreSyncedWhenAllAre) {
  Rig rig(BodyFormat::kProtobuf, {kPods, kNodes});
  int told = 0;
  rig.reflectors->on_synced([&told] { ++told; });
  ASSERT_EQ(rig.client.streams(), 2U);
  EXPECT_THAT(rig.reflectors->unsynced(), ElementsAre("pods", "nodes"));
  rig.client.stream_at(1).begin(200, rig.words.watch_type());
  rig.client.stream_at(1).chunk(rig.words.event("ADDED", node_json("n1", 2)) +
                                rig.words.bookmark("Node", 10, true));
  rig.settle();
  EXPECT_THAT(rig.taken(), ElementsAre("+n1@2"));
  EXPECT_THAT(rig.reflectors->unsynced(), ElementsAre("pods"));
  EXPECT_EQ(told, 0);
  rig.client.stream_at(0).begin(200, rig.words.watch_type());
  rig.client.stream_at(0).chunk(rig.words.bookmark("Pod", 10, true));
  rig.settle();
  EXPECT_TRUE(rig.reflectors->synced());
  EXPECT_EQ(told, 1);
  rig.reflectors->on_synced([&told] { ++told; });
  rig.settle();
  EXPECT_EQ(told, 2);
}

TEST(Reflectors, EverythingIsListedAgainAsItIsNow) {
  Rig rig(BodyFormat::kProtobuf, {kPods, kNodes});
  rig.client.stream_at(1).begin(200, rig.words.watch_type());
  rig.client.stream_at(1).chunk(rig.words.bookmark("Node", 10, true));
  rig.client.stream_at(0).begin(200, rig.words.watch_type());
  rig.client.stream_at(0).chunk(
      rig.words.event("ADDED", pod_json("a", 3)) + rig.words.event("ADDED", pod_json("b", 4)) +
      rig.words.event("ADDED", pod_json("c", 5)) + rig.words.bookmark("Pod", 10, true));
  rig.settle();
  rig.taken();
  ASSERT_TRUE(rig.reflectors->synced());
  rig.reflectors->list_again();
  EXPECT_FALSE(rig.reflectors->synced());
  bool told = false;
  rig.reflectors->on_synced([&told] { told = true; });
  rig.settle();
  ASSERT_EQ(rig.client.streams(), 4U);
  EXPECT_TRUE(rig.client.stream_at(0).ended());
  EXPECT_TRUE(rig.client.stream_at(1).ended());
  for (const std::size_t stream : {2U, 3U}) {
    EXPECT_THAT(rig.client.stream_at(stream).call().path, HasSubstr("sendInitialEvents=true"));
    EXPECT_THAT(rig.client.stream_at(stream).call().path, Not(HasSubstr("resourceVersion=")));
    rig.client.stream_at(stream).begin(200, rig.words.watch_type());
  }
  EXPECT_FALSE(told);
  // Versions prove nothing: the store may have been set back and gone on in another way.
  rig.client.stream_at(2).chunk(rig.words.event("ADDED", pod_json("a", 3, {}, "node")) +
                                rig.words.event("ADDED", pod_json("c", 5)) +
                                rig.words.bookmark("Pod", 5, true));
  rig.client.stream_at(3).chunk(rig.words.bookmark("Node", 5, true));
  rig.settle();
  EXPECT_THAT(rig.taken(), ElementsAre("-a@3", "+a@3", "-b@4"));
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace berth::kube::testing
