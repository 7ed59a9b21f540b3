// All flags of kube-scheduler but those about serving. The sentences are what `--help` of
// kube-scheduler says, letter for letter.
#include "config/flags/scheduler_flags.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "config/flags/flag_values.h"
#include "config/flags/versions.h"

namespace berth::config {
namespace {

// The gates that may still change, as help lists them.
std::string gate_options() {
  std::vector<std::string> lines;
  for (const Gate& gate : known_gates()) {
    const bool alpha = gate.stage == Gate::Stage::kAlpha;
    if (!alpha && gate.stage != Gate::Stage::kBeta) continue;
    const auto choices = [&](bool enabled_by_default) {
      return fmt::format("{}=true|false ({} - default={})", gate.name, alpha ? "ALPHA" : "BETA",
                         enabled_by_default);
    };
    std::string line = "kube:" + choices(gate.enabled_by_default);
    if (gate.on_from_compatibility > 0) {
      // Parity: the second half has no "kube:".
      line += fmt::format(", or {} if --min-compatibility-version>=1.{}", choices(true),
                          gate.on_from_compatibility);
    }
    lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// "kube=1.34..1.37(default:1.37)"
std::string version_options(std::string_view by_default) {
  return fmt::format("kube=1.{}..{}(default:{})", kOldestEmulatedMinor, kKubernetesMajorMinor,
                     by_default);
}

void add_misc_flags(FlagSection& section, SchedulerOptions& options) {
  add_flag(section, "config", text_value(options.config_file),
           "The path to the configuration file.");
  add_flag(section, "master", text_value(options.master),
           "The address of the Kubernetes API server (overrides any value in kubeconfig)");
  add_flag(section, "write-config-to", text_value(options.write_config_to),
           "If set, write the configuration values to this file and exit.");
}

void add_deprecated_flags(FlagSection& section, SchedulerOptions& options) {
  DeprecatedOptions& deprecated = options.deprecated;
  add_flag(section, "contention-profiling", bool_value(deprecated.contention_profiling),
           "DEPRECATED: enable block profiling, if profiling is enabled. This parameter is "
           "ignored if a config file is specified in --config.");
  add_flag(section, "kube-api-burst", int32_value(deprecated.burst),
           "DEPRECATED: burst to use while talking with kubernetes apiserver. This parameter "
           "is ignored if a config file is specified in --config.");
  add_flag(section, "kube-api-content-type", text_value(deprecated.content_type),
           "DEPRECATED: content type of requests sent to apiserver. This parameter is ignored "
           "if a config file is specified in --config.");
  add_flag(section, "kube-api-qps", float_value(deprecated.qps),
           "DEPRECATED: QPS to use while talking with kubernetes apiserver. This parameter is "
           "ignored if a config file is specified in --config.");
  add_flag(section, "kubeconfig", text_value(deprecated.kubeconfig),
           "DEPRECATED: path to kubeconfig file with authorization and master location "
           "information. This parameter is ignored if a config file is specified in --config.");
  add_flag(section, "pod-max-in-unschedulable-pods-duration",
           duration_value(options.pod_max_in_unschedulable),
           "DEPRECATED: the maximum time a pod can stay in unschedulablePods. If a pod stays "
           "in unschedulablePods for longer than this value, the pod will be moved from "
           "unschedulablePods to backoffQ or activeQ. This flag is deprecated and will be "
           "removed in a future version.");
  add_flag(section, "profiling", bool_value(deprecated.profiling),
           "DEPRECATED: enable profiling via web interface host:port/debug/pprof/. This "
           "parameter is ignored if a config file is specified in --config.");
}

void add_leader_election_flags(FlagSection& section, LeaderElection& election) {
  add_flag(section, "leader-elect", bool_value(election.leader_elect),
           "Start a leader election client and gain leadership before executing the main "
           "loop. Enable this when running replicated components for high availability.");
  add_flag(section, "leader-elect-lease-duration", duration_value(election.lease_duration),
           "The duration that non-leader candidates will wait after observing a leadership "
           "renewal until attempting to acquire leadership of a led but unrenewed leader "
           "slot. This is effectively the maximum duration that a leader can be stopped "
           "before it is replaced by another candidate. This is only applicable if leader "
           "election is enabled.");
  add_flag(section, "leader-elect-renew-deadline", duration_value(election.renew_deadline),
           "The interval between attempts by the acting master to renew a leadership slot "
           "before it stops leading. This must be less than the lease duration. This is only "
           "applicable if leader election is enabled.");
  add_flag(section, "leader-elect-resource-lock", text_value(election.resource_lock),
           "The type of resource object that is used for locking during leader election. "
           "Supported options are 'leases'.");
  add_flag(section, "leader-elect-resource-name", text_value(election.resource_name),
           "The name of resource object that is used for locking during leader election.");
  add_flag(section, "leader-elect-resource-namespace", text_value(election.resource_namespace),
           "The namespace of resource object that is used for locking during leader election.");
  add_flag(section, "leader-elect-retry-period", duration_value(election.retry_period),
           "The duration the clients should wait between attempting acquisition and renewal "
           "of a leadership. This is only applicable if leader election is enabled.");
}

void add_feature_gate_flags(FlagSection& section, VersionOptions& versions) {
  add_flag(section, "emulated-version", texts_value(versions.emulated),
           "The versions different components emulate their capabilities (APIs, features, "
           "...) of.\n"
           "If set, the component will emulate the behavior of this version instead of the "
           "underlying binary version.\n"
           "Version format could only be major.minor, for example: "
           "'--emulated-version=wardle=1.2,kube=1.31'.\n"
           "Options are: " +
               version_options(kKubernetesMajorMinor) +
               "\n"
               "If the component is not specified, defaults to \"kube\"");
  add_flag(section, "feature-gates", gates_value(versions.feature_gates),
           std::string(
               "Comma-separated list of component:key=value pairs that describe feature gates for "
               "alpha/experimental features of different components.\n"
               "If the component is not specified, defaults to \"kube\". This flag can be "
               "repeatedly invoked. For example: --feature-gates "
               "'wardle:featureA=true,wardle:featureB=false' --feature-gates "
               "'kube:featureC=true'Options are:\n") +
               gate_options());
  add_flag(section, "min-compatibility-version", texts_value(versions.min_compatible),
           "The min version of control plane components the server should be compatible "
           "with.\n"
           "Must be less or equal to the emulated-version. Version format could only be "
           "major.minor, for example: '--min-compatibility-version=wardle=1.2,kube=1.31'.\n"
           "Options are: " +
               version_options(previous_major_minor()) +
               "\n"
               "If the component is not specified, defaults to \"kube\"");
}

void add_metrics_flags(FlagSection& section, MetricsOptions& metrics) {
  add_flag(section, "allow-metric-labels", text_map_value(metrics.allowed_labels),
           "The map from metric-label to value allow-list of this label. The key's format is "
           "<MetricName>,<LabelName>. The value's format is "
           "<allowed_value>,<allowed_value>...e.g. metric1,label1='v1,v2,v3', "
           "metric1,label2='v1,v2,v3' metric2,label1='v1,v2,v3'.");
  add_flag(section, "allow-metric-labels-manifest", text_value(metrics.allowed_labels_manifest),
           "The path to the manifest file that contains the allow-list mapping. The format of "
           "the file is the same as the flag --allow-metric-labels, i.e., \n"
           "allowListMapping:\n"
           "  \"metric1,label1\": \"value11,value12\"\n"
           "  \"metric2,label2\": \"\"\n"
           "Note that the flag --allow-metric-labels will override the manifest file.");
  add_flag(section, "disabled-metrics", texts_value(metrics.disabled),
           "This flag provides an escape hatch for misbehaving metrics. You must provide the "
           "fully qualified metric name in order to disable it. Disclaimer: disabling metrics "
           "is higher in precedence than showing hidden metrics.");
  add_flag(section, "show-hidden-metrics-for-version", text_value(metrics.show_hidden_for_version),
           "The previous version for which you want to show hidden metrics. Only the previous "
           "minor version is meaningful, other values will not be allowed. The format is "
           "<major>.<minor>, e.g.: '1.16'. The purpose of this format is make sure you have "
           "the opportunity to notice if the next release hides additional metrics, rather "
           "than being surprised when they are permanently removed in the release after that.");
}

void add_logs_flags(FlagSection& section, LoggingOptions& logging) {
  add_flag(section, "log-flush-frequency", duration_value(logging.flush_frequency),
           "Maximum number of seconds between log flushes");
  add_flag(section, "log-json-info-buffer-size", quantity_value(logging.json_info_buffer_size),
           "[Alpha] In JSON format with split output streams, the info messages can be "
           "buffered for a while to increase performance. The default value of zero bytes "
           "disables buffering. The size can be specified as number of bytes (512), multiples "
           "of 1000 (1K), multiples of 1024 (2Ki), or powers of those (3M, 4G, 5Mi, 6Gi). "
           "Enable the LoggingAlphaOptions feature gate to use this.");
  add_flag(section, "log-json-split-stream", bool_value(logging.json_split_stream),
           "[Alpha] In JSON format, write error messages to stderr and info messages to "
           "stdout. The default is to write a single stream to stdout. Enable the "
           "LoggingAlphaOptions feature gate to use this.");
  add_flag(section, "log-text-info-buffer-size", quantity_value(logging.text_info_buffer_size),
           "[Alpha] In text format with split output streams, the info messages can be "
           "buffered for a while to increase performance. The default value of zero bytes "
           "disables buffering. The size can be specified as number of bytes (512), multiples "
           "of 1000 (1K), multiples of 1024 (2Ki), or powers of those (3M, 4G, 5Mi, 6Gi). "
           "Enable the LoggingAlphaOptions feature gate to use this.");
  add_flag(section, "log-text-split-stream", bool_value(logging.text_split_stream),
           "[Alpha] In text format, write error messages to stderr and info messages to "
           "stdout. The default is to write a single stream to stdout. Enable the "
           "LoggingAlphaOptions feature gate to use this.");
  add_flag(section, "logging-format", text_value(logging.format),
           "Sets the log format. Permitted formats: \"json\" (gated by LoggingBetaOptions), "
           "\"text\".");
  add_flag(section, "v", verbosity_value(logging.verbosity), "number for the log level verbosity")
      .shorthand = 'v';
  add_flag(section, "vmodule", vmodule_value(logging.vmodule),
           "comma-separated list of pattern=N settings for file-filtered logging (only works "
           "for text log format)");
}

void add_global_flags(FlagSection& section, SchedulerOptions& options) {
  add_flag(section, "help", bool_value(options.help), "help for kube-scheduler").shorthand = 'h';
  add_flag(section, "version", version_value(options.versions),
           "--version, --version=raw prints version information and quits; "
           "--version=vX.Y.Z... sets the reported version")
      .without_value = "true";
}

}  // namespace

FlagSet scheduler_flags(SchedulerOptions& options) {
  FlagSet flags;
  add_misc_flags(flags.section("Misc"), options);
  add_secure_serving_flags(flags.section("Secure serving"), options.secure_serving);
  add_authentication_flags(flags.section("Authentication"), options.authentication);
  add_authorization_flags(flags.section("Authorization"), options.authorization);
  add_deprecated_flags(flags.section("Deprecated"), options);
  add_leader_election_flags(flags.section("Leader election"), options.leader_election);
  add_feature_gate_flags(flags.section("Feature gate"), options.versions);
  add_metrics_flags(flags.section("Metrics"), options.metrics);
  add_logs_flags(flags.section("Logs"), options.logging);
  add_global_flags(flags.section("Global"), options);
  return flags;
}

}  // namespace berth::config
