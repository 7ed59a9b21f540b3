// Metrics: counters, gauges and histograms under upstream's names, and their text.
//
// A Registry holds families; a family holds one series per combination of label values. Whoever
// counts asks for a series once and keeps the reference: counting then takes no lock and allocates
// nothing. Any thread may count, ask for series, and read everything.
//
// Ours and not prometheus-cpp's, because /metrics is compared with upstream's: order of families,
// series and labels, Go's form of numbers, stability in HELP; and because its histograms lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "berth/loop.h"
#include "telemetry/histogram.h"

namespace berth::telemetry {

enum class Stability : std::uint8_t { kNone, kInternal, kAlpha, kBeta, kStable };
std::string_view to_string(Stability stability);  // "ALPHA", …; empty for kNone

enum class MetricType : std::uint8_t { kCounter, kGauge, kHistogram };
std::string_view to_string(MetricType type);  // "counter", …

struct MetricSpec {
  std::string_view name;
  MetricType type = MetricType::kCounter;
  Stability stability = Stability::kAlpha;
  std::vector<std::string_view> labels = {};
  std::vector<double> buckets = {};  // upper bounds, ascending, without +Inf
  std::string_view help = {};
  // The release that deprecated an alpha metric, which hides it from that release on.
  std::string_view deprecated = {};
};

// start, start*factor, … computed as upstream does: the bounds are the same to the last bit.
std::vector<double> exponential(double start, double factor, int count);

class Counter {
 public:
  void add(std::uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }
  void reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

class Registry;
class Exposition;

enum class MetricsFormat : std::uint8_t {
  kText,      // Prometheus' text format 0.0.4
  kProtobuf,  // io.prometheus.client.MetricFamily, each behind its length
};

// All series of one name.
class Family {
 public:
  Family(Registry& registry, MetricSpec spec, bool exposed);

  const MetricSpec& spec() const { return spec_; }

  // The series of these label values, in the order of the family's labels. It exists, with 0, from
  // the first time that it is asked for, and for as long as the registry.
  Counter& counter(std::initializer_list<std::string_view> values = {}) EXCLUDES(mutex_);
  Gauge& gauge(std::initializer_list<std::string_view> values = {}) EXCLUDES(mutex_);
  Histogram& histogram(std::initializer_list<std::string_view> values = {}) EXCLUDES(mutex_);

 private:
  friend class Registry;

  struct Series {
    WallTime created;  // or reset
    Counter counter;
    Gauge gauge;
    std::unique_ptr<Histogram> histogram;
  };
  Series& series(std::initializer_list<std::string_view> values, MetricType type) EXCLUDES(mutex_);
  void write(Exposition& to) const EXCLUDES(mutex_);
  void reset() EXCLUDES(mutex_);

  Registry& registry_;
  const MetricSpec spec_;
  const bool exposed_;
  const std::unique_ptr<const HistogramCells> cells_;  // of a histogram
  std::vector<std::size_t> sorted_labels_;  // places of the labels in the order of their names
  mutable Mutex mutex_;
  // By values in the order of the labels' names, which is the order of output. Series are looked
  // for many times for each pod, and found without making a key of texts.
  struct InOrder {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      return std::ranges::lexicographical_compare(a, b, std::less<std::string_view>());
    }
  };
  std::map<std::vector<std::string>, std::unique_ptr<Series>, InOrder> series_ GUARDED_BY(mutex_);
};

// A series that is computed when it is read.
struct ComputedSample {
  std::vector<std::string> values;  // in the order of the family's labels
  double value = 0;
};
using Compute = std::function<std::vector<ComputedSample>()>;

struct RegistryOptions {
  std::set<std::string, std::less<>> disabled = {};  // --disabled-metrics
  bool show_hidden = false;                          // --show-hidden-metrics-for-version
  bool native_histograms = true;                     // the gate NativeHistograms
  std::function<WallTime()> wall_now = {};           // null: the system's
  // --allow-metric-labels, by "metric,label": other values become "unexpected".
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> allowed_values = {};
};

class Registry {
 public:
  explicit Registry(RegistryOptions options = {});
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The family of that name; the same one whenever it is added again.
  Family& add(MetricSpec spec) EXCLUDES(mutex_);
  // `compute` is called on the thread that reads.
  void add_computed(MetricSpec spec, Compute compute) EXCLUDES(mutex_);

  std::vector<MetricSpec> specs() const EXCLUDES(mutex_);

  // Everything, sorted as upstream sorts.
  std::string write(MetricsFormat format) const EXCLUDES(mutex_);
  std::string text() const { return write(MetricsFormat::kText); }
  // Counters and histograms with labels go back to 0. Gauges are states, and stay.
  void reset() EXCLUDES(mutex_);

  // How the registry sees itself, once asked to: registered_metrics_total and its kin.
  void add_self_metrics();

 private:
  friend class Family;
  // Whether a family is shown; counts it as registered or hidden.
  bool expose(const MetricSpec& spec) REQUIRES(mutex_);
  WallTime wall_now() const;
  std::string_view allowed(const MetricSpec& spec, std::string_view label, std::string_view value);

  struct Computed {
    MetricSpec spec;
    Compute compute;
  };

  const RegistryOptions options_;
  Counter unexpected_;
  Counter disabled_;
  Counter hidden_;
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<Family>, std::less<>> families_ GUARDED_BY(mutex_);
  std::map<std::string, Computed, std::less<>> computed_ GUARDED_BY(mutex_);
  // By stability and the release that deprecated them.
  std::map<std::pair<std::string, std::string>, double> registered_ GUARDED_BY(mutex_);
};

// As Go prints a float64 with %g and as few digits as identify it: "0.001", "1e+06", "+Inf".
std::string go_float(double value);

}  // namespace berth::telemetry
