#include "kube/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/names.h"
#include "base/time_text.h"

namespace berth::kube {
namespace {

struct CredentialsTest : ::testing::Test {
  std::string path;
  VirtualLoop loop;
  ClientConfig config;
  int runs = 0;
  Result<ProcessResult> answer = ProcessResult{};
  std::vector<std::pair<std::string, std::string>> environment;

  CredentialsTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path = ::testing::TempDir() + "berth_token_" + test->name();
    config.server = "https://h";
  }
  ~CredentialsTest() override { std::filesystem::remove(path); }

  Credentials credentials() {
    return Credentials(config, loop, [this](const auto&, const auto&, const auto& given) {
      ++runs;
      environment = given;
      return answer;
    });
  }
  void use_plugin(const std::string& version = "client.authentication.k8s.io/v1") {
    config.exec.emplace();
    config.exec->command = "login";
    config.exec->api_version = version;
  }
  void print(const std::string& status) {
    answer = ProcessResult{
        0, R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
               status + "}"};
  }
  std::string complaint() { return credentials().current().error().message; }
};

TEST_F(CredentialsTest, ATokenFileIsReadAgainBeforeAMinuteIsOver) {
  config.token_file = path;
  ASSERT_TRUE(write_file(path, " one\n"));
  Credentials those = credentials();
  EXPECT_EQ(those.current()->bearer_token, "one");
  ASSERT_TRUE(write_file(path, "two"));
  loop.run_until(loop.now() + seconds(49));
  EXPECT_EQ(those.current()->bearer_token, "one");
  loop.run_until(loop.now() + seconds(1));
  EXPECT_EQ(those.current()->bearer_token, "two");
}

TEST_F(CredentialsTest, AFileThatIsGoneForAWhileDoesNotMatter) {
  config.token_file = path;
  ASSERT_TRUE(write_file(path, "one"));
  Credentials those = credentials();
  ASSERT_TRUE(those.current());
  std::filesystem::remove(path);
  loop.run_until(loop.now() + seconds(60));
  EXPECT_EQ(those.current()->bearer_token, "one");
}

TEST_F(CredentialsTest, ARefusedTokenIsReadAgainAtOnce) {
  config.token_file = path;
  ASSERT_TRUE(write_file(path, "one"));
  Credentials those = credentials();
  const Credential first = *those.current();
  ASSERT_TRUE(write_file(path, "two"));
  those.refuse(first);
  EXPECT_EQ(those.current()->bearer_token, "two");
}

TEST_F(CredentialsTest, AFileThatNeverWasIsAnError) {
  config.token_file = path;
  EXPECT_EQ(complaint(), "failed to read token file \"" + path + "\": open " + path +
                             ": no such file or directory");
  ASSERT_TRUE(write_file(path, "\n"));
  EXPECT_EQ(complaint(), "read empty token from file \"" + path + "\"");
}

TEST_F(CredentialsTest, APluginIsAskedOnceUntilItsAnswerExpires) {
  use_plugin();
  print(R"({"token":"t","expirationTimestamp":")" + rfc3339(loop.wall_now() + seconds(100)) +
        "\"}");
  Credentials those = credentials();
  EXPECT_EQ(those.current()->bearer_token, "t");
  EXPECT_EQ(those.current()->bearer_token, "t");
  EXPECT_EQ(runs, 1);
  EXPECT_THAT(
      environment,
      ElementsAre(Pair("KUBERNETES_EXEC_INFO",
                       R"({"kind":"ExecCredential","apiVersion":)"
                       R"("client.authentication.k8s.io/v1","spec":{"interactive":false}})")));
  loop.run_until(loop.now() + seconds(101));
  EXPECT_TRUE(those.current());
  EXPECT_EQ(runs, 2);
}

TEST_F(CredentialsTest, ARefusedAnswerIsAskedForAgainOnce) {
  use_plugin();
  print(R"({"clientCertificateData":"c","clientKeyData":"k"})");
  Credentials those = credentials();
  const Credential first = *those.current();
  EXPECT_EQ(first, (Credential{"", "c", "k"}));
  print(R"({"token":"new"})");
  those.refuse(first);
  EXPECT_EQ(those.current()->bearer_token, "new");
  those.refuse(first);  // a late answer to the old one
  EXPECT_EQ(those.current()->bearer_token, "new");
  EXPECT_EQ(runs, 2);
}

TEST_F(CredentialsTest, APluginThatWantsToKnowIsToldAboutTheCluster) {
  use_plugin();
  config.exec->provide_cluster_info = true;
  config.ca_data = "ca";
  config.exec->env = {{"A", "b"}};
  print(R"({"token":"t"})");
  ASSERT_TRUE(credentials().current());
  EXPECT_THAT(environment, Contains(Pair("A", "b")));
  EXPECT_THAT(environment,
              Contains(Pair("KUBERNETES_EXEC_INFO",
                            R"({"kind":"ExecCredential","apiVersion":)"
                            R"("client.authentication.k8s.io/v1","spec":{"cluster":{"server":)"
                            R"("https://h","certificate-authority-data":"Y2E=","config":null},)"
                            R"("interactive":false}})")));
}

TEST_F(CredentialsTest, WhatIsWrongWithAPluginIsSaid) {
  use_plugin();
  answer = fail(ErrorKind::kNotFound, "");
  config.exec->install_hint = "Install it.";
  EXPECT_EQ(complaint(), "getting credentials: exec: executable login not found. Install it.");
  answer = ProcessResult{7, ""};
  EXPECT_EQ(complaint(), "getting credentials: exec: executable login failed with exit code 7");
  print("{}");
  EXPECT_EQ(complaint(),
            "getting credentials: exec plugin: didn't return a token or cert/key pair");
  print(R"({"clientKeyData":"k"})");
  EXPECT_EQ(complaint(),
            "getting credentials: exec plugin: returned only certificate or key, not both");
  config.exec->api_version = "client.authentication.k8s.io/v1beta1";
  EXPECT_EQ(complaint(),
            "getting credentials: exec plugin: plugin returned version "
            "\"client.authentication.k8s.io/v1\", expected client.authentication.k8s.io/v1beta1");
  config.exec->api_version = "v0";
  EXPECT_EQ(complaint(), "exec plugin: invalid apiVersion \"v0\"");
  config.exec->needs_terminal = true;
  config.exec->api_version = "client.authentication.k8s.io/v1";
  EXPECT_EQ(complaint(),
            "getting credentials: exec plugin cannot support interactive mode: standard input is "
            "not a terminal");
}

TEST_F(CredentialsTest, PlainTokensAndNothing) {
  EXPECT_EQ(*credentials().current(), Credential());
  config.token = "t";
  EXPECT_EQ(credentials().current()->bearer_token, "t");
  config.server = "http://h";
  EXPECT_EQ(*credentials().current(), Credential());
}

}  // namespace
}  // namespace berth::kube
