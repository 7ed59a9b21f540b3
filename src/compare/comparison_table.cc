#include "compare/comparison_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time_text.h"

namespace berth::compare {
namespace {

using Path = std::vector<std::string>;

constexpr std::size_t kMostAlikeShapes = 10;  // shapes that fit alike everywhere are listed if few
constexpr std::size_t kMostPodsTold = 20;

const JsonValue& member_of(const JsonValue& json, std::string_view name) {
  static const JsonValue kNull;
  const JsonValue* const member = json.find(name);
  return member ? *member : kNull;
}

double number_in(const JsonValue& json) {
  double value = 0;
  if (json.kind == JsonValue::Kind::kNumber)
    std::from_chars(json.text.data(), json.text.data() + json.text.size(), value);
  return value;
}

const std::string& text_in(const JsonValue& json, std::string_view name) {
  return member_of(json, name).text;
}

// ---- values --------------------------------------------------------------------------------------

// The values of one figure on one side, one per seed.
struct Values {
  std::vector<double> each;
  double mean() const {
    double sum = 0;
    for (const double value : each) sum += value;
    return each.empty() ? 0 : sum / static_cast<double>(each.size());
  }
};

std::string trimmed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.contains('.')) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string value_text(const Path& path, double value) {
  const std::string& what = path.front();
  if (what == "duration" || what == "timeToSchedule") {
    const bool negative = value < 0;
    const auto micros = std::chrono::microseconds(std::llround(std::abs(value) * 1e6));
    return (negative ? "-" : "") + go_duration(micros);
  }
  if (what == "use" || what == "imbalance") return trimmed(value * 100, 2) + "%";
  if (what == "stranded" && (path.back() == "memory" || path.back() == "ephemeral-storage"))
    return trimmed(value / (1024.0 * 1024 * 1024), 2) + "Gi";
  return trimmed(value, 3);
}

std::string cell_text(const Path& path, const Values& values, const Values& first,
                      double fit_limit) {
  if (values.each.empty()) return "-";
  std::string text = value_text(path, values.mean());
  if (path.front() == "fits" && fit_limit > 0 && values.mean() >= fit_limit) text += "+";
  const auto [least, most] = std::ranges::minmax(values.each);
  if (least != most)
    text += fmt::format(" [{} … {}]", value_text(path, least), value_text(path, most));
  const double difference = values.mean() - first.mean();
  if (!first.each.empty() && std::abs(difference) > 1e-9)
    text += fmt::format(" ({}{})", difference > 0 ? "+" : "", value_text(path, difference));
  return text;
}

// ---- one input -----------------------------------------------------------------------------------

struct Row {
  Path path;
  std::map<std::size_t, Values> by_side;
};

class InputTable {
 public:
  InputTable(const JsonValue& document, std::string input) : input_(std::move(input)) {
    const JsonValue& sweep = member_of(document, "sweep");
    for (const JsonValue& side : member_of(sweep, "sides").items)
      sides_.push_back(text_in(side, "name"));
    fit_limit_ = number_in(member_of(sweep, "fitLimit"));
    for (const JsonValue& run : member_of(document, "runs").items)
      if (text_in(run, "input") == input_) add(run);
  }

  std::string text() const { return figures() + differences(); }

 private:
  void add(const JsonValue& run);
  void flatten(const JsonValue& json, Path& path, std::size_t side);
  bool is_shown(const Row& row) const;
  bool is_alike(const Row& row) const;
  std::string figures() const;
  std::string differences() const;
  std::string difference_text(const JsonValue& run, bool alike) const;
  const Values& values(const Row& row, std::size_t side) const {
    static const Values kNone;
    const auto found = row.by_side.find(side);
    return found == row.by_side.end() ? kNone : found->second;
  }

