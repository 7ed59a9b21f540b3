// The rest of the table of metrics (shell.md §3.4 to §3.6): what surrounds the scheduler.
#include "telemetry/scheduler_metrics.h"

namespace berth::telemetry {

ClientMetrics::ClientMetrics(Registry& registry)
    : dns_resolution_duration(
          registry.add({.name = "rest_client_dns_resolution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"host"},
                        .buckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30},
                        .help = "DNS resolver latency in seconds. Broken down by host."})),
      exec_plugin_call(
          registry.add({.name = "rest_client_exec_plugin_call_total",
                        .labels = {"code", "call_status"},
                        .help = "Number of calls to an exec plugin, partitioned by the type of "
                                "event encountered (no_error, plugin_execution_error, "
                                "plugin_not_found_error, client_internal_error) and an optional "
                                "exit code. The exit code will be set to 0 if and only if the "
                                "plugin call was successful."})),
      exec_plugin_certificate_rotation_age(registry.add(
          {.name = "rest_client_exec_plugin_certificate_rotation_age",
           .type = MetricType::kHistogram,
           .buckets = {600, 1800, 3600, 14400, 86400, 604800, 2592000, 7776000, 15552000, 31104000,
                       124416000},
           .help = "Histogram of the number of seconds the last auth exec plugin "
                   "client certificate lived before being rotated. If auth exec plugin"
                   " client certificates are unused, histogram will contain no data."})),
      exec_plugin_policy_call(
          registry.add({.name = "rest_client_exec_plugin_policy_call_total",
                        .labels = {"allowed", "denied"},
                        .help = "Number of comparisons of an exec plugin to the plugin policy and "
                                "allowlist (if any), partitioned by whether or not the policy "
                                "permits the plugin"})),
      exec_plugin_ttl(
          registry.add({.name = "rest_client_exec_plugin_ttl_seconds",
                        .type = MetricType::kGauge,
                        .help = "Gauge of the shortest TTL (time-to-live) of the client "
                                "certificate(s) managed by the auth exec plugin. The value is in "
                                "seconds until certificate expiry (negative if already expired). If"
                                " auth exec plugins are unused or manage no TLS certificates, the "
                                "value will be +INF."})),
      rate_limiter_duration(
          registry.add({.name = "rest_client_rate_limiter_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"verb", "host"},
                        .buckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60},
                        .help = "Client side rate limiter latency in seconds. Broken down by verb, "
                                "and host."})),
      request_duration(
          registry.add({.name = "rest_client_request_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"verb", "host"},
                        .buckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60},
                        .help = "Request latency in seconds. Broken down by verb, and host."})),
      request_retries(
          registry.add({.name = "rest_client_request_retries_total",
                        .labels = {"code", "verb", "host"},
                        .help = "Number of request retries, partitioned by status code, verb, and "
                                "host."})),
      request_size(registry.add(
          {.name = "rest_client_request_size_bytes",
           .type = MetricType::kHistogram,
           .labels = {"verb", "host"},
           .buckets = {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216},
           .help = "Request size in bytes. Broken down by verb and host."})),
      requests(
          registry.add({.name = "rest_client_requests_total",
                        .labels = {"code", "method", "host"},
                        .help = "Number of HTTP requests, partitioned by status code, method, and "
                                "host."})),
      response_size(registry.add(
          {.name = "rest_client_response_size_bytes",
           .type = MetricType::kHistogram,
           .labels = {"verb", "host"},
           .buckets = {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216},
           .help = "Response size in bytes. Broken down by verb and host."})),
      transport_ca_reload(
          registry.add({.name = "rest_client_transport_ca_reload_total",
                        .labels = {"result", "reason"},
                        .help = "Number of times a CA reload is attempted, partitioned by the "
                                "result and reason for the reload attempt"})),
      transport_cache_entries(
          registry.add({.name = "rest_client_transport_cache_entries",
                        .type = MetricType::kGauge,
                        .help = "Number of transport entries in the internal cache."})),
      transport_cache_gc_calls(
          registry.add({.name = "rest_client_transport_cache_gc_calls_total",
                        .labels = {"result"},
                        .help = "Number of times a GC cleanup attempts to delete a transport cache "
                                "entry, partitioned by the result: deleted, skipped"})),
      transport_cert_rotation_gc_calls(
          registry.add({.name = "rest_client_transport_cert_rotation_gc_calls_total",
                        .help = "Number of times a cert rotation goroutine cancel func is called "
                                "via GC cleanup of the associated transport"})),
      transport_create_calls(
          registry.add({.name = "rest_client_transport_create_calls_total",
                        .labels = {"result"},
                        .help = "Number of calls to get a new transport, partitioned by the result "
                                "of the operation hit: obtained from the cache, miss: created and "
                                "added to the cache, miss-gc: recreated and added back to the cache"
                                " after being garbage collected, uncacheable: created and not "
                                "cached"})) {}

