#include "kube/kubectl_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/names.h"

namespace berth::kube {
namespace {

constexpr char kTwo[] = R"(
apiVersion: v1
kind: Config
current-context: east
contexts:
- {name: east, context: {cluster: e, user: u, namespace: shop}}
- {name: west, context: {cluster: w, user: u}}
- {name: nowhere, context: {user: u}}
- {name: lost, context: {cluster: gone, user: u}}
- {name: empty, context: {cluster: empty, user: u}}
- {name: unknown, context: {cluster: e, user: gone}}
- {name: odd, context: {cluster: e, user: odd}}
- {name: open, context: {cluster: e}}
clusters:
- {name: e, cluster: {server: 'https://east:6443', certificate-authority-data: Y2E=}}
- {name: w, cluster: {server: 'https://west:6443'}}
- {name: empty, cluster: {}}
users:
- {name: u, user: {token: t}}
- {name: odd, user: {exec: {command: c, apiVersion: client.authentication.k8s.io/v1}}}
)";

struct KubectlConfigTest : ::testing::Test {
  KubectlConfigTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(::testing::TempDir()) /
             ("berth_kubectl_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "home/.kube");
    std::filesystem::create_directories(folder / "pod");
    environment.home = at("home");
    environment.pod.service_account = at("pod");
  }
  ~KubectlConfigTest() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string& name) const { return (folder / name).string(); }
  std::string file(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(at(name), text));
    return at(name);
  }
  // A file with one cluster, user and context of that name.
  std::string one(const std::string& name, const std::string& current = "") {
    return file(name, "apiVersion: v1\nkind: Config\ncurrent-context: '" + current +
                          "'\ncontexts: [{name: " + name + ", context: {cluster: " + name +
                          ", user: " + name + "}}, {name: both, context: {cluster: " + name +
                          ", user: " + name + "}}]\nclusters: [{name: " + name +
                          ", cluster: {server: 'https://" + name + "'}}]\nusers: [{name: " + name +
                          ", user: {token: of-" + name + "}}]\n");
  }
  Result<KubectlConfig> load(const std::string& kubeconfig, const std::string& context = "") {
    return load_kubectl_config(kubeconfig, context, environment);
  }
  std::string fault(const std::string& kubeconfig, const std::string& context = "") {
    const Result<KubectlConfig> config = load(kubeconfig, context);
    return config ? "none" : config.error().message;
  }

  std::filesystem::path folder;
  KubectlEnvironment environment;
};

TEST_F(KubectlConfigTest, TheCurrentContextOrTheOneThatIsNamed) {
  const std::string path = file("config", kTwo);
  const Result<KubectlConfig> current = load(path);
  ASSERT_TRUE(current) << current.error().message;
  EXPECT_EQ(current->client.server, "https://east:6443");
  EXPECT_EQ(current->client.token, "t");
  EXPECT_EQ(current->context, "east");
  EXPECT_EQ(current->user, "u");
  EXPECT_EQ(current->namespace_name, "shop");
  const Result<KubectlConfig> west = load(path, "west");
  ASSERT_TRUE(west) << west.error().message;
  EXPECT_EQ(west->client.server, "https://west:6443");
  EXPECT_EQ(west->client.ca_data, "");
  EXPECT_EQ(west->namespace_name, "default");
  const Result<KubectlConfig> open = load(path, "open");
  ASSERT_TRUE(open) << open.error().message;
  EXPECT_EQ(open->user, "");
}

