#include "sim/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/time_text.h"
#include "explain/decision_text.h"
#include "wire/json_line.h"

namespace berth::sim {
namespace {

using Row = std::array<std::string, 6>;

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

JsonLine pod_json(const PodReport& pod) {
  JsonLine line;
  line.text("namespace", pod.namespace_name).text("name", pod.name).text("status", pod.status);
  line.text_if("node", pod.node);
  if (pod.bound) line.text("boundAt", go_duration(pod.bound->since_start));
  line.number("attempts", pod.attempts);
  line.text_if("preemptedBy", pod.preempted_by);
  return line.text_if("message", pod.message);
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
  std::vector<Row> rows{{"NAMESPACE", "NAME", "STATUS", "NODE", "AT", "TRIES"}};
  std::vector<std::string> messages{"REASON"};
  for (const PodReport& pod : report.pods) {
    rows.push_back({pod.namespace_name, pod.name, pod.status, pod.node,
                    pod.bound ? go_duration(pod.bound->since_start) : "",
                    std::to_string(pod.attempts)});
    messages.push_back(pod.message);
  }
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text = traces_text(report.traces);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line;
    for (std::size_t column = 0; column < widths.size(); ++column)
      line += fmt::format("{:<{}}  ", rows[i][column], widths[column]);
    line += messages[i];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  text += fmt::format("\n{} after {} of virtual time{}\n", counts_of(report),
                      go_duration(report.duration),
                      report.cut_short ? ", cut short by --until"
                      : report.stuck   ? ", given up: a pod fails again and again with no change"
                                       : "");
  return report.replay ? text + agreement_text(*report.replay) : text;
}

std::string to_json(const SimulationReport& report) {
  std::vector<std::string> pods;
  for (const PodReport& pod : report.pods) pods.push_back(pod_json(pod).done());
  std::vector<std::string> traces;
  for (const PodTrace& trace : report.traces) traces.push_back(trace_json(trace).done());
  std::string duration = go_duration(report.duration);
  return fmt::format(
      "{{\n  \"duration\": \"{}\",\n  \"cutShort\": {},\n{}{}  \"pods\": {},\n  \"timeline\": "
      "{}{}\n}}\n",
      duration, report.cut_short, report.stuck ? "  \"stuck\": true,\n" : "",
      report.replay ? fmt::format("  \"replay\": {},\n", replay_json(*report.replay)) : "",
      json_list(pods, "  "), json_list(report.timeline, "  "),
      traces.empty() ? "" : ",\n  \"traces\": " + json_list(traces, "  "));
}

}  // namespace berth::sim
