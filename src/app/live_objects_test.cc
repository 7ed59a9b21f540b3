#include "app/live_objects.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/testing/builders.h"
#include "app/embedded_server.h"
#include "app/recorder.h"
#include "base/file.h"
#include "base/signals.h"
#include "berth/pod.h"
#include "memapi/json_edit.h"
#include "net/testing/loopback.h"
#include "wire/json_tree.h"
#include "wire/yaml.h"

namespace berth::app {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

struct LiveObjectsTest : ::testing::Test {
  LiveObjectsTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder =
        std::filesystem::path(::testing::TempDir()) / ("berth_live_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    options.environment = {};
  }
  ~LiveObjectsTest() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string& name) const { return (folder / name).string(); }
  // A kubeconfig for a server that is spoken to in the clear.
  void use(const std::string& server, const std::string& user = "{token: t}") {
    options.kubeconfig = at("config");
    ASSERT_TRUE(berth::write_file(
        options.kubeconfig,
        fmt::format(
            "current-context: c\n"
            "contexts: [{{name: c, context: {{cluster: k, user: jane, namespace: shop}}}}]\n"
            "clusters: [{{name: k, cluster: {{server: '{}'}}}}]\n"
            "users: [{{name: jane, user: {}}}]\n",
            server, user)));
  }
  std::string fault() {
    const Result<LiveObjects> live = read_live_objects(options, interner);
    return live ? "none" : live.error().message;
  }

  std::filesystem::path folder;
  Interner interner;
  LiveObjectsOptions options;
};

std::vector<std::string> shown(const LiveObjects& live) {
  std::vector<std::string> names;
  for (const ManifestObject& object : live.objects)
    names.push_back(fmt::format("{} {}/{}", object.kind_text, object.namespace_name, object.name));
  return names;
}

// ---- an API server ------------------------------------------------------------------------------

// The API server of `berth run`. Nobody runs its loop: lists are answered by its own threads.
struct EmbeddedApi {
  explicit EmbeddedApi(const std::string& listen, const std::string& kubeconfig) {
    EmbeddedServerOptions options;
    options.listen = listen;
    options.kubeconfig = kubeconfig;
    options.controllers = {};
    server = EmbeddedServer::start(loop, options).value();
  }
  void create(const char* resource, const std::string& json, const char* group = "") {
    const auto created =
        server->local().create(memapi::resource_of(resource, group), parse_json(json).value());
    ASSERT_TRUE(created) << created.error().message;
  }

  RealLoop loop;
  std::unique_ptr<EmbeddedServer> server;
};

std::string pod_json(std::string_view namespace_name, std::string_view name) {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}"}},"spec":{{"containers":)"
                     R"([{{"name":"c","image":"i:1"}}]}}}})",
                     name, namespace_name);
}

