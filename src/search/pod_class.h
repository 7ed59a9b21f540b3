// PodClass: pods that every plugin treats alike, and the kept results of filters and scores for
// them.
//
// Pods of one profile that share spec and metadata (namespace, labels, controller) are a class. The
// answers of plugins that use one row alone (Dependence::kRow) are kept by row and computed again
// only for rows that changed; ScoreTree finds the best of them. Rows that are alike to all other
// plugins (RowKeys) and have the same scores before normalizing form a group: the other plugins run
// for one row of each group.
//
// Where only row plugins filter, a row's nominated pods are part of its kept verdict, and the
// verdicts of all rows are kept for pods that fit on no node, because each node's reason is
// reported.
//
// Kept by ClassSearch between cycles. Trials never change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/topology.h"
#include "berth/views.h"
#include "framework/framework.h"
#include "framework/nomination_log.h"
#include "search/score_tree.h"

namespace berth {

// Whether the plugin's answers about a node depend on that node's row alone.
inline bool is_row_plugin(const Plugin& plugin) { return plugin.dependence() == Dependence::kRow; }

class PodClass {
 public:
  // Buffers for catch_up(). All classes share one, which saves memory and stays in the cache.
  struct AskedRows {
    NodeSet changed, passed;     // `passed`: the changed rows that fit
    std::vector<NodeRow> apart;  // changed rows with nominated pods
  };

  // `asked` must outlive the class; its content is valid during catch_up() only.
  PodClass(const Framework& framework, const PodSpec& spec, const PodMeta& meta, AskedRows& asked);

  static std::size_t hash_of(const Framework& framework, const PodSpec& spec, const PodMeta& meta);
  bool is_of(const Framework& framework, const PodSpec& spec, const PodMeta& meta) const {
    return &framework_ == &framework && spec_.get() == &spec && meta_.get() == &meta;
  }

  // After PreFilter: runs row plugins for the rows that changed, with their PreScore. Returns false
  // when a plugin failed: nothing is kept then, and the pod is searched from scratch.
  bool catch_up(Cycle& cycle, Cluster& cluster);

  // Whether the pod itself is nominated: its nomination does not count for itself, but for all
  // other pods of the class.
  bool is_nominated(const Pod& pod) const { return log_ && log_->is_nominated(pod.uid()); }

  // Whether verdicts are final: only row plugins filter, and nominated pods are included.
  bool is_final() const { return final_; }
  // Writes the verdict of every node into the cycle's scratch. Only when they are final; they are
  // kept from the first call on. Returns false when a plugin failed, or when there are too many
  // different verdicts.
  bool write_verdicts(Cycle& cycle, Cluster& cluster);
  std::span<const Status> verdicts() const { return verdicts_; }
  const std::vector<std::vector<std::string>>& listed_reasons() const { return listed_; }

  // Rows that no row plugin rejects.
  const NodeSet& fits() const { return fits_; }
  // Hides a row, or shows it again, for this cycle.
  void hide(NodeRow row);
  void show(NodeRow row, std::int32_t score);

  // The weighted sum of row plugins that do not normalize; ScoreTree::kNone where a row does not
  // fit.
  const ScoreTree& tree() const { return tree_; }

  // Whether rows are grouped; otherwise each row stands for itself.
  bool grouped() const { return grouped_; }
  // A row of the group that fits. There always is one.
  NodeRow sample(ScoreTree::Group group) const;
  // Whether some plugin's keys are numbers, so that there are many groups and rows move between
  // them.
  bool goes_by_numbers() const { return !keys_.numbers.empty(); }

  // A row plugin that normalizes, and its scores before normalizing, of rows that fit. They are
  // nearly always the same for all rows (no node has soft taints), and then kept as one number.
  class Unscaled {
   public:
    const Placed<ScorePlugin>* plugin = nullptr;
    bool is_uniform() const { return by_row_.empty(); }
    std::int32_t at(NodeRow row) const { return by_row_.empty() ? common_ : by_row_[row]; }
    std::size_t bytes() const { return by_row_.capacity() * sizeof(std::int32_t); }

   private:
    friend class PodClass;
    // Sets the scores of the rows `asked`; with `all` there are no other rows. Returns false when a
    // score does not fit into 32 bits.
    bool take(const NodeSet& asked, std::span<const Score> scores, std::size_t rows, bool all);
    void find_common(const NodeSet& fits);

    std::int32_t common_ = 0;
    std::vector<std::int32_t> by_row_;  // or empty
  };
  std::span<const Unscaled> unscaled() const { return unscaled_; }

  std::size_t bytes() const;

 private:
  bool find_changes(const Cycle& cycle);
  bool find_changed_nominations(const Cycle& cycle);
  bool can_be_final(const Cycle& cycle) const;
  bool ask_filters(Cycle& cycle, Cluster& cluster, bool all);
  void set_apart(const NodeTable& nodes);
  bool keep_verdicts(const Cycle& cycle);
  bool ask_scores(const Cycle& cycle, bool all);
  bool find_keys(Cycle& cycle);
  void group(const Cycle& cycle);
  void follow(const Cycle& cycle);
  void describe(NodeRow row, std::vector<std::int64_t>& tuple) const;
  // Whether all rows that fit have the same tuple.
  bool all_alike() const;
  // kNoGroup when there are too many groups.
  int group_of(const std::vector<std::int64_t>& tuple);
  internal::PluginMask asked_filters(const Cycle& cycle) const;
  internal::PluginMask asked_scores(const Cycle& cycle) const;

  const Framework& framework_;
  AskedRows& asked_;
  const NominationLog* const log_;  // null: the nominator keeps none
  const Ref<const PodSpec> spec_;
  const Ref<const PodMeta> meta_;

  // ---- what the kept results are up to date with
  bool known_ = false;
  std::uint64_t position_ = 0;     // in the log of changed rows
  std::uint64_t nominations_ = 0;  // in the log of nominations
  bool final_ = false;
  std::uint64_t device_classes_ = 0;
  internal::PluginMask filters_, scores_;

  // ---- by row
  NodeSet fits_;
  ScoreTree tree_;
  std::vector<Unscaled> unscaled_;
  enum class Keeping : std::uint8_t { kNotYet, kYes, kTooVarious } keeping_ = Keeping::kNotYet;
  std::vector<Status> verdicts_;                  // kListed refers to listed_
  std::vector<std::vector<std::string>> listed_;  // lists of reasons
  std::size_t listed_bytes_ = 0;

  // ---- groups
  static constexpr int kNoGroup = -1;
  bool grouped_ = false;
  bool regroup_ = true;
  bool keys_known_ = false;
  RowKeys keys_;                         // labels sorted, each once; numbers of this cycle
  std::vector<TopologyColumn> columns_;  // of the labels
  std::vector<std::vector<std::int64_t>> tuples_;  // by group: the values that its rows share
};

}  // namespace berth
