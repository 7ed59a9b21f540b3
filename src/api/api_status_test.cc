#include "api/api_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/testing/golden.h"
#include "base/testing/names.h"

namespace berth {
namespace {

TEST(ApiStatus, IsTheSameInBothEncodings) {
  const auto& failure = golden("Status", "x");
  const auto status = read_api_status(failure.json);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->status, "Failure");
  EXPECT_EQ(status->reason, "NotFound");
  EXPECT_EQ(status->message, "pods \"x\" not found");
  EXPECT_EQ(status->code, 404);
  EXPECT_EQ(status->kind, "pods");
  EXPECT_EQ(status->name, "x");
  EXPECT_EQ(status->retry_after_seconds, 7);
  ASSERT_EQ(status->causes.size(), 1U);
  EXPECT_EQ(status->causes[0], (ApiStatus::Cause{"R", "m", "f"}));
  EXPECT_EQ(read_api_status_proto(open_envelope(failure.proto).value().object).value(), *status);
}

TEST(ApiStatus, OddBytesAreErrors) {
  EXPECT_FALSE(read_api_status("[]"));
  EXPECT_FALSE(read_api_status_proto("\x12"));
}

TEST(ObjectHeader, IsTheSameInBothEncodings) {
  for (const auto& object : testing::golden_objects()) {
    const auto envelope = open_envelope(object.proto).value();
    // Lists, statuses and options have other metadata, or none.
    if (envelope.kind.ends_with("List") || envelope.kind.ends_with("Options") ||
        envelope.kind == "Status")
      continue;
    const auto header = read_object_header(object.json);
    ASSERT_TRUE(header);
    EXPECT_EQ(read_object_header_proto(envelope.object).value(), *header);
  }
  const auto rich = read_object_header(golden("Pod", "rich-1").json).value();
  EXPECT_EQ(rich.name, "rich-1");
  EXPECT_EQ(rich.namespace_name, "prod");
  EXPECT_EQ(rich.resource_version, "77123");
  EXPECT_FALSE(rich.initial_events_end);
}

TEST(ObjectHeader, TellsTheBookmarkThatEndsTheInitialEvents) {
  EXPECT_TRUE(read_object_header(R"({"metadata":{"resourceVersion":"5","annotations":
                                     {"k8s.io/initial-events-end":"true"}}})")
                  .value()
                  .initial_events_end);
  // metadata{annotations{…: "true"}}
  const std::string entry = "\x0a\x19k8s.io/initial-events-end\x12\x04true";
  const std::string metadata = "\x62" + std::string(1, static_cast<char>(entry.size())) + entry;
  const std::string object = "\x0a" + std::string(1, static_cast<char>(metadata.size())) + metadata;
  EXPECT_TRUE(read_object_header_proto(object).value().initial_events_end);
}

}  // namespace
}  // namespace berth
