#include "kube/informer_metrics.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace berth::kube {
namespace {

// The values of the labels name, group, version and resource.
struct InformerLabels {
  explicit InformerLabels(const WatchedKind& kind) {
    const std::string_view api = kind.api_version;
    const std::size_t slash = api.find('/');
    group = slash == std::string_view::npos ? "" : api.substr(0, slash);
    version = slash == std::string_view::npos ? api : api.substr(slash + 1);
    // Parity: upstream makes the plural of every kind with an s: "storageclasss".
    for (const char c : kind.kind_name)
      resource += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    resource += 's';
  }

  std::string_view name = "kube-scheduler";
  std::string_view group;
  std::string_view version;
  std::string resource;
};

telemetry::Gauge& gauge(telemetry::Family& family, const InformerLabels& labels) {
  return family.gauge({labels.name, labels.group, labels.version, labels.resource});
}

}  // namespace

InformerMetrics::InformerMetrics(telemetry::WatchMetrics& families, const WatchedKind& kind)
    : queued_(gauge(families.informer_queued_items, InformerLabels(kind))),
      version_(gauge(families.informer_store_resource_version, InformerLabels(kind))),
      latency_([&]() -> telemetry::Histogram& {
        const InformerLabels labels(kind);
        return families.informer_processing_latency.histogram(
            {labels.name, labels.group, labels.version, labels.resource});
      }()) {}

void InformerMetrics::processed(Duration took, std::string_view version) {
  latency_.observe(in_seconds(took));
  if (const std::optional<double> number = version_for_metrics(version)) version_.set(*number);
}

std::optional<double> version_for_metrics(std::string_view version) {
  constexpr std::size_t kDigits = 15;
  version.remove_prefix(version.size() - std::min(version.size(), kDigits));
  std::int64_t number = 0;
  const char* const end = version.data() + version.size();
  const auto [stop, error] = std::from_chars(version.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return static_cast<double>(number);
}

}  // namespace berth::kube