// On an address that other machines can reach there are TLS and a token.
TEST_F(LiveObjectsTest, ReadsAllThatAnApiServerHas) {
  options.kubeconfig = at("kubeconfig");
  EmbeddedApi api("0.0.0.0:0", options.kubeconfig);
  api.create("nodes", R"({"metadata":{"name":"n1"},"status":{"capacity":{"cpu":"4"}}})");
  api.create("namespaces", R"({"metadata":{"name":"shop"}})");
  for (int i = 0; i < 1200; ++i) api.create("pods", pod_json("shop", fmt::format("p{:04}", i)));
  api.create("pods", pod_json("default", "done"));
  const auto ended = api.server->local().update_status(
      memapi::resource_of("pods"), "default", "done", [](JsonValue& pod) -> memapi::Answer<void> {
        memapi::set_text(memapi::object_at(pod, "status"), "phase", "Succeeded");
        return {};
      });
  ASSERT_TRUE(ended) << ended.error().message;
  api.create("deployments",
             R"({"metadata":{"name":"web","namespace":"shop"},"spec":{"selector":{"matchLabels":)"
             R"({"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":)"
             R"([{"name":"c","image":"i:1"}]}}}})",
             "apps");
  api.create("priorityclasses", R"({"metadata":{"name":"high"},"value":1000})",
             "scheduling.k8s.io");

  const Result<LiveObjects> live = read_live_objects(options, interner);
  ASSERT_TRUE(live) << live.error().message;
  const std::vector<std::string> names = shown(*live);
  EXPECT_THAT(names,
              IsSupersetOf({"Node /n1", "Namespace /shop", "Pod shop/p0000", "Pod shop/p1199",
                            "Deployment shop/web", "PriorityClass /high"}));
  EXPECT_THAT(names, Not(Contains("Pod default/done")));
  EXPECT_EQ(std::ranges::count_if(names, [](const auto& name) { return name.starts_with("Pod "); }),
            1200);
  EXPECT_EQ(live->server, api.server->url());
  EXPECT_EQ(live->namespace_name, "default");
  EXPECT_THAT(live->undecodable, IsEmpty());
  EXPECT_THAT(live->forbidden, IsEmpty());
  for (const ManifestObject& object : live->objects) {
    const Result<JsonValue> tree = parse_json(object.json);
    ASSERT_TRUE(tree);
    EXPECT_EQ(memapi::text_at(*tree, "kind"), object.kind_text);
    EXPECT_EQ(memapi::text_at(*tree, "apiVersion"), object.api_version);
    EXPECT_NE(memapi::text_at(*tree, "metadata.uid"), "");
    EXPECT_EQ(object.where, live->server);
  }
  // Signals and threads are as they were.
  sigset_t blocked;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0);

  std::string text = berth::read_file(options.kubeconfig).value();
  const std::size_t token = text.find("token: \"") + 8;
  ASSERT_TRUE(berth::write_file(options.kubeconfig, text.replace(token, 1, "?")));
  const std::string refused = fault();
  EXPECT_THAT(refused,
              StartsWith(api.server->url() + " does not accept the credentials of the user "));
  EXPECT_THAT(refused, HasSubstr("(the token was not accepted)"));
}

// ---- what a server may say ----------------------------------------------------------------------

net::HttpResponse no_such_page() {
  return {404, {{"Content-Type", "text/plain"}}, "404 page not found\n"};
}

// Answers every list with one that is empty, but for the paths that a test gives.
class ListServer {
 public:
  ListServer() {
    server_ = net::testing::start(
        {}, [this](net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
          answer(request, *responder);
        });
  }
  std::string url() const { return net::testing::url(*server_, ""); }
  void set(const std::string& path, net::HttpResponse response) {
    const MutexLock lock(mutex_);
    answers_[path] = std::move(response);
  }
  // From now on nothing is answered, and the first request makes for a SIGINT.
  void interrupt() {
    const MutexLock lock(mutex_);
    interrupts_ = true;
  }
  std::vector<std::string> requests() {
    const MutexLock lock(mutex_);
    return requests_;
  }

  static net::HttpResponse json(int code, std::string body) {
    return {code, {{"Content-Type", "application/json"}}, std::move(body)};
  }
  static net::HttpResponse status(int code, const std::string& reason, const std::string& message) {
    return json(code, fmt::format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure",)"
                                  R"("message":"{}","reason":"{}","code":{}}})",
                                  message, reason, code));
  }

 private:
  void answer(const net::HttpRequest& request, net::HttpResponder& responder) {
    const MutexLock lock(mutex_);
    const std::string path(request.path());
    requests_.push_back(request.method + " " + path);
    if (interrupts_) {
      if (requests_.size() == 1) ::kill(::getpid(), SIGINT);
      return;
    }
    const auto given = answers_.find(path);
    responder.respond(given == answers_.end() ? empty_list(path) : given->second);
  }
  static net::HttpResponse empty_list(const std::string& path) {
    for (const LiveKind& kind : live_kinds())
      if (kind.kind.path() == path)
        return json(200,
                    fmt::format(R"({{"kind":"{}List","metadata":{{}}}})", kind.kind.kind_name));
    return no_such_page();
  }

  Mutex mutex_;
  std::map<std::string, net::HttpResponse> answers_ GUARDED_BY(mutex_);
  bool interrupts_ GUARDED_BY(mutex_) = false;
  std::vector<std::string> requests_ GUARDED_BY(mutex_);
  std::unique_ptr<net::HttpServer> server_;  // last: its threads use the above
};