WatchMetrics::WatchMetrics(Registry& registry)
    : informer_processing_latency(
          registry.add({.name = "informer_processing_latency_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"name", "group", "version", "resource"},
                        .buckets = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
                        .help = "Time taken to process events after popping from the queue."})),
      informer_queued_items(
          registry.add({.name = "informer_queued_items",
                        .type = MetricType::kGauge,
                        .labels = {"name", "group", "version", "resource"},
                        .help = "Number of items currently queued in the FIFO."})),
      informer_store_resource_version(
          registry.add({.name = "informer_store_resource_version",
                        .type = MetricType::kGauge,
                        .labels = {"name", "group", "version", "resource"},
                        .help = "The 15 least significant digits of the resource version of the "
                                "store."})),
      undecodable_objects(
          registry.add({.name = "berth_undecodable_objects_total",
                        .labels = {"resource"},
                        .help = "Number of objects in lists and watches that could not be decoded. "
                                "What was known of such an object before stays in use."})) {}

WorkQueueMetrics::WorkQueueMetrics(Registry& registry)
    : adds(registry.add({.name = "workqueue_adds_total",
                         .stability = Stability::kBeta,
                         .labels = {"name"},
                         .help = "Total number of adds handled by workqueue"})),
      depth(registry.add({.name = "workqueue_depth",
                          .type = MetricType::kGauge,
                          .stability = Stability::kBeta,
                          .labels = {"name"},
                          .help = "Current depth of workqueue"})),
      longest_running_processor(
          registry.add({.name = "workqueue_longest_running_processor_seconds",
                        .type = MetricType::kGauge,
                        .stability = Stability::kBeta,
                        .labels = {"name"},
                        .help = "How many seconds has the longest running processor for workqueue "
                                "been running."})),
      queue_duration(
          registry.add({.name = "workqueue_queue_duration_seconds",
                        .type = MetricType::kHistogram,
                        .stability = Stability::kBeta,
                        .labels = {"name"},
                        .buckets = exponential(1e-8, 10, 10),
                        .help = "How long in seconds an item stays in workqueue before being "
                                "requested."})),
      retries(registry.add({.name = "workqueue_retries_total",
                            .stability = Stability::kBeta,
                            .labels = {"name"},
                            .help = "Total number of retries handled by workqueue"})),
      unfinished_work(
          registry.add({.name = "workqueue_unfinished_work_seconds",
                        .type = MetricType::kGauge,
                        .stability = Stability::kBeta,
                        .labels = {"name"},
                        .help = "How many seconds of work has done that is in progress and hasn't "
                                "been observed by work_duration. Large values indicate stuck "
                                "threads. One can deduce the number of stuck threads by observing "
                                "the rate at which this increases."})),
      work_duration(
          registry.add({.name = "workqueue_work_duration_seconds",
                        .type = MetricType::kHistogram,
                        .stability = Stability::kBeta,
                        .labels = {"name"},
                        .buckets = exponential(1e-8, 10, 10),
                        .help = "How long in seconds processing an item from workqueue takes."})) {}

LeaderElectionMetrics::LeaderElectionMetrics(Registry& registry)
    : master_status(
          registry.add({.name = "leader_election_master_status",
                        .type = MetricType::kGauge,
                        .labels = {"name"},
                        .help = "Gauge of if the reporting system is master of the relevant lease, "
                                "0 indicates backup, 1 indicates master. 'name' is the string used "
                                "to identify the lease. Please make sure to group by name."})),
      slowpath(
          registry.add({.name = "leader_election_slowpath_total",
                        .labels = {"name"},
                        .help = "Total number of slow path exercised in renewing leader leases. "
                                "'name' is the string used to identify the lease. Please make sure "
                                "to group by name."})) {}

