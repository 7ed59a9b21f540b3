// What is said about files that cannot be read. The sentences are those of kube-scheduler v1.37.1,
// taken from runs of it.
#include <gtest/gtest.h>

#include "config/testing/parse.h"

namespace berth::config {
namespace {

constexpr std::string_view kInScheme = " in scheme \"pkg/runtime/scheme.go:111\"";
constexpr std::string_view kNoTypeMeta =
    " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
    "string \"json:\\\"kind,omitempty\\\"\" }";

TEST(Decode, AnObjectMustSayWhatItIs) {
  const std::string no_type =
      "couldn't get version/kind; json parse error: json: cannot unmarshal ";
  const struct {
    std::string text;
    std::string error;
  } cases[] = {
      {"", "Object 'Kind' is missing in ''"},
      {"{}", "Object 'Kind' is missing in '{}'"},
      {"# nothing\n", "Object 'Kind' is missing in '# nothing\n'"},
      {"a: b\n", "Object 'Kind' is missing in 'a: b\n'"},
      {"apiVersion: v1\n", "Object 'Kind' is missing in 'apiVersion: v1\n'"},
      {"kind: X\n", "Object 'apiVersion' is missing in 'kind: X\n'"},
      {"kind: X\napiVersion: kubescheduler.config.k8s.io/\n",
       "Object 'apiVersion' is missing in 'kind: X\napiVersion: kubescheduler.config.k8s.io/\n'"},
      {"kind: Foo\napiVersion: v1\n",
       "no kind \"Foo\" is registered for version \"v1\"" + std::string(kInScheme)},
      {"kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3\n",
       "no kind \"KubeSchedulerConfiguration\" is registered for version "
       "\"kubescheduler.config.k8s.io/v1beta3\"" +
           std::string(kInScheme)},
      {"kind: Foo\napiVersion: kubescheduler.config.k8s.io/v1\n",
       "no kind \"Foo\" is registered for version \"kubescheduler.config.k8s.io/v1\"" +
           std::string(kInScheme)},
      {"kind: FooArgs\napiVersion: kubescheduler.config.k8s.io/v1\n",
       "no kind \"FooArgs\" is registered for version \"kubescheduler.config.k8s.io/v1\"" +
           std::string(kInScheme)},
      {"kind: NodeAffinityArgs\napiVersion: kubescheduler.config.k8s.io/v1\n",
       "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
       "Kind=NodeAffinityArgs: "},
      {"kind: NodeAffinityArgs\napiVersion: kubescheduler.config.k8s.io/v1\nfoo: 1\n",
       "strict decoding error: unknown field \"foo\""},
      {"kind: KubeSchedulerConfiguration\napiVersion: a/b/c\n",
       "unexpected GroupVersion string: a/b/c"},
      {"kind: 3\napiVersion: v1\n", no_type + "number into Go struct field .kind of type string"},
      {"- a\n", no_type + "array" + std::string(kNoTypeMeta)},
      {"foo\n", no_type + "string" + std::string(kNoTypeMeta)},
      {"5\n", no_type + "number" + std::string(kNoTypeMeta)},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(error_of(text), error) << text;
}

TEST(Decode, JsonMustBeJson) {
  // What begins with a brace is not tried as YAML.
  EXPECT_EQ(error_of("{kind: Foo, apiVersion: v1}"),
            "couldn't get version/kind; json parse error: invalid character 'k' looking for "
            "beginning of object key string");
  EXPECT_EQ(error_of("{\"kind\": \"Foo\""),
            "couldn't get version/kind; json parse error: unexpected end of JSON input");
  EXPECT_EQ(error_of(R"({"kind":"KubeSchedulerConfiguration"}{"a":1})"),
            "couldn't get version/kind; json parse error: invalid character '{' after top-level "
            "value");
  EXPECT_TRUE(
      parse(" \n{\"kind\":\"KubeSchedulerConfiguration\","
            "\"apiVersion\":\"kubescheduler.config.k8s.io/v1\",\"parallelism\":5}"));
}

TEST(Decode, OfSeveralYamlDocumentsTheFirstOneCounts) {
  EXPECT_EQ(parse("# intro\n---\n" + file("parallelism: 5\n---\nfoo: [\n"))->parallelism, 5);
  EXPECT_EQ(parse(file("parallelism: 6\n...\nfoo: bar\n"))->parallelism, 6);
  EXPECT_EQ(error_of("---\n---\nkind: X\n"), "Object 'Kind' is missing in '---\n---\nkind: X\n'");
}

TEST(Decode, NullIsAsIfNothingWereWritten) {
  for (const std::string_view text :
       {"parallelism: null", "leaderElection: null", "profiles: null", "profiles: [null]",
        "profiles: [{plugins: null}]", "profiles: [{pluginConfig: [null]}]",
        "profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: null}]}}}]"}) {
    EXPECT_EQ(error_of(file(text)), "") << text;
  }
}

TEST(Decode, ADurationThatIsNoneEndsDecodingAtOnce) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{leaseDuration: abc}", "time: invalid duration \"abc\""},
      {"{leaseDuration: null}", "time: invalid duration \"\""},
      {"{leaseDuration: \"5\"}", "time: missing unit in duration \"5\""},
      {"{leaseDuration: 5x}", "time: unknown unit \"x\" in duration \"5x\""},
      {"{leaderElect: \"no bool\", leaseDuration: abc, foo: 1}", "time: invalid duration \"abc\""},
  };
  for (const auto& [election, error] : cases) {
    EXPECT_EQ(error_of(file("leaderElection: " + std::string(election))), error) << election;
  }
}

