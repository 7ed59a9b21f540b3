#include "sim/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <sstream>
#include <utility>

#include "base/time_text.h"
#include "explain/decision_text.h"
#include "wire/json_line.h"

namespace berth::sim {
namespace {

using Row = std::array<std::string, 7>;

std::string counts_of(const SimulationReport& report) {
  // In the order in which a reader wants them, whatever there is.
  std::map<std::string, std::size_t> counts;
  for (const PodReport& pod : report.pods) ++counts[pod.status];
  std::vector<std::string> parts;
  for (const char* status : {"Bound", "Waiting", "Pending", "Gated", "Terminating", "Preempted",
                             "Finished", "Deleted"}) {
    if (const auto found = counts.find(status); found != counts.end()) {
      std::string word = status;
      word.front() = static_cast<char>(word.front() - 'A' + 'a');
      parts.push_back(fmt::format("{} {}", found->second, word));
    }
  }
  return fmt::format("{} pods{}{}", report.pods.size(), parts.empty() ? "" : ": ",
                     fmt::join(parts, ", "));
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

JsonLine pod_json(const PodReport& pod) {
  JsonLine line;
  line.text("namespace", pod.namespace_name).text("name", pod.name).text("status", pod.status);
  line.text_if("node", pod.node);
  if (pod.bound) line.text("boundAt", go_duration(pod.bound->since_start));
  line.number("attempts", pod.attempts);
  line.text_if("preemptedBy", pod.preempted_by);
  return line.text_if("message", pod.message);
}

std::string group_json(const GroupReport& group) {
  JsonLine line;
  line.text("namespace", group.namespace_name).text("name", group.name);
  line.number("pods", group.pods).number("bound", group.bound);
  return line.text_if("status", group.status)
      .text_if("reason", group.reason)
      .text_if("message", group.message)
      .done();
}

// "group default/g: 0 of 3 pods bound, not scheduled (Unschedulable): why".
std::string group_text(const GroupReport& group) {
  std::string text = fmt::format("group {}/{}: {} of {} pods bound", group.namespace_name,
                                 group.name, group.bound, group.pods);
  if (group.status.empty()) return text + ", not tried\n";
  text +=
      group.status == "True" ? ", scheduled" : fmt::format(", not scheduled ({})", group.reason);
  if (!group.message.empty()) text += ": " + group.message;
  return text + '\n';
}

std::string traces_text(const std::vector<PodTrace>& traces) {
  std::string text;
  for (const PodTrace& trace : traces)
    text += fmt::format("{}, attempt {}: {}\n", go_duration(trace.at.since_start), trace.attempt,
                        explain::to_paragraph(trace.decision));
  return text;
}

JsonLine trace_json(const PodTrace& trace) {
  JsonLine line;
  line.text("at", go_duration(trace.at.since_start)).number("attempt", trace.attempt);
  return line.raw("decision", explain::to_json_line(trace.decision));
}

JsonLine difference_json(const ReplayedPod& pod) {
  JsonLine line;
  line.text("namespace", pod.namespace_name).text("name", pod.name);
  line.text("agreement", to_string(pod.agreement)).text_if("recordedNode", pod.recorded_node);
  if (pod.recorded_at) line.text("recordedAt", go_duration(*pod.recorded_at));
  line.text_if("node", pod.node);
  if (pod.at) line.text("boundAt", go_duration(*pod.at));
  return line.text_if("explanation", pod.explanation);
}

std::string replay_json(const ReplayReport& replay) {
  JsonLine line;
  line.number("pods", replay.pods);
  for (const Agreement agreement :
       {Agreement::kSameNode, Agreement::kOtherNode, Agreement::kBound, Agreement::kOnlyThere,
        Agreement::kOnlyHere, Agreement::kNowhere}) {
    const auto count = replay.counts.find(agreement);
    line.number(to_string(agreement), count == replay.counts.end() ? 0 : count->second);
  }
  std::vector<std::string> differences;
  for (const ReplayedPod& pod : replay.differences)
    differences.push_back(difference_json(pod).done());
  return line.raw("differences", json_list(differences, "  ")).done();
}

// "2 pods as recorded: 1 on the same node, 1 on another".
std::string agreement_text(const ReplayReport& replay) {
  static constexpr std::pair<Agreement, std::string_view> kWords[] = {
      {Agreement::kSameNode, "on the same node"},
      {Agreement::kOtherNode, "on another node"},
      {Agreement::kBound, "bound in both"},
      {Agreement::kOnlyThere, "bound in the trace only"},
      {Agreement::kOnlyHere, "bound here only"},
      {Agreement::kNowhere, "bound in neither"},
  };
  std::vector<std::string> parts;
  for (const auto& [agreement, words] : kWords)
    if (const auto count = replay.counts.find(agreement); count != replay.counts.end())
      parts.push_back(fmt::format("{} {}", count->second, words));
  return fmt::format("compared with the trace: {} pods{}{}\n", replay.pods,
                     parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

std::string place_text(const std::string& node, const std::optional<Duration>& at) {
  if (!at) return "none";
  return fmt::format("{} at {}", node.empty() ? "some node" : node, go_duration(*at));
}

}  // namespace

std::string differences_text(const ReplayReport& replay) {
  std::string text;
  for (const ReplayedPod& pod : replay.differences) {
    text +=
        fmt::format("{}/{}: {} in the trace, {} here", pod.namespace_name, pod.name,
                    place_text(pod.recorded_node, pod.recorded_at), place_text(pod.node, pod.at));
    if (!pod.explanation.empty()) text += fmt::format("; {}", pod.explanation);
    text += '\n';
  }
  return text;
}

std::string to_table(const SimulationReport& report) {
  std::ostringstream text;
  write_table(report, text);
  return std::move(text).str();
}

void write_table(const SimulationReport& report, std::ostream& out) {
  constexpr std::array<std::string_view, 7> kHeader{"NAMESPACE", "NAME",  "STATUS", "NODE",
                                                    "AT",        "TRIES", "REASON"};
  // One row at a time: there may be a million.
  const auto row_of = [](const PodReport& pod, Row& row) {
    row = {pod.namespace_name, pod.name, pod.status, pod.node, {}, {}, pod.message};
    if (pod.bound) row[4] = go_duration(pod.bound->since_start);
    row[5] = std::to_string(pod.attempts);
  };
  std::array<std::size_t, 7> widths{};
  const auto widen = [&widths](const Row& row) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  };
  const auto write_row = [&widths, &out](const Row& row) {
    std::string line;
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      if (!is_ascii(row[column])) {
        line += fmt::format("{:<{}}  ", row[column], widths[column]);
        continue;
      }
      line += row[column];
      line.append(widths[column] - row[column].size() + 2, ' ');
    }
    line += row.back();
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  };
  Row header;
  std::ranges::copy(kHeader, header.begin());
  widen(header);
  Row row;
  for (const PodReport& pod : report.pods) {
    row_of(pod, row);
    widen(row);
  }
  out << traces_text(report.traces);
  write_row(header);
  for (const PodReport& pod : report.pods) {
    row_of(pod, row);
    write_row(row);
  }
  if (!report.groups.empty()) out << '\n';
  for (const GroupReport& group : report.groups) out << group_text(group);
  out << fmt::format("\n{} after {} of virtual time{}\n", counts_of(report),
                     go_duration(report.duration),
                     report.cut_short ? ", cut short by --until"
                     : report.stuck   ? ", given up: a pod fails again and again with no change"
                                      : "");
  if (report.replay) out << agreement_text(*report.replay);
}

std::string to_json(const SimulationReport& report) {
  std::ostringstream text;
  write_json(report, text);
  return std::move(text).str();
}

void write_json(const SimulationReport& report, std::ostream& out,
                const std::function<void(std::ostream& out)>& write_timeline) {
  out << fmt::format(
      "{{\n  \"duration\": \"{}\",\n  \"cutShort\": {},\n{}{}  \"pods\": ",
      go_duration(report.duration), report.cut_short, report.stuck ? "  \"stuck\": true,\n" : "",
      report.replay ? fmt::format("  \"replay\": {},\n", replay_json(*report.replay)) : "");
  std::string_view before = "[\n    ";
  for (const PodReport& pod : report.pods) {
    out << before << pod_json(pod).done();
    before = ",\n    ";
  }
  out << (report.pods.empty() ? "[]" : "\n  ]");
  if (!report.groups.empty()) {
    std::vector<std::string> groups;
    for (const GroupReport& group : report.groups) groups.push_back(group_json(group));
    out << ",\n  \"groups\": " << json_list(groups, "  ");
  }
  out << ",\n  \"timeline\": ";
  if (write_timeline)
    write_timeline(out);
  else
    out << json_list(report.timeline, "  ");
  if (!report.traces.empty()) {
    std::vector<std::string> traces;
    for (const PodTrace& trace : report.traces) traces.push_back(trace_json(trace).done());
    out << ",\n  \"traces\": " << json_list(traces, "  ");
  }
  out << "\n}\n";
}

}  // namespace berth::sim
