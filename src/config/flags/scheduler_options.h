// The options of a kube-scheduler command line, typed, with upstream's defaults (shell.md §1.2).
// Made by parse_scheduler_command; read by the code that assembles the scheduler.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/release.h"
#include "berth/loop.h"
#include "berth/resources.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth::config {

// --tls-sni-cert-key: "foo.crt,foo.key:*.foo.com,foo.com".
struct NamedCertKey {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names;  // empty: those of the certificate
};

struct SecureServingOptions {
  std::string bind_address = "0.0.0.0";
  std::int64_t port = 10259;  // 0: no server
  bool disable_http2 = false;
  std::string cert_dir;
  std::string cert_file;
  std::string key_file;
  std::vector<NamedCertKey> sni_cert_keys;
  std::vector<std::string> cipher_suites;  // Go's names; empty: the default
  std::string min_tls_version;             // "VersionTLS12"; empty: the default
  std::vector<std::int32_t> curve_preferences;
  std::int64_t http2_max_streams = 0;  // 0: the default
  bool permit_port_sharing = false;
  bool permit_address_sharing = false;
};

struct AuthenticationOptions {
  std::string kubeconfig;
  bool skip_lookup = false;
  bool tolerate_lookup_failure = true;
  Duration token_cache_ttl = std::chrono::seconds(10);
  std::string client_ca_file;
  std::string request_header_ca_file;
  std::vector<std::string> request_header_allowed_names;
  std::vector<std::string> request_header_username_headers{"x-remote-user"};
  std::vector<std::string> request_header_uid_headers;
  std::vector<std::string> request_header_group_headers{"x-remote-group"};
  std::vector<std::string> request_header_extra_prefixes{"x-remote-extra-"};
};

struct AuthorizationOptions {
  std::string kubeconfig;
  std::vector<std::string> always_allow_paths{"/healthz", "/readyz", "/livez"};
  Duration allow_cache_ttl = std::chrono::seconds(10);
  Duration deny_cache_ttl = std::chrono::seconds(10);
};

struct MetricsOptions {
  std::string show_hidden_for_version;
  std::vector<std::string> disabled;
  std::map<std::string, std::string> allowed_labels;  // "metric,label" to "v1,v2"
  std::string allowed_labels_manifest;
};

struct VerbosityPattern {
  std::string pattern;
  std::int32_t verbosity = 0;
};

struct LoggingOptions {
  std::string format = "text";
  Duration flush_frequency = std::chrono::seconds(5);
  std::int32_t verbosity = 0;
  std::vector<VerbosityPattern> vmodule;
  bool text_split_stream = false;
  Quantity text_info_buffer_size;
  bool json_split_stream = false;
  Quantity json_info_buffer_size;
};

// The versions as given; what comes of them is in SchedulerOptions::gates.
struct VersionOptions {
  std::string version = "false";  // --version: "false", "true", "raw", or one to report
  std::string reported = std::string(kKubernetesVersion);  // for --version and the user agent
  std::vector<std::string> emulated;                       // "1.34", "kube=1.34"
  std::vector<std::string> min_compatible;
  std::vector<std::string> feature_gates;  // every value of the flag
};

// Flags that a configuration file replaces.
struct DeprecatedOptions {
  bool profiling = true;
  bool contention_profiling = true;
  std::string kubeconfig;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;
  std::int32_t burst = 100;
};

struct SchedulerOptions {
  std::string config_file;
  std::string write_config_to;
  std::string master;
  SecureServingOptions secure_serving;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  DeprecatedOptions deprecated;
  Duration pod_max_in_unschedulable = std::chrono::minutes(5);
  LeaderElection leader_election;
  VersionOptions versions;
  MetricsOptions metrics;
  LoggingOptions logging;
  bool help = false;

  FeatureGates gates;  // with --emulated-version and --feature-gates applied
  std::string emulated = std::string(kKubernetesMajorMinor);
  std::string min_compatible = previous_major_minor();
};

}  // namespace berth::config