TEST(Decode, Base64IsCheckedToTheByte) {
  const std::pair<std::string_view, int> cases[] = {
      {"!!!", 0}, {"aGVsbG8", 4}, {"aGVsbA=", 7}, {"aGVsbA==x", 8}, {"a=Vs", 1}, {"aGVsb$8=", 5}};
  for (const auto& [data, offset] : cases) {
    EXPECT_EQ(error_of(file("extenders: [{tlsConfig: {certData: \"" + std::string(data) + "\"}}]")),
              "illegal base64 data at input byte " + std::to_string(offset))
        << data;
  }
  const auto configuration = parse(file("extenders: [{tlsConfig: {caData: aGVsbG8=}}]"));
  EXPECT_EQ(configuration->extenders.front().tls->ca_data, "hello");
}

TEST(Decode, UnknownFieldsAreListedWithTheirPaths) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"zoo: 1\nfoo: 1\nprofiles: [{b: 1, a: 2}]",
       R"(unknown field "foo", unknown field "profiles[0].a", unknown field "profiles[0].b", )"
       R"(unknown field "zoo")"},
      {"profiles: [{}, {plugins: {score: {foo: 3}, bar: 4, Score: {}}}]",
       R"(unknown field "profiles[1].plugins.Score", unknown field "profiles[1].plugins.bar", )"
       R"(unknown field "profiles[1].plugins.score.foo")"},
      {"extenders: [{foo: 1, tlsConfig: {bar: 2}, managedResources: [{baz: 3}]}]",
       R"(unknown field "extenders[0].foo", unknown field "extenders[0].managedResources[0].baz", )"
       R"(unknown field "extenders[0].tlsConfig.bar")"},
      {"Parallelism: 3", R"(unknown field "Parallelism")"},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(error_of(file(text)), "strict decoding error: " + std::string(error)) << text;
  }
}

TEST(Decode, AValueOfTheWrongTypeOutranksUnknownFields) {
  EXPECT_EQ(error_of(file("aaa: 1\nparallelism: x")),
            type_error("string", "KubeSchedulerConfiguration.parallelism", "int32"));
}

TEST(Decode, AKeyThatStandsTwiceIsAnError) {
  EXPECT_EQ(error_of(file("parallelism: 5\nparallelism: 6\n")),
            "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"parallelism\" already "
            "set in map");
  const std::string json = R"({"kind":"KubeSchedulerConfiguration",)"
                           R"("apiVersion":"kubescheduler.config.k8s.io/v1",)";
  EXPECT_EQ(error_of(json + R"("parallelism":3,"parallelism":4})"),
            "strict decoding error: duplicate field \"parallelism\"");
  // JSON keeps its order; what is unknown is only said once.
  EXPECT_EQ(error_of(json + R"("foo":3,"foo":4,"clientConnection":{"a":{"b":1,"b":2}},)"
                            R"("profiles":[{"a":1,"plugins":{"score":{"enabled":)"
                            R"([{"name":"a","name":"b"}]}}}]})"),
            "strict decoding error: unknown field \"foo\", unknown field \"clientConnection.a\", "
            "unknown field \"profiles[0].a\", duplicate field "
            "\"profiles[0].plugins.score.enabled[0].name\"");
}

