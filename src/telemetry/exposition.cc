#include "telemetry/exposition.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

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

void write_header(std::string& text, const MetricSpec& spec) {
  text += "# HELP ";
  text += spec.name;
  text += ' ';
  if (spec.stability != Stability::kNone) {
    text += '[';
    text += to_string(spec.stability);
    text += "] ";
  }
  append_escaped(text, spec.help, /*quotes=*/false);
  text += "\n# TYPE ";
  text += spec.name;
  text += ' ';
  text += to_string(spec.type);
  text += '\n';
}

void write_sample(std::string& text, std::string_view name, const std::vector<LabelPair>& labels,
                  double value) {
  append_series(text, name, "", labels, "");
  text += go_float(value);
  text += '\n';
}

void write_histogram(std::string& text, std::string_view name, const std::vector<LabelPair>& labels,
                     const Histogram& histogram) {
  const std::vector<std::uint64_t> counts = histogram.cumulative();
  const double sum = histogram.sum();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const bool last = i == histogram.bounds().size();
    append_series(text, name, "_bucket", labels, last ? "+Inf" : go_float(histogram.bounds()[i]));
    text += go_float(static_cast<double>(counts[i]));
    text += '\n';
  }
  append_series(text, name, "_sum", labels, "");
  text += go_float(sum);
  text += '\n';
  append_series(text, name, "_count", labels, "");
  text += go_float(static_cast<double>(counts.back()));
  text += '\n';
}

}  // namespace berth::telemetry
