// SeenPods: the newest version that the watch has shown of every pod, by namespace and name.
// Part of Cluster; all pods' symbols are of one table.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "berth/pod.h"

namespace berth {

class SeenPods {
 public:
  SeenPods();
  ~SeenPods();
  SeenPods(const SeenPods&) = delete;
  SeenPods& operator=(const SeenPods&) = delete;

  void put(Ref<const Pod> pod);
  // Only if it has this UID: a newer pod of the same name stays.
  void remove(const Pod& pod);
  Ref<const Pod> find(Symbol namespace_name, std::string_view name) const;

  std::size_t size() const;
  void for_each(const std::function<void(const Ref<const Pod>&)>& visit) const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
};

}  // namespace berth
