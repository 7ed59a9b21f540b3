// A recorder, an API server, and a network that loses, cuts and refuses: what the recording ends with is
// what the server has.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "app/recorder.h"
#include "base/sip_hash.h"
#include "memapi/json_edit.h"
#include "simulated_server.h"
#include "telemetry/metrics.h"
#include "tests/simulation/manifests.h"
#include "trace/compressed_file.h"
#include "trace/trace.h"

namespace berth::chaos {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

// By "Kind namespace/name": JSON.
using State = std::map<std::string, std::string>;

struct NoTraffic final : Traffic {
  void sent(const Exchange& exchange) override { writes += exchange.reads() ? 0 : 1; }
  void handled(const Exchange&, int) override {}
  void answered(const Exchange&, int) override {}
  void disturbed(const Exchange&, std::string_view) override { ++disturbances; }

  int writes = 0;
  int disturbances = 0;
};

void set_version(JsonValue& object, std::string_view version) {
  memapi::set_text(memapi::object_at(object, "metadata"), "resourceVersion", version);
}

std::string key_of(std::string_view kind, std::string_view namespace_name, std::string_view name) {
  return fmt::format("{} {}/{}", kind, namespace_name, name);
}

// What a reader knows at the end of a recording.
State final_state(const std::string& path) {
  State state;
  const auto file = trace::InputFile::open(path).value();
  while (const auto line = file->next_line()) {
    JsonValue record = parse_json(*line).value();
    const std::string type(memapi::text_at(record, "type"));
    if (type == "DELETED" || type == "TOUCHED") {
      const std::string key =
          key_of(memapi::text_at(record, "kind"), memapi::text_at(record, "namespace"),
                 memapi::text_at(record, "name"));
      EXPECT_TRUE(state.contains(key)) << *line;
      if (type == "DELETED") {
        state.erase(key);
      } else {
        JsonValue object = parse_json(state[key]).value();
        set_version(object, memapi::text_at(record, "resourceVersion"));
        state[key] = to_json(object);
      }
    } else if (type == "LISTED" || type == "ADDED" || type == "MODIFIED") {
      const JsonValue& object = *record.find("object");
      const std::string key =
          key_of(memapi::text_at(object, "kind"), memapi::text_at(object, "metadata.namespace"),
                 memapi::text_at(object, "metadata.name"));
      EXPECT_EQ(state.contains(key), type == "MODIFIED") << *line;
      state[key] = to_json(object);
    }
  }
  EXPECT_FALSE(file->cut_off());
  return state;
}

class RecordingRun {
 public:
  explicit RecordingRun(std::uint64_t seed) : random_(seed) {
    path_ = ::testing::TempDir() + fmt::format("berth-recording-{}.jsonl.gz", seed);
    server_.come_up();
    for (const std::string& manifest : simulation::class_manifests()) server_.put(manifest);
    for (int i = 0; i < 4; ++i) add_node();
    for (int i = 0; i < 10; ++i) add_pod();
  }
  ~RecordingRun() { std::filesystem::remove(path_); }

  void run() {
    telemetry::Registry registry;
    telemetry::ClientMetrics metrics(registry);
    kube::HttpApiClientOptions client_options;
    client_options.config.server = "https://10.0.0.1:6443";
    client_options.qps = -1;
    client_options.content_type = "application/json";
    client_options.transport = [this](const net::HttpClientOptions&) {
      return network_.connect("recorder");
    };
    std::string unread;
    const telemetry::Log log(std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{.verbosity = -1}, [this] { return loop_.wall_now(); },
        std::make_unique<telemetry::StringSink>(unread)));
    Interner interner;
    kube::HttpApiClient client(std::move(client_options), loop_, log, metrics);
    const auto file = trace::OutputFile::create(path_).value();
    app::Recorder recorder(loop_, client, interner, random_.fork(), log, *file,
                           {.kinds = kinds(), .anonymise = {}, .recorder = "test"},
                           [](const Error& error) { FAIL() << error.message; });
    recorder.start();
    for (int i = 0; i < 150; ++i) {
      happen();
      loop_.run_until(loop_.now() + Duration(1ms) * static_cast<int>(random_.below(3000)));
    }
    if (!server_.up()) server_.come_up();
    network_.lift();
    // Watches that nobody cuts end after ten minutes at the latest; what a silent one missed is known then.
    loop_.run_until(loop_.now() + 1500s);
    ASSERT_TRUE(recorder.finish());
  }

