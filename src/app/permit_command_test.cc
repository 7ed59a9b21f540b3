#include "app/permit_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "api/testing/builders.h"
#include "app/cli.h"
#include "berth/waiting_pods.h"
#include "net/testing/loopback.h"
#include "serve/waiting_pods.h"

namespace berth::app {
namespace {

using berth::testing::World;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A scheduler's server, of which only the waiting pods are there.
class PermitTest : public ::testing::Test {
 protected:
  PermitTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder =
        std::filesystem::path(::testing::TempDir()) / ("berth_permit_" + std::string(test->name()));
    std::filesystem::create_directories(folder);
  }
  ~PermitTest() override { std::filesystem::remove_all(folder); }

  void serve(bool tls) {
    net::HttpServerOptions options;
    if (tls) {
      options.tls = net::testing::server_tls();
      options.tls->client_authorities = {
          {"clients", net::testing::certificates().authority.certificate_pem}};
    }
    server = net::testing::start(
        std::move(options),
        [this](net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
          responder->respond(answer(request));
        });
    ASSERT_TRUE(server);
  }
  net::HttpResponse answer(const net::HttpRequest& request) {
    const MutexLock lock(mutex);
    requests.push_back(request.method + " " + request.target);
    authorization = request.headers.find("Authorization").value_or("");
    common_name = request.peer.common_name;
    if (instead) return *instead;
    return serve::answer_waiting_pods(request, net::unescape(request.path()).value(),
                                      {"jane", "", {}, {}}, pods);
  }
  static net::HttpResponse status(int code, const std::string& reason, const std::string& message) {
    net::HttpResponse response;
    response.status = code;
    response.headers.add("Content-Type", "application/json");
    response.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                    R"("message":")" +
                    message + R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) +
                    "}";
    return response;
  }
  void hold(const std::string& name, const std::string& uid,
            const std::vector<std::string>& plugins) {
    std::vector<PermitHold> holds;
    for (const std::string& plugin : plugins) holds.push_back({plugin, std::chrono::minutes(1)});
    pods.hold(world.pod(name).uid(uid).build(), "node-1", holds);
  }
  int call(std::vector<std::string> args, bool tls = false) {
    args.insert(args.begin(), "permit");
    args.push_back("--server");
    args.push_back(net::testing::url(*server, "", tls ? "https" : "http"));
    out.str(""), err.str("");
    return run(args, out, err);
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  std::filesystem::path folder;
  std::ostringstream out, err;
  World world;
  VirtualLoop loop;
  WaitingPods pods{loop};
  Mutex mutex;
  std::vector<std::string> requests;
  std::string authorization, common_name;
  std::optional<net::HttpResponse> instead;
  std::unique_ptr<net::HttpServer> server;
};

TEST_F(PermitTest, ListsWhoWaitsForWhom) {
  serve(false);
  EXPECT_EQ(call({"list"}), 0);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_EQ(err.str(), "No pods are waiting.\n");
  hold("a-long-name", "u1", {"Gate", "Quota"});
  hold("b", "u2", {"Gate"});
  EXPECT_EQ(call({"list"}), 0) << err.str();
  EXPECT_EQ(out.str(),
            "NAMESPACE  NAME         NODE    PLUGINS\n"
            "default    a-long-name  node-1  Gate,Quota\n"
            "default    b            node-1  Gate\n");
  EXPECT_EQ(call({"list", "-n", "elsewhere"}), 0);
  EXPECT_EQ(err.str(), "No pods are waiting.\n");
}

TEST_F(PermitTest, ListsAsJson) {
  serve(false);
  EXPECT_EQ(call({"list", "-o", "json"}), 0);
  EXPECT_EQ(out.str(), "{\"items\":[]}\n");
  hold("a", "u1", {"Gate"});
  EXPECT_EQ(call({"list", "-o", "json"}), 0);
  EXPECT_EQ(out.str(), R"({"items":[{"namespace":"default","name":"a","uid":"u1","node":"node-1",)"
                       R"("plugins":["Gate"]}]})"
                       "\n");
}

TEST_F(PermitTest, LetsAPodGo) {
  serve(false);
  hold("a", "u1", {"Gate", "Quota"});
  EXPECT_EQ(call({"allow", "a", "--plugin", "Gate"}), 0) << err.str();
  EXPECT_EQ(out.str(), "pod default/a allowed for Gate on node node-1\n");
  EXPECT_EQ(call({"allow", "default/a"}), 0) << err.str();
  EXPECT_EQ(out.str(), "pod default/a allowed for Quota on node node-1\n");
  EXPECT_THAT(requests, ElementsAre("POST /debug/waiting-pods/default/a/allow?plugin=Gate",
                                    "POST /debug/waiting-pods/default/a/allow"));
}

TEST_F(PermitTest, TurnsAPodAway) {
  serve(false);
  hold("a", "u1", {"Gate"});
  EXPECT_EQ(call({"reject", "a", "-n", "default", "--message", "not today & never"}), 0)
      << err.str();
  EXPECT_EQ(out.str(), "pod default/a rejected for Gate on node node-1\n");
  EXPECT_THAT(requests, ElementsAre("POST /debug/waiting-pods/default/a/reject"
                                    "?message=not%20today%20%26%20never"));
}

TEST_F(PermitTest, SaysWhatIsWrongWithThePod) {
  serve(false);
  EXPECT_EQ(call({"allow", "gone"}), 1);
  EXPECT_EQ(err.str(), "berth: pod \"default/gone\" is not waiting\n");
  hold("a", "u1", {"Gate"});
  EXPECT_EQ(call({"allow", "a", "--plugin", "Other"}), 1);
  EXPECT_EQ(err.str(),
            "berth: plugin \"Other\" does not hold pod \"default/a\"; it is held by Gate\n");
}

