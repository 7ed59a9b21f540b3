// ImageStates: which images the nodes have, and on how many nodes each is (core.md §6.3,
// plugins.md §16.2).
//
// An image has several names; each is an entry of its own. An entry's size is that of the node that
// reported it first, and stays so while any node has the image. Part of NodeTable.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "berth/node.h"
#include "berth/views.h"

namespace berth {

class ImageStates {
 public:
  // The entries of one node's images, each once, sorted by name.
  using Ids = std::vector<std::uint32_t>;

  // Counts the node in; the symbols of the names must stay held until remove().
  Ids add(const Node& node);
  void remove(const Ids& ids);

  // Whether anything was counted in or out; equal numbers, equal spreads.
  std::uint64_t generation() const { return generation_; }
  // What is known of these entries at this moment. Says whether that differs from what was in
  // `frozen`.
  bool freeze(const Ids& ids, std::vector<ImageState>& frozen) const;

  bool has(Symbol name) const { return ids_.contains(name); }
  std::size_t size() const { return ids_.size(); }

 private:
  std::unordered_map<Symbol, std::uint32_t> ids_;
  std::vector<ImageState> entries_;  // by id
  std::vector<std::uint32_t> unused_;
  std::uint64_t generation_ = 0;
};

}  // namespace berth
