// PodClass: pods that every plugin treats alike, and what is known about nodes for them.
//
// Pods of one profile that share spec and metadata (namespace, labels, controller) are a class.
// What plugins say that look at a row alone (Dependence::kRow) is kept by row and asked again only
// about rows that changed since; ScoreTree finds the best of them. Rows that are alike to all the
// other plugins (RowKeys) and have the same scores before normalizing form a group: those plugins
// are asked about one row of each.
//
// Where only row plugins filter, pods that are nominated to a row are judged with it, and for pods
// that fit nowhere the verdicts are kept as well: people want to know why, node by node.
//
// Kept by ClassSearch, between cycles. It never knows of trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/topology.h"
#include "framework/framework.h"
#include "framework/nomination_log.h"
#include "search/score_tree.h"

namespace berth {

// Whether what the plugin says about a node follows from that node's row alone.
inline bool is_row_plugin(const Plugin& plugin) { return plugin.dependence() == Dependence::kRow; }

class PodClass {
 public:
  // The rows that a class asks about while it catches up. One serves all classes, which is memory
  // saved and in the cache.
  struct AskedRows {
    NodeSet changed, passed;     // of those that changed: that fit
    std::vector<NodeRow> apart;  // and those with nominated pods
  };

  // `asked` must live as long; what is in it counts during catch_up() only.
  PodClass(const Framework& framework, const Pod& pod, AskedRows& asked);

  static std::size_t hash_of(const Framework& framework, const Pod& pod);
  bool is_of(const Framework& framework, const Pod& pod) const {
    return &framework_ == &framework && spec_.get() == &pod.spec() && meta_.get() == &pod.meta();
  }

  // After PreFilter: asks about the rows that changed. False when a plugin could not tell; nothing
  // is known then, and the pod is searched for without it. Runs PreScore of the plugins it asks.
  bool catch_up(Cycle& cycle, Cluster& cluster);

  // Whether the pod itself is nominated somewhere: that does not count for it, but for all others
  // like it.
  bool is_nominated(const Pod& pod) const { return log_ && log_->is_nominated(pod.uid()); }

  // Whether verdicts are final: nobody but row plugins filters, and nominated pods are accounted
  // for.
  bool is_final() const { return final_; }
  // Writes the verdict of every node into the cycle's scratch. Only when they are final; they are
  // kept from the first time on. False when a plugin could not tell, or they are too various.
  bool tell_verdicts(Cycle& cycle, Cluster& cluster);
  std::span<const Status> verdicts() const { return verdicts_; }
  const std::vector<std::vector<std::string>>& listed_reasons() const { return listed_; }

  // Rows that no row plugin rejects.
  const NodeSet& fits() const { return fits_; }
  // Leaves a row out, or takes it in again, for this cycle.
  void hide(NodeRow row);
  void show(NodeRow row, std::int32_t score);

  // The weighted sum of row plugins that do not normalize; ScoreTree::kNone where a row does not
  // fit.
  const ScoreTree& tree() const { return tree_; }

  // Whether rows are grouped; else every row is its own.
  bool grouped() const { return grouped_; }
  // A row of the group that fits. There is one.
  NodeRow sample(ScoreTree::Group group) const;
  // Whether some plugin's answers go by numbers, so that groups are many and rows move between
  // them.
  bool goes_by_numbers() const { return !keys_.numbers.empty(); }

  // One row plugin that normalizes, and its scores before, of rows that fit. Nearly always they are
  // all the same (no node has soft taints), and then a number.
  class Unscaled {
   public:
    const Placed<ScorePlugin>* plugin = nullptr;
    bool is_uniform() const { return by_row_.empty(); }
    std::int32_t at(NodeRow row) const { return by_row_.empty() ? common_ : by_row_[row]; }
    std::size_t bytes() const { return by_row_.capacity() * sizeof(std::int32_t); }

   private:
    friend class PodClass;
    // The scores of `asked`; with `all` there are no others. False when one is out of reach.
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
  // Whether all rows that fit would be described alike.
  bool all_alike() const;
  // kNoGroup when there can be no more.
  int group_of(const std::vector<std::int64_t>& tuple);
  PluginMask asked_filters(const Cycle& cycle) const;
  PluginMask asked_scores(const Cycle& cycle) const;

  const Framework& framework_;
  AskedRows& asked_;
  const NominationLog* const log_;  // null: the nominator keeps none
  const Ref<const PodSpec> spec_;
  const Ref<const PodMeta> meta_;

  // ---- up to when, and who was asked
  bool known_ = false;
  std::uint64_t position_ = 0;     // in the log of changed rows
  std::uint64_t nominations_ = 0;  // in the log of nominations
  bool final_ = false;
  std::uint64_t device_classes_ = 0;
  PluginMask filters_, scores_;

  // ---- by row
  NodeSet fits_;
  ScoreTree tree_;
  std::vector<Unscaled> unscaled_;
  enum class Keeping : std::uint8_t { kNotYet, kYes, kTooVarious } keeping_ = Keeping::kNotYet;
  std::vector<Status> verdicts_;                  // kListed refers to
  std::vector<std::vector<std::string>> listed_;  // these
  std::size_t listed_bytes_ = 0;

  // ---- groups
  static constexpr int kNoGroup = -1;
  bool grouped_ = false;
  bool regroup_ = true;
  bool keys_known_ = false;
  RowKeys keys_;                         // labels sorted, each once; numbers of this cycle
  std::vector<TopologyColumn> columns_;  // of the labels
  std::vector<std::vector<std::int64_t>> tuples_;  // by group: what its rows have in common
};

}  // namespace berth
