// The table of metrics (shell.md §3.2): names, types, stability, labels, buckets, help. What
// surrounds the scheduler is in program_metrics.cc.
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
      batch_rescore_duration(
          registry.add({.name = "scheduler_batch_rescore_duration_seconds",
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
                        .help = "Number of allocations using devices with BindingConditions, "
                                "counted per driver per scheduling attempt"})),
      dra_bindingconditions_wait_duration(
          registry.add({.name = "scheduler_dra_bindingconditions_wait_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"profile", "driver", "status"},
                        .buckets = exponential(0.1, 2, 14),
                        .help = "Time in seconds spent waiting for BindingConditions to be "
                                "satisfied during PreBind."})),
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
                                "'unschedulable' means number of pods in unschedulableEntities that"
                                " the scheduler attempted to schedule and failed; 'gated' is the "
                                "number of unschedulable pods that the scheduler never attempted to"
                                " schedule because they are gated; 'incomplete' means number of "
                                "pods in incompletePodGroupPods; 'pending' means number of pods in "
                                "pendingPodGroupPods."})),
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
                        .stability = Stability::kBeta,
                        .labels = {"plugin", "extension_point", "status"},
                        .buckets = exponential(0.00001, 1.5, 20),
                        .help = "Duration for running a plugin at a specific extension point."})),
      pod_scheduled_after_flush(
          registry.add({.name = "scheduler_pod_scheduled_after_flush_total",
                        .help = "Number of pods that were successfully scheduled after being "
                                "flushed from unschedulableEntities due to timeout. This metric "
                                "helps detect potential queueing hint misconfigurations or event "
                                "handling issues."})),
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
      pre_queueing_hint_evaluations(
          registry.add({.name = "scheduler_pre_queueing_hint_evaluations_total",
                        .labels = {"plugin", "result"},
                        .help = "Number of PreQueueingHint evaluations, labeled by plugin and "
                                "result (all_pods or narrowed)."})),
      preemption_attempts(
          registry.add({.name = "scheduler_preemption_attempts_total",
                        .stability = Stability::kStable,
                        .help = "Total preemption attempts in the cluster till now"})),
      preemption_goroutines_duration(
          registry.add({.name = "scheduler_preemption_goroutines_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result"},
                        .buckets = exponential(0.01, 2, 20),
                        .help = "Duration in seconds for running goroutines for the preemption.",
                        .deprecated = "1.37.0"})),
      preemption_goroutines_execution(
          registry.add({.name = "scheduler_preemption_goroutines_execution_total",
                        .labels = {"result"},
                        .help = "Number of preemption goroutines executed."})),
      preemption_victims(registry.add({.name = "scheduler_preemption_victims",
                                       .type = MetricType::kHistogram,
                                       .stability = Stability::kStable,
                                       .buckets = exponential(1, 2, 7),
                                       .help = "Number of selected preemption victims for "
                                               "preemption initiated by a single pod"})),
      queue_incoming_entities(
          registry.add({.name = "scheduler_queue_incoming_entities_total",
                        .labels = {"queue", "event", "type"},
                        .help = "Number of scheduling entities added to scheduling queues by event,"
                                " queue type, and entity type. Entity types are either 'pod' (for "
                                "individual pods that are not members of any podgroup) or "
                                "'podgroup'."})),
      queue_incoming_pods(registry.add(
          {.name = "scheduler_queue_incoming_pods_total",
           .stability = Stability::kStable,
           .labels = {"queue", "event"},
           .help = "Number of pods added to scheduling queues by event and queue type."})),
      queued_entities(
          registry.add({.name = "scheduler_queued_entities",
                        .type = MetricType::kGauge,
                        .labels = {"queue", "type"},
                        .help = "Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' "
                                "stands for individual pods that are not members of any podgroup) "
                                "by the queue type. 'active' means number of entities in activeQ; "
                                "'backoff' means number of entities in backoffQ; 'unschedulable' "
                                "means number of entities in unschedulableEntities that the "
                                "scheduler attempted to schedule and failed; 'gated' is the number "
                                "of unschedulable entities that the scheduler never attempted to "
                                "schedule because they are gated."})),
      queueing_hint_execution_duration(
          registry.add({.name = "scheduler_queueing_hint_execution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"plugin", "event", "hint"},
                        .buckets = exponential(0.00001, 1.5, 20),
                        .help = "Duration for running a queueing hint function of a plugin."})),
      resourceclaim_creates(
          registry.add({.name = "dynamic_resource_allocation_resourceclaim_creates_total",
                        .labels = {"status", "admin_access", "owner_api_group", "owner_api_kind"},
                        .help = "Number of ResourceClaims creation requests, categorized by "
                                "creation status, admin access, and owning API group and kind "
                                "(either Pod or scheduling.k8s.io/PodGroup)"})),
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
                        .stability = Stability::kBeta,
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
                        .help = "Latency for storing scheduling results."})),
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
                        .help = "Number of attempts to schedule pod group, by the result. "
                                "'unschedulable' means a pod group could not be scheduled, while "
                                "'error' means an internal scheduler problem."})),
      podgroup_scheduling_algorithm_duration(
          registry.add({.name = "scheduler_podgroup_scheduling_algorithm_duration_seconds",
                        .type = MetricType::kHistogram,
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Pod group scheduling algorithm latency in seconds"})),
      podgroup_scheduling_attempt_duration(
          registry.add({.name = "scheduler_podgroup_scheduling_attempt_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result", "profile"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Pod group scheduling attempt latency in seconds"})),
      preemption_evaluation_duration(registry.add(
          {.name = "scheduler_preemption_evaluation_duration_seconds",
           .type = MetricType::kHistogram,
           .labels = {"preemptor", "result"},
           .buckets = exponential(0.001, 2, 16),
           .help = "Duration in seconds for identifying the target preemption victims."})),
      preemption_execution_duration(
          registry.add({.name = "scheduler_preemption_execution_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"preemptor", "result"},
                        .buckets = exponential(0.001, 2, 16),
                        .help = "Duration in seconds for preempting the target preemption victims. "
                                "With async preemption enabled, preemption execution does not block"
                                " the scheduling of other pods."})),
      preemption_pdb_violations(registry.add(
          {.name = "scheduler_preemption_pdb_violations_total",
           .labels = {"preemptor"},
           .help = "Total number of pod disruption budget violations caused by preemption."})),
      preemption_workload_disruptions(
          registry.add({.name = "scheduler_preemption_workload_disruptions",
                        .type = MetricType::kHistogram,
                        .labels = {"preemptor"},
                        .buckets = exponential(1, 2, 11),
                        .help = "Number of workload preemption units being preempted. A single "
                                "preemption unit can be all pods in a pod group (in case of "
                                "DisruptionMode=all), or a single pod (in case of "
                                "DisruptionMode=single)."})),
      workload_preemption_attempts(
          registry.add({.name = "scheduler_workload_preemption_attempts_total",
                        .labels = {"result"},
                        .help = "Total preemption attempts initiated by workload (including pod "
                                "groups) in the cluster till now."})),
      workload_preemption_victims(registry.add(
          {.name = "scheduler_workload_preemption_victims",
           .type = MetricType::kHistogram,
           .buckets = exponential(1, 2, 11),
           .help = "Number of pod preemption victims caused by workload preemption."})) {}

PlacementMetrics::PlacementMetrics(Registry& registry)
    : generated_placements(registry.add(
          {.name = "scheduler_generated_placements_total",
           .labels = {"profile"},
           .help = "Number of candidate placements generated when scheduling pod groups."})),
      placement_evaluation_duration(
          registry.add({.name = "scheduler_placement_evaluation_duration_seconds",
                        .type = MetricType::kHistogram,
                        .labels = {"result", "profile"},
                        .buckets = exponential(0.001, 2, 15),
                        .help = "Latency in seconds of evaluating a single candidate placement when"
                                " scheduling pod groups, by result. 'feasible' means the pod group "
                                "fit into the placement, while 'infeasible' means it did not."})),
      placement_evaluations(
          registry.add({.name = "scheduler_placement_evaluations_total",
                        .labels = {"result", "profile"},
                        .help = "Number of candidate placements evaluated when scheduling pod "
                                "groups, by result. 'feasible' means the pod group fit into the "
                                "placement, while 'infeasible' means it did not."})) {}

}  // namespace berth::telemetry
