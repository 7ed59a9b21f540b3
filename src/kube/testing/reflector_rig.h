// One kind or several against a server that the test plays, in virtual time.
//
//   Rig rig;                                              // asks for its first list
//   rig.watch(rig.words.event("ADDED", pod_json("a", 3)) + rig.words.bookmark("Pod", 10, true));
//   EXPECT_THAT(rig.taken(), ElementsAre("+a@3"));
//   rig.end();
//   rig.path();                                           // of the request that came of it
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/node.h"
#include "berth/pod.h"
#include "kube/reflectors.h"
#include "kube/testing/fake_api_client.h"
#include "kube/testing/watch_words.h"

namespace berth::kube::testing {

inline const WatchedKind kPods{
    ObjectKind::kPod, "v1", "Pod", "pods", "status.phase!=Succeeded,status.phase!=Failed",
    {"core"}};
inline const WatchedKind kNodes{ObjectKind::kNode, "v1", "Node", "nodes", "", {"core"}};

// "+a@3", "~a@4", "-a@5": added, updated and deleted, by name and version.
inline std::string text_of(const Delta& delta) {
  const char* type = delta.type == DeltaType::kAdded     ? "+"
                     : delta.type == DeltaType::kUpdated ? "~"
                                                         : "-";
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object))
    return fmt::format("{}{}@{}", type, (*pod)->name(), (*pod)->resource_version());
  const Object& object = *std::get<Ref<const Object>>(delta.object);
  return fmt::format("{}{}@{}", type, object.name, object.resource_version);
}

// A server, played by hand.
struct Rig {
  explicit Rig(BodyFormat format = BodyFormat::kProtobuf, std::vector<WatchedKind> kinds = {kPods},
               ReflectorOptions each = {})
      : words(format), client(loop, format) {
    auto output = std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{}, [this] { return loop.wall_now(); },
        std::make_unique<telemetry::StringSink>(log_text));
    reflectors = std::make_unique<Reflectors>(
        loop, client, interner, Random(7), telemetry::Log(std::move(output)),
        ReflectorsOptions{std::move(kinds), each},
        [this](const Delta& delta) { deltas.push_back(text_of(delta)); });
    reflectors->start();
    settle();
  }

  void settle() { loop.run_until(loop.now()); }
  void pass(Duration time) { loop.run_until(loop.now() + time); }
  FakeApiClient::Stream& stream() { return client.last_stream(); }
  std::string path() { return stream().call().path; }

  // The last request is answered as a watch; `bytes` come at once.
  void watch(const std::string& bytes) {
    stream().begin(200, words.watch_type());
    say(bytes);
  }
  void say(const std::string& bytes) {
    stream().chunk(bytes);
    settle();
  }
  void end(Result<void> how = {}) {
    stream().end(std::move(how));
    settle();
  }
  void refuse(int code, std::string_view reason, std::string_view message,
              std::string_view details = "{}") {
    stream().begin(code, words.body_type());
    stream().chunk(words.body(status_json(code, reason, message, details)));
    end();
  }
  void answer_list(const std::string& body) {
    stream().begin(200, words.body_type());
    stream().chunk(body);
    end();
  }
  // The usual beginning: a streaming list of these pods, at version 10.
  void sync(const std::vector<std::string>& pods) {
    std::string bytes;
    for (const std::string& pod : pods) bytes += words.event("ADDED", pod);
    watch(bytes + words.bookmark("Pod", 10, true));
    taken();
  }
  // Runs until the next request is made; how long that took.
  Duration next_request(Duration at_most = std::chrono::minutes(5)) {
    const TimePoint from = loop.now();
    const std::size_t before = client.streams();
    while (client.streams() == before && loop.now() - from < at_most && loop.step()) {
    }
    EXPECT_GT(client.streams(), before) << "no request came";
    return loop.now() - from;
  }
  std::vector<std::string> taken() { return std::exchange(deltas, {}); }

  VirtualLoop loop;
  Interner interner;
  WatchWords words;
  FakeApiClient client;
  std::string log_text;
  std::vector<std::string> deltas;
  std::unique_ptr<Reflectors> reflectors;
};

}  // namespace berth::kube::testing
