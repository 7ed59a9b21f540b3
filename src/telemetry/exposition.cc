#include "telemetry/exposition.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <utility>

namespace berth::telemetry {
namespace {

void append_escaped(std::string& text, std::string_view raw, bool quotes) {
  for (const char c : raw) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else if (c == '"' && quotes)
      text += "\\\"";
    else
      text += c;
  }
}

void append_label(std::string& text, char before, std::string_view name, std::string_view value) {
  text += before;
  text += name;
  text += "=\"";
  append_escaped(text, value, /*quotes=*/true);
  text += '"';
}

// "[ALPHA] (Deprecated since 1.37.0) What it counts."
std::string help_of(const MetricSpec& spec) {
  std::string help;
  if (spec.stability != Stability::kNone) {
    help += '[';
    help += to_string(spec.stability);
    help += "] ";
  }
  if (!spec.deprecated.empty()) {
    help += "(Deprecated since ";
    help += spec.deprecated;
    help += ") ";
  }
  return help.append(spec.help);
}

void append_series(std::string& text, std::string_view name, std::string_view suffix,
                   const std::vector<LabelPair>& labels, std::string_view le) {
  text += name;
  text += suffix;
  char before = '{';
  for (const LabelPair& label : labels) {
    append_label(text, before, label.name, label.value);
    before = ',';
  }
  if (!le.empty()) {
    append_label(text, before, "le", le);
    before = ',';
  }
  if (before == ',') text += '}';
  text += ' ';
}

class TextExposition final : public Exposition {
 public:
  void begin_family(const MetricSpec& spec) override {
    name_ = spec.name;
    text_ += "# HELP ";
    text_ += spec.name;
    text_ += ' ';
    append_escaped(text_, help_of(spec), /*quotes=*/false);
    text_ += "\n# TYPE ";
    text_ += spec.name;
    text_ += ' ';
    text_ += to_string(spec.type);
    text_ += '\n';
  }

  void sample(const std::vector<LabelPair>& labels, double value,
              std::optional<WallTime> /*created*/) override {
    line("", labels, "", value);
  }

  void histogram(const std::vector<LabelPair>& labels, const Histogram& histogram,
                 WallTime /*created*/) override {
    const Histogram::Reading reading = histogram.read();
    const std::vector<std::uint64_t>& counts = reading.cumulative;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool last = i == histogram.bounds().size();
      line("_bucket", labels, last ? "+Inf" : go_float(histogram.bounds()[i]),
           static_cast<double>(counts[i]));
    }
    line("_sum", labels, "", reading.sum);
    line("_count", labels, "", static_cast<double>(reading.count()));
  }

  std::string end_family() override { return std::exchange(text_, {}); }

 private:
  void line(std::string_view suffix, const std::vector<LabelPair>& labels, std::string_view le,
            double value) {
    append_series(text_, name_, suffix, labels, le);
    text_ += go_float(value);
    text_ += '\n';
  }

  std::string_view name_;
  std::string text_;
};

// io.prometheus.client.MetricFamily, each behind its length.
class ProtobufExposition final : public Exposition {
 public:
  explicit ProtobufExposition(bool native_histograms) : native_histograms_(native_histograms) {}

  void begin_family(const MetricSpec& spec) override {
    type_ = spec.type;
    protozero::pbf_writer family(family_);
    family.add_string(1, spec.name.data(), spec.name.size());
    family.add_string(2, help_of(spec));
    family.add_enum(3, number_of(spec.type));
  }

  void sample(const std::vector<LabelPair>& labels, double value,
              std::optional<WallTime> created) override {
    protozero::pbf_writer family(family_);
    protozero::pbf_writer metric(family, 4);
    add_labels(metric, labels);
    protozero::pbf_writer number(metric, type_ == MetricType::kGauge ? 2 : 3);
    number.add_double(1, value);
    if (created) add_time(number, 3, *created);
  }

