#include "telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "base/thread.h"

namespace berth::telemetry {
namespace {

TEST(GoFloat, ReadsLikeGo) {
  const struct {
    double value;
    const char* text;
  } cases[] = {
      {0, "0"},
      {1, "1"},
      {-1, "-1"},
      {0.001, "0.001"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {1.5e-5, "1.5e-05"},
      {123456, "123456"},
      {999999.5, "999999.5"},
      {1e6, "1e+06"},
      {16777216, "1.6777216e+07"},
      {1794755253.46, "1.79475525346e+09"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1e100, "1e+100"},
      {-2.5, "-2.5"},
      {std::numeric_limits<double>::infinity(), "+Inf"},
      {-std::numeric_limits<double>::infinity(), "-Inf"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
  };
  for (const auto& one : cases) EXPECT_EQ(go_float(one.value), one.text);
}

TEST(Buckets, GrowAsUpstreamMultiplies) {
  const std::vector<double> bounds = exponential(1e-8, 10, 10);
  ASSERT_EQ(bounds.size(), 10u);
  EXPECT_EQ(go_float(bounds[3]), "9.999999999999999e-06");  // as upstream shows it
}

TEST(RegistryText, IsSortedByNameThenLabelsByTheirNames) {
  Registry registry;
  Family& b = registry.add({.name = "b_total",
                            .stability = Stability::kStable,
                            .labels = {"result", "profile"},
                            .help = "Help \\ of\nb."});
  Family& a = registry.add({.name = "a", .type = MetricType::kGauge, .help = "Help of a."});
  b.counter({"z", "p"}).add(3);
  b.counter({"a", "q"}).add();
  b.counter({"a", "p"});
  a.gauge().set(0.5);
  EXPECT_EQ(registry.text(),
            "# HELP a [ALPHA] Help of a.\n"
            "# TYPE a gauge\n"
            "a 0.5\n"
            "# HELP b_total [STABLE] Help \\\\ of\\nb.\n"
            "# TYPE b_total counter\n"
            "b_total{profile=\"p\",result=\"a\"} 0\n"
            "b_total{profile=\"p\",result=\"z\"} 3\n"
            "b_total{profile=\"q\",result=\"a\"} 1\n");
}

TEST(RegistryText, WritesHistogramsCumulatively) {
  Registry registry;
  Histogram& histogram = registry
                             .add({.name = "h",
                                   .type = MetricType::kHistogram,
                                   .stability = Stability::kNone,
                                   .labels = {"l"},
                                   .buckets = {0.5, 1},
                                   .help = "H."})
                             .histogram({"a\"b"});
  for (const double value : {0.5, 0.75, 1.0, 2.0}) histogram.observe(value);
  EXPECT_EQ(registry.text(),
            "# HELP h H.\n"
            "# TYPE h histogram\n"
            "h_bucket{l=\"a\\\"b\",le=\"0.5\"} 1\n"
            "h_bucket{l=\"a\\\"b\",le=\"1\"} 3\n"
            "h_bucket{l=\"a\\\"b\",le=\"+Inf\"} 4\n"
            "h_sum{l=\"a\\\"b\"} 4.25\n"
            "h_count{l=\"a\\\"b\"} 4\n");
}

TEST(RegistryText, LabelledFamiliesAppearWithTheirFirstSeries) {
  Registry registry;
  Family& labelled = registry.add({.name = "labelled", .labels = {"x"}});
  registry.add({.name = "plain"});
  EXPECT_EQ(registry.text().find("labelled"), std::string::npos);
  EXPECT_NE(registry.text().find("plain 0\n"), std::string::npos);
  labelled.counter({"1"});
  EXPECT_NE(registry.text().find("labelled{x=\"1\"} 0\n"), std::string::npos);
}

// Messages as protoc --decode_raw would show them, in short: "1=name 4={1={1=l 2=v} 3={1:8bytes}}".
std::string raw(protozero::pbf_reader message, const std::string& path = "") {
  // MetricFamily: metrics, labels, gauges, counters, histograms; buckets, spans, times within them.
  static const std::set<std::string> nested = {".4",   ".4.1",   ".4.2",    ".4.3",   ".4.3.3",
                                               ".4.7", ".4.7.3", ".4.7.12", ".4.7.15"};
  static const std::set<std::string> zigzag = {".4.7.5", ".4.7.12.1", ".4.7.13"};
  std::string text;
  while (message.next()) {
    const std::string here = path + "." + std::to_string(message.tag());
    text += (text.empty() ? "" : " ") + std::to_string(message.tag()) + "=";
    switch (message.wire_type()) {
      case protozero::pbf_wire_type::varint:
        text += zigzag.contains(here) ? std::to_string(message.get_sint64())
                                      : std::to_string(message.get_uint64());
        break;
      case protozero::pbf_wire_type::fixed64: text += go_float(message.get_double()); break;
      default:
        text += nested.contains(here) ? "{" + raw(message.get_message(), here) + "}"
                                      : message.get_string();
    }
  }
  return text;
}

std::vector<std::string> families_of(const Registry& registry) {
  const std::string page = registry.write(MetricsFormat::kProtobuf);
  std::vector<std::string> families;
  for (const char* at = page.data(); at != page.data() + page.size();) {
    const std::uint64_t size = protozero::decode_varint(&at, page.data() + page.size());
    families.push_back(raw({at, size}));
    at += size;
  }
  return families;
}

WallTime at_12_25() { return {std::chrono::milliseconds(12250)}; }

TEST(RegistryProtobuf, WritesFamiliesBehindTheirLengths) {
  Registry registry({.native_histograms = false, .wall_now = at_12_25});
  registry.add({.name = "b_total", .labels = {"z", "a"}, .help = "Bees."})
      .counter({"one", "two"})
      .add(3);
  registry
      .add({.name = "c_gauge",
            .type = MetricType::kGauge,
            .stability = Stability::kNone,
            .help = "Sea\nlevel."})
      .gauge()
      .set(-1.5);
  Histogram& histogram = registry
                             .add({.name = "d_seconds",
                                   .type = MetricType::kHistogram,
                                   .stability = Stability::kStable,
                                   .buckets = {0.1, 1},
                                   .help = "Days."})
                             .histogram();
  histogram.observe(0.05);
  histogram.observe(0.5);
  histogram.observe(5);
  registry.add({.name = "empty_total", .labels = {"x"}});
  registry.add_computed({.name = "a_total", .help = "Eh."},
                        [] { return std::vector<ComputedSample>{{{}, 7}}; });
  EXPECT_THAT(
      families_of(registry),
      ::testing::ElementsAre("1=a_total 2=[ALPHA] Eh. 3=0 4={3={1=7}}",
                             "1=b_total 2=[ALPHA] Bees. 3=0 4={1={1=a 2=two} 1={1=z 2=one} 3={1=3 "
                             "3={1=12 2=250000000}}}",
                             "1=c_gauge 2=Sea\nlevel. 3=1 4={2={1=-1.5}}",
                             "1=d_seconds 2=[STABLE] Days. 3=4 "
                             "4={7={1=3 2=5.55 3={1=1 2=0.1} 3={1=2 2=1} 15={1=12 2=250000000}}}"));
}

// The numbers are those that Prometheus' Go library wrote for the same observations.
TEST(RegistryProtobuf, HistogramsHaveNativeBuckets) {
  Registry registry({.wall_now = at_12_25});
  const auto add = [&](std::string_view name) -> Histogram& {
    return registry
        .add({.name = name,
              .type = MetricType::kHistogram,
              .stability = Stability::kNone,
              .buckets = {1}})
        .histogram();
  };
  add("empty");
  Histogram& some = add("some");
  for (const double value : {0.0, 0.25, 0.25, 0.3, 1.0, 1.05, 5.0}) some.observe(value);
  EXPECT_THAT(families_of(registry),
              ::testing::ElementsAre(
                  "1=empty 2= 3=4 4={7={1=0 2=0 3={1=0 2=1} 5=3 6=2.938735877055719e-39 7=0 "
                  "15={1=12 2=250000000}}}",
                  "1=some 2= 3=4 4={7={1=7 2=7.85 3={1=5 2=1} 5=3 6=2.938735877055719e-39 7=1 "
                  "12={1=-16 2=4} 12={1=12 2=2} 12={1=17 2=1} 13=2 13=-2 13=0 13=1 13=0 13=0 13=0 "
                  "15={1=12 2=250000000}}}"));
}

TEST(Registry, GivesTheSameSeriesForTheSameValues) {
  Registry registry;
  Family& family = registry.add({.name = "c", .labels = {"x"}});
  Counter& counter = family.counter({"1"});
  for (int i = 0; i < 100; ++i) family.counter({std::to_string(i)});
  counter.add(2);
  EXPECT_EQ(&family.counter({"1"}), &counter);
  EXPECT_EQ(&registry.add({.name = "c", .labels = {"x"}}), &family);
}

TEST(Registry, DisabledMetricsAreCountedButNotShown) {
  Registry registry({.disabled = {"gone", "never"}});
  registry.add_self_metrics();
  registry.add({.name = "gone"}).counter().add();
  registry.add_computed({.name = "never"}, [] { return std::vector<ComputedSample>{{{}, 1}}; });
  const std::string text = registry.text();
  EXPECT_EQ(text.find("gone"), std::string::npos);
  EXPECT_EQ(text.find("never"), std::string::npos);
  EXPECT_NE(text.find("disabled_metrics_total 2\n"), std::string::npos);
  EXPECT_NE(text.find("hidden_metrics_total 2\n"), std::string::npos);
}

TEST(Registry, ValuesThatAreNotAllowedBecomeUnexpected) {
  Registry registry({.allowed_values = {{"c,x", {"1"}}}});
  registry.add_self_metrics();
  Family& family = registry.add({.name = "c", .labels = {"x", "y"}});
  family.counter({"1", "2"}).add();
  family.counter({"2", "2"}).add();
  family.counter({"3", "2"}).add();
  const std::string text = registry.text();
  EXPECT_NE(text.find("c{x=\"1\",y=\"2\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("c{x=\"unexpected\",y=\"2\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("cardinality_enforcement_unexpected_categorizations_total 2\n"),
            std::string::npos);
}

TEST(Registry, CountsWhatIsRegisteredByStability) {
  Registry registry;
  registry.add({.name = "a"});
  registry.add({.name = "b", .stability = Stability::kStable});
  registry.add({.name = "b", .stability = Stability::kStable});
  registry.add_self_metrics();
  const std::string text = registry.text();
  EXPECT_NE(text.find("{deprecated_version=\"\",stability_level=\"ALPHA\"} 2\n"),
            std::string::npos);
  EXPECT_NE(text.find("{deprecated_version=\"\",stability_level=\"STABLE\"} 1\n"),
            std::string::npos);
}

TEST(Registry, ADeprecatedFamilyIsHiddenUnlessAskedFor) {
  for (const bool shown : {false, true}) {
    Registry registry({.show_hidden = shown});
    registry.add_self_metrics();
    registry.add({.name = "old", .help = "It counts.", .deprecated = "1.37.0"}).counter().add();
    EXPECT_EQ(registry.text().find("# HELP old [ALPHA] (Deprecated since 1.37.0) It counts.\n"
                                   "# TYPE old counter\nold 1\n") != std::string::npos,
              shown);
    EXPECT_EQ(
        registry.text().find("{deprecated_version=\"1.37.0\",stability_level=\"ALPHA\"} 1\n") !=
            std::string::npos,
        shown);
    EXPECT_NE(registry.text().find(shown ? "hidden_metrics_total 0\n" : "hidden_metrics_total 1\n"),
              std::string::npos);
  }
}

TEST(Registry, ResetLeavesStatesAndWhatHasNoLabels) {
  Registry registry;
  Counter& labelled = registry.add({.name = "a", .labels = {"x"}}).counter({"1"});
  Counter& plain = registry.add({.name = "b"}).counter();
  Gauge& gauge =
      registry.add({.name = "c", .type = MetricType::kGauge, .labels = {"x"}}).gauge({"1"});
  Histogram& histogram =
      registry.add({.name = "d", .type = MetricType::kHistogram, .labels = {"x"}, .buckets = {1}})
          .histogram({"1"});
  labelled.add();
  plain.add();
  gauge.set(5);
  histogram.observe(0.5);
  registry.reset();
  EXPECT_EQ(labelled.value(), 0u);
  EXPECT_EQ(plain.value(), 1u);
  EXPECT_EQ(gauge.value(), 5);
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.sum(), 0);
}

TEST(Registry, ComputedFamiliesAreSortedAndLeftOutWhenEmpty) {
  Registry registry;
  bool any = false;
  registry.add_computed({.name = "c", .type = MetricType::kGauge, .labels = {"z", "a"}}, [&any] {
    std::vector<ComputedSample> samples;
    if (any) samples = {{{"1", "y"}, 2}, {{"1", "x"}, 1}};
    return samples;
  });
  EXPECT_EQ(registry.text(), "");
  any = true;
  EXPECT_EQ(registry.text(),
            "# HELP c [ALPHA] \n# TYPE c gauge\nc{a=\"x\",z=\"1\"} 1\nc{a=\"y\",z=\"1\"} 2\n");
}

TEST(Threads, CountTogether) {
  Registry registry;
  Family& family = registry.add({.name = "c", .labels = {"x"}});
  Histogram& histogram =
      registry.add({.name = "h", .type = MetricType::kHistogram, .buckets = {1}}).histogram();
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back("counting", [&] {
        for (int i = 0; i < 1000; ++i) {
          family.counter({i % 2 == 0 ? "even" : "odd"}).add();
          histogram.observe(1);
          if (i % 100 == 0) registry.text();
        }
      });
  }
  EXPECT_EQ(family.counter({"even"}).value(), 2000u);
  EXPECT_EQ(histogram.count(), 4000u);
  EXPECT_EQ(histogram.sum(), 4000);
}

}  // namespace
}  // namespace berth::telemetry
