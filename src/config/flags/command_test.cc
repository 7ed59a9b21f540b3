#include "config/flags/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/names.h"

namespace berth::config {
namespace {

using Args = std::vector<std::string>;

struct CommandTest : ::testing::Test {
  std::vector<EarlyRecord> log;
  Interner interner;

  SchedulerCommand command(const Args& args) {
    auto parsed = parse_scheduler_command(args, 0, log);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().err);
    return parsed ? *parsed : SchedulerCommand();
  }
  CommandEnd end(const Args& args) {
    auto parsed = parse_scheduler_command(args, 0, log);
    EXPECT_FALSE(parsed) << args.front();
    return parsed ? CommandEnd() : parsed.error();
  }
  // The last line on standard error.
  std::string error_line(const Args& args) {
    const CommandEnd ended = end(args);
    EXPECT_EQ(ended.exit_code, 1);
    std::string text = ended.err;
    if (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  std::string failure(const Args& args) {
    const CommandEnd ended = end(args);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_EQ(ended.err, "");
    return ended.failure.empty() ? "none" : ended.failure.front().message;
  }
  std::string complaint(const Args& args) {
    const auto checked = check_options(command(args), log);
    return checked ? "none" : checked.error().message;
  }
  std::string echoed(const Args& args, const std::string& name) {
    for (const FlagEcho& flag : command(args).flags) {
      if (flag.name == name) return flag.value;
    }
    return "no such flag";
  }
};

TEST_F(CommandTest, TheManifestOfKubeadm) {
  const SchedulerCommand got = command(
      {"--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
       "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf", "--bind-address=127.0.0.1",
       "--kubeconfig=/etc/kubernetes/scheduler.conf", "--leader-elect=true"});
  const SchedulerOptions& options = got.options;
  EXPECT_EQ(options.authentication.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(options.authorization.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(options.secure_serving.bind_address, "127.0.0.1");
  EXPECT_EQ(options.secure_serving.port, 10259);
  EXPECT_TRUE(check_options(got, log));
  const Configuration made = *make_configuration(got, interner);
  EXPECT_EQ(made.client_connection.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_TRUE(made.leader_election.leader_elect);
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(CommandTest, GatesThatBerthDoesNotActUponAreOneWarningEach) {
  const auto warned = [&](const std::string& gates) {
    log.clear();
    const SchedulerCommand got = command({"--feature-gates=" + gates});
    EXPECT_TRUE(check_options(got, log));
    EXPECT_TRUE(make_configuration(got, interner));
    std::vector<std::string> names;
    for (const EarlyRecord& record : log) {
      if (record.message != "Feature gate is on, but berth does not act upon it") continue;
      EXPECT_EQ(record.severity, EarlyRecord::Severity::kWarning);
      names.push_back(record.fields.front().second);
    }
    return names;
  };
  EXPECT_THAT(warned("StorageCapacityScoring=true"), IsEmpty());
  EXPECT_THAT(warned("DRADerivedAttributes=true,NativeHistograms=false"),
              ::testing::ElementsAre("\"DRADerivedAttributes\""));
  // Operators set gates for all components.
  EXPECT_THAT(warned("AllAlpha=true,AllBeta=true"), SizeIs(9));
}

TEST_F(CommandTest, FormsOfFlags) {
  EXPECT_EQ(command({"-v=4"}).options.logging.verbosity, 4);
  EXPECT_EQ(command({"-v4"}).options.logging.verbosity, 4);
  EXPECT_EQ(command({"-v", "4"}).options.logging.verbosity, 4);
  EXPECT_EQ(command({"--v", "4"}).options.logging.verbosity, 4);
  EXPECT_EQ(command({"--kube_api_qps=7"}).options.deprecated.qps, 7);
  EXPECT_FALSE(command({"--leader-elect=F"}).options.leader_election.leader_elect);
  EXPECT_TRUE(command({"--profiling"}).options.deprecated.profiling);
  EXPECT_EQ(command({"--secure-port", "0x10"}).options.secure_serving.port, 16);
  EXPECT_EQ(command({"--master", "--config"}).options.master, "--config");
  EXPECT_EQ(command({"--config=a=b"}).options.config_file, "a=b");
  command({"--", ""});
}

TEST_F(CommandTest, ListsReplaceTheDefaultAndThenGrow) {
  EXPECT_EQ(echoed({}, "authorization-always-allow-paths"), "[/healthz,/readyz,/livez]");
  EXPECT_EQ(echoed({"--authorization-always-allow-paths=/a,/b",
                    "--authorization-always-allow-paths=\"/c,d\""},
                   "authorization-always-allow-paths"),
            "[/a,/b,\"/c,d\"]");
  EXPECT_EQ(echoed({"--authorization-always-allow-paths="}, "authorization-always-allow-paths"),
            "[]");
  EXPECT_EQ(echoed({"--tls-curve-preferences=1,0x1d", "--tls-curve-preferences=7"},
                   "tls-curve-preferences"),
            "[1,29,7]");
  EXPECT_EQ(
      echoed({"--tls-sni-cert-key= a , b : x , y ", "--tls-sni-cert-key=c,d"}, "tls-sni-cert-key"),
      "[a,b:x,y;c,d]");
  EXPECT_EQ(
      echoed({"--allow-metric-labels=m,l=v", "--allow-metric-labels=a,b=c"}, "allow-metric-labels"),
      "[\"a,b=c\",\"m,l=v\"]");
  EXPECT_EQ(echoed({"--vmodule=a=1,", "--vmodule=b=2"}, "vmodule"), "a=1,b=2");
  EXPECT_EQ(echoed({"--feature-gates=AllAlpha=true, AllBeta = true",
                    "--feature-gates=SchedulerAsyncAPICalls=1"},
                   "feature-gates"),
            ":AllAlpha=true,:AllBeta = true,:SchedulerAsyncAPICalls=1");
}

TEST_F(CommandTest, ValuesAsLogsShowThem) {
  EXPECT_EQ(echoed({"--kube-api-qps=1e6"}, "kube-api-qps"), "1e+06");
  EXPECT_EQ(echoed({"--bind-address= ::ffff:1.2.3.4 "}, "bind-address"), "1.2.3.4");
  EXPECT_EQ(echoed({"--bind-address="}, "bind-address"), "0.0.0.0");
  EXPECT_EQ(echoed({"--leader-elect-lease-duration=90m"}, "leader-elect-lease-duration"),
            "1h30m0s");
  EXPECT_EQ(echoed({"--version=v1.37.1-mine"}, "version"), "v1.37.1-mine");
  const SchedulerCommand plain = command({});
  EXPECT_THAT(plain.flags, SizeIs(62));
  const std::vector<EarlyRecord> lines = flag_echo(plain);
  EXPECT_EQ(lines.front().message, "FLAG: --allow-metric-labels=\"[]\"");
  EXPECT_EQ(lines.back().message, "FLAG: --write-config-to=\"\"");
}

TEST_F(CommandTest, MistakesInFlagsComeWithUsage) {
  struct Row {
    Args args;
    std::string line;
  };
  for (const Row& row : std::initializer_list<Row>{
           {{"--foo"}, "unknown flag: --foo"},
           {{"--port=0"}, "unknown flag: --port"},
           {{"-x"}, "unknown shorthand flag: 'x' in -x"},
           {{"-v"}, "flag needs an argument: 'v' in -v"},
           {{"--config"}, "flag needs an argument: --config"},
           {{"--=a"}, "bad flag syntax: --=a"},
           {{"---a"}, "bad flag syntax: ---a"},
           {{"--leader-elect=maybe"},
            "invalid argument \"maybe\" for \"--leader-elect\" flag: strconv.ParseBool: parsing "
            "\"maybe\": invalid syntax"},
           {{"-vx"},
            "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": "
            "invalid syntax"},
           {{"--log-flush-frequency=5"},
            "invalid argument \"5\" for \"--log-flush-frequency\" flag: time: missing unit in "
            "duration \"5\""},
           {{"--bind-address=foo"},
            "invalid argument \"foo\" for \"--bind-address\" flag: failed to parse IP: \"foo\""},
           {{"--tls-sni-cert-key=a"},
            "invalid argument \"a\" for \"--tls-sni-cert-key\" flag: expected comma separated "
            "certificate and key file paths"},
           {{"--tls-sni-cert-key=a,b:"},
            "invalid argument \"a,b:\" for \"--tls-sni-cert-key\" flag: empty names list is not "
            "allowed"},
           {{"--allow-metric-labels=a"},
            "invalid argument \"a\" for \"--allow-metric-labels\" flag: a must be formatted as "
            "key=value"},
           {{"--vmodule=a"},
            "invalid argument \"a\" for \"--vmodule\" flag: \"a\" does not have the pattern=N "
            "format"},
           {{"--log-json-info-buffer-size=x"},
            "invalid argument \"x\" for \"--log-json-info-buffer-size\" flag: quantities must "
            "match "
            "the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
           {{"--version=v1.38.0"},
            "invalid argument \"v1.38.0\" for \"--version\" flag: version \"v1.38.0\" must match "
            "major/minor/patch of default version \"v1.37.1\""},
       }) {
    EXPECT_EQ(error_line(row.args), "Error: " + row.line);
    EXPECT_THAT(end(row.args).err, StartsWith("Usage:\n  kube-scheduler [flags]\n\nMisc flags:\n"));
  }
}

TEST_F(CommandTest, ArgumentsAreRefusedWithoutUsage) {
  EXPECT_EQ(
      end({"foo", "", "b\"r"}).err,
      "Error: \"kube-scheduler\" does not take any arguments, got [\"foo\" \"\" \"b\\\"r\"]\n");
  EXPECT_EQ(end({"--leader-elect", "true"}).err,
            "Error: \"kube-scheduler\" does not take any arguments, got [\"true\"]\n");
  EXPECT_EQ(end({"--", "--foo"}).err,
            "Error: \"kube-scheduler\" does not take any arguments, got [\"--foo\"]\n");
}

TEST_F(CommandTest, Help) {
  for (const Args& args : {Args{"--help"}, Args{"-h", "foo"}, Args{"-hv4"}}) {
    const CommandEnd ended = end(args);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_THAT(ended.out, StartsWith("The Kubernetes scheduler is a control plane process"));
    EXPECT_THAT(
        ended.out,
        HasSubstr(
            "\n\nSecure serving flags:\n\n      --bind-address ip                        The"));
    EXPECT_THAT(ended.out, HasSubstr("will be used. (default 0.0.0.0)\n"));
    EXPECT_THAT(ended.out, HasSubstr("protobuf\")\n      --kube-api-qps float32      "));
    EXPECT_THAT(ended.out, HasSubstr("(default [/healthz,/readyz,/livez])\n"));
    EXPECT_THAT(ended.out,
                HasSubstr("\n                                                           "
                          "kube:SchedulerAsyncAPICalls=true|false (BETA - default=false)\n"));
    EXPECT_THAT(ended.out, HasSubstr("kube=1.34..1.37(default:1.37)\n"));
    EXPECT_THAT(ended.out, HasSubstr("kube=1.34..1.37(default:1.36)\n"));
    EXPECT_THAT(ended.out,
                HasSubstr("kube:DRAFractionalCapacityRange=true|false (BETA - default=false), or "
                          "DRAFractionalCapacityRange=true|false (BETA - default=true) if "
                          "--min-compatibility-version>=1.37\n"));
    EXPECT_THAT(ended.out, Not(HasSubstr("kube:NodeDeclaredFeatures")));
    EXPECT_THAT(ended.out, HasSubstr("\n  -v, --v Level                              number for"));
    EXPECT_THAT(ended.out, EndsWith("sets the reported version\n"));
  }
}

TEST_F(CommandTest, HelpOnATerminalStandsBelowTheFlag) {
  const auto parsed = parse_scheduler_command({"--help"}, 60, log);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().out,
              HasSubstr("      --master string" + std::string(30, ' ') +
                        "\n                The address of the Kubernetes API"
                        "\n                server (overrides any value in kubeconfig)\n"));
}

TEST_F(CommandTest, Version) {
  EXPECT_EQ(end({"--version"}).out, "Kubernetes v1.37.1\n");
  EXPECT_EQ(end({"--version=v1.37.1-rc.1+b", "--version"}).out, "Kubernetes v1.37.1-rc.1+b\n");
  EXPECT_THAT(end({"--version=raw"}).out,
              StartsWith("version.Info{Major:\"1\", Minor:\"37\", EmulationMajor:\"\""));
  EXPECT_EQ(command({"--version=v1.37.1-mine"}).options.versions.reported, "v1.37.1-mine");
  EXPECT_EQ(failure({"--version", "--feature-gates=Foo=true"}), "unrecognized feature gate: Foo");
}

TEST_F(CommandTest, FeatureGates) {
  const SchedulerCommand got =
      command({"--feature-gates=AllAlpha=true,GenericWorkload=true",
               "--feature-gates=CompositePodGroup=false,DRADeviceTaints=1"});
  EXPECT_TRUE(got.options.gates.enabled("SchedulerPreQueueingHints"));
  EXPECT_FALSE(got.options.gates.enabled("CompositePodGroup"));
  ASSERT_THAT(log, SizeIs(1));
  EXPECT_EQ(log[0].message,
            "Warning: setting GA feature gate. It will be removed in a future release.");
  EXPECT_THAT(log[0].fields,
              ElementsAre(Pair("featureGate", "\"DRADeviceTaints\""), Pair("value", "true")));
  EXPECT_EQ(failure({"--feature-gates=AllAlpha"}), "missing bool value for AllAlpha");
  EXPECT_EQ(failure({"--feature-gates=TopologyAwareWorkloadScheduling=true"}),
            "TopologyAwareWorkloadScheduling is enabled, but depends on features that are "
            "disabled: [GenericWorkload]");
}

TEST_F(CommandTest, EarlierVersionsHaveTheirOwnGates) {
  const SchedulerCommand got =
      command({"--emulated-version=1.34", "--feature-gates=DRAPrioritizedList=false"});
  EXPECT_FALSE(got.options.gates.enabled("DRAPrioritizedList"));
  EXPECT_FALSE(got.options.gates.enabled("NodeDeclaredFeatures"));
  EXPECT_EQ(got.options.emulated, "1.34");
  EXPECT_EQ(got.options.min_compatible, "1.34");
  EXPECT_EQ(failure({"--emulated-version=kube=1.36", "--feature-gates=CompositePodGroup=true"}),
            "cannot set feature gate CompositePodGroup to true, feature is PreAlpha at emulated "
            "version 1.36, min compatibility version 1.35");
  EXPECT_EQ(failure({"--emulated-version=1.34.1"}), "patch version not allowed, got: kube=1.34.1");
  EXPECT_EQ(failure({"--emulated-version=foo=1.34"}), "component not registered: foo");
  EXPECT_EQ(failure({"--emulated-version=1.34,1.35"}),
            "duplicate version flag, kube=1.34 and kube=1.35");
  EXPECT_EQ(
      complaint({"--emulated-version=1.33"}),
      "[emulation version 1.33 is not between [1.34, 1.37.0], minCompatibilityVersion version "
      "1.34 is not between [1.34, 1.33]]");
  EXPECT_EQ(complaint({"--min-compatibility-version=1.38"}),
            "minCompatibilityVersion version 1.38 is not between [1.34, 1.37]");
  EXPECT_FALSE(command({}).options.gates.enabled("DRAFractionalCapacityRange"));
  EXPECT_TRUE(command({"--min-compatibility-version=1.37"})
                  .options.gates.enabled("DRAFractionalCapacityRange"));
  log.clear();
  EXPECT_EQ(complaint({"--emulated-version=1.35", "--feature-gates=GenericWorkload=true"}), "none");
  ASSERT_THAT(log, SizeIs(1));
  EXPECT_EQ(log[0].message,
            "component has alpha features enabled in emulated version, this is unsupported: "
            "features=[GenericWorkload]");
}

TEST_F(CommandTest, LoggingOptionsAreCheckedFirstAndSpokenOfBare) {
  EXPECT_EQ(end({"--logging-format=foo"}).err,
            "format: Invalid value: \"foo\": Unsupported log format\n");
  EXPECT_EQ(end({"--logging-format=json", "--vmodule=a=1"}).err,
            "vmodule: Forbidden: Only supported for text log format\n");
  EXPECT_EQ(end({"--logging-format=json", "--feature-gates=LoggingBetaOptions=false"}).err,
            "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature\n");
  EXPECT_EQ(end({"--log-text-split-stream", "--log-json-info-buffer-size=1Ki"}).err,
            "[options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled, "
            "options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled]\n");
  command({"--log-text-split-stream", "--feature-gates=LoggingAlphaOptions=true"});
}

TEST_F(CommandTest, OtherOptionsAreComplainedAboutTogether) {
  EXPECT_EQ(
      complaint({"--secure-port=-1"}),
      "--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port");
  EXPECT_EQ(
      complaint({"--secure-port=65536", "--requestheader-uid-headers=x",
                 "--requestheader-allowed-names= "}),
      "[--secure-port 65536 must be between 1 and 65535, inclusive. It cannot be turned off "
      "with 0, empty value in \"requestheader-allowed-names\", --requestheader-uid-headers is "
      "set without specifying the standard X-Remote-Uid header - API aggregation will not "
      "work]");
  EXPECT_EQ(complaint({"--requestheader-uid-headers=x-remote-uid",
                       "--feature-gates=RemoteRequestHeaderUID=false"}),
            "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
            "enabled");
  EXPECT_EQ(complaint({"--show-hidden-metrics-for-version=1.35"}),
            "metrics.showHiddenMetricsForVersion: Invalid value: \"1.35\": must be omitted or have "
            "the value '1.36'; only the previous minor version is allowed");
  EXPECT_EQ(
      complaint({"--disabled-metrics=a,b-c"}),
      "metrics.disabledMetrics: Invalid value: [\"a\",\"b-c\"]: must be fully qualified metric "
      "names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got \"b-c\"");
  EXPECT_EQ(complaint({"--allow-metric-labels=a=b"}),
            "metrics.allowListMapping: Invalid value: {\"a\":\"b\"}: must have keys with format "
            "`metricName,labelName` where metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and "
            "labelName matches \"[a-zA-Z_][a-zA-Z0-9_]*\"");
  EXPECT_THAT(log, IsEmpty());
  EXPECT_EQ(complaint({"--requestheader-group-headers=y"}), "none");
  ASSERT_THAT(log, SizeIs(1));
  EXPECT_EQ(log[0].message,
            "--requestheader-group-headers is set without specifying the standard X-Remote-Group "
            "header - API aggregation will not work");
}

TEST_F(CommandTest, WithoutAFileTheDeprecatedFlagsCount) {
  const Configuration made = *make_configuration(
      command({"--kube-api-qps=0", "--kube-api-burst=0", "--profiling=false",
               "--kube-api-content-type=application/json", "--leader-elect-lease-duration=1h"}),
      interner);
  EXPECT_EQ(made.client_connection.qps, 0);
  EXPECT_EQ(made.client_connection.burst, 0);
  EXPECT_EQ(made.client_connection.content_type, "application/json");
  EXPECT_FALSE(made.enable_profiling);
  EXPECT_TRUE(made.enable_contention_profiling);
  EXPECT_EQ(made.leader_election.lease_duration, std::chrono::hours(1));
}

TEST_F(CommandTest, AFileIsAmendedByElectionFlagsOnly) {
  const std::string path = ::testing::TempDir() + "berth_command_config.yaml";
  std::ofstream(path) << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                         "kind: KubeSchedulerConfiguration\n"
                         "clientConnection: {qps: 7}\n"
                         "leaderElection: {leaseDuration: 5s, resourceName: mine}\n";
  const std::string config = "--config=" + path;
  const Result<Configuration> bad = make_configuration(command({config}), interner);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("must be greater than `RenewDeadline`"));
  const Result<Configuration> good =
      make_configuration(command({config, "--leader-elect-renew-deadline=3s", "--kube-api-qps=9",
                                  "--profiling=false"}),
                         interner);
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->client_connection.qps, 7);
  EXPECT_TRUE(good->enable_profiling);
  EXPECT_EQ(good->leader_election.renew_deadline, std::chrono::seconds(3));
  EXPECT_EQ(good->leader_election.resource_name, "mine");
  std::filesystem::remove(path);
  EXPECT_EQ(make_configuration(command({config}), interner).error().message,
            "open " + path + ": no such file or directory");
}

TEST_F(CommandTest, ALimitedClientNeedsABurst) {
  ClientConnection connection;
  EXPECT_TRUE(check_client(connection));
  connection.burst = 0;
  EXPECT_EQ(check_client(connection).error().message,
            "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to "
            "greater than 0");
  connection.qps = 0;
  EXPECT_TRUE(check_client(connection));
}

TEST_F(CommandTest, ElectionsThatCannotWork) {
  LeaderElection election;
  const auto why = [&](bool only_lock = false) {
    const Result<void> valid = check_election(election, only_lock);
    return valid ? "none" : valid.error().message;
  };
  EXPECT_EQ(why(), "none");
  election.retry_period = election.renew_deadline;
  EXPECT_EQ(why(),
            "couldn't create leader elector: renewDeadline must be greater than "
            "retryPeriod*JitterFactor");
  election.renew_deadline = election.lease_duration;
  EXPECT_EQ(why(),
            "couldn't create leader elector: leaseDuration must be greater than renewDeadline");
  EXPECT_EQ(why(/*only_lock=*/true), "none");
  election.resource_lock = "endpoints";
  EXPECT_EQ(why(), "couldn't create resource lock: endpoints lock is removed, migrate to leases");
  election.resource_lock = "foo";
  EXPECT_EQ(why(true), "couldn't create resource lock: Invalid lock-type foo");
  election.leader_elect = false;
  EXPECT_EQ(why(), "none");
}

}  // namespace
}  // namespace berth::config
