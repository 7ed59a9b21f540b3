#include "kube/client_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/names.h"
#include "kube/kubeconfig.h"

namespace berth::kube {
namespace {

constexpr char kNothingGiven[] =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
    "environment variable";

// `user` and `cluster` are inline YAML maps.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
         "contexts: [{name: here, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: " +
         cluster + "}]\nusers: [{name: u, user: " + user + "}]\n";
}

struct ClientConfigTest : ::testing::Test {
  std::filesystem::path folder;
  PodEnvironment pod;
  std::vector<std::string> warnings;

  ClientConfigTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder =
        std::filesystem::path(::testing::TempDir()) / ("berth_kube_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "pod");
    pod.service_account = (folder / "pod").string();
  }
  ~ClientConfigTest() override { std::filesystem::remove_all(folder); }

  std::string at(const std::string& name) const { return (folder / name).string(); }
  std::string file(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(at(name), text));
    return at(name);
  }
  Result<ClientConfig> load(const std::string& text, const std::string& master = "") {
    return load_client_config(master, file("config", text), pod, warnings);
  }
  std::string complaint(const std::string& text) {
    const Result<ClientConfig> config = load(text);
    return config ? "none" : config.error().message;
  }
  void be_in_a_pod() {
    pod.service_host = "10.0.0.1";
    pod.service_port = "443";
    file("pod/token", "secret\n");
    file("pod/ca.crt", "a certificate");
  }
};

