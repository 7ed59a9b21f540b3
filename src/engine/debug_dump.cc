#include "engine/debug_dump.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {
namespace {

std::string_view phase_text(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending: return "Pending";
    case PodPhase::kRunning: return "Running";
    case PodPhase::kSucceeded: return "Succeeded";
    case PodPhase::kFailed: return "Failed";
    case PodPhase::kUnknown: return "Unknown";
  }
  return "";
}

std::string pod_line(const Pod& pod) {
  return fmt::format("name: {}, namespace: {}, uid: {}, phase: {}, nominated node: {}\n",
                     pod.name(), pod.namespace_name(), pod.uid_text(), phase_text(pod.phase()),
                     pod.nominated_node_name());
}

}  // namespace

std::string dump_nodes(Engine& engine) {
  const NodeTable& nodes = engine.cluster().nodes();
  std::string text;
  const auto dump_pods = [&](NodeRow row) {
    text += fmt::format("Scheduled Pods(number: {}):\n", nodes.pods(row).size());
    for (const Ref<const Pod>& pod : nodes.pods(row)) text += pod_line(*pod);
    const auto nominated = engine.queue().nominated_pods(nodes.name(row));
    text += fmt::format("Nominated Pods(number: {}):\n", nominated.size());
    for (const Ref<const Pod>& pod : nominated) text += pod_line(*pod);
  };
  nodes.nodes().for_each([&](NodeRow row) {
    text += fmt::format("Node name: {}\nDeleted: false\n", nodes.name_text(row));
    text += fmt::format("Requested Resources: cpu {}m, memory {}, ephemeral-storage {}\n",
                        nodes.requested_milli_cpu()[row], nodes.requested_memory()[row],
                        nodes.requested_ephemeral_storage()[row]);
    text +=
        fmt::format("Allocatable Resources: cpu {}m, memory {}, ephemeral-storage {}, pods {}\n",
                    nodes.allocatable_milli_cpu()[row], nodes.allocatable_memory()[row],
                    nodes.allocatable_ephemeral_storage()[row], nodes.allocatable_pods()[row]);
    dump_pods(row);
  });
  for (const NodeRow ghost : nodes.ghosts()) {
    text += fmt::format("Node name: {}\nDeleted: true\n", nodes.name_text(ghost));
    dump_pods(ghost);
  }
  return text;
}

QueueDump dump_queue(Engine& engine) {
  const QueueSizes sizes = engine.queue().sizes();
  std::vector<std::string> lines;
  engine.queue().for_each(
      [&](const QueuedPod& queued, QueuePlace) { lines.push_back(pod_line(*queued.pod)); });
  std::ranges::sort(lines);
  QueueDump dump;
  dump.summary = fmt::format("activeQ:{}; backoffQ:{}; unschedulableEntities:{}", sizes.active,
                             sizes.backoff, sizes.unschedulable + sizes.gated);
  for (const std::string& line : lines) dump.pods += line;
  return dump;
}

CacheMismatch compare_cache(Engine& engine, const std::vector<std::string>& ours) {
  CacheMismatch mismatch;
  const Cluster& cluster = engine.cluster();
  cluster.for_each_seen([&](const Ref<const Pod>& pod) {
    const bool assigned = !pod->node().empty();
    if (!assigned &&
        std::ranges::find(ours, cluster.symbols().text(pod->scheduler_name())) == ours.end())
      return;
    const bool known =
        cluster.placed(pod->uid()) || (!assigned && (engine.queue().find(*pod) != nullptr ||
                                                     engine.queue().in_flight(pod->uid())));
    if (!known) mismatch.missed_pods.push_back(pod->uid_text());
  });
  std::ranges::sort(mismatch.missed_pods);
  cluster.for_each_placed([&](const Pod& pod, NodeRow, bool) {
    const Ref<const Pod> seen = cluster.seen_pod(pod);
    if (!seen || seen->uid() != pod.uid()) mismatch.redundant_pods.push_back(pod.uid_text());
  });
  std::ranges::sort(mismatch.missed_pods);
  std::ranges::sort(mismatch.redundant_pods);
  return mismatch;
}

}  // namespace berth