TEST(Decode, ArgumentsAreStrictToo) {
  const std::string place = "decoding .profiles[0].pluginConfig[0]: ";
  const std::string strict = "strict decoding error: ";
  EXPECT_EQ(error_of(with_args("InterPodAffinity", "{foo: 1}") + "foo: 3\n"),
            strict + "unknown field \"foo\", " + place + strict +
                "decoding args for plugin InterPodAffinity: " + strict + "unknown field \"foo\"");
  EXPECT_EQ(error_of(file("profiles: [{pluginConfig: [{name: InterPodAffinity, args: {a: 1}}, "
                          "{name: NodeAffinity, args: {b: 1, addedAffinity: {c: 2}}}]}]")),
            strict + place + strict + "decoding args for plugin InterPodAffinity: " + strict +
                "unknown field \"a\", decoding .profiles[0].pluginConfig[1]: " + strict +
                "decoding args for plugin NodeAffinity: " + strict +
                "unknown field \"addedAffinity.c\", unknown field \"b\"");
  EXPECT_EQ(error_of(with_args("DynamicResources", "{filterTimeout: abc}")),
            place + "decoding args for plugin DynamicResources: time: invalid duration \"abc\"");
}

TEST(Decode, ArgumentsMustBeOfThePluginsKind) {
  const std::string place = "decoding .profiles[0].pluginConfig[0]: ";
  const std::string args = place + "decoding args for plugin InterPodAffinity: ";
  const std::string other = place +
                            "args for plugin InterPodAffinity were not of type "
                            "InterPodAffinityArgs.kubescheduler.config.k8s.io, got "
                            "NodeAffinityArgs.kubescheduler.config.k8s.io";
  const std::pair<std::string_view, std::string> cases[] = {
      {"{kind: InterPodAffinityArgs, apiVersion: kubescheduler.config.k8s.io/v1}", ""},
      {"{kind: InterPodAffinityArgs}", ""},
      {"{apiVersion: kubescheduler.config.k8s.io/v1}", ""},
      {"null", ""},
      {"{kind: NodeAffinityArgs}", other},
      {"{kind: NodeAffinityArgs, apiVersion: kubescheduler.config.k8s.io/v1, foo: 1}", other},
      {"{kind: FooArgs}",
       args + "no kind \"FooArgs\" is registered for version \"kubescheduler.config.k8s.io/v1\"" +
           std::string(kInScheme)},
      {"{apiVersion: foo/v1}",
       args + "no kind \"InterPodAffinityArgs\" is registered for version \"foo/v1\"" +
           std::string(kInScheme)},
      {"3", args + "couldn't get version/kind; json parse error: json: cannot unmarshal number" +
                std::string(kNoTypeMeta)},
  };
  for (const auto& [text, error] : cases) {
    EXPECT_EQ(error_of(with_args("InterPodAffinity", text)), error) << text;
  }
}

TEST(Decode, ArgumentsOfOtherPluginsAreKeptAsTheyAre) {
  const auto configuration = parse(
      file("profiles: [{pluginConfig: [{name: NodeName}, {name: Foo, args: {b: 1.50, a: [x]}}, "
           "{name: Bar, args: 3}]}]"));
  const std::vector<PluginConfig>& configs = configuration->profiles.front().plugin_config;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(configs[0].args));
  EXPECT_EQ(std::get<OpaqueArgs>(configs[1].args).json, R"({"a":["x"],"b":1.5})");
  EXPECT_EQ(std::get<OpaqueArgs>(configs[2].args).json, "3");
}

TEST(Decode, CoschedulingHasTheArgumentsOfSchedulerPlugins) {
  const auto args_of = [](std::string_view written) {
    const auto configuration = parse(with_args("Coscheduling", written));
    EXPECT_TRUE(configuration) << configuration.error().message;
    return std::get<CoschedulingArgs>(configuration->profiles.front().plugin_config[0].args);
  };
  const CoschedulingArgs defaults = args_of("{}");
  EXPECT_EQ(defaults.permit_waiting_time_seconds, 60);
  EXPECT_EQ(defaults.pod_group_backoff_seconds, 0);
  EXPECT_EQ(defaults.pod_group_reject_percentage, 10);
  const CoschedulingArgs all = args_of(
      "{apiVersion: kubescheduler.config.k8s.io/v1, kind: CoschedulingArgs, "
      "permitWaitingTimeSeconds: 0, podGroupBackoffSeconds: 7, podGroupRejectPercentage: 0}");
  EXPECT_EQ(all.permit_waiting_time_seconds, 0);
  EXPECT_EQ(all.pod_group_backoff_seconds, 7);
  EXPECT_EQ(all.pod_group_reject_percentage, 0);
  EXPECT_TRUE(error_of(with_args("Coscheduling", "{deniedPGExpirationTimeSeconds: 3}"))
                  .contains("unknown field \"deniedPGExpirationTimeSeconds\""));
}

