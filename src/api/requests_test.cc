#include "api/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/testing/golden.h"
#include "base/testing/names.h"
#include "base/time_text.h"

namespace berth {
namespace {

template <typename Request>
void expect_bodies(const Request& request, const Golden& expected) {
  EXPECT_EQ(body_of(request, BodyFormat::kProtobuf), expected.proto);
  EXPECT_EQ(body_of(request, BodyFormat::kJson), expected.json);
}

WallTime at(std::string_view text) { return parse_rfc3339(text).value(); }

TEST(Requests, Binding) {
  expect_bodies(
      BindingRequest{.namespace_name = "prod", .name = "rich-1", .uid = "u", .node = "node-7"},
      golden("Binding", "rich-1"));
}

TEST(Requests, DeleteOptionsAreEmptyUnlessSomethingIsSaid) {
  EXPECT_EQ(body_of(DeleteRequest{}, BodyFormat::kJson),
            R"({"kind":"DeleteOptions","apiVersion":"v1"})");
  EXPECT_EQ(open_envelope(body_of(DeleteRequest{}, BodyFormat::kProtobuf)).value().object, "");
  EXPECT_EQ(body_of(DeleteRequest{.grace_period_seconds = 0,
                                  .uid = "u",
                                  .resource_version = "4",
                                  .propagation_policy = "Background"},
                    BodyFormat::kJson),
            R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
            R"("preconditions":{"uid":"u","resourceVersion":"4"},)"
            R"("propagationPolicy":"Background"})");
}

EventRequest failed_scheduling() {
  return {.namespace_name = "prod",
          .name = "bare",
          .event_time = at("2026-01-01T00:00:00.123456Z"),
          .series = {},
          .reporting_controller = "default-scheduler",
          .reporting_instance = "default-scheduler-host",
          .action = "Scheduling",
          .reason = "FailedScheduling",
          .regarding = {.kind = "Pod",
                        .namespace_name = "prod",
                        .name = "rich-1",
                        .uid = "u",
                        .api_version = "v1",
                        .resource_version = "7",
                        .field_path = ""},
          .related = {},
          .note = "0/1 nodes are available: 1 Insufficient cpu.",
          .type = "Warning"};
}

TEST(Requests, Event) { expect_bodies(failed_scheduling(), golden("Event", "bare")); }

TEST(Requests, EventOfASeriesAboutTwoObjects) {
  EventRequest event = failed_scheduling();
  event.name = "rich-1.18870f5c9c1d2a3b";
  event.action = "Binding";
  event.reason = "Scheduled";
  event.type = "Normal";
  event.note = "Successfully assigned prod/rich-1 to node-7";
  event.related.emplace();
  event.related->kind = "Node";
  event.related->name = "node-7";
  event.series = {.count = 2, .last_observed = at("2026-01-01T00:00:09.000001Z")};
  expect_bodies(event, golden("Event", "rich-1.18870f5c9c1d2a3b"));
}

// As kube-scheduler was seen to send it.
TEST(Requests, CoreEvent) {
  CoreEventRequest event;
  event.namespace_name = "kube-system";
  event.name = "kube-scheduler.18e848529f1b019c";
  event.involved_object = {.kind = "Lease",
                           .namespace_name = "kube-system",
                           .name = "kube-scheduler",
                           .uid = "ac615d35-6a19-4821-a9aa-2cf4c17e9a1f",
                           .api_version = "coordination.k8s.io/v1",
                           .resource_version = "322",
                           .field_path = ""};
  event.reason = "LeaderElection";
  event.message = "vm_1ac2448b-766c-40c1-8ad8-6d9556137a4f became leader";
  event.component = "default-scheduler";
  event.first_timestamp = at("2026-11-15T17:32:51.2Z");
  event.last_timestamp = event.first_timestamp;
  event.count = 1;
  event.type = "Normal";
  event.reporting_controller = "default-scheduler";
  expect_bodies(
      event, {R"({"kind":"Event","apiVersion":"v1","metadata":{)"
              R"("name":"kube-scheduler.18e848529f1b019c","namespace":"kube-system"},)"
              R"("involvedObject":{"kind":"Lease","namespace":"kube-system",)"
              R"("name":"kube-scheduler","uid":"ac615d35-6a19-4821-a9aa-2cf4c17e9a1f",)"
              R"("apiVersion":"coordination.k8s.io/v1","resourceVersion":"322"},)"
              R"("reason":"LeaderElection",)"
              R"("message":"vm_1ac2448b-766c-40c1-8ad8-6d9556137a4f became leader",)"
              R"("source":{"component":"default-scheduler"},)"
              R"("firstTimestamp":"2026-11-15T17:32:51Z",)"
              R"("lastTimestamp":"2026-11-15T17:32:51Z","count":1,"type":"Normal",)"
              R"("eventTime":null,"reportingComponent":"default-scheduler",)"
              R"("reportingInstance":""})",
              testing::from_hex(
                  "6b3873000a0b0a02763112054576656e7412bc020a3a0a1f6b7562652d7363686564756c65722e31"
                  "38653834383532396631623031396312001a0b6b7562652d73797374656d22002a00320038004200"
                  "12690a054c65617365120b6b7562652d73797374656d1a0e6b7562652d7363686564756c65722224"
                  "61633631356433352d366131392d343832312d613961612d3263663463313765396131662a16636f"
                  "6f7264696e6174696f6e2e6b38732e696f2f763132033332323a001a0e4c6561646572456c656374"
                  "696f6e2235766d5f31616332343438622d373636632d343063312d386164382d3664393535363133"
                  "3761346620626563616d65206c65616465722a150a1164656661756c742d7363686564756c657212"
                  "00320808c3d9e7d70610003a0808c3d9e7d706100040014a064e6f726d616c520062007211646566"
                  "61756c742d7363686564756c65727a001a002200")});
}

TEST(Requests, ALeaseIsWrittenAsItWasRead) {
  for (const char* name : {"kube-scheduler", "empty"}) {
    const Golden& expected = golden("Lease", name);
    const auto from_json = read_lease(expected.json);
    const auto from_proto = read_lease_proto(open_envelope(expected.proto).value().object);
    ASSERT_TRUE(from_json && from_proto);
    expect_bodies(*from_json, expected);
    expect_bodies(*from_proto, expected);
  }
}

TEST(Requests, WhatALeaseSays) {
  const auto lease = read_lease(golden("Lease", "kube-scheduler").json);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->holder_identity, "host_1");
  EXPECT_EQ(lease->duration_seconds, 15);
  EXPECT_EQ(lease->acquire_time, at("2026-01-01T00:00:00Z"));
  EXPECT_EQ(lease->renew_time, at("2026-01-01T00:00:02.654321Z"));
  EXPECT_EQ(lease->transitions, 3);
  EXPECT_EQ(lease->resource_version, "44");
  EXPECT_FALSE(lease->strategy);
}

TEST(Requests, ANewLease) {
  EXPECT_EQ(body_of(new_lease("kube-system", "empty"), BodyFormat::kProtobuf),
            golden("Lease", "empty").proto);
}

TEST(Requests, ALeaseThatIsBrokenSomewhereIsNotTaken) {
  // metadata.labels: an entry that ends too early
  EXPECT_FALSE(read_lease_proto(testing::from_hex("0a035a0105")));
  EXPECT_FALSE(read_lease(R"({"spec":{"renewTime":"soon"}})"));
}

}  // namespace
}  // namespace berth
