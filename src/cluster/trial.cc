#include <algorithm>
#include <utility>

#include "base/check.h"
#include "berth/views.h"
#include "cluster/columns.h"
#include "cluster/host_ports.h"
#include "cluster/trial.h"

namespace berth {

bool Trial::has_ports(const Pod& pod, NodeRow row) {
  return !NodeTable::Columns::is_ghost(row) && has_host_ports(pod.spec());
}

void Trial::add(Ref<const Pod> pod, NodeRow row) {
  NodeTable::Columns& columns = *cluster_.nodes_.columns_;
  BERTH_CHECK(columns.in_use(row));
  Edit edit{true, std::move(pod), row, 0, {}, ++columns.trial_edits};
  if (has_ports(*edit.pod, row)) edit.ports = columns.rows[row].ports;
  edit.position = columns.push_pod(row, edit.pod);
  edits_.push_back(std::move(edit));
}

void Trial::remove(Ref<const Pod> pod, NodeRow row) {
  NodeTable::Columns& columns = *cluster_.nodes_.columns_;
  BERTH_CHECK(columns.in_use(row));
  // By UID, as upstream: the caller may hold another version of the pod than is placed.
  const std::vector<Ref<const Pod>>& pods = columns.pods_on(row);
  const auto found = std::find_if(pods.begin(), pods.end(),
                                  [&pod](const auto& other) { return other->uid() == pod->uid(); });
  BERTH_CHECK(found != pods.end());
  const auto position = static_cast<std::uint32_t>(found - pods.begin());
  Edit edit{false, nullptr, row, position, {}, ++columns.trial_edits};
  if (has_ports(**found, row)) edit.ports = columns.rows[row].ports;
  edit.pod = columns.take_pod(row, position);
  edits_.push_back(std::move(edit));
}

void Trial::undo_to(std::size_t edits) {
  NodeTable::Columns& columns = *cluster_.nodes_.columns_;
  while (edits_.size() > edits) {
    Edit edit = std::move(edits_.back());
    edits_.pop_back();
    // An inner trial's edits must be gone before an outer one's are.
    BERTH_CHECK(edit.depth == columns.trial_edits);
    --columns.trial_edits;
    const bool restores_ports = has_ports(*edit.pod, edit.row);
    if (edit.added)
      columns.take_pod(edit.row, edit.position);
    else
      columns.put_back_pod(edit.row, std::move(edit.pod), edit.position);
    // Ports are not counted by user: giving one back may not be the opposite of taking it.
    if (restores_ports) columns.rows[edit.row].ports = std::move(edit.ports);
  }
}

}  // namespace berth
