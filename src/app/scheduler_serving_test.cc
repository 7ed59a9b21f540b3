// The scheduler's HTTPS server with an API server behind it, over real sockets.
#include "app/scheduler_serving.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "base/file.h"
#include "net/testing/loopback.h"

namespace berth::app {
namespace {

using net::testing::RawSocket;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SchedulerServingTest : public ::testing::Test {
 protected:
  SchedulerServingTest()
      : folder(std::filesystem::path(::testing::TempDir()) /
               ("berth_serving_" +
                std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    std::filesystem::create_directories(folder);
  }
  ~SchedulerServingTest() override {
    end();
    std::filesystem::remove_all(folder);
  }

  // After that nobody writes to the log.
  void end() {
    loop.stop();
    if (world.joinable()) world.join();
    serving.reset();
  }

  std::string file(const char* name, const std::string& text) {
    EXPECT_TRUE(write_file((folder / name).string(), text));
    return (folder / name).string();
  }

  // `handler` is the API server that reviews are asked of.
  void start(net::HttpHandler handler) {
    api = net::testing::start({}, std::move(handler));
    const std::string kubeconfig = file("config", fmt::format(R"(apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "{}"}}}}]
users: [{{name: u, user: {{}}}}]
)",
                                                              net::testing::url(*api, "")));
    config::SchedulerOptions& options = setup.command.options;
    options.authentication.kubeconfig = options.authorization.kubeconfig = kubeconfig;
    options.secure_serving.bind_address = "127.0.0.1";
    options.secure_serving.port = 0;
    const net::KeyPair& pair = net::testing::certificates().server;
    options.secure_serving.cert_file = file("tls.crt", pair.certificate_pem);
    options.secure_serving.key_file = file("tls.key", pair.key_pem);
    metrics.emplace(options);
    Result<std::unique_ptr<SchedulerServing>> started =
        SchedulerServing::start(setup, loop, *metrics, {}, Random(7),
                                telemetry::Log(std::make_shared<telemetry::LogOutput>(
                                    telemetry::LogOptions{}, [] { return WallTime{}; },
                                    std::make_unique<telemetry::StringSink>(log))));
    ASSERT_TRUE(started) << started.error().message;
    serving = std::move(*started);
    world = Thread("world", [this] { loop.run(); });
  }

  std::unique_ptr<RawSocket> ask(const std::string& path) {
    auto client = std::make_unique<RawSocket>(serving->port());
    client->start_tls();
    client->send("GET " + path +
                 " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nConnection: close\r\n\r\n");
    return client;
  }

  const std::filesystem::path folder;
  std::string log;
  SchedulerSetup setup;
  RealLoop loop;
  std::optional<ProgramMetrics> metrics;
  std::unique_ptr<net::HttpServer> api;
  std::unique_ptr<SchedulerServing> serving;
  Thread world;
};

TEST_F(SchedulerServingTest, ConcurrentDepartureOfAClientEndsItsReviewAtTheApiServer) {
  std::promise<std::shared_ptr<net::HttpResponder>> asked;
  std::promise<void> ended;
  start([&](const net::HttpRequest& request, std::shared_ptr<net::HttpResponder> responder) {
    EXPECT_EQ(request.path(), "/apis/authentication.k8s.io/v1/tokenreviews");
    responder->on_gone([&] { ended.set_value(); });
    asked.set_value(std::move(responder));
  });
  std::unique_ptr<RawSocket> client = ask("/metrics");
  const std::shared_ptr<net::HttpResponder> review = asked.get_future().get();
  client.reset();
  EXPECT_EQ(ended.get_future().wait_for(net::testing::kPatience), std::future_status::ready);
  std::promise<void> world_knows;
  loop.post([&] { world_knows.set_value(); });
  world_knows.get_future().wait();
  end();
  EXPECT_EQ(log.find("deadline exceeded"), std::string::npos)
      << "it ran into its time-out: " << log;
}

TEST_F(SchedulerServingTest, ConcurrentReviewsAdmitAndGatesHide) {
  EXPECT_TRUE(setup.command.options.gates.set("ComponentFlagz=false"));
  setup.command.options.emulated = "1.36";
  start([](const net::HttpRequest&, const std::shared_ptr<net::HttpResponder>& responder) {
    responder->respond({201,
                        {{"Content-Type", "application/json"}},
                        R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",)"
                        R"("status":{"authenticated":true,)"
                        R"("user":{"username":"jane","groups":["system:masters"]}}})"});
  });
  // The version that is emulated is not shown.
  EXPECT_THAT(ask("/statusz")->receive_all(),
              AllOf(HasSubstr("HTTP/1.1 200 OK\r\n"), HasSubstr("Emulation version= 1.37\n")));
  EXPECT_THAT(ask("/flagz")->receive_all(), HasSubstr("HTTP/1.1 404 Not Found\r\n"));
}

TEST(ProgramMetrics, ShowOnlyTheGatesOfTheEmulatedVersion) {
  config::SchedulerOptions options;
  const auto text = [&] { return ProgramMetrics(options).registry.text(); };
  const std::string added =
      "kubernetes_feature_enabled{name=\"CompositePodGroup\",stage=\"ALPHA\"} 0\n";
  EXPECT_THAT(text(), HasSubstr(added));
  options.gates.emulate({"1.36", 36}, {"1.35", 35});
  EXPECT_THAT(text(), Not(HasSubstr("CompositePodGroup")));
  EXPECT_THAT(text(), HasSubstr("{name=\"NodeDeclaredFeatures\",stage=\"BETA\"} 1\n"));
}

}  // namespace
}  // namespace berth::app