TEST_F(LiveObjectsTest, ListsEachKindOnceAndWritesNothing) {
  ListServer server;
  use(server.url());
  const Result<LiveObjects> live = read_live_objects(options, interner);
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_THAT(live->objects, IsEmpty());
  EXPECT_EQ(live->namespace_name, "shop");
  EXPECT_EQ(live->context, "c");
  std::vector<std::string> expected;
  for (const LiveKind& kind : live_kinds()) expected.push_back("GET " + kind.kind.path());
  EXPECT_THAT(server.requests(), ::testing::UnorderedElementsAreArray(expected));
}

TEST_F(LiveObjectsTest, KindsThatAreNotServedHaveNoObjects) {
  ListServer server;
  server.set("/apis/resource.k8s.io/v1/deviceclasses", no_such_page());
  server.set("/apis/batch/v1/jobs", no_such_page());
  use(server.url());
  const Result<LiveObjects> live = read_live_objects(options, interner);
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_THAT(live->unserved, ElementsAre("deviceclasses.resource.k8s.io", "jobs.batch"));
  server.set("/api/v1/nodes", no_such_page());
  EXPECT_EQ(fault(),
            server.url() + " does not serve nodes: it is no API server of a Kubernetes cluster");
}

TEST_F(LiveObjectsTest, OnlyOwnersMayBeForbidden) {
  ListServer server;
  const auto forbid = [&server](const std::string& path, const std::string& resource) {
    server.set(path, ListServer::status(403, "Forbidden",
                                        resource + R"( is forbidden: User \"jane\" cannot list)"));
  };
  forbid("/apis/apps/v1/deployments", "deployments.apps");
  use(server.url());
  const Result<LiveObjects> live = read_live_objects(options, interner);
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_THAT(live->forbidden, ElementsAre("deployments.apps"));
  forbid("/apis/policy/v1/poddisruptionbudgets", "poddisruptionbudgets.policy");
  forbid("/api/v1/nodes", "nodes");
  EXPECT_EQ(fault(),
            "not allowed to list nodes, poddisruptionbudgets.policy at " + server.url() +
                ": nodes is forbidden: User \"jane\" cannot list (the ClusterRole "
                "berth-explain-reader in packaging/explain-reader.yaml allows what is needed)");
}

TEST_F(LiveObjectsTest, ErrorsAreOneLineThatNamesTheServer) {
  ListServer server;
  use(server.url());
  server.set("/api/v1/pods", ListServer::status(500, "InternalError", "etcd\\nis gone"));
  EXPECT_EQ(fault(), "cannot list pods at " + server.url() + ": etcd is gone");
  server.set("/api/v1/pods", {200, {{"Content-Type", "text/html"}}, "<html>"});
  EXPECT_THAT(fault(),
              StartsWith("cannot list pods at " + server.url() + ": the answer is no PodList: "));
  server.set("/api/v1/pods", ListServer::status(401, "Unauthorized", "Unauthorized"));
  EXPECT_EQ(fault(),
            server.url() + " does not accept the credentials of the user \"jane\": Unauthorized");
  ASSERT_TRUE(berth::write_file(
      options.kubeconfig,
      fmt::format("current-context: c\ncontexts: [{{name: c, context: {{cluster: k}}}}]\n"
                  "clusters: [{{name: k, cluster: {{server: '{}'}}}}]\n",
                  server.url())));
  EXPECT_EQ(fault(), server.url() +
                         " wants to know who asks, and the context \"c\" names no user: "
                         "Unauthorized");
}

