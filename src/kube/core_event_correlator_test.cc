#include "kube/core_event_correlator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "base/time_text.h"

namespace berth::kube {
namespace {

const WallTime kStart = parse_rfc3339("2026-01-01T00:00:00Z").value();

CoreEventRequest event_at(TimePoint now, std::string message, std::string object = "a") {
  CoreEventRequest event;
  event.namespace_name = "default";
  event.name = fmt::format("{}.{}", object, now.since_start.count());
  event.involved_object.kind = "Pod";
  event.involved_object.name = std::move(object);
  event.reason = "FailedScheduling";
  event.message = std::move(message);
  event.component = event.reporting_controller = "default-scheduler";
  event.first_timestamp = event.last_timestamp = kStart + now.since_start;
  event.count = 1;
  event.type = "Warning";
  return event;
}

TEST(CoreEventCorrelator, TheSameAgainIsCounted) {
  CoreEventCorrelator correlator;
  const auto first = correlator.add(event_at({seconds(0)}, "no \"room\""), {seconds(0)});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->patch, "");
  EXPECT_EQ(first->event.count, 1);
  const auto second = correlator.add(event_at({seconds(5)}, "no \"room\""), {seconds(5)});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->patch,
            R"({"count":2,"lastTimestamp":"2026-01-01T00:00:05Z","message":"no \"room\""})");
  // As it is made anew if it is gone by now.
  EXPECT_EQ(second->event.name, first->event.name);
  EXPECT_EQ(second->event.count, 2);
  EXPECT_EQ(second->event.first_timestamp, first->event.first_timestamp);
  EXPECT_EQ(second->event.last_timestamp, kStart + seconds(5));
  const auto third = correlator.add(event_at({seconds(6)}, "no \"room\""), {seconds(6)});
  EXPECT_EQ(third->event.count, 3);
}

TEST(CoreEventCorrelator, AnythingElseIsAnotherEvent) {
  CoreEventCorrelator correlator;
  const TimePoint now{seconds(0)};
  EXPECT_EQ(correlator.add(event_at(now, "x"), now)->patch, "");
  EXPECT_EQ(correlator.add(event_at(now, "y"), now)->patch, "");
  EXPECT_EQ(correlator.add(event_at(now, "x", "b"), now)->patch, "");
  CoreEventRequest normal = event_at(now, "x");
  normal.type = "Normal";
  EXPECT_EQ(correlator.add(normal, now)->patch, "");
  CoreEventRequest other = event_at(now, "x");
  other.component = "other-scheduler";
  EXPECT_EQ(correlator.add(other, now)->patch, "");
}

TEST(CoreEventCorrelator, ManySimilarOnesAreCombined) {
  CoreEventCorrelator correlator;
  const auto add = [&](int i, Duration at) {
    return correlator.add(event_at({at}, fmt::format("message {}", i)), {at});
  };
  for (int i = 1; i < 10; ++i)
    EXPECT_EQ(add(i, seconds(i))->event.message, fmt::format("message {}", i));
  const auto combined = add(10, seconds(10));
  ASSERT_TRUE(combined);
  EXPECT_EQ(combined->event.message, "(combined from similar events): message 10");
  EXPECT_EQ(combined->event.reporting_controller, "");
  EXPECT_EQ(combined->patch, "");
  const auto more = add(11, seconds(11));
  ASSERT_TRUE(more);
  EXPECT_EQ(more->event.name, combined->event.name);
  EXPECT_EQ(more->patch, R"({"count":2,"lastTimestamp":"2026-01-01T00:00:11Z",)"
                         R"("message":"(combined from similar events): message 11"})");
  // After ten quiet minutes they are told one by one again.
  EXPECT_EQ(add(12, seconds(11) + minutes(10) + seconds(1))->event.message, "message 12");
}

TEST(CoreEventCorrelator, TooManyAboutOneObjectAreHeldBack) {
  CoreEventCorrelator correlator;
  const auto add = [&](Duration at, std::string object = "a") {
    return correlator.add(event_at({at}, "x", std::move(object)), {at});
  };
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(add(seconds(0))) << i;
  EXPECT_FALSE(add(seconds(0)));
  EXPECT_TRUE(add(seconds(0), "b"));
  EXPECT_FALSE(add(minutes(5) - seconds(1)));
  const auto next = add(minutes(5));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->event.count, 28);  // those held back count
  EXPECT_FALSE(add(minutes(5)));
}

}  // namespace
}  // namespace berth::kube
