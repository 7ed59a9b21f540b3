// TopologyDomains: for a topology key, the domain that each node is in, as a column of small
// numbers. Two nodes are in the same domain when they have the same value of the key.
//
// A key's column is made when it is first asked for and follows the nodes' labels from then on.
// Keys that no node has share one empty column and take no memory. Part of Cluster; asked by
// plugins that count per domain. World thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/node_table.h"

namespace berth {

// 0: the node does not have the key (or the row has no node).
using Domain = std::uint32_t;
inline constexpr Domain kNoDomain = 0;

// The domains of one key by row, shared with those who count per domain. While the version is the
// one they began with, the domains are the same.
struct DomainsByRow : std::enable_shared_from_this<DomainsByRow> {
  std::uint64_t version = 0;
  std::vector<Domain> by_row;
};

struct TopologyColumn {
  std::span<const Domain> by_row;
  std::size_t size = 1;  // every domain is below this; some may be in use by no node
  // By domain: the value of the key. That of kNoDomain, and of one that is not in use, is empty.
  std::span<const Symbol> values;
  std::span<const std::uint32_t> nodes;  // by domain; of kNoDomain: 0
  std::size_t nodes_with_key = 0;
  bool unique = false;                   // no two nodes are in the same domain
  std::uint64_t id = 0;                  // another one when domains are numbered anew
  std::uint64_t version = 0;             // another one whenever a node's domain changes; never 0
  const DomainsByRow* source = nullptr;  // of by_row; null when no node has the key
};

class TopologyDomains {
 public:
  explicit TopologyDomains(const NodeTable& nodes);
  ~TopologyDomains();
  TopologyDomains(const TopologyDomains&) = delete;
  TopologyDomains& operator=(const TopologyDomains&) = delete;

  // Valid until nodes change or the next cycle begins.
  TopologyColumn column(Symbol key);

  // Whether some node has this value of the key.
  bool any_node_has(Symbol key, Symbol value);

  // How many columns are kept.
  std::size_t size() const;

  // For Cluster: what has not been asked for in a while goes.
  void begin_cycle();

 private:
  struct Kept;
  std::unique_ptr<Kept> kept_;
};

}  // namespace berth
