#include "sim/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

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
  for (const char* status :
       {"Bound", "Waiting", "Pending", "Gated", "Terminating", "Preempted", "Finished"}) {
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

}  // namespace

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
  return text + fmt::format("\n{} after {} of virtual time{}\n", counts_of(report),
                            go_duration(report.duration),
                            report.cut_short ? ", cut short by --until"
                            : report.stuck
                                ? ", given up: a pod fails again and again with no change"
                                : "");
}

std::string to_json(const SimulationReport& report) {
  std::vector<std::string> pods;
  for (const PodReport& pod : report.pods) pods.push_back(pod_json(pod).done());
  std::vector<std::string> traces;
  for (const PodTrace& trace : report.traces) traces.push_back(trace_json(trace).done());
  std::string duration = go_duration(report.duration);
  return fmt::format(
      "{{\n  \"duration\": \"{}\",\n  \"cutShort\": {},\n{}  \"pods\": {},\n  \"timeline\": "
      "{}{}\n}}\n",
      duration, report.cut_short, report.stuck ? "  \"stuck\": true,\n" : "", json_list(pods, "  "),
      json_list(report.timeline, "  "),
      traces.empty() ? "" : ",\n  \"traces\": " + json_list(traces, "  "));
}

}  // namespace berth::sim
