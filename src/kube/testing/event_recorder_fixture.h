// What the tests of EventRecorder share: a recorder in virtual time, and the server's side of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/testing/builders.h"
#include "kube/event_recorder.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {

inline constexpr std::string_view kProbe = "GET /apis/events.k8s.io/v1";
inline constexpr std::string_view kPost = "POST /apis/events.k8s.io/v1/namespaces/default/events";
inline constexpr std::string_view kCorePost = "POST /api/v1/namespaces/default/events";
// Names end in the time; this is the time at which the loop begins.
inline constexpr std::string_view kFirstName = "big.18867251edfa0000";

class EventRecorderTest : public ::testing::Test {
 protected:
  // Before start().
  Duration gather = Duration::zero();
  std::size_t most_series_waiting = 10'000;

  void start() {
    recorder.emplace(loop, client, Random(1),
                     EventRecorderOptions{.hostname = "vm",
                                          .component = "default-scheduler",
                                          .log = log(),
                                          .gather = gather,
                                          .most_series_waiting = most_series_waiting});
  }
  void start_with_events_api() {
    client.script(answered());
    start();
    arrive();
  }
  void start_with_core_api() {
    client.script(refused(404, "NotFound", "the server could not find the requested resource"));
    start();
    arrive();
  }
  void arrive() { loop.run_until(loop.now()); }
  void pass(Duration time) { loop.run_until(loop.now() + time); }

  PodEvent failed(std::string note = "0/1 nodes are available: 1 Insufficient cpu.",
                  std::string version = "253", std::string name = "big") {
    PodEvent event;
    event.pod = world.pod(std::move(name))
                    .uid("6f85a682-c49b-49fb-89f8-887aeb255be1")
                    .version(std::move(version));
    event.type = EventType::kWarning;
    event.reason = "FailedScheduling";
    event.action = "Scheduling";
    event.note = std::move(note);
    event.reporting_controller = "default-scheduler";
    return event;
  }
  telemetry::Log log() {
    return telemetry::Log(std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{}, [] { return WallTime{}; },
        std::make_unique<telemetry::StringSink>(log_text)));
  }
  const std::string& body(std::size_t call) const { return client.calls().at(call).body; }
  void answer_all(const ApiResult& with = answered()) {
    client.set_responder([with](const ApiCall&) { return std::optional(with); });
  }

  berth::testing::World world;
  VirtualLoop loop;
  FakeApiClient client{loop};
  std::string log_text;
  std::optional<EventRecorder> recorder;
};

}  // namespace berth::kube::testing
