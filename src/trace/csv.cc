#include "trace/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"

namespace berth::trace {
namespace {

constexpr double kMostNumber = 1e15;

// A value may stand in quotation marks, in which a comma is no end and two marks are one.
std::vector<std::string> split_row(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> values(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      values.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      values.emplace_back();
    else
      values.back() += line[i];
  }
  for (std::string& value : values) value = std::string(trimmed(value));
  return values;
}

}  // namespace

Result<CsvTable> CsvTable::open(std::unique_ptr<InputFile> file) {
  CsvTable table(std::move(file));
  std::optional<std::string_view> line = table.file_->next_line();
  if (!line && table.file_->error()) return berth::fail(*table.file_->error());
  std::string_view names = line.value_or("");
  if (names.starts_with("\xef\xbb\xbf")) names.remove_prefix(3);  // a byte order mark
  table.names_ = split_row(names);
  return table;
}

std::optional<std::size_t> CsvTable::index_of(std::string_view column) const {
  const auto found = std::ranges::find(names_, column);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

bool CsvTable::has(std::string_view column) const { return index_of(column).has_value(); }

bool CsvTable::next() {
  while (!error_) {
    const std::optional<std::string_view> line = file_->next_line();
    if (!line) {
      error_ = file_->error();
      return false;
    }
    if (trimmed(*line).empty()) continue;
    values_ = split_row(*line);
    if (values_.size() == names_.size()) return true;
    fail(fmt::format("{} values, where there are {} columns", values_.size(), names_.size()));
  }
  return false;
}

std::string_view CsvTable::text(std::string_view column) const {
  const std::optional<std::size_t> index = index_of(column);
  return index && *index < values_.size() ? std::string_view(values_[*index]) : std::string_view();
}

std::optional<std::int64_t> CsvTable::number(std::string_view column) {
  const std::string_view written = text(column);
  if (written.empty()) return std::nullopt;
  double value = 0;
  const auto [end, problem] =
      std::from_chars(written.data(), written.data() + written.size(), value);
  if (problem == std::errc() && end == written.data() + written.size() &&
      std::abs(value) <= kMostNumber)
    return static_cast<std::int64_t>(value);
  fail(fmt::format("{}: expected a number, got \"{}\"", column, written.substr(0, 100)));
  return std::nullopt;
}

void CsvTable::fail(std::string_view message) {
  if (!error_)
    error_ = Error{ErrorKind::kInvalid,
                   fmt::format("{}: line {}: {}", file_->name(), file_->line_number(), message)};
}

}  // namespace berth::trace
