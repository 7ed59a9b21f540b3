#include "app/scheduler_metrics.h"

#include <string>
#include <string_view>

#include "api/release.h"
#include "config/feature_gates.h"
#include "telemetry/process_metrics.h"

namespace berth::app {
namespace {

telemetry::RegistryOptions registry_options(const config::SchedulerOptions& options) {
  const config::MetricsOptions& metrics = options.metrics;
  telemetry::RegistryOptions registry;
  registry.disabled.insert(metrics.disabled.begin(), metrics.disabled.end());
  registry.show_hidden = !metrics.show_hidden_for_version.empty();
  registry.native_histograms = options.gates.enabled("NativeHistograms");
  for (const auto& [metric_and_label, values] : metrics.allowed_labels)
    for (std::size_t at = 0; at <= values.size();) {
      const std::size_t end = std::min(values.find(',', at), values.size());
      registry.allowed_values[metric_and_label].insert(values.substr(at, end - at));
      at = end + 1;
    }
  return registry;
}

std::string_view stage_text(config::Gate::Stage stage) {
  switch (stage) {
    case config::Gate::Stage::kAlpha: return "ALPHA";
    case config::Gate::Stage::kBeta: return "BETA";
    case config::Gate::Stage::kDeprecated: return "DEPRECATED";
    case config::Gate::Stage::kPreAlpha:  // has no series
    case config::Gate::Stage::kStable: return "";
  }
  return "";
}

// Upstream's certificate controllers each have a queue. Ours act at once: nothing waits, and the
// series that dashboards ask for say so.
void show_work_queues(telemetry::WorkQueueMetrics& queues) {
  for (const std::string_view name :
       {"DynamicServingCertificateController", "DynamicConfigMapCABundle-client-ca",
        "RequestHeaderAuthRequestController"}) {
    queues.adds.counter({name});
    queues.depth.gauge({name});
    queues.longest_running_processor.gauge({name});
    queues.queue_duration.histogram({name});
    queues.retries.counter({name});
    queues.unfinished_work.gauge({name});
    queues.work_duration.histogram({name});
  }
}

}  // namespace

ProgramMetrics::ProgramMetrics(const config::SchedulerOptions& options)
    : registry(registry_options(options)),
      client(registry),
      watch(registry),
      work_queues(registry),
      leader_election(registry),
      serving(registry),
      info(registry) {
  telemetry::add_process_metrics(registry);
  registry.add_self_metrics();
  show_work_queues(work_queues);
  if (options.gates.enabled("GenericWorkload")) telemetry::PodGroupMetrics{registry};
  if (options.gates.enabled("TopologyAwareWorkloadScheduling"))
    telemetry::PlacementMetrics{registry};
  info.kubernetes_build_info
      .gauge({"1", std::to_string(kKubernetesMinor), options.versions.reported, "", "clean", "", "",
              "c++", "linux/amd64"})
      .set(1);
  info.version_info.gauge({"kube", kKubernetesNumber, options.emulated, options.min_compatible})
      .set(1);
  for (const config::Gate& known : config::known_gates())
    if (const std::optional<config::Gate> gate = options.gates.find(known.name);
        gate && gate->stage != config::Gate::Stage::kPreAlpha)
      info.kubernetes_feature_enabled.gauge({gate->name, stage_text(gate->stage)})
          .set(options.gates.enabled(gate->name) ? 1 : 0);
}

}  // namespace berth::app
