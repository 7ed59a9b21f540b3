#include "plugins/node_volume_limits/attach_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::plugins {
namespace {

// So many users may be out of date before they are swept.
constexpr std::size_t kStaleUses = 1 << 16;

void add_count(std::vector<std::pair<std::string, std::int32_t>>& counts, std::string_view driver) {
  const auto found = std::ranges::find(
      counts, driver, [](const auto& count) -> std::string_view { return count.first; });
  if (found == counts.end())
    counts.emplace_back(driver, 1);
  else
    ++found->second;
}

}  // namespace

std::int32_t AttachedVolumes::count(std::string_view driver) const {
  for (const auto& [name, number] : counts)
    if (name == driver) return number;
  return 0;
}

AttachTable::AttachTable(const Cluster& cluster) : cluster_(cluster) {
  for (const Ref<const Object>& attachment : cluster.list(ObjectKind::kVolumeAttachment))
    attachment_changed({}, attachment);
  using Version = const Ref<const Object>&;
  const auto listen = [&](ObjectKind kind, ObjectChanges::Listener listener) {
    subscriptions_.push_back(cluster.object_changes().listen(kind, std::move(listener)));
  };
  listen(ObjectKind::kCSINode, [this](Version before, Version after) {
    if (built_) changed_csi_nodes_.push_back((after ? after : before)->name);
  });
  listen(ObjectKind::kVolumeAttachment,
         [this](Version before, Version after) { attachment_changed(before, after); });
  listen(ObjectKind::kPersistentVolumeClaim, [this](Version before, Version after) {
    const Object& claim = after ? *after : *before;
    forget(claim_users_,
           fmt::format("{}/{}", cluster_.symbols().text(claim.namespace_name), claim.name));
  });
  listen(ObjectKind::kPersistentVolume, [this](Version before, Version after) {
    forget(volume_users_, (after ? after : before)->name);
  });
  listen(ObjectKind::kStorageClass, [this](Version, Version) { forget_all(); });
}

// ---- keeping up ---------------------------------------------------------------------------------

void AttachTable::refresh() {
  const NodeTable& nodes = cluster_.nodes();
  const auto changes = built_ ? nodes.changes_since(position_) : std::nullopt;
  if (!changes) return build();
  grow();
  for (const ChangedRow& change : *changes) {
    if (change.changes & static_cast<std::uint8_t>(RowChange::kMembership))
      set_csi_node(change.row);
    if (change.changes & static_cast<std::uint8_t>(RowChange::kPods)) set_pods(change.row);
  }
  position_ = nodes.log_end();
  for (const std::string& name : changed_csi_nodes_) {
    const Symbol symbol = cluster_.symbols().find(name);
    const NodeRow row = symbol.empty() ? kNoRow : nodes.find(symbol);
    if (row != kNoRow) set_csi_node(row);
  }
  changed_csi_nodes_.clear();
}

void AttachTable::build() {
  forget_all();
  built_ = true;
  changed_csi_nodes_.clear();
  position_ = cluster_.nodes().log_end();
  grow();
  for (NodeRow row = 0; row < csi_nodes_.size(); ++row) set_csi_node(row);
  shrink();
  for (NodeRow row = 0; row < csi_nodes_.size(); ++row) set_pods(row);
}

// The table of nodes may have given rows back, which have no CSINode any more.
void AttachTable::shrink() {
  const std::size_t rows = cluster_.nodes().rows();
  for (std::size_t row = rows; row < csi_nodes_.size(); ++row)
    may_fail_.erase(static_cast<NodeRow>(row));
  csi_nodes_.resize(rows);
  at_most_.resize(rows);
  kept_.resize(rows);
  for (auto& [driver, column] : columns_) column.limits.resize(rows, kUnlimited);
}

void AttachTable::grow() {
  const std::size_t rows = cluster_.nodes().rows();
  if (rows <= csi_nodes_.size()) return;
  csi_nodes_.resize(rows);
  at_most_.resize(rows);
  kept_.resize(rows);
  with_csi_node_.reserve_rows(rows);
  with_limits_.reserve_rows(rows);
  may_fail_.reserve_rows(rows);
  for (auto& [driver, column] : columns_) column.limits.resize(rows, kUnlimited);
}

void AttachTable::set_csi_node(NodeRow row) {
  forget(row);
  const NodeTable& nodes = cluster_.nodes();
  Ref<const CSINode> node;
  if (nodes.has_node(row)) {
    const Ref<const Object> found = cluster_.find(ObjectKind::kCSINode, {}, nodes.name_text(row));
    node = Ref<const CSINode>(static_cast<const CSINode*>(found.get()));
  }
  if (node == csi_nodes_[row]) return;
  with_csi_node_.erase(row);
  with_limits_.erase(row);
  if (csi_nodes_[row]) set_limits(row, *csi_nodes_[row], false);
  if (node) {
    with_csi_node_.insert(row);
    set_limits(row, *node, true);
  }
  csi_nodes_[row] = std::move(node);
}

