// From which nodes a volume can be used, and an index for asking many things that question at once.
// For VolumeBinding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/labels.h"
#include "berth/node_selector.h"
#include "berth/result.h"

namespace berth::plugins {

// spec.nodeAffinity.required of a PersistentVolume, ready to be asked. It is asked with labels
// alone.
// Parity: what a term says about fields of a node is checked for sense and then ignored.
class VolumeAffinity {
 public:
  VolumeAffinity() = default;  // every node
  // `terms` stays where it is for as long as this lives.
  VolumeAffinity(const std::optional<std::vector<NodeSelectorTerm>>& terms, const Symbols& symbols);

  bool is_every_node() const { return terms_ == nullptr; }
  bool matches(const LabelSet& labels, const Symbols& symbols) const;
  // Why it does not match: `no matching NodeSelectorTerms`, or what is wrong with the terms.
  Result<void> check(const LabelSet& labels, const Symbols& symbols) const;

  // What is written there; null: nothing.
  const std::vector<NodeSelectorTerm>* terms() const { return terms_; }

 private:
  const std::vector<NodeSelectorTerm>* terms_ = nullptr;
  // Only where a term says more than "this label has one of these values", which is asked as
  // written: there may be a volume per node, each with such a term.
  bool plain_ = true;
  std::vector<std::vector<Requirement>> compiled_;
};

// Many things, numbered in the order in which they are preferred, each of which wants nodes with
// certain labels. Finds the first that suits a node without asking all of them: every entry is
// filed under one label that it cannot do without.
class LabelIndex {
 public:
  using Entry = std::uint32_t;

  void add(Symbol key, Symbol value, Entry entry) { filed_.push_back({key, value, entry}); }
  void add_everywhere(Entry entry) { everywhere_.push_back(entry); }
  // Under what the terms say; terms that match nothing are left out.
  void add(const VolumeAffinity& affinity, Entry entry);
  void add(const Selector& selector, Entry entry);
  // After the last add.
  void finish();

  // Whether there is an entry that may suit a node with these labels and of which `suits` says so;
  // the lowest is asked first.
  template <typename Suits>
  bool any(const LabelSet& labels, Suits suits) const {
    std::vector<std::span<const Entry>>& lists = lists_;
    lists.clear();
    if (!everywhere_.empty()) lists.push_back(everywhere_);
    for (const Symbol key : keys_)
      if (const Symbol* value = labels.find(key))
        if (const auto entries = entries_of(key, *value); !entries.empty())
          lists.push_back(entries);
    for (;;) {
      std::span<const Entry>* lowest = nullptr;
      for (std::span<const Entry>& list : lists)
        if (!list.empty() && (lowest == nullptr || list.front() < lowest->front())) lowest = &list;
      if (lowest == nullptr) return false;
      if (suits(lowest->front())) return true;
      *lowest = lowest->subspan(1);
    }
  }

 private:
  struct Filed {
    Symbol key;
    Symbol value;
    Entry entry;
    friend auto operator<=>(const Filed&, const Filed&) = default;
  };
  std::span<const Entry> entries_of(Symbol key, Symbol value) const;

  std::vector<Entry> everywhere_;
  std::vector<Filed> filed_;                           // sorted
  std::vector<Entry> entries_;                         // of filed_, side by side
  std::vector<Symbol> keys_;                           // of filed_, each once
  mutable std::vector<std::span<const Entry>> lists_;  // of one question
};

}  // namespace berth::plugins
