// Nominations: which pods are expected on which node before they are bound there (core.md §5.11).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/plugin.h"
#include "berth/pod.h"
#include "berth/views.h"

namespace berth {

class Nominations {
 public:
  explicit Nominations(const Cluster& cluster);
  ~Nominations();
  Nominations(const Nominations&) = delete;
  Nominations& operator=(const Nominations&) = delete;

  // Sets the pod's nomination to the node in `nominating`, or, if that is nullopt or does not
  // override, to the one in the pod's status. A pod that the cluster no longer has, or has as
  // bound, gets none.
  void add(const Pod& pod, const std::optional<Nominating>& nominating);
  void update(const Pod& before, const Pod& after);
  void remove(const Uid& uid);

  // In the order in which they were nominated.
  template <typename Visit>
  void for_each(Symbol node, Visit visit) const {
    const auto found = by_node_.find(node);
    if (found == by_node_.end()) return;
    for (const Uid& uid : found->second) visit(*by_uid_.at(uid).pod);
  }
  // The nodes with nominated pods, in the order in which they got their first.
  const std::vector<Symbol>& nodes() const { return nodes_; }

  bool contains(const Uid& uid) const { return by_uid_.contains(uid); }

  // ---- the log of changed nodes (NominationLog)
  // The pod entered or left the queue, or was replaced by another version.
  void moved(const Uid& uid) {
    if (by_uid_.empty()) return;
    if (const auto found = by_uid_.find(uid); found != by_uid_.end())
      log_change(found->second.node);
  }
  std::uint64_t log_end() const { return log_start_ + log_.size(); }
  std::optional<std::span<const Symbol>> changes_since(std::uint64_t position) const;

  // A pod with namespace, name and UID only. Kept with the nomination.
  Ref<const Pod> name_only(const Pod& pod) const;

 private:
  struct Nomination {
    Ref<const Pod> pod;  // as it was when it was nominated
    Symbol node;         // held in the symbol table
    mutable Ref<const Pod> name_only;
  };
  void store(const Pod& pod, Symbol node);
  void log_change(Symbol node);

  const Cluster& cluster_;
  std::shared_ptr<Symbols> symbols_;
  std::unordered_map<Uid, Nomination> by_uid_;
  std::unordered_map<Symbol, std::vector<Uid>> by_node_;
  std::vector<Symbol> nodes_;
  std::vector<Symbol> log_;      // nodes; a symbol that was released is the name of no node
  std::uint64_t log_start_ = 0;  // position of the first entry
  Ref<const PodSpec> empty_spec_;
};

}  // namespace berth