constexpr std::string_view kEverything = R"(
parallelism: 7
leaderElection:
  {leaderElect: false, leaseDuration: 1m, renewDeadline: 30s, retryPeriod: 5s,
   resourceLock: leases, resourceName: lock, resourceNamespace: ns}
clientConnection: {kubeconfig: /k, acceptContentTypes: a, contentType: b, qps: 1.5, burst: 9}
enableProfiling: true
enableContentionProfiling: false
percentageOfNodesToScore: 40
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
delayCacheUntilActive: true
extenders:
- urlPrefix: "http://e"
  filterVerb: f
  prioritizeVerb: p
  preemptVerb: e
  bindVerb: b
  weight: 3
  enableHTTPS: true
  tlsConfig:
    {insecure: true, serverName: s, certFile: c, keyFile: k, caFile: a,
     certData: MQ==, keyData: Mg==, caData: Mw==}
  httpTimeout: 7s
  nodeCacheCapable: true
  managedResources: [{name: a.b/c, ignoredByScheduler: true}]
  ignorable: true
profiles: [{schedulerName: mine, percentageOfNodesToScore: 60}]
)";

TEST(Decode, EveryFieldArrives) {
  const auto configuration = parse(file(kEverything));
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(configuration->parallelism, 7);
  const LeaderElection& election = configuration->leader_election;
  EXPECT_FALSE(election.leader_elect);
  EXPECT_EQ(election.lease_duration, std::chrono::minutes(1));
  EXPECT_EQ(election.renew_deadline, std::chrono::seconds(30));
  EXPECT_EQ(election.retry_period, std::chrono::seconds(5));
  EXPECT_EQ(election.resource_name, "lock");
  EXPECT_EQ(election.resource_namespace, "ns");
  const ClientConnection& connection = configuration->client_connection;
  EXPECT_EQ(connection.kubeconfig, "/k");
  EXPECT_EQ(connection.accept_content_types, "a");
  EXPECT_EQ(connection.content_type, "b");
  EXPECT_EQ(connection.qps, 1.5F);
  EXPECT_EQ(connection.burst, 9);
  EXPECT_TRUE(configuration->enable_profiling);
  EXPECT_FALSE(configuration->enable_contention_profiling);
  EXPECT_EQ(configuration->percentage_of_nodes_to_score, 40);
  EXPECT_EQ(configuration->pod_initial_backoff_seconds, 2);
  EXPECT_EQ(configuration->pod_max_backoff_seconds, 20);
  EXPECT_TRUE(configuration->delay_cache_until_active);
  EXPECT_EQ(configuration->profiles.front().scheduler_name, "mine");
  EXPECT_EQ(configuration->profiles.front().percentage_of_nodes_to_score, 60);
}

TEST(Decode, EveryFieldOfAnExtenderArrives) {
  const auto configuration = parse(file(kEverything));
  ASSERT_TRUE(configuration) << configuration.error().message;
  ASSERT_EQ(configuration->extenders.size(), 1u);
  const ExtenderConfig& extender = configuration->extenders.front();
  EXPECT_EQ(extender.url_prefix, "http://e");
  EXPECT_EQ(extender.filter_verb, "f");
  EXPECT_EQ(extender.prioritize_verb, "p");
  EXPECT_EQ(extender.preempt_verb, "e");
  EXPECT_EQ(extender.bind_verb, "b");
  EXPECT_EQ(extender.weight, 3);
  EXPECT_TRUE(extender.enable_https);
  EXPECT_TRUE(extender.node_cache_capable);
  EXPECT_TRUE(extender.ignorable);
  EXPECT_EQ(extender.http_timeout, std::chrono::seconds(7));
  ASSERT_TRUE(extender.tls);
  EXPECT_TRUE(extender.tls->insecure);
  EXPECT_EQ(extender.tls->server_name, "s");
  EXPECT_EQ(extender.tls->cert_file + extender.tls->key_file + extender.tls->ca_file, "cka");
  EXPECT_EQ(extender.tls->cert_data + extender.tls->key_data + extender.tls->ca_data, "123");
  ASSERT_EQ(extender.managed_resources.size(), 1u);
  EXPECT_EQ(extender.managed_resources.front().name, "a.b/c");
  EXPECT_TRUE(extender.managed_resources.front().ignored_by_scheduler);
}

TEST(Decode, NestingWithoutEndIsRefused) {
  const std::string deep(100000, '[');
  EXPECT_NE(error_of("{\"a\":" + deep), "");
  EXPECT_NE(error_of("a: " + deep), "");
}

}  // namespace
}  // namespace berth::config