ServingMetrics::ServingMetrics(Registry& registry)
    : apiserver_client_certificate_expiration(
          registry.add({.name = "apiserver_client_certificate_expiration_seconds",
                        .type = MetricType::kHistogram,
                        .buckets = {0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600,
                                    604800, 2592000, 7776000, 15552000, 31104000},
                        .help = "Distribution of the remaining lifetime on the certificate used to "
                                "authenticate a request."})),
      apiserver_delegated_authn_request_duration(
          registry.add({.name = "apiserver_delegated_authn_request_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"code"},
                        .buckets = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10},
                        .help = "Request latency in seconds. Broken down by status code."})),
      apiserver_delegated_authn_request(
          registry.add({.name = "apiserver_delegated_authn_request_total",
                        .labels = {"code"},
                        .help = "Number of HTTP requests partitioned by status code."})),
      apiserver_delegated_authz_request_duration(
          registry.add({.name = "apiserver_delegated_authz_request_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"code"},
                        .buckets = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10},
                        .help = "Request latency in seconds. Broken down by status code."})),
      apiserver_delegated_authz_request(
          registry.add({.name = "apiserver_delegated_authz_request_total",
                        .labels = {"code"},
                        .help = "Number of HTTP requests partitioned by status code."})),
      authenticated_user_requests(
          registry.add({.name = "authenticated_user_requests",
                        .labels = {"username"},
                        .help = "Counter of authenticated requests broken out by username."})),
      authentication_attempts(registry.add({.name = "authentication_attempts",
                                            .labels = {"result"},
                                            .help = "Counter of authenticated attempts."})),
      authentication_duration(
          registry.add({.name = "authentication_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Authentication duration in seconds broken out by result."})),
      authentication_token_cache_active_fetch_count(
          registry.add({.name = "authentication_token_cache_active_fetch_count",
                        .type = MetricType::kGauge,
                        .labels = {"status"},
                        .help = ""})),
      authentication_token_cache_fetch(registry.add(
          {.name = "authentication_token_cache_fetch_total", .labels = {"status"}, .help = ""})),
      authentication_token_cache_request_duration(
          registry.add({.name = "authentication_token_cache_request_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"status"},
                        .buckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
                        .help = ""})),
      authentication_token_cache_request(registry.add(
          {.name = "authentication_token_cache_request_total", .labels = {"status"}, .help = ""})),
      authorization_attempts(
          registry.add({.name = "authorization_attempts_total",
                        .labels = {"result"},
                        .help = "Counter of authorization attempts broken down by result. It can be"
                                " either 'allowed', 'denied', 'no-opinion' or 'error'."})),
      authorization_duration(
          registry.add({.name = "authorization_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Authorization duration in seconds broken out by result."})) {}

ProcessInfoMetrics::ProcessInfoMetrics(Registry& registry)
    : kubernetes_build_info(
          registry.add({.name = "kubernetes_build_info",
                        .type = MetricType::kGauge,
                        .stability = Stability::kBeta,
                        .labels = {"major", "minor", "git_version", "git_commit", "git_tree_state",
                                   "build_date", "go_version", "compiler", "platform"},
                        .help = "A metric with a constant '1' value labeled by major, minor, git "
                                "version, git commit, git tree state, build date, Go version, and "
                                "compiler from which Kubernetes was built, and platform on which it"
                                " is running."})),
      kubernetes_feature_enabled(
          registry.add({.name = "kubernetes_feature_enabled",
                        .type = MetricType::kGauge,
                        .stability = Stability::kBeta,
                        .labels = {"name", "stage"},
                        .help = "This metric records the data about the stage and enablement of a "
                                "k8s feature."})),
      version_info(
          registry.add({.name = "version_info",
                        .type = MetricType::kGauge,
                        .labels = {"component", "binary", "emulation", "min_compat"},
                        .help = "Provides the compatibility version info of the component. The "
                                "component label is the name of the component, usually kube, but is"
                                " relevant for aggregated-apiservers."})) {}

HealthMetrics::HealthMetrics(Registry& registry)
    : healthcheck(
          registry.add({.name = "kubernetes_healthcheck",
                        .type = MetricType::kGauge,
                        .stability = Stability::kStable,
                        .labels = {"name", "type"},
                        .help = "This metric records the result of a single healthcheck."})),
      healthchecks(registry.add({.name = "kubernetes_healthchecks_total",
                                 .stability = Stability::kStable,
                                 .labels = {"name", "type", "status"},
                                 .help = "This metric records the results of all healthcheck."})) {}

MetricSpec pod_resource_request_spec() {
  return {.name = "kube_pod_resource_request",
          .type = MetricType::kGauge,
          .stability = Stability::kStable,
          .labels = {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"},
          .help =
              "Resources requested by workloads on the cluster, broken down by "
              "pod. This shows the resource usage the scheduler and kubelet expect"
              " per pod for resources along with the unit for the resource if any."};
}

MetricSpec pod_resource_limit_spec() {
  return {.name = "kube_pod_resource_limit",
          .type = MetricType::kGauge,
          .stability = Stability::kStable,
          .labels = {"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"},
          .help =
              "Resources limit for workloads on the cluster, broken down by pod. "
              "This shows the resource usage the scheduler and kubelet expect per "
              "pod for resources along with the unit for the resource if any."};
}

}  // namespace berth::telemetry