TEST_F(PermitTest, SaysWhoMayAndWhoMayNot) {
  serve(false);
  instead = status(401, "Unauthorized", "Unauthorized");
  EXPECT_EQ(call({"list"}), 1);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("does not know who asks: Unauthorized"),
                               HasSubstr("--kubeconfig FILE or --token-file FILE")));
  instead = status(403, "Forbidden",
                   R"(forbidden: User \"jane\" cannot get path \"/debug/waiting-pods\")");
  EXPECT_EQ(call({"list"}), 1);
  EXPECT_THAT(err.str(), AllOf(HasSubstr(R"(forbidden: User "jane" cannot get path)"),
                               HasSubstr("nonResourceURLs /debug/waiting-pods and "
                                         "/debug/waiting-pods/*")));
}

TEST_F(PermitTest, KnowsAServerThatIsNoBerth) {
  serve(false);
  instead = net::HttpResponse{404, {{"Content-Type", "text/plain"}}, "404 page not found\n"};
  EXPECT_EQ(call({"list"}), 1);
  EXPECT_THAT(err.str(), HasSubstr("it is no berth scheduler"));
  instead = net::HttpResponse{200, {{"Content-Type", "text/html"}}, "<html>"};
  EXPECT_EQ(call({"list"}), 1);
  EXPECT_THAT(err.str(), HasSubstr("answered with what is no JSON"));
  instead = net::HttpResponse{200, {{"Content-Type", "application/json"}}, "{}"};
  EXPECT_EQ(call({"list"}), 1);
  EXPECT_EQ(err.str(), "berth: the scheduler answered without a list of pods\n");
}

TEST_F(PermitTest, NobodyThere) {
  serve(false);
  const std::string address = net::testing::url(*server, "");
  server.reset();
  EXPECT_EQ(run({"permit", "list", "--server", address}, out, err), 1);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("cannot ask the scheduler at " + address),
                               HasSubstr("connection refused")));
}

TEST_F(PermitTest, TrustsOnlyWhomItIsToldTo) {
  serve(true);
  EXPECT_EQ(call({"list"}, true), 1);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("certificate"), HasSubstr("--insecure-skip-tls-verify")));
  EXPECT_EQ(call({"list", "--insecure-skip-tls-verify"}, true), 0) << err.str();
  const std::string authority =
      file("ca.pem", net::testing::certificates().authority.certificate_pem);
  EXPECT_EQ(call({"list", "--certificate-authority", authority}, true), 0) << err.str();
}

TEST_F(PermitTest, ShowsWhoWeAre) {
  serve(true);
  const std::string token = file("token", "t0ken\n");
  EXPECT_EQ(call({"list", "--insecure-skip-tls-verify", "--token-file", token}, true), 0)
      << err.str();
  EXPECT_EQ(authorization, "Bearer t0ken");

  file("client.pem", net::testing::certificates().client.certificate_pem);
  file("client.key", net::testing::certificates().client.key_pem);
  file("ca.pem", net::testing::certificates().authority.certificate_pem);
  const std::string kubeconfig = file("config", R"(apiVersion: v1
kind: Config
current-context: c
clusters: [{name: k, cluster: {server: "https://api:6443", certificate-authority: ca.pem}}]
users: [{name: u, user: {client-certificate: client.pem, client-key: client.key}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
)");
  EXPECT_EQ(call({"list", "--kubeconfig", kubeconfig}, true), 0) << err.str();
  EXPECT_EQ(common_name, "jane");
  EXPECT_EQ(call({"list", "--kubeconfig", (folder / "none").string()}, true), 1);
  EXPECT_THAT(err.str(), HasSubstr("no such file or directory"));
}

TEST_F(PermitTest, WhatDoesNotGoTogetherIsWrongUsage) {
  struct Case {
    std::vector<std::string> args;
    const char* complaint;
  };
  for (const Case& c : {
           Case{{"permit"}, "action"},
           Case{{"permit", "look"}, "\"look\" is none of list, allow, reject"},
           Case{{"permit", "list", "a"}, "list takes no pod"},
           Case{{"permit", "list", "--plugin", "P"}, "--plugin goes with allow and reject"},
           Case{{"permit", "allow"}, "which pod?"},
           Case{{"permit", "allow", "a/b/c"}, "neither NAME nor NAMESPACE/NAME"},
           Case{{"permit", "allow", "/b"}, "neither NAME nor NAMESPACE/NAME"},
           Case{{"permit", "allow", "a/b", "-n", "c"}, "is not in the namespace \"c\""},
           Case{{"permit", "allow", "a", "--message", "m"}, "--message goes with reject"},
           Case{{"permit", "list", "--server", "ftp://x"}, "neither https:// nor http://"},
           Case{{"permit", "list", "-o", "yaml"}, "is none of json, table"},
           Case{{"permit", "list", "--insecure-skip-tls-verify", "--certificate-authority", "f"},
                "exclude each other"},
       }) {
    out.str(""), err.str("");
    EXPECT_EQ(run(c.args, out, err), 2) << c.complaint;
    EXPECT_THAT(err.str(), AllOf(HasSubstr(c.complaint), HasSubstr("(see `berth permit --help`)")));
  }
}

TEST_F(PermitTest, HelpTellsOfTheFlags) {
  EXPECT_EQ(run({"permit", "--help"}, out, err), 0);
  for (const char* word : {"list, allow or reject", "--server", "https://127.0.0.1:10259",
                           "--kubeconfig", "--token-file", "--certificate-authority",
                           "--insecure-skip-tls-verify", "--plugin", "--message", "-n"}) {
    EXPECT_THAT(out.str(), HasSubstr(word));
  }
}

}  // namespace
}  // namespace berth::app
