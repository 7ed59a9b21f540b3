// The metrics of the program, by upstream's names: one table of all of them (scheduler_metrics.cc,
// program_metrics.cc).
//
// Each struct registers its families when it is made; the members are the families, to ask for
// series. Label values come in the order of the comments.
#pragma once

#include "telemetry/metrics.h"

namespace berth::telemetry {

// What the scheduler does (shell.md §3.2).
struct SchedulerMetrics {
  explicit SchedulerMetrics(Registry& registry);

  Family& async_api_call_execution_duration;    // call_type, result
  Family& async_api_call_execution;             // call_type, result
  Family& batch_attempts;                       // profile, result
  Family& batch_cache_flushed;                  // profile, reason
  Family& batch_rescore_attempts;               // profile
  Family& batch_rescore_duration;               // profile; without series: nothing is scored again
  Family& cache_size;                           // type
  Family& class_searches;                       // profile, source
  Family& dra_bindingconditions_allocations;    // profile, driver, status
  Family& dra_bindingconditions_wait_duration;  // profile, driver, status
  Family& event_handling_duration;              // event
  Family& framework_extension_point_duration;   // extension_point, status, profile
  Family& get_node_hint_duration;               // hinted, profile
  Family& goroutines;                           // operation
  Family& inflight_events;                      // event
  Family& pending_async_api_calls;              // call_type
  Family& pending_pods;                         // queue
  Family& permit_wait_duration;                 // result
  Family& plugin_evaluation;                    // plugin, extension_point, profile
  Family& plugin_execution_duration;            // plugin, extension_point, status
  Family& pod_scheduled_after_flush;
  Family& pod_scheduling_attempts;
  Family& pod_scheduling_sli_duration;    // attempts
  Family& pre_queueing_hint_evaluations;  // plugin, result
  Family& preemption_attempts;
  Family& preemption_goroutines_duration;   // result
  Family& preemption_goroutines_execution;  // result
  Family& preemption_victims;
  Family& queue_incoming_entities;           // queue, event, type
  Family& queue_incoming_pods;               // queue, event
  Family& queued_entities;                   // queue, type
  Family& queueing_hint_execution_duration;  // plugin, event, hint
  Family& resourceclaim_creates;  // status, admin_access, owner_api_group, owner_api_kind
  Family& schedule_attempts;      // result, profile
  Family& scheduling_algorithm_duration;
  Family& scheduling_attempt_duration;      // result, profile
  Family& store_schedule_results_duration;  // profile
  Family& unschedulable_pods;               // plugin, profile
  Family& volume_binder_cache_requests;     // operation
  Family& volume_scheduling_stage_error;    // operation
};

// Pod groups; only with the gate GenericWorkload.
struct PodGroupMetrics {
  explicit PodGroupMetrics(Registry& registry);

  Family& podgroup_schedule_attempts;  // result, profile
  Family& podgroup_scheduling_algorithm_duration;
  Family& podgroup_scheduling_attempt_duration;  // result, profile
  Family& preemption_evaluation_duration;        // preemptor, result
  Family& preemption_execution_duration;         // preemptor, result
  Family& preemption_pdb_violations;             // preemptor
  Family& preemption_workload_disruptions;       // preemptor
  Family& workload_preemption_attempts;          // result
  Family& workload_preemption_victims;
};

// Placements of pod groups; only with the gate TopologyAwareWorkloadScheduling.
struct PlacementMetrics {
  explicit PlacementMetrics(Registry& registry);

  Family& generated_placements;           // profile
  Family& placement_evaluation_duration;  // result, profile
  Family& placement_evaluations;          // result, profile
};

// Requests to the API server.
struct ClientMetrics {
  explicit ClientMetrics(Registry& registry);

  Family& dns_resolution_duration;  // host
  Family& exec_plugin_call;         // code, call_status
  Family& exec_plugin_certificate_rotation_age;
  Family& exec_plugin_policy_call;  // allowed, denied
  Family& exec_plugin_ttl;
  Family& rate_limiter_duration;  // verb, host
  Family& request_duration;       // verb, host
  Family& request_retries;        // code, verb, host
  Family& request_size;           // verb, host
  Family& requests;               // code, method, host
  Family& response_size;          // verb, host
  Family& transport_ca_reload;    // result, reason
  Family& transport_cache_entries;
  Family& transport_cache_gc_calls;  // result
  Family& transport_cert_rotation_gc_calls;
  Family& transport_create_calls;  // result
};

// What comes in from the API server.
struct WatchMetrics {
  explicit WatchMetrics(Registry& registry);

  Family& informer_processing_latency;      // name, group, version, resource
  Family& informer_queued_items;            // name, group, version, resource
  Family& informer_store_resource_version;  // name, group, version, resource
  Family& undecodable_objects;              // resource
};

// The controllers beside the scheduler, by name.
struct WorkQueueMetrics {
  explicit WorkQueueMetrics(Registry& registry);

  Family& adds;                       // name
  Family& depth;                      // name
  Family& longest_running_processor;  // name
  Family& queue_duration;             // name
  Family& retries;                    // name
  Family& unfinished_work;            // name
  Family& work_duration;              // name
};

// The lease.
struct LeaderElectionMetrics {
  explicit LeaderElectionMetrics(Registry& registry);

  Family& master_status;  // name
  Family& slowpath;       // name
};

// Authentication and authorization of the HTTP server.
struct ServingMetrics {
  explicit ServingMetrics(Registry& registry);

  Family& apiserver_client_certificate_expiration;
  Family& apiserver_delegated_authn_request_duration;     // code
  Family& apiserver_delegated_authn_request;              // code
  Family& apiserver_delegated_authz_request_duration;     // code
  Family& apiserver_delegated_authz_request;              // code
  Family& authenticated_user_requests;                    // username
  Family& authentication_attempts;                        // result
  Family& authentication_duration;                        // result
  Family& authentication_token_cache_active_fetch_count;  // status
  Family& authentication_token_cache_fetch;               // status
  Family& authentication_token_cache_request_duration;    // status
  Family& authentication_token_cache_request;             // status
  Family& authorization_attempts;                         // result
  Family& authorization_duration;                         // result
};

// What does not change: versions and feature gates.
struct ProcessInfoMetrics {
  explicit ProcessInfoMetrics(Registry& registry);

  Family& kubernetes_build_info;       // major, minor, git_version, git_commit, git_tree_state,
                                       // build_date, go_version, compiler, platform
  Family& kubernetes_feature_enabled;  // name, stage
  Family& version_info;                // component, binary, emulation, min_compat
};

// Health checks, for /metrics/slis.
struct HealthMetrics {
  explicit HealthMetrics(Registry& registry);

  Family& healthcheck;   // name, type
  Family& healthchecks;  // name, type, status
};

// For /metrics/resources, which is computed from the pods each time.
MetricSpec pod_resource_request_spec();
MetricSpec pod_resource_limit_spec();

}  // namespace berth::telemetry
