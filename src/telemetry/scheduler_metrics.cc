// One table of all metrics (shell.md §3.2 to §3.6): names, types, stability, labels, buckets, help.
#include "telemetry/scheduler_metrics.h"

namespace berth::telemetry {

SchedulerMetrics::SchedulerMetrics(Registry& registry)
    : async_api_call_execution_duration(
          registry.add({.name = "scheduler_async_api_call_execution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"call_type", "result"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Duration in seconds for executing API call in the async "
                                "dispatcher."})),
      async_api_call_execution(
          registry.add({.name = "scheduler_async_api_call_execution_total",
                        .labels = {"call_type", "result"},
                        .help = "Total number of API calls executed by the async dispatcher."})),
      batch_attempts(registry.add({.name = "scheduler_batch_attempts_total",
                                   .labels = {"profile", "result"},
                                   .help = "Counts of results when we attempt to use batching."})),
      batch_cache_flushed(registry.add({.name = "scheduler_batch_cache_flushed_total",
                                        .labels = {"profile", "reason"},
                                        .help = "Counts of cache flushes by reason."})),
      batch_rescore_attempts(
          registry.add({.name = "scheduler_batch_rescore_attempts_total",
                        .labels = {"profile"},
                        .help = "Counts of rescore attempts during opportunistic batching."})),
      batch_rescore_duration(registry.add(
          {.name = "scheduler_batch_rescore_duration_seconds",
           .type = MetricType::kHistogram,
           .labels = {"profile"},
           .buckets = exponential(0.00001, 2, 12),
           .help = "Latency for rescoring a node during opportunistic batching."})),
      cache_size(
          registry.add({.name = "scheduler_cache_size",
                        .type = MetricType::kGauge,
                        .labels = {"type"},
                        .help = "Number of nodes, pods, and assumed (bound) pods in the scheduler "
                                "cache."})),
      class_searches(
          registry.add({.name = "berth_class_searches_total",
                        .labels = {"profile", "source"},
                        .help = "Searches for a node, by whether they were decided from what is "
                                "kept for the class of the pod, or by a look at the nodes."})),
      dra_bindingconditions_allocations(
          registry.add({.name = "scheduler_dra_bindingconditions_allocations_total",
                        .labels = {"profile", "driver", "status"},
                        .help = "Number of allocations of devices with binding conditions, by how "
                                "they ended."})),
      dra_bindingconditions_wait_duration(
          registry.add({.name = "scheduler_dra_bindingconditions_wait_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"profile", "driver", "status"},
                        .buckets = exponential(0.1, 2, 14),
                        .help = "Time spent waiting in PreBind for the binding conditions of "
                                "devices."})),
      event_handling_duration(registry.add({.name = "scheduler_event_handling_duration_seconds",
                                            .type = MetricType::kHistogram,
                                            .labels = {"event"},
                                            .buckets = exponential(0.0001, 2, 12),
                                            .help = "Event handling latency in seconds."})),
      framework_extension_point_duration(
          registry.add({.name = "scheduler_framework_extension_point_duration_seconds",
                        .type = MetricType::kHistogram,
                        .stability = Stability::kStable,
                        .labels = {"extension_point", "status", "profile"},
                        .buckets = exponential(0.0001, 2, 12),
                        .help = "Latency for running all plugins of a specific extension point."})),
      get_node_hint_duration(registry.add({.name = "scheduler_get_node_hint_duration_seconds",
                                           .type = MetricType::kHistogram,
                                           .labels = {"hinted", "profile"},
                                           .buckets = exponential(0.00001, 2, 12),
                                           .help = "Latency for getting a node hint."})),
      goroutines(
          registry.add({.name = "scheduler_goroutines",
                        .type = MetricType::kGauge,
                        .stability = Stability::kBeta,
                        .labels = {"operation"},
                        .help = "Number of running goroutines split by the work they do such as "
                                "binding."})),
      inflight_events(
          registry.add({.name = "scheduler_inflight_events",
                        .type = MetricType::kGauge,
                        .labels = {"event"},
                        .help = "Number of events currently tracked in the scheduling queue."})),
      pending_async_api_calls(
          registry.add({.name = "scheduler_pending_async_api_calls",
                        .type = MetricType::kGauge,
                        .labels = {"call_type"},
                        .help = "Number of API calls currently pending in the async queue."})),
      pending_pods(
          registry.add({.name = "scheduler_pending_pods",
                        .type = MetricType::kGauge,
                        .stability = Stability::kStable,
                        .labels = {"queue"},
                        .help = "Number of pending pods, by the queue type. 'active' means number "
                                "of pods in activeQ; 'backoff' means number of pods in backoffQ; "
                                "'unschedulable' means number of pods in unschedulablePods that the"
                                " scheduler attempted to schedule and failed; 'gated' is the number"
                                " of unschedulable pods that the scheduler never attempted to "
                                "schedule because they are gated."})),
      permit_wait_duration(registry.add({.name = "scheduler_permit_wait_duration_seconds",
                                         .type = MetricType::kHistogram,
                                         .stability = Stability::kBeta,
                                         .labels = {"result"},
                                         .buckets = exponential(0.001, 2, 15),
                                         .help = "Duration of waiting on permit."})),
      plugin_evaluation(
          registry.add({.name = "scheduler_plugin_evaluation_total",
                        .stability = Stability::kBeta,
                        .labels = {"plugin", "extension_point", "profile"},
                        .help = "Number of attempts to schedule pods by each plugin and the "
                                "extension point (available only in PreFilter, Filter, PreScore, "
                                "and Score)."})),
      plugin_execution_duration(
          registry.add({.name = "scheduler_plugin_execution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"plugin", "extension_point", "status"},
                        .buckets = exponential(0.00001, 1.5, 20),
                        .help = "Duration for running a plugin at a specific extension point."})),
      pod_scheduled_after_flush(
          registry.add({.name = "scheduler_pod_scheduled_after_flush_total",
                        .help = "Number of pods that were successfully scheduled after being "
                                "flushed from unschedulablePods due to timeout. This metric helps "
                                "detect potential queueing hint misconfigurations or event handling"
                                " issues."})),
      pod_scheduling_attempts(
          registry.add({.name = "scheduler_pod_scheduling_attempts",
                        .type = MetricType::kHistogram,
                        .stability = Stability::kStable,
                        .buckets = {1, 2, 4, 8, 16},
                        .help = "Number of attempts to successfully schedule a pod."})),
      pod_scheduling_sli_duration(
          registry.add({.name = "scheduler_pod_scheduling_sli_duration_seconds",
                        .type = MetricType::kHistogram,
                        .stability = Stability::kBeta,
                        .labels = {"attempts"},
                        .buckets = exponential(0.01, 2, 20),
                        .help = "E2e latency for a pod being scheduled, from the time the pod "
                                "enters the scheduling queue and might involve multiple scheduling "
                                "attempts."})),
      preemption_attempts(
          registry.add({.name = "scheduler_preemption_attempts_total",
                        .stability = Stability::kStable,
                        .help = "Total preemption attempts in the cluster till now"})),
      preemption_goroutines_duration(
          registry.add({.name = "scheduler_preemption_goroutines_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result"},
                        .buckets = exponential(0.01, 2, 20),
                        .help = "Duration in seconds for running goroutines for the preemption."})),
      preemption_goroutines_execution(
          registry.add({.name = "scheduler_preemption_goroutines_execution_total",
                        .labels = {"result"},
                        .help = "Number of preemption goroutines executed."})),
      preemption_victims(registry.add({.name = "scheduler_preemption_victims",
                                       .type = MetricType::kHistogram,
                                       .stability = Stability::kStable,
                                       .buckets = exponential(1, 2, 7),
                                       .help = "Number of selected preemption victims"})),
      queue_incoming_pods(registry.add(
          {.name = "scheduler_queue_incoming_pods_total",
           .stability = Stability::kStable,
           .labels = {"queue", "event"},
           .help = "Number of pods added to scheduling queues by event and queue type."})),
      queueing_hint_execution_duration(
          registry.add({.name = "scheduler_queueing_hint_execution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"plugin", "event", "hint"},
                        .buckets = exponential(0.00001, 1.5, 20),
                        .help = "Duration for running a queueing hint function of a plugin."})),
      resourceclaim_creates(
          registry.add({.name = "scheduler_resourceclaim_creates_total",
                        .labels = {"status"},
                        .help = "Number of ResourceClaims creation requests within scheduler"})),
      schedule_attempts(
          registry.add({.name = "scheduler_schedule_attempts_total",
                        .stability = Stability::kStable,
                        .labels = {"result", "profile"},
                        .help = "Number of attempts to schedule pods, by the result. "
                                "'unschedulable' means a pod could not be scheduled, while 'error' "
                                "means an internal scheduler problem."})),
      scheduling_algorithm_duration(
          registry.add({.name = "scheduler_scheduling_algorithm_duration_seconds",
                        .type = MetricType::kHistogram,
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Scheduling algorithm latency in seconds"})),
      scheduling_attempt_duration(
          registry.add({.name = "scheduler_scheduling_attempt_duration_seconds",
                        .type = MetricType::kHistogram,
                        .stability = Stability::kStable,
                        .labels = {"result", "profile"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Scheduling attempt latency in seconds (scheduling algorithm + "
                                "binding)"})),
      store_schedule_results_duration(
          registry.add({.name = "scheduler_store_schedule_results_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"profile"},
                        .buckets = exponential(0.00001, 2, 12),
                        .help = "Latency for getting a no."})),
      unschedulable_pods(
          registry.add({.name = "scheduler_unschedulable_pods",
                        .type = MetricType::kGauge,
                        .stability = Stability::kBeta,
                        .labels = {"plugin", "profile"},
                        .help = "The number of unschedulable pods broken down by plugin name. A pod"
                                " will increment the gauge for all plugins that caused it to not "
                                "schedule and so this metric have meaning only when broken down by "
                                "plugin."})),
      volume_binder_cache_requests(
          registry.add({.name = "scheduler_volume_binder_cache_requests_total",
                        .labels = {"operation"},
                        .help = "Total number for request volume binding cache"})),
      volume_scheduling_stage_error(
          registry.add({.name = "scheduler_volume_scheduling_stage_error_total",
                        .labels = {"operation"},
                        .help = "Volume scheduling stage error count"})) {}

PodGroupMetrics::PodGroupMetrics(Registry& registry)
    : podgroup_schedule_attempts(
          registry.add({.name = "scheduler_podgroup_schedule_attempts_total",
                        .labels = {"result", "profile"},
                        .help = "Number of attempts to schedule pod groups, by the result."})),
      podgroup_scheduling_algorithm_duration(
          registry.add({.name = "scheduler_podgroup_scheduling_algorithm_duration_seconds",
                        .type = MetricType::kHistogram,
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Latency of the scheduling algorithm for a pod group in seconds"})),
      podgroup_scheduling_attempt_duration(
          registry.add({.name = "scheduler_podgroup_scheduling_attempt_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result", "profile"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Latency of attempts to schedule a pod group in seconds"})) {}

ClientMetrics::ClientMetrics(Registry& registry)
    : dns_resolution_duration(
          registry.add({.name = "rest_client_dns_resolution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"host"},
                        .buckets = {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30},
                        .help = "Latency of resolving the name of a host in seconds."})),
      exec_plugin_call(
          registry.add({.name = "rest_client_exec_plugin_call_total",
                        .labels = {"code", "call_status"},
                        .help = "Number of calls of an exec credential plugin, by exit code and "
                                "kind of failure."})),
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
                        .help = "Number of times that an exec credential plugin was allowed or "
                                "denied by policy."})),
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
                        .help = "Number of reloads of CA certificates, by result and reason."})),
      transport_cache_entries(
          registry.add({.name = "rest_client_transport_cache_entries",
                        .type = MetricType::kGauge,
                        .help = "Number of transport entries in the internal cache."})),
      transport_cache_gc_calls(
          registry.add({.name = "rest_client_transport_cache_gc_calls_total",
                        .labels = {"result"},
                        .help = "Number of transports dropped from the cache, by result."})),
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
    : undecodable_objects(
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
