#include "telemetry/metrics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "telemetry/exposition.h"

namespace berth::telemetry {

std::string_view to_string(Stability stability) {
  switch (stability) {
    case Stability::kNone: return "";
    case Stability::kInternal: return "INTERNAL";
    case Stability::kAlpha: return "ALPHA";
    case Stability::kBeta: return "BETA";
    case Stability::kStable: return "STABLE";
  }
  return "";
}

std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kHistogram: return "histogram";
  }
  return "";
}

std::vector<double> exponential(double start, double factor, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i) {
    bounds.push_back(start);
    start *= factor;
  }
  return bounds;
}

// ---- Family

namespace {

constexpr std::size_t kMostLabels = 16;

// The places of the labels in the order of their names.
std::vector<std::size_t> places_by_name(const std::vector<std::string_view>& labels) {
  std::vector<std::size_t> places(labels.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) { return labels[place]; });
  return places;
}

std::vector<LabelPair> pairs(const MetricSpec& spec, const std::vector<std::size_t>& places,
                             const std::vector<std::string>& values_by_name) {
  std::vector<LabelPair> result;
  for (std::size_t i = 0; i < places.size(); ++i)
    result.push_back({spec.labels[places[i]], values_by_name[i]});
  return result;
}

}  // namespace

Family::Family(Registry& registry, MetricSpec spec, bool exposed)
    : registry_(registry),
      spec_(std::move(spec)),
      exposed_(exposed),
      cells_(spec_.type == MetricType::kHistogram
                 ? std::make_unique<const HistogramCells>(spec_.buckets)
                 : nullptr),
      sorted_labels_(places_by_name(spec_.labels)) {
  BERTH_CHECK(spec_.labels.size() <= kMostLabels);
  if (spec_.labels.empty()) series({}, spec_.type);  // is always there
}

Family::Series& Family::series(std::initializer_list<std::string_view> values, MetricType type) {
  BERTH_CHECK(type == spec_.type);
  BERTH_CHECK(values.size() == spec_.labels.size());
  std::array<std::string_view, kMostLabels> by_name;
  for (std::size_t i = 0; i < sorted_labels_.size(); ++i) {
    const std::size_t place = sorted_labels_[i];
    by_name[i] = registry_.allowed(spec_, spec_.labels[place], values.begin()[place]);
  }
  const std::span<const std::string_view> key(by_name.data(), values.size());
  const MutexLock lock(mutex_);
  if (const auto found = series_.find(key); found != series_.end()) return *found->second;
  auto made = std::make_unique<Series>();
  made->created = registry_.wall_now();
  if (type == MetricType::kHistogram) made->histogram = std::make_unique<Histogram>(*cells_);
  return *series_.emplace(std::vector<std::string>(key.begin(), key.end()), std::move(made))
              .first->second;
}

Counter& Family::counter(std::initializer_list<std::string_view> values) {
  return series(values, MetricType::kCounter).counter;
}

Gauge& Family::gauge(std::initializer_list<std::string_view> values) {
  return series(values, MetricType::kGauge).gauge;
}

Histogram& Family::histogram(std::initializer_list<std::string_view> values) {
  return *series(values, MetricType::kHistogram).histogram;
}

void Family::write(Exposition& to) const {
  const MutexLock lock(mutex_);
  if (!exposed_ || series_.empty()) return;
  to.begin_family(spec_);
  for (const auto& [values, one] : series_) {
    const std::vector<LabelPair> labels = pairs(spec_, sorted_labels_, values);
    switch (spec_.type) {
      case MetricType::kCounter:
        to.sample(labels, static_cast<double>(one->counter.value()), one->created);
        break;
      case MetricType::kGauge: to.sample(labels, one->gauge.value(), std::nullopt); break;
      case MetricType::kHistogram: to.histogram(labels, *one->histogram, one->created); break;
    }
  }
}

void Family::reset() {
  if (spec_.labels.empty() || spec_.type == MetricType::kGauge) return;
  const MutexLock lock(mutex_);
  for (const auto& [values, one] : series_) {
    one->created = registry_.wall_now();
    one->counter.reset();
    if (one->histogram) one->histogram->reset();
  }
}

// ---- Registry

Registry::Registry(RegistryOptions options) : options_(std::move(options)) {
  disabled_.add(options_.disabled.size());
}