void AttachTable::set_limits(NodeRow row, const CSINode& node, bool in_force) {
  for (const CSINodeDriver& driver : node.drivers) {
    if (!driver.allocatable_count) continue;
    const auto found = columns_.try_emplace(driver.name).first;
    Column& column = found->second;
    column.limits.resize(csi_nodes_.size(), kUnlimited);
    std::int32_t& limit = column.limits[row];
    column.limited -= limit != kUnlimited ? 1 : 0;
    // No node attaches two billion volumes: as good as no limit.
    limit = in_force ? *driver.allocatable_count : kUnlimited;
    column.limited += limit != kUnlimited ? 1 : 0;
    if (column.limited == 0) columns_.erase(found);
    if (in_force) with_limits_.insert(row);
  }
}

void AttachTable::set_pods(NodeRow row) {
  forget(row);
  const PossibleVolumes possible = count(row);
  at_most_[row] = possible.at_most;
  if (possible.may_fail)
    may_fail_.insert(row);
  else
    may_fail_.erase(row);
}

void AttachTable::attachment_changed(const Ref<const Object>& before,
                                     const Ref<const Object>& after) {
  const auto recount = [this](Symbol node_name) {
    if (!built_) return;
    const NodeRow row = cluster_.nodes().find(node_name);
    if (row != kNoRow && row < at_most_.size()) set_pods(row);
  };
  if (before) {
    const Symbol node_name = static_cast<const VolumeAttachment&>(*before).node_name;
    const auto found = attachments_.find(node_name);
    if (found != attachments_.end()) {
      std::erase(found->second, before);
      if (found->second.empty()) attachments_.erase(found);
    }
    recount(node_name);
  }
  if (after) {
    const Ref<const VolumeAttachment> attachment(static_cast<const VolumeAttachment*>(after.get()));
    attachments_[attachment->node_name].push_back(attachment);
    recount(attachment->node_name);
  }
}

void AttachTable::forget(NodeRow row) {
  if (!kept_[row]) return;
  live_uses_ -= kept_[row]->lookups;
  kept_[row].reset();
}

void AttachTable::forget(Users& users, const std::string& key) {
  const auto found = users.find(key);
  if (found == users.end()) return;
  for (const NodeRow row : found->second) forget(row);
  uses_ -= found->second.size();
  users.erase(found);
}

void AttachTable::forget_all() {
  for (auto& kept : kept_) kept.reset();
  claim_users_.clear();
  volume_users_.clear();
  uses_ = live_uses_ = 0;
}

// ---- answers ------------------------------------------------------------------------------------

std::span<const std::int32_t> AttachTable::limits(Symbol driver) const {
  const auto found = columns_.find(driver);
  if (found == columns_.end()) return {};
  return found->second.limits;
}

const AttachTable::Attachments& AttachTable::attachments(NodeRow row) const {
  static const Attachments kNone;
  const auto found = attachments_.find(cluster_.nodes().name(row));
  return found == attachments_.end() ? kNone : found->second;
}

PossibleVolumes AttachTable::count(NodeRow row) const {
  PossibleVolumes possible;
  const NodeTable& nodes = cluster_.nodes();
  if (!nodes.has_node(row)) return possible;
  for (const Ref<const Pod>& pod : nodes.pods(row))
    for (const Volume& volume : pod->spec().volumes) {
      if (!may_attach(volume.source)) continue;
      ++possible.at_most;
      possible.may_fail |= plugins::may_fail(*pod, volume);
    }
  possible.at_most += static_cast<std::int32_t>(attachments(row).size());
  return possible;
}

AttachedVolumes AttachTable::look_at(NodeRow row, Lookups* lookups) const {
  AttachedVolumes attached;
  const AttachableFinder finder(cluster_, true, lookups);
  for (const Ref<const Pod>& pod : cluster_.nodes().pods(row))
    if (Result<void> added = finder.add_placed_pod(*pod, attached.by_pods); !added) {
      attached.error = std::move(added.error().message);
      return attached;
    }
  make_set(attached.by_pods);
  for (const AttachableVolume& volume : attached.by_pods)
    add_count(attached.counts, volume.driver());

  AttachableVolumes others;
  for (const Ref<const VolumeAttachment>& attachment : attachments(row))
    finder.add_attachment(*attachment, others);
  make_set(others);
  for (const AttachableVolume& volume : others)
    if (!std::ranges::binary_search(attached.by_pods, volume))
      add_count(attached.counts, volume.driver());
  return attached;
}

const AttachedVolumes& AttachTable::attached(NodeRow row) {
  if (kept_[row]) return *kept_[row];
  if (uses_ > 2 * live_uses_ + kStaleUses) forget_all();
  Lookups lookups;
  kept_[row] = std::make_unique<AttachedVolumes>(look_at(row, &lookups));
  kept_[row]->lookups = lookups.claims.size() + lookups.volumes.size();
  live_uses_ += kept_[row]->lookups;
  uses_ += kept_[row]->lookups;
  for (std::string& claim : lookups.claims) claim_users_[std::move(claim)].push_back(row);
  for (std::string& volume : lookups.volumes) volume_users_[std::move(volume)].push_back(row);
  return *kept_[row];
}

}  // namespace berth::plugins