TEST_F(LiveObjectsTest, NobodyThere) {
  std::string url;
  {
    const ListServer server;
    url = server.url();
  }
  use(url);
  const std::string address = url.substr(std::string("http://").size());
  EXPECT_EQ(fault(), fmt::format("cannot read from {}: dial tcp {}: connect: connection refused",
                                 url, address));
}

TEST_F(LiveObjectsTest, AProgramThatGivesNoCredentialIsNamed) {
  use("https://127.0.0.1:1",
      "{exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-login, "
      "interactiveMode: Never, installHint: \"get it\\nthere\"}}");
  EXPECT_EQ(fault(),
            "cannot read from https://127.0.0.1:1: getting credentials: exec: executable "
            "no-such-login not found. get it there");
}

TEST_F(LiveObjectsTest, WhatIsWrongWithAKubeconfigIsAnError) {
  use("https://127.0.0.1:1");
  options.context = "gone";
  EXPECT_EQ(fault(), at("config") + " has no context \"gone\" (it has c)");
  options.kubeconfig = at("none");
  EXPECT_EQ(fault(), "stat " + at("none") + ": no such file or directory");
}

TEST_F(LiveObjectsTest, ASignalEndsIt) {
  std::unique_ptr<ListServer> server;
  {
    const SignalsBlocked blocked;  // the server's threads do not take the signal
    server = std::make_unique<ListServer>();
  }
  server->interrupt();
  use(server->url());
  const Result<LiveObjects> live = read_live_objects(options, interner);
  ASSERT_FALSE(live);
  EXPECT_EQ(live.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(live.error().message, "interrupted while reading from " + server->url());
}

// ---- packaging/explain-reader.yaml, packaging/recorder.yaml ---------------------------------------

// What the ClusterRole of that name allows; every rule must have these verbs.
std::set<std::string> allowed_by(const char* path, std::string_view role,
                                 const std::vector<std::string>& expected_verbs) {
  std::set<std::string> allowed;
  const std::string text = berth::read_file(path).value();
  const auto documents = parse_yaml(text).value();
  for (const YamlDocument& document : documents) {
    const JsonValue tree = parse_json(document.json).value();
    if (memapi::text_at(tree, "kind") != "ClusterRole") continue;
    EXPECT_EQ(memapi::text_at(tree, "metadata.name"), role);
    for (const JsonValue& rule : memapi::items_at(tree, "rules")) {
      std::vector<std::string> verbs;
      for (const JsonValue& verb : memapi::items_at(rule, "verbs")) verbs.push_back(verb.text);
      EXPECT_EQ(verbs, expected_verbs);
      for (const JsonValue& group : memapi::items_at(rule, "apiGroups"))
        for (const JsonValue& resource : memapi::items_at(rule, "resources"))
          EXPECT_TRUE(
              allowed.insert(group.text.empty() ? resource.text : resource.text + "." + group.text)
                  .second);
    }
  }
  return allowed;
}

TEST(ExplainReader, AllowsToReadWhatIsListedAndNothingElse) {
  std::set<std::string> listed;
  for (const LiveKind& kind : live_kinds()) listed.insert(kind.kind.full_resource());
  EXPECT_EQ(allowed_by(BERTH_EXPLAIN_READER, "berth-explain-reader", {"get", "list"}), listed);
}

TEST(RecorderRole, AllowsToFollowWhatIsRecordedAndNothingElse) {
  std::set<std::string> recorded;
  for (const kube::WatchedKind& kind : recorded_kinds()) recorded.insert(kind.full_resource());
  EXPECT_EQ(allowed_by(BERTH_RECORDER_ROLE, "berth-recorder", {"get", "list", "watch"}), recorded);
}

}  // namespace
}  // namespace berth::app