  std::string input_;
  std::vector<std::string> sides_;
  double fit_limit_ = 0;
  std::vector<const JsonValue*> runs_;
  std::vector<Row> rows_;
  std::map<Path, std::size_t> row_numbers_;
};

void InputTable::add(const JsonValue& run) {
  const auto side = std::ranges::find(sides_, text_in(run, "side"));
  if (side == sides_.end()) return;
  runs_.push_back(&run);
  Path path;
  flatten(member_of(run, "figures"), path, static_cast<std::size_t>(side - sides_.begin()));
}

void InputTable::flatten(const JsonValue& json, Path& path, std::size_t side) {
  if (json.kind == JsonValue::Kind::kNumber && !path.empty()) {
    const auto [number, is_new] = row_numbers_.emplace(path, rows_.size());
    if (is_new) rows_.push_back({path, {}});
    rows_[number->second].by_side[side].each.push_back(number_in(json));
  }
  for (const JsonMember& member : json.members) {
    path.push_back(member.name);
    flatten(member.value, path, side);
    path.pop_back();
  }
}

bool InputTable::is_alike(const Row& row) const {
  for (std::size_t side = 1; side < sides_.size(); ++side)
    if (values(row, side).each != values(row, 0).each) return false;
  return true;
}

// Zeros everywhere say nothing, except where one wants to see them.
bool InputTable::is_shown(const Row& row) const {
  if (row.path.front() == "pods" && (row.path.back() == "pending" || row.path.back() == "evicted"))
    return true;
  return std::ranges::any_of(row.by_side, [](const auto& side) {
    return std::ranges::any_of(side.second.each, [](double value) { return value != 0; });
  });
}

std::string InputTable::figures() const {
  const auto shapes =
      std::ranges::count_if(rows_, [](const Row& row) { return row.path.front() == "fits"; });
  std::vector<std::vector<std::string>> lines(1, {""});
  for (const std::string& side : sides_) lines.front().push_back(side);
  std::size_t alike_shapes = 0;
  for (const Row& row : rows_) {
    if (!is_shown(row)) continue;
    if (row.path.front() == "fits" && shapes > static_cast<std::ptrdiff_t>(kMostAlikeShapes) &&
        is_alike(row)) {
      ++alike_shapes;
      continue;
    }
    std::vector<std::string> line{fmt::format("{}", fmt::join(row.path, " "))};
    for (std::size_t side = 0; side < sides_.size(); ++side)
      line.push_back(cell_text(row.path, values(row, side), side == 0 ? Values() : values(row, 0),
                               fit_limit_));
    lines.push_back(std::move(line));
  }
  std::vector<std::size_t> widths(sides_.size() + 1, 0);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i)
      row += fmt::format("{:<{}}  ", line[i], widths[i]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  if (alike_shapes > 0) text += fmt::format("fits: {} shapes alike on all sides\n", alike_shapes);
  return text;
}

std::string place_text(const JsonValue& place) {
  const std::string& node = text_in(place, "node");
  return node.empty() ? "no node" : node;
}

std::string moved_text(const JsonValue& pod) {
  std::string text =
      fmt::format("  {}: {} -> {}\n", text_in(pod, "pod"), place_text(member_of(pod, "there")),
                  place_text(member_of(pod, "here")));
  if (member_of(pod, "diverged").boolean) {
    const double elsewhere = number_in(member_of(pod, "podsElsewhereThen"));
    text += elsewhere > 0
                ? fmt::format("    the clusters had diverged, pods elsewhere by then: {:.0f}\n",
                              elsewhere)
                : "    the clusters had diverged: their nodes differ\n";
  }
  return text + fmt::format("    {}\n", text_in(member_of(pod, "cause"), "text"));
}

std::string divergence_text(const JsonValue& divergence, const std::string& against,
                            const std::string& side) {
  if (divergence.is_null()) return "";
  const JsonValue& there = member_of(divergence, "there");
  const JsonValue& here = member_of(divergence, "here");
  std::string text = "  first divergence: ";
  const auto add = [&text](const JsonValue& place, const std::string& name) {
    if (text_in(place, "pod").empty())
      text += fmt::format("{} has nothing more to decide", name);
    else
      text +=
          fmt::format("{} decides {} for {} at {}", name, place_text(place), text_in(place, "pod"),
                      value_text({"duration"}, number_in(member_of(place, "at"))));
  };
  add(there, against);
  text += ", ";
  add(here, side);
  text += '\n';
  const std::string& cause = text_in(member_of(divergence, "cause"), "text");
  return cause.empty() ? text : text + fmt::format("    {}\n", cause);
}

std::string InputTable::difference_text(const JsonValue& run, bool alike) const {
  const JsonValue& difference = member_of(run, "difference");
  const std::string& against = text_in(difference, "against");
  const std::string& side = text_in(run, "side");
  const JsonValue& pods = member_of(difference, "pods");
  const double elsewhere = number_in(member_of(pods, "elsewhere"));
  const double only_there = number_in(member_of(pods, "onlyThere"));
  const double only_here = number_in(member_of(pods, "onlyHere"));
  const JsonValue& divergence = member_of(difference, "firstDivergence");
  const bool none = elsewhere + only_there + only_here == 0 && divergence.is_null();
  if (none)
    return fmt::format("{} against {}: no difference{}\n", side, against,
                       alike ? "" : " in where pods went");
  std::string text =
      fmt::format("{} against {}: {:.0f} pods elsewhere, {:.0f} only on {}, {:.0f} only on {}\n",
                  side, against, elsewhere, only_there, against, only_here, side);
  text += divergence_text(divergence, against, side);
  std::size_t told = 0;
  const std::vector<JsonValue>& moved = member_of(difference, "moved").items;
  for (const JsonValue& pod : moved)
    if (!member_of(pod, "cause").is_null() && told < kMostPodsTold) {
      text += moved_text(pod);
      ++told;
    }
  if (told < moved.size())
    text += fmt::format("  and {:.0f} more (-o json has them, --explain N says why)\n",
                        elsewhere + only_there + only_here - static_cast<double>(told));
  return text;
}

// Of the first seed in full, of the others the counts.
std::string InputTable::differences() const {
  std::string text;
  for (std::size_t side = 1; side < sides_.size(); ++side) {
    const bool alike = std::ranges::all_of(
        rows_, [&](const Row& row) { return values(row, side).each == values(row, 0).each; });
    std::vector<std::string> others;
    bool is_first = true;
    for (const JsonValue* run : runs_) {
      if (text_in(*run, "side") != sides_[side] || member_of(*run, "difference").is_null())
        continue;
      if (std::exchange(is_first, false)) {
        text += "\n" + difference_text(*run, alike);
        continue;
      }
      const JsonValue& pods = member_of(member_of(*run, "difference"), "pods");
      others.push_back(
          fmt::format("{} with seed {}", member_of(pods, "elsewhere").text, text_in(*run, "seed")));
    }
    if (!others.empty())
      text += fmt::format("  pods elsewhere with other seeds: {}\n", fmt::join(others, ", "));
  }
  return text;
}

}  // namespace

std::string to_table(const JsonValue& document) {
  const std::vector<JsonValue>& inputs = member_of(member_of(document, "sweep"), "inputs").items;
  std::string text;
  for (const JsonValue& input : inputs) {
    if (inputs.size() > 1) text += fmt::format("{}{}\n\n", text.empty() ? "" : "\n\n", input.text);
    text += InputTable(document, input.text).text();
  }
  return text;
}

}  // namespace berth::compare