TEST_F(KubectlConfigTest, WhatIsWrongIsSaidInOneLine) {
  const std::string path = file("config", kTwo);
  struct Row {
    const char* context;
    std::string message;
  };
  for (const Row& row : {
           Row{"north", path + " has no context \"north\" (it has east, empty, lost, nowhere, odd, "
                               "open, unknown, west)"},
           Row{"nowhere", path + ": the context \"nowhere\" names no cluster"},
           Row{"lost",
               path + ": the context \"lost\" names the cluster \"gone\", which is not there"},
           Row{"empty", path + ": the cluster \"empty\" has no server"},
           Row{"unknown",
               path + ": the context \"unknown\" names the user \"gone\", which is not there"},
           Row{"odd", path + ": invalid configuration: interactiveMode must be specified for odd "
                             "to use exec authentication plugin"},
       })
    EXPECT_EQ(fault(path, row.context), row.message);
  EXPECT_EQ(fault(at("none")), "stat " + at("none") + ": no such file or directory");
  EXPECT_EQ(fault(file("broken", "a: [b")),
            "error loading config file \"" + at("broken") +
                "\": yaml: line 2: did not find expected ',' or ']'");
  EXPECT_EQ(fault(one("alone")), at("alone") +
                                     " has no current context: --context NAME chooses one (it has "
                                     "alone, both)");
  EXPECT_EQ(fault(file("nothing", "")),
            at("nothing") + " has no current context: --context NAME chooses one (it has none)");
}

TEST_F(KubectlConfigTest, AFileThatIsNamedCountsAlone) {
  one("a", "a"), one("b", "b");
  environment.kubeconfig = at("a");
  file("home/.kube/config", kTwo);
  EXPECT_EQ(load(at("b"))->client.server, "https://b");
  EXPECT_EQ(load("")->client.server, "https://a");
  environment.kubeconfig.clear();
  EXPECT_EQ(load("")->client.server, "https://east:6443");
}

TEST_F(KubectlConfigTest, SeveralFilesAreMergedAndTheFirstThatHasSomethingCounts) {
  one("a"), one("b", "b"), one("c", "c");
  environment.kubeconfig = at("missing") + "::" + at("a") + ":" + at("b") + ":" + at("c");
  const Result<KubectlConfig> current = load("");
  ASSERT_TRUE(current) << current.error().message;
  EXPECT_EQ(current->context, "b");
  EXPECT_EQ(current->client.token, "of-b");
  EXPECT_EQ(load("", "c")->client.token, "of-c");
  EXPECT_EQ(load("", "both")->client.token, "of-a");
  EXPECT_EQ(fault("", "d"), at("missing") + ", " + at("a") + ", " + at("b") + ", " + at("c") +
                                " has no context \"d\" (it has a, b, both, c)");
}

TEST_F(KubectlConfigTest, PathsAreRelativeToTheFileThatHasThem) {
  std::filesystem::create_directories(at("other"));
  file("other/token", "secret");
  file("other/config",
       "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n"
       "clusters: [{name: x, cluster: {server: 'https://x'}}]\n"
       "users: [{name: x, user: {tokenFile: token}}]\n");
  environment.kubeconfig = one("a") + ":" + at("other/config");
  const Result<KubectlConfig> config = load("");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->client.token_file, at("other/token"));
}

TEST_F(KubectlConfigTest, WithoutAnyFileAPodUsesItsOwnCluster) {
  EXPECT_EQ(fault(""), "which cluster? --kubeconfig FILE says where it is (" +
                           at("home/.kube/config") + " does not exist)");
  environment.pod.service_host = "10.0.0.1";
  environment.pod.service_port = "443";
  EXPECT_EQ(fault(""), "open " + at("pod/token") + ": no such file or directory");
  file("pod/token", "secret");
  ASSERT_TRUE(load(""));
  EXPECT_EQ(load("")->namespace_name, "default");
  file("pod/namespace", "kube-system");
  const Result<KubectlConfig> config = load("");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->client.server, "https://10.0.0.1:443");
  EXPECT_EQ(config->context, "");
  EXPECT_EQ(config->namespace_name, "kube-system");
  // A context is of a kubeconfig.
  EXPECT_THAT(fault("", "east"), StartsWith("which cluster? "));
  environment.kubeconfig = one("a", "a");
  EXPECT_EQ(load("")->client.server, "https://a");
  environment = {};
  EXPECT_EQ(fault(""),
            "which cluster? --kubeconfig FILE says where it is (neither $KUBECONFIG nor $HOME is "
            "set)");
}

}  // namespace
}  // namespace berth::kube