TEST_F(ClientConfigTest, InlineData) {
  const Result<ClientConfig> config = load(kubeconfig(
      "{server: 'https://h:6443/', certificate-authority-data: Y2E=, tls-server-name: other}",
      "{client-certificate-data: Y2VydA==, client-key-data: a2V5}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://h:6443");
  EXPECT_EQ(config->ca_data, "ca");
  EXPECT_EQ(config->tls_server_name, "other");
  EXPECT_EQ(config->cert_data, "cert");
  EXPECT_EQ(config->key_data, "key");
  EXPECT_FALSE(config->insecure_skip_tls_verify);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(ClientConfigTest, FilesAreRelativeToTheKubeconfig) {
  file("ca.crt", ""), file("a.crt", ""), file("a.key", ""), file("token", "t");
  const Result<ClientConfig> config =
      load(kubeconfig("{server: 'https://h', certificate-authority: ca.crt}",
                      "{client-certificate: ./a.crt, client-key: pod/../a.key, tokenFile: token}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->ca_file, at("ca.crt"));
  EXPECT_EQ(config->cert_file, at("a.crt"));
  EXPECT_EQ(config->key_file, at("a.key"));
  EXPECT_EQ(config->token_file, at("token"));
}

TEST_F(ClientConfigTest, ExecPluginsHaveTheirOwnWords) {
  const Result<ClientConfig> config = load(kubeconfig(
      "{server: 'https://h'}",
      "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login, args: [a, b],"
      " env: [{name: NAME, value: V}], installHint: get it, provideClusterInfo: true}}"));
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->exec);
  EXPECT_EQ(config->exec->command, at("bin/login"));
  EXPECT_THAT(config->exec->args, ElementsAre("a", "b"));
  EXPECT_THAT(config->exec->env, ElementsAre(Pair("NAME", "V")));
  EXPECT_TRUE(config->exec->provide_cluster_info);
  EXPECT_FALSE(config->exec->needs_terminal);
}

TEST_F(ClientConfigTest, ABareCommandIsLookedForInPath) {
  const Result<ClientConfig> config =
      load(kubeconfig("{server: 'https://h'}",
                      "{exec: {apiVersion: client.authentication.k8s.io/v1, command: login, "
                      "interactiveMode: Never}}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->exec->command, "login");
}

TEST_F(ClientConfigTest, NoCredentialGoesOverTheWireInTheClear) {
  const Result<ClientConfig> config =
      load(kubeconfig("{server: 'http://h:8080', insecure-skip-tls-verify: true}",
                      "{token: secret, username: ''}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "http://h:8080");
  EXPECT_EQ(config->token, "");
}

TEST_F(ClientConfigTest, ImpersonationProxyAndInsecure) {
  const Result<ClientConfig> config = load(
      kubeconfig("{server: 'https://h', insecure-skip-tls-verify: true, proxy-url: 'socks5://p:1'}",
                 "{token: t, as: jane, as-uid: '7', as-groups: [g], as-user-extra: {k: [v, w]}}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->insecure_skip_tls_verify);
  EXPECT_EQ(config->proxy_url, "socks5://p:1");
  EXPECT_EQ(config->impersonate.user, "jane");
  EXPECT_EQ(config->impersonate.uid, "7");
  EXPECT_THAT(config->impersonate.groups, ElementsAre("g"));
  EXPECT_THAT(config->impersonate.extra, ElementsAre(Pair("k", ElementsAre("v", "w"))));
}

TEST_F(ClientConfigTest, MasterTakesTheServersPlaceAndForgetsItsName) {
  const Result<ClientConfig> config = load(
      kubeconfig("{server: 'https://h', tls-server-name: other, certificate-authority-data: Y2E=}",
                 "{token: t}"),
      "https://other:1/");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://other:1");
  EXPECT_EQ(config->tls_server_name, "");
  EXPECT_EQ(config->ca_data, "ca");
  EXPECT_EQ(config->token, "t");
}

TEST_F(ClientConfigTest, MasterAloneIsEnough) {
  const Result<ClientConfig> config = load_client_config("10.0.0.1:8080", "", pod, warnings);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "http://10.0.0.1:8080");
  EXPECT_FALSE(config->uses_tls());
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(ClientConfigTest, NothingAtAll) {
  const Result<ClientConfig> config = load_client_config("", "", pod, warnings);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, kNothingGiven);
  EXPECT_THAT(
      warnings,
      ElementsAre("Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  "
                  "This might not work.",
                  "error creating inClusterConfig, falling back to default config: unable to load "
                  "in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                  "must be defined"));
}

TEST_F(ClientConfigTest, InAPod) {
  be_in_a_pod();
  const Result<ClientConfig> config = load_client_config("", "", pod, warnings);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token_file, at("pod/token"));
  EXPECT_EQ(config->ca_file, at("pod/ca.crt"));
  EXPECT_THAT(warnings, SizeIs(1));

  pod.service_host = "fd00::1";
  EXPECT_EQ(in_cluster_config(pod, warnings)->server, "https://[fd00::1]:443");
}

TEST_F(ClientConfigTest, AnEmptyKubeconfigInAPodMeansThePodsCluster) {
  be_in_a_pod();
  EXPECT_EQ(load("")->server, "https://10.0.0.1:443");
  pod.service_host.clear();
  EXPECT_EQ(complaint(""), kNothingGiven);
}

TEST_F(ClientConfigTest, APodWithoutARootCertificateIsWarnedAbout) {
  be_in_a_pod();
  std::filesystem::remove(at("pod/ca.crt"));
  const Result<ClientConfig> config = in_cluster_config(pod, warnings);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->ca_file, "");
  EXPECT_THAT(warnings, ElementsAre("Expected to load root CA config from " + at("pod/ca.crt") +
                                    ", but got err: open " + at("pod/ca.crt") +
                                    ": no such file or directory"));
}

TEST_F(ClientConfigTest, OptionalOnesMayBeAbsentButNotWrong) {
  EXPECT_FALSE(load_optional_client_config("", pod)->has_value());
  be_in_a_pod();
  EXPECT_EQ((*load_optional_client_config("", pod))->server, "https://10.0.0.1:443");
  EXPECT_EQ(load_optional_client_config(at("none"), pod).error().message,
            "stat " + at("none") + ": no such file or directory");
}

TEST_F(ClientConfigTest, WhatIsWrongIsSaidInOneLine) {
  const std::string server = "{server: 'https://h'}";
  const std::string in_file = "error loading config file \"" + at("config") + "\": ";
  const std::string invalid = "invalid configuration: ";
  struct Row {
    std::string text, message;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"a: [b", in_file + "yaml: line 2: did not find expected ',' or ']'"},
           {"kind: Foo\napiVersion: v1",
            in_file + "no kind \"Foo\" is registered for version \"v1\" in scheme "
                      "\"pkg/runtime/scheme.go:111\""},
           {"clusters: {a: b}", in_file + "json: cannot unmarshal object into Go struct field "
                                          "Config.clusters of type list"},
           {kubeconfig("{server: 'https://h', certificate-authority-data: '!!!'}", "{}"),
            in_file + "illegal base64 data at input byte 0"},
           {"clusters: [{name: a}, {name: a}]", in_file + "duplicate name \"a\" in list clusters"},
           {"current-context: gone", invalid +
                                         "[context was not found for specified context: gone, "
                                         "cluster has no server defined]"},
           {kubeconfig("{tls-server-name: other}", "{}"),
            invalid + "no server found for cluster \"c\""},
           {kubeconfig(server, "{client-certificate-data: Y2VydA==}"),
            invalid + "client-key-data or client-key must be specified for u to use the clientCert "
                      "authentication method."},
           {kubeconfig(server, "{client-certificate: /none/c, client-key-data: a2V5}"),
            invalid + "unable to read client-cert /none/c for u due to open /none/c: no such file "
                      "or directory"},
           {kubeconfig("{server: 'https://h', certificate-authority: /none/ca}", "{}"),
            invalid +
                "unable to read certificate-authority /none/ca for c due to open /none/ca: no "
                "such file or directory"},
           {kubeconfig(server, "{token: t, username: me, password: p}"),
            invalid + "more than one authentication method found for u; found [token basicAuth], "
                      "only one is allowed"},
           {kubeconfig(server, "{as-groups: [g]}"),
            invalid + "requesting uid, groups or user-extra for u without impersonating a user"},
           {kubeconfig(server, "{exec: {command: c, apiVersion: client.authentication.k8s.io/v1}}"),
            invalid + "interactiveMode must be specified for u to use exec authentication plugin"},
           {kubeconfig(server, "{exec: {}}"),
            invalid + "[command must be specified for u to use exec authentication plugin, "
                      "apiVersion must be specified for u to use exec authentication plugin, "
                      "interactiveMode must be specified for u to use exec authentication plugin]"},
           {kubeconfig("{server: 'https://h', proxy-url: 'ftp://p'}", "{}"),
            invalid + "invalid 'proxy-url' \"ftp://p\" for cluster \"c\": unsupported scheme "
                      "\"ftp\", must be http, https, or socks5"},
           {kubeconfig(server, "{tokenFile: /none/t}"), "open /none/t: no such file or directory"},
           {kubeconfig("{server: 'https://a b'}", "{}"),
            "host must be a URL or a host:port pair: \"https://a b\""},
       }) {
    EXPECT_EQ(complaint(row.text), row.message) << row.text;
  }
}

TEST_F(ClientConfigTest, AMissingFileIsNamed) {
  EXPECT_EQ(load_client_config("", at("none"), pod, warnings).error().message,
            "stat " + at("none") + ": no such file or directory");
  EXPECT_EQ(load_client_config("", folder.string(), pod, warnings).error().message,
            "error loading config file \"" + folder.string() + "\": read " + folder.string() +
                ": is a directory");
}

TEST(Kubeconfig, KeepsAllContexts) {
  const Result<Kubeconfig> config = parse_kubeconfig(
      "contexts: [{name: a, context: {cluster: c, user: u, namespace: shop}}, {name: b}]\n"
      "preferences: {colors: true}\n",
      "/folder");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_THAT(config->contexts, SizeIs(2));
  EXPECT_EQ(config->contexts.at("a").user, "u");
  EXPECT_EQ(config->contexts.at("a").namespace_name, "shop");
}

}  // namespace
}  // namespace berth::kube
