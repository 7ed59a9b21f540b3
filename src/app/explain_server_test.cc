#include "app/explain_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "app/cli.h"
#include "base/testing/names.h"
#include "base/thread.h"
#include "net/testing/loopback.h"
#include "serve/explanations.h"

namespace berth::app {
namespace {

// A scheduler's server, of which only the explanations are there.
struct ExplainServerTest : ::testing::Test {
  std::filesystem::path folder;
  std::ostringstream out, err;
  Mutex mutex;
  std::vector<std::string> requests;
  std::optional<explain::Answer> answer = std::vector<explain::Explanation>();
  serve::Background background{"explain-text"};
  std::unique_ptr<net::HttpServer> server;

  ExplainServerTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(::testing::TempDir()) /
             ("berth_explain_server_" + std::string(test->name()));
    std::filesystem::create_directories(folder);
    server = net::testing::start(
        {}, [this](net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
          const MutexLock lock(mutex);
          requests.push_back(request.method + " " + request.target + " " + request.body);
          serve::explain_pods(
              request, std::move(responder),
              [this](explain::Question, auto done) {
                done(answer);
                return [] {};
              },
              background);
        });
  }
  ~ExplainServerTest() override { std::filesystem::remove_all(folder); }

  static explain::Explanation pending(const std::string& pod) {
    explain::Explanation explanation;
    explanation.pod = pod;
    explanation.verdict = "Unschedulable";
    explanation.message = "0/1 nodes are available: 1 Insufficient cpu.";
    explanation.all_nodes = 1;
    explanation.queue = explain::Explanation::Queue();
    explain::Explanation::Queue& queue = *explanation.queue;
    queue.place = "backoff";
    queue.until = VirtualLoop::kDefaultStart;
    queue.attempts = 2;
    return explanation;
  }
  int call(std::vector<std::string> args) {
    args.insert(args.begin(), "explain");
    args.insert(args.end(), {"--server", net::testing::url(*server, "", "http")});
    out.str(""), err.str("");
    return run(args, out, err);
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
};

TEST_F(ExplainServerTest, AsksByNameAndShowsWhatOnlyTheSchedulerKnows) {
  answer = std::vector{pending("default/a")};
  EXPECT_EQ(call({"a", "pod/b", "team/c", "--node", "n1"}), 3) << err.str();
  EXPECT_THAT(requests, ElementsAre("GET /explain?node=n1&pod=default%2Fa&pod=default%2Fb&"
                                    "pod=team%2Fc "));
  EXPECT_EQ(out.str(),
            "default/a fits on no node\n"
            "  0/1 nodes are available: 1 Insufficient cpu.\n"
            "\n"
            "  In the queue: the pod backs off until 2026-01-01T00:00:00Z, after 2 attempts\n");
  EXPECT_EQ(call({"a", "-n", "team", "-o", "json"}), 3);
  EXPECT_EQ(requests.back(), "GET /explain?pod=team%2Fa ");
  EXPECT_THAT(out.str(), HasSubstr("\"place\": \"backoff\""));
  EXPECT_EQ(call({"a", "-o", "yaml"}), 3);
  EXPECT_THAT(out.str(), HasSubstr("place: backoff"));
  EXPECT_EQ(call({"a", "-o", "html"}), 3);
  EXPECT_THAT(out.str(), HasSubstr("default/a"));
}

TEST_F(ExplainServerTest, AllThatIsPendingMayBeNothing) {
  EXPECT_EQ(call({"--all-pending"}), 0) << err.str();
  EXPECT_THAT(requests, ElementsAre("GET /explain?all-pending=true "));
  EXPECT_EQ(err.str(), "no pod is pending\n");
}

TEST_F(ExplainServerTest, PodsInFilesAreSentOneByOne) {
  explain::Explanation fits;
  fits.pod = "default/new";
  fits.verdict = "Schedulable";
  fits.chosen = "n1";
  answer = std::vector{fits};
  const std::string pods = file("pods.yaml",
                                "apiVersion: v1\nkind: Pod\nmetadata: {name: new}\n"
                                "spec: {containers: [{name: c}]}\n---\n"
                                "apiVersion: v1\nkind: Pod\nmetadata: {name: other}\n"
                                "spec: {containers: [{name: c}]}\n");
  EXPECT_EQ(call({"-f", pods}), 0) << err.str();
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_THAT(requests[0], StartsWith("POST /explain {\"apiVersion\":\"v1\",\"kind\":\"Pod\""));
  EXPECT_THAT(out.str(), HasSubstr("it would go to n1"));
  const std::string claim = file("claim.yaml",
                                 "apiVersion: v1\nkind: PersistentVolumeClaim\n"
                                 "metadata: {name: c}\nspec: {accessModes: [ReadWriteOnce]}\n");
  EXPECT_EQ(call({"-f", claim}), 1);
  EXPECT_THAT(err.str(), HasSubstr("a PersistentVolumeClaim cannot be sent to the scheduler"));
}

TEST_F(ExplainServerTest, RefusalsAreOneLine) {
  answer = fail(ErrorKind::kNotFound, "pod \"default/a\" not found");
  EXPECT_EQ(call({"a"}), 1);
  EXPECT_EQ(err.str(), "berth: pod \"default/a\" not found\n");
  EXPECT_EQ(call({"a", "--cluster", "x.json"}), 2);
  EXPECT_THAT(err.str(), HasSubstr("explain takes either --server or --cluster and --context"));
  EXPECT_EQ(call({"a", "--profile", "p"}), 2);
  EXPECT_EQ(call({"a", "--token", "t", "--token-file", "f"}), 2);
  EXPECT_EQ(call({"a", "--client-key", "f"}), 2);
  out.str(""), err.str("");
  EXPECT_EQ(
      run(std::vector<std::string>{"explain", "a", "--cluster", "x", "--token", "t"}, out, err), 2);
  EXPECT_THAT(err.str(), HasSubstr("go with --server"));
}

}  // namespace
}  // namespace berth::app