Family& Registry::add(MetricSpec spec) {
  const MutexLock lock(mutex_);
  const std::string name(spec.name);
  std::unique_ptr<Family>& family = families_[name];
  if (family) return *family;
  const bool exposed = expose(spec);
  family = std::make_unique<Family>(*this, std::move(spec), exposed);
  return *family;
}

void Registry::add_computed(MetricSpec spec, Compute compute) {
  const MutexLock lock(mutex_);
  if (!expose(spec)) return;
  const std::string name(spec.name);
  computed_.insert_or_assign(name, Computed{std::move(spec), std::move(compute)});
}

bool Registry::expose(const MetricSpec& spec) {
  // Parity: what is disabled counts as hidden.
  const bool deprecated = !spec.deprecated.empty() && !options_.show_hidden;
  if (deprecated || options_.disabled.contains(spec.name)) {
    hidden_.add();
    return false;
  }
  if (spec.stability != Stability::kNone)
    ++registered_[{std::string(to_string(spec.stability)), std::string(spec.deprecated)}];
  return true;
}

WallTime Registry::wall_now() const {
  if (options_.wall_now) return options_.wall_now();
  return {
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
}

std::vector<MetricSpec> Registry::specs() const {
  const MutexLock lock(mutex_);
  std::vector<MetricSpec> all;
  for (const auto& [name, family] : families_) all.push_back(family->spec());
  for (const auto& [name, computed] : computed_) all.push_back(computed.spec);
  std::ranges::sort(all, {}, &MetricSpec::name);
  return all;
}

std::string_view Registry::allowed(const MetricSpec& spec, std::string_view label,
                                   std::string_view value) {
  if (options_.allowed_values.empty()) return value;
  const auto list = options_.allowed_values.find(std::string(spec.name) + "," + std::string(label));
  if (list == options_.allowed_values.end() || list->second.contains(value)) return value;
  unexpected_.add();
  return "unexpected";
}

std::string Registry::write(MetricsFormat format) const {
  const std::unique_ptr<Exposition> exposition =
      make_exposition(format, options_.native_histograms);
  // What is computed is asked for without the lock: it may count something itself.
  std::map<std::string, Computed, std::less<>> to_compute;
  std::map<std::string, std::string, std::less<>> parts;
  {
    const MutexLock lock(mutex_);
    to_compute = computed_;
    for (const auto& [name, family] : families_) {
      family->write(*exposition);
      parts[name] = exposition->end_family();
    }
  }
  for (const auto& [name, computed] : to_compute) {
    const std::vector<std::size_t> places = places_by_name(computed.spec.labels);
    std::vector<ComputedSample> samples = computed.compute();
    for (ComputedSample& sample : samples) {
      std::vector<std::string> sorted;
      for (const std::size_t place : places) sorted.push_back(std::move(sample.values[place]));
      sample.values = std::move(sorted);
    }
    if (samples.empty()) continue;
    std::ranges::sort(samples, {}, &ComputedSample::values);
    exposition->begin_family(computed.spec);
    for (const ComputedSample& sample : samples)
      exposition->sample(pairs(computed.spec, places, sample.values), sample.value, std::nullopt);
    parts[name] += exposition->end_family();
  }
  std::string all;
  for (const auto& [name, part] : parts) all += part;
  return all;
}

void Registry::reset() {
  const MutexLock lock(mutex_);
  for (const auto& [name, family] : families_) family->reset();
}

void Registry::add_self_metrics() {
  const auto of = [](const Counter& counter) {
    return [&counter] {
      return std::vector<ComputedSample>{{{}, static_cast<double>(counter.value())}};
    };
  };
  add_computed({.name = "cardinality_enforcement_unexpected_categorizations_total",
                .help = "The count of unexpected categorizations during cardinality enforcement."},
               of(unexpected_));
  add_computed({.name = "disabled_metrics_total",
                .stability = Stability::kBeta,
                .help = "The count of disabled metrics."},
               of(disabled_));
  add_computed({.name = "hidden_metrics_total",
                .stability = Stability::kBeta,
                .help = "The count of hidden metrics."},
               of(hidden_));
  add_computed({.name = "registered_metrics_total",
                .stability = Stability::kBeta,
                .labels = {"stability_level", "deprecated_version"},
                .help = "The count of registered metrics broken by stability level and deprecation"
                        " version."},
               [this] {
                 const MutexLock lock(mutex_);
                 std::vector<ComputedSample> samples;
                 for (const auto& [level_and_release, count] : registered_)
                   samples.push_back({{level_and_release.first, level_and_release.second}, count});
                 return samples;
               });
}

}  // namespace berth::telemetry
