// AttachTable: by row, how many volumes CSI drivers can attach to a node, and how many they have.
//
//   limits, at most   columns, for all rows: whoever stays within the limit even if all volumes of
//                     the node's pods were his needs no closer look
//   attached          exactly which, worked out for the rows where it matters and kept until a pod,
//                     claim or volume there changes
//
// Kept between pods: rows from the node table's log, objects as they change. Only `count` and
// `look_at` may be asked under a trial, which they see. For NodeVolumeLimits, one table per plugin.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/storage.h"
#include "base/keyed_hash.h"
#include "berth/node_set.h"
#include "berth/views.h"
#include "cluster/object_changes.h"
#include "plugins/node_volume_limits/attachable.h"

namespace berth::plugins {

// The volumes that are attached to one node.
struct AttachedVolumes {
  std::optional<std::string> error;                          // why the volumes are not known
  AttachableVolumes by_pods;                                 // sorted
  std::vector<std::pair<std::string, std::int32_t>> counts;  // by driver

  std::size_t lookups = 0;  // that led to this, if they were asked for

  std::int32_t count(std::string_view driver) const;
};

// How many volumes of a node's pods may be attached, and whether looking closer may fail.
struct PossibleVolumes {
  std::int32_t at_most = 0;
  bool may_fail = false;
};

class AttachTable {
 public:
  static constexpr std::int32_t kUnlimited = std::numeric_limits<std::int32_t>::max();

  explicit AttachTable(const Cluster& cluster);
  AttachTable(const AttachTable&) = delete;
  AttachTable& operator=(const AttachTable&) = delete;

  // Brings everything up to date: at the begin of a pass. What the others give back is good until
  // the next time.
  void refresh();

  // Rows whose node has a CSINode, and rows whose CSINode limits any driver.
  const NodeSet& with_csi_node() const { return with_csi_node_; }
  const NodeSet& with_limits() const { return with_limits_; }
  // The CSINode of the row's node, or null.
  const CSINode* csi_node(NodeRow row) const { return csi_nodes_[row].get(); }
  // The driver's limit by row; empty where no node limits it.
  std::span<const std::int32_t> limits(Symbol driver) const;
  // How many volumes there may be attached by row, and rows where looking closer may fail.
  std::span<const std::int32_t> at_most() const { return at_most_; }
  const NodeSet& may_fail() const { return may_fail_; }
  // Exactly which, of a row with a CSINode; good until the next call.
  const AttachedVolumes& attached(NodeRow row);

  // The same of one row as it is now, trials included.
  PossibleVolumes count(NodeRow row) const;
  AttachedVolumes look_at(NodeRow row, Lookups* lookups = nullptr) const;

 private:
  using Attachments = std::vector<Ref<const VolumeAttachment>>;
  // How many rows a driver's column limits, and the column.
  struct Column {
    std::size_t limited = 0;
    std::vector<std::int32_t> limits;
  };
  using Users = std::unordered_map<std::string, std::vector<NodeRow>, TextHash>;

  void build();
  void grow();
  void shrink();
  void set_csi_node(NodeRow row);
  void set_limits(NodeRow row, const CSINode& node, bool in_force);
  void set_pods(NodeRow row);
  void forget(NodeRow row);
  void forget(Users& users, const std::string& key);
  void forget_all();
  const Attachments& attachments(NodeRow row) const;

  void attachment_changed(const Ref<const Object>& before, const Ref<const Object>& after);

  const Cluster& cluster_;
  bool built_ = false;
  std::uint64_t position_ = 0;  // in the node table's log
  std::vector<std::string> changed_csi_nodes_;

  std::vector<Ref<const CSINode>> csi_nodes_;
  NodeSet with_csi_node_;
  NodeSet with_limits_;
  std::unordered_map<Symbol, Column> columns_;  // the CSINodes hold the symbols
  std::vector<std::int32_t> at_most_;
  NodeSet may_fail_;
  std::unordered_map<Symbol, Attachments> attachments_;  // by node name, which they hold

  std::vector<std::unique_ptr<AttachedVolumes>> kept_;
  // Which rows were worked out with a claim or a volume; some may have been forgotten since.
  Users claim_users_;
  Users volume_users_;
  std::size_t uses_ = 0;       // in both
  std::size_t live_uses_ = 0;  // of rows that are kept

  std::vector<Subscription> subscriptions_;
};

}  // namespace berth::plugins