  void histogram(const std::vector<LabelPair>& labels, const Histogram& histogram,
                 WallTime created) override {
    const Histogram::Reading reading = histogram.read();
    protozero::pbf_writer family(family_);
    protozero::pbf_writer metric(family, 4);
    add_labels(metric, labels);
    protozero::pbf_writer values(metric, 7);
    values.add_uint64(1, reading.count());
    values.add_double(2, reading.sum);
    // Parity: the bucket of +Inf is not written; it is the count.
    for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
      protozero::pbf_writer bucket(values, 3);
      bucket.add_uint64(1, reading.cumulative[i]);
      bucket.add_double(2, histogram.bounds()[i]);
    }
    if (native_histograms_) add_native(values, reading.native);
    add_time(values, 15, created);
  }

  std::string end_family() override {
    std::string delimited;
    if (family_.empty()) return delimited;
    protozero::write_varint(std::back_inserter(delimited), family_.size());
    delimited += std::exchange(family_, {});
    return delimited;
  }

 private:
  static std::int32_t number_of(MetricType type) {
    switch (type) {
      case MetricType::kCounter: return 0;
      case MetricType::kGauge: return 1;
      case MetricType::kHistogram: return 4;
    }
    return 3;  // untyped
  }
  static void add_labels(protozero::pbf_writer& metric, const std::vector<LabelPair>& labels) {
    for (const LabelPair& label : labels) {
      protozero::pbf_writer pair(metric, 1);
      pair.add_string(1, label.name.data(), label.name.size());
      pair.add_string(2, label.value.data(), label.value.size());
    }
  }

  static void add_time(protozero::pbf_writer& message, protozero::pbf_tag_type tag, WallTime time) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(time.since_epoch);
    protozero::pbf_writer timestamp(message, tag);
    timestamp.add_int64(1, whole.count());
    timestamp.add_int32(2, static_cast<std::int32_t>((time.since_epoch - whole).count()));
  }
  // Spans of neighbouring buckets, and the difference of each count to the one before.
  static void add_native(protozero::pbf_writer& values, const NativeBuckets& native) {
    values.add_sint32(5, native.schema);
    values.add_double(6, kZeroThreshold);
    values.add_uint64(7, native.zero);
    struct Span {
      std::int32_t offset;
      std::uint32_t length;
    };
    std::vector<Span> spans;
    std::vector<std::int64_t> deltas;
    std::int64_t last = 0;
    std::int32_t next = 0;
    const auto add_bucket = [&](std::int64_t count) {
      ++spans.back().length;
      deltas.push_back(count - last);
      last = count;
    };
    for (const auto& [number, count] : native.buckets) {
      const std::int32_t gap = number - next;
      if (spans.empty() || gap > kSmallGap) {
        spans.push_back({gap, 0});
      } else {
        for (std::int32_t i = 0; i < gap; ++i) add_bucket(0);
      }
      add_bucket(static_cast<std::int64_t>(count));
      next = number + 1;
    }
    for (const Span& span : spans) {
      protozero::pbf_writer message(values, 12);
      message.add_sint32(1, span.offset);
      message.add_uint32(2, span.length);
    }
    for (const std::int64_t delta : deltas) values.add_sint64(13, delta);
  }

  // What is not above it counts as 0: 2^-128, Prometheus' default.
  static constexpr double kZeroThreshold = 0x1p-128;
  static constexpr std::int32_t kSmallGap = 2;  // empty buckets that do not end a span

  const bool native_histograms_;
  MetricType type_ = MetricType::kCounter;
  std::string family_;
};

}  // namespace

std::string go_float(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  char digits[64];
  const auto scientific =
      std::to_chars(digits, std::end(digits), value, std::chars_format::scientific);
  const std::string_view written(digits, static_cast<std::size_t>(scientific.ptr - digits));
  const std::size_t e = written.find('e');
  const bool negative = written[e + 1] == '-';
  int exponent = 0;
  std::from_chars(written.data() + e + 2, written.data() + written.size(), exponent);
  if (negative ? exponent > 4 : exponent >= 6) return std::string(written);
  const auto plain = std::to_chars(digits, std::end(digits), value, std::chars_format::fixed);
  return {digits, plain.ptr};
}

std::unique_ptr<Exposition> make_exposition(MetricsFormat format, bool native_histograms) {
  if (format == MetricsFormat::kProtobuf)
    return std::make_unique<ProtobufExposition>(native_histograms);
  return std::make_unique<TextExposition>();
}

}  // namespace berth::telemetry
