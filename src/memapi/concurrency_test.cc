// Requests come on the HTTP server's threads, while the world follows and the embedder saves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>

#include "base/loop_thread.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

constexpr int kClients = 4;
constexpr int kPodsOfAClient = 25;
constexpr std::size_t kAllPods = kClients * kPodsOfAClient;
const std::string kSharedMap = "/api/v1/namespaces/default/configmaps/shared";

std::shared_ptr<Recorder> answer_of(ApiServer& server, std::string method, std::string target,
                                    std::string body = "",
                                    std::string content_type = "application/json") {
  net::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  request.headers.add("Content-Type", std::move(content_type));
  request.headers.add("Accept", "application/json");
  auto recorder = std::make_shared<Recorder>();
  server.handle(std::move(request), recorder);
  return recorder;
}

// One client: its own pods come and go, and it writes to an object that all write to.
int unexpected_answers(ApiServer& server, int client) {
  int wrong = 0;
  const auto expect = [&](int code, const std::shared_ptr<Recorder>& answer) {
    if (answer->response.status != code) ++wrong;
  };
  for (int i = 0; i < kPodsOfAClient; ++i) {
    const std::string name = "p-" + std::to_string(client) + "-" + std::to_string(i);
    const std::string pod = std::string(kPods) + "/" + name;
    const std::string merge = kMergePatch;
    const auto watch = answer_of(server, "GET", "/api/v1/pods?watch=1");
    expect(201, answer_of(server, "POST", std::string(kPods), pod_json(name)));
    expect(200, answer_of(server, "PATCH", pod, R"({"metadata":{"labels":{"a":"b"}}})", merge));
    expect(200,
           answer_of(server, "PATCH", kSharedMap, R"({"data":{")" + name + R"(":"x"}})", merge));
    expect(200, answer_of(server, "GET", "/api/v1/pods?labelSelector=a%3Db"));
    expect(200, answer_of(server, "DELETE", pod));
    expect(200, watch);
    watch->gone();
  }
  return wrong;
}

TEST(ConcurrentApiServer, ClientsWatchersAndFollowersMissNothing) {
  RealLoop loop;
  ApiServer server(loop, Random(7));
  const auto watch = answer_of(server, "GET", "/api/v1/pods?watch=1");
  answer_of(server, "POST", "/api/v1/namespaces/default/configmaps",
            R"({"metadata":{"name":"shared"}})");
  std::map<ChangeType, std::size_t> followed;
  std::uint64_t last_version = 0;
  bool ordered = true;
  const auto following = server.local().follow(resource_of("pods"), [&](const Change& change) {
    ++followed[change.type];
    ordered = ordered && change.version > last_version;
    last_version = change.version;
  });

  std::atomic<int> wrong = 0;
  std::atomic<bool> over = false;
  {
    server.start();
    const LoopThread world("world", loop);
    Thread saver("saver", [&] {
      while (!over) wrong += server.save().empty() ? 1 : 0;
    });
    {
      std::vector<Thread> clients;
      for (int client = 0; client < kClients; ++client)
        clients.emplace_back("client",
                             [&, client] { wrong += unexpected_answers(server, client); });
    }
    over = true;
  }
  following->catch_up();

  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(ordered);
  for (const ChangeType type : {ChangeType::kAdded, ChangeType::kModified, ChangeType::kDeleted})
    EXPECT_EQ(followed[type], kAllPods);
  EXPECT_EQ(watch->chunks.size(), 3 * kAllPods);
  EXPECT_EQ(server.watchers(), 1U + 1U);  // this one and the follower
  const JsonValue shared = parse_json(answer_of(server, "GET", kSharedMap)->response.body).value();
  EXPECT_EQ(at(shared, "data")->members.size(), kAllPods);
}

}  // namespace
}  // namespace berth::memapi::testing
