// PlacedPods: where each pod that is on a node is, by UID.
//
// An entry is a pointer and two numbers; the UID is read from the pod itself, because a cluster has
// a million of these. The pods are kept alive by the lists of NodeTable. Part of Cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "berth/node_set.h"
#include "berth/pod.h"

namespace berth {

class PlacedPods {
 public:
  struct Entry {
    const Pod* pod;
    NodeRow row;
    std::uint32_t position : 31;  // in the row's list
    std::uint32_t assumed : 1;
  };

  PlacedPods();
  ~PlacedPods();
  PlacedPods(const PlacedPods&) = delete;
  PlacedPods& operator=(const PlacedPods&) = delete;

  // Null when the pod is on no node. Valid until the next insert or erase.
  const Entry* find(const Uid& uid) const;
  void insert(const Entry& entry);
  void erase(const Uid& uid);
  // For another version of a pod that is there; the old one must still be alive.
  void replace(const Entry& entry);
  // The pod has another place in its row's list.
  void moved(const Uid& uid, std::uint32_t position);

  std::size_t size() const;
  std::size_t assumed() const { return assumed_; }
  void for_each(const std::function<void(const Entry&)>& visit) const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
  std::size_t assumed_ = 0;
};

}  // namespace berth
