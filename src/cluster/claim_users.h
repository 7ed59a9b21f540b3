// ClaimUsers: which PersistentVolumeClaims the pods on nodes use, and how many pods each
// (core.md §1.4). Claims of ephemeral volumes do not count. Part of NodeTable.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "berth/node_set.h"
#include "berth/pod.h"

namespace berth {

class ClaimUsers {
 public:
  void add(const Pod& pod, NodeRow row);
  void remove(const Pod& pod, NodeRow row);

  // How many volumes of pods on the row refer to the claim.
  std::int32_t count(NodeRow row, Symbol namespace_name, Symbol claim) const;
  // Whether a pod on any of the rows does.
  bool any(const NodeSet& rows, Symbol namespace_name, Symbol claim) const;

 private:
  // The symbols are held by the pods that are counted.
  struct Key {
    Symbol namespace_name;
    Symbol claim;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<Symbol>{}(key.namespace_name) * 31 + std::hash<Symbol>{}(key.claim);
    }
  };
  // Most claims are used on one node.
  struct Use {
    NodeRow row;
    std::int32_t count;
  };
  std::unordered_map<Key, std::vector<Use>, KeyHash> uses_;
};

}  // namespace berth
