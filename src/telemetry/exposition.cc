#include "telemetry/exposition.h"

#include <charconv>
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

// "[ALPHA] What it counts."
std::string help_of(const MetricSpec& spec) {
  std::string help;
  if (spec.stability != Stability::kNone) {
    help += '[';
    help += to_string(spec.stability);
    help += "] ";
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

  void sample(const std::vector<LabelPair>& labels, double value) override {
    line("", labels, "", value);
  }

  void histogram(const std::vector<LabelPair>& labels, const Histogram& histogram) override {
    const std::vector<std::uint64_t> counts = histogram.cumulative();
    const double sum = histogram.sum();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const bool last = i == histogram.bounds().size();
      line("_bucket", labels, last ? "+Inf" : go_float(histogram.bounds()[i]),
           static_cast<double>(counts[i]));
    }
    line("_sum", labels, "", sum);
    line("_count", labels, "", static_cast<double>(counts.back()));
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
  void begin_family(const MetricSpec& spec) override {
    type_ = spec.type;
    protozero::pbf_writer family(family_);
    family.add_string(1, spec.name.data(), spec.name.size());
    family.add_string(2, help_of(spec));
    family.add_enum(3, number_of(spec.type));
  }

  void sample(const std::vector<LabelPair>& labels, double value) override {
    protozero::pbf_writer family(family_);
    protozero::pbf_writer metric(family, 4);
    add_labels(metric, labels);
    protozero::pbf_writer number(metric, type_ == MetricType::kGauge ? 2 : 3);
    number.add_double(1, value);
  }

  void histogram(const std::vector<LabelPair>& labels, const Histogram& histogram) override {
    const std::vector<std::uint64_t> counts = histogram.cumulative();
    protozero::pbf_writer family(family_);
    protozero::pbf_writer metric(family, 4);
    add_labels(metric, labels);
    protozero::pbf_writer values(metric, 7);
    values.add_uint64(1, counts.back());
    values.add_double(2, histogram.sum());
    // Parity: the bucket of +Inf is not written; it is the count.
    for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
      protozero::pbf_writer bucket(values, 3);
      bucket.add_uint64(1, counts[i]);
      bucket.add_double(2, histogram.bounds()[i]);
    }
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

std::unique_ptr<Exposition> make_exposition(MetricsFormat format) {
  if (format == MetricsFormat::kProtobuf) return std::make_unique<ProtobufExposition>();
  return std::make_unique<TextExposition>();
}

}  // namespace berth::telemetry
