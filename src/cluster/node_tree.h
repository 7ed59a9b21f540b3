// NodeTree: nodes by zone, and the order that follows from it (core.md §6.4).
//
// Zones take turns: the first node of every zone, then the second of every zone, and so on, so that
// a scan that stops early has seen all zones. Zones stand in the order in which they were first
// seen, nodes within a zone in the order in which they came.
//
//   a: n1 n4 n5      list: n1 n2 n3 │ n4 n6 │ n5
//   b: n2
//   c: n3 n6
//
// Part of NodeTable, which knows the nodes of the rows.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "berth/labels.h"
#include "berth/node_set.h"

namespace berth {

// Region and zone of a node. The symbols are held by the labels of the nodes in the zone.
struct ZoneKey {
  Symbol region;
  Symbol zone;

  friend bool operator==(const ZoneKey&, const ZoneKey&) = default;
};

ZoneKey zone_key(const LabelSet& labels);

class NodeTree {
 public:
  // Puts the row at the end of its zone. A row that is already in that zone stays where it is; one
  // that is in another zone moves.
  void set(NodeRow row, ZoneKey key);
  // Does nothing if the row is not in the tree.
  void erase(NodeRow row);

  std::size_t size() const { return size_; }
  void list(std::vector<NodeRow>& rows) const;

 private:
  struct KeyHash {
    std::size_t operator()(const ZoneKey& key) const noexcept {
      return std::hash<Symbol>{}(key.region) * 31 + std::hash<Symbol>{}(key.zone);
    }
  };
  struct Zone {
    ZoneKey key;
    std::vector<NodeRow> rows;
  };
  struct Place {
    bool present = false;
    ZoneKey key;
  };

  std::vector<Zone> zones_;
  std::unordered_map<ZoneKey, std::size_t, KeyHash> index_;  // into zones_
  std::vector<Place> places_;                                // by row
  std::size_t size_ = 0;
};

}  // namespace berth
