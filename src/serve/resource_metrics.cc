#include "serve/resource_metrics.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "telemetry/scheduler_metrics.h"

namespace berth::serve {
namespace {

std::string_view unit_of(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
      resource.starts_with("hugepages-"))
    return "bytes";
  return resource.starts_with("attachable-volumes-") ? "integer" : "";
}

bool is_pod_level(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

// As for requests: containers together, or the init container that needs the most beside the
// sidecars before it; then what is given for the pod as a whole. Overhead only adds to limits that
// there are.
ResourceList limits_of(const PodSpec& spec) {
  ResourceList total;
  for (const Container& container : spec.containers) total.add(container.limits);
  ResourceList sidecars, peak;
  for (const Container& container : spec.init_containers) {
    if (container.restart_always) {
      total.add(container.limits);
      sidecars.add(container.limits);
      peak.raise_to(sidecars);
    } else {
      ResourceList limits = container.limits;
      limits.add(sidecars);
      peak.raise_to(limits);
    }
  }
  total.raise_to(peak);

  const Symbols& symbols = *spec.symbols.table();
  const auto pod_level = [&](const std::optional<ResourceList>& list) {
    return list && std::ranges::any_of(*list, [&](const ResourceAmount& amount) {
             return is_pod_level(symbols.text(amount.name));
           });
  };
  if (spec.pod_limits && (pod_level(spec.pod_limits) || pod_level(spec.pod_requests)))
    for (const auto& [name, amount] : *spec.pod_limits)
      if (is_pod_level(symbols.text(name))) total.set(name, amount);
  for (const auto& [name, amount] : spec.overhead) {
    const Quantity* limit = total.find(name);
    if (!limit || limit->is_zero()) continue;
    Quantity sum = *limit;
    sum += amount;
    total.set(name, std::move(sum));
  }
  return total;
}

// Whole units exactly, else in thousandths.
double as_double(const Quantity& amount) {
  const std::int64_t whole = amount.value();
  if (Quantity::of(whole) == amount) return static_cast<double>(whole);
  return static_cast<double>(amount.milli_value()) * 1e-3;
}

void add_samples(std::vector<telemetry::ComputedSample>& samples, const Pod& pod,
                 const ResourceList& amounts) {
  for (const auto& [name, amount] : amounts) {
    if (amount.is_zero()) continue;
    const std::string_view resource = pod.text(name);
    samples.push_back(
        {{std::string(pod.namespace_name()), std::string(pod.name()), std::string(pod.node_name()),
          std::string(pod.text(pod.scheduler_name())), std::to_string(pod.priority()),
          std::string(resource), std::string(unit_of(resource))},
         as_double(amount)});
  }
}

}  // namespace

std::string pod_resource_page(std::span<const Ref<const Pod>> pods,
                              telemetry::MetricsFormat format) {
  std::vector<telemetry::ComputedSample> requests, limits;
  for (const Ref<const Pod>& pod : pods) {
    if (!pod->node().empty() && pod->finished()) continue;
    add_samples(requests, *pod, pod_requests(pod->spec(), RequestOptions{}));
    add_samples(limits, *pod, limits_of(pod->spec()));
  }
  telemetry::Registry registry;
  registry.add_computed(telemetry::pod_resource_request_spec(),
                        [&] { return std::move(requests); });
  registry.add_computed(telemetry::pod_resource_limit_spec(), [&] { return std::move(limits); });
  return registry.write(format);
}

}  // namespace berth::serve