  State server_state() {
    State state;
    const trace::RecordedFields fields(std::nullopt);
    const JsonValue saved = parse_json(server_.save()).value();
    for (const JsonValue& item : memapi::items_at(saved, "items")) {
      const std::string kind(memapi::text_at(item, "kind"));
      for (const kube::WatchedKind& watched : kinds())
        if (watched.kind_name == kind && watched.api_version == memapi::text_at(item, "apiVersion"))
          state[key_of(kind, memapi::text_at(item, "metadata.namespace"),
                       memapi::text_at(item, "metadata.name"))] =
              in_order(fields.of(watched.kind, item));
    }
    return state;
  }
  State recorded_state() {
    State state = final_state(path_);
    for (auto& [key, json] : state) json = in_order(parse_json(json).value());
    return state;
  }

  const std::string& path() const { return path_; }
  const NoTraffic& traffic() const { return traffic_; }

 private:
  static std::string in_order(JsonValue object) {
    sort_members(object);
    return to_json(object);
  }

  // The embedded server has no DeviceTaintRules of v1.
  static std::vector<kube::WatchedKind> kinds() {
    std::vector<kube::WatchedKind> kinds = app::recorded_kinds();
    std::erase_if(kinds, [](const kube::WatchedKind& kind) {
      return std::ranges::none_of(memapi::resources(), [&](const memapi::Resource& resource) {
        return resource.kind == kind.kind_name && resource.group_version() == kind.api_version;
      });
    });
    return kinds;
  }

  void add_node() {
    for (const std::string& manifest : simulation::node_manifests(fmt::format("n{}", ++nodes_)))
      server_.put(manifest);
  }
  void add_pod() {
    const simulation::PodManifests made = simulation::pod_manifests(++pods_, random_, {});
    for (const std::string& claim : made.shared_claims)
      server_.put(simulation::shared_claim_manifest(claim));
    for (const std::string& claim : made.own_claims) server_.put(claim);
    server_.put(made.pod);
  }
  std::string some_pod() { return fmt::format("p{}", 1 + random_.below(std::uint64_t(pods_))); }

  void happen() {
    memapi::LocalClient& local = server_.local();
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2: return add_pod();
      case 3:
      case 4: {
        const std::string pod = some_pod();
        const memapi::ObjectRef found = local.get(memapi::resource_of("pods"), "default", pod);
        const std::string node = fmt::format("n{}", 1 + random_.below(std::uint64_t(nodes_)));
        if (found) static_cast<void>(local.bind("default", pod, "", node));
        return;
      }
      case 5:
        static_cast<void>(local.remove(memapi::resource_of("pods"), "default", some_pod()));
        return;
      case 6:
        static_cast<void>(
            local.update(memapi::resource_of("pods"), "default", some_pod(), [&](JsonValue& pod) {
              // Of these only the label is recorded.
              const bool label = random_.chance(0.5);
              memapi::set_text(memapi::object_at(memapi::object_at(pod, "metadata"),
                                                 label ? "labels" : "annotations"),
                               "turn", std::to_string(random_.below(1000)));
              return memapi::Answer<void>();
            }));
        return;
      case 7:
        return random_.chance(0.5)
                   ? add_node()
                   : static_cast<void>(local.remove(
                         memapi::resource_of("nodes"), "",
                         fmt::format("n{}", 1 + random_.below(std::uint64_t(nodes_)))));
      case 8: return random_.chance(0.5) ? server_.end_watches() : network_.reset_connections();
      default: return server_.up() ? server_.go_down() : server_.come_up();
    }
  }

  VirtualLoop loop_;
  Random random_;
  NoTraffic traffic_;
  Network network_{loop_, random_.fork(), draw_weather(random_), traffic_};
  SimulatedServer server_{loop_, network_, random_.fork()};
  std::string path_;
  int nodes_ = 0, pods_ = 0;
};

TEST(Recording, EndsInTheStateThatTheServerHas) {
  int disturbances = 0;
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RecordingRun run(seed);
    run.run();
    EXPECT_EQ(run.recorded_state(), run.server_state());
    EXPECT_EQ(run.traffic().writes, 0) << "a recorder only reads";
    disturbances += run.traffic().disturbances;
    Interner interner;
    const Result<trace::Trace> trace = trace::read_traces({run.path()}, {}, interner);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_TRUE(trace->notes.empty()) << trace->notes.front();
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(disturbances, 50);
}

}  // namespace
}  // namespace berth::chaos
