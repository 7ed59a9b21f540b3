// Snapshot: how a running scheduler stands at one moment, for the live page: `LiveSnapshot` of
// web/live.js.
//
// It is collected in many slices, so that the world is never held for long: first what there is (a
// reference to each node, then to each pod), then, pod by pod, where it stands. Writing all of it as
// JSON is for another thread: nodes and pods are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/loop.h"
#include "berth/node.h"
#include "berth/pod.h"
#include "engine/engine.h"
#include "page/node_devices.h"

namespace berth::ui {

class Snapshot {
 public:
  // How many pods, or claims and slices, one call of look_further() looks at.
  static constexpr std::size_t kSlice = 512;
  static constexpr std::size_t kDeviceSlice = 64;

  // World thread, both. `cursor` is where the changes begin that are not in the snapshot, or maybe
  // not. `engine` and `devices` outlive the last slice; `devices` is shown the claims and slices that
  // there are.
  Snapshot(Engine& engine, Loop& loop, page::NodeDevices& devices, std::string cursor);
  // False: that was the last slice.
  bool look_further();

  // After the last slice; any thread.
  std::string json() const;

 private:
  // Where a pod stands, in words of web/live.js.
  struct Entry {
    Ref<const Pod> pod;
    const char* place = "created";
    std::int32_t node = -1;  // its number among `nodes_`
    std::int32_t attempts = 0;
    Duration since{0};  // on the loop's clock; from before the loop began: negative
    std::vector<std::string> holds;
    std::string gate;  // the PreEnqueue plugin
  };
  struct NodeEntry {
    std::string name;
    Ref<const Node> node;  // null: pods are there, but no node
  };

  enum class Stage : std::uint8_t { kNodes, kPods, kDevices, kEachDevice, kEachPod };

  void list_nodes();
  void list_pods();
  void list_device_objects();
  void look_at(Entry& entry);
  void show_devices(const Ref<const Object>& object);
  std::int32_t number_of_node(Symbol name);
  // A point of the wall clock on the loop's clock.
  Duration on_loop(WallTime time) const { return now_ + (time - wall_); }

  Engine& engine_;
  page::NodeDevices& devices_;
  const std::string cursor_;
  const Duration now_;
  const WallTime wall_;
  std::vector<NodeEntry> nodes_;
  std::unordered_map<std::uint32_t, std::int32_t>
      node_numbers_;  // by symbol, of the cluster's table
  std::vector<Entry> pods_;
  Stage stage_ = Stage::kNodes;
  std::size_t looked_at_ = 0;  // of the pods, or of the claims and slices
  std::vector<Ref<const Object>> device_objects_;
  std::map<std::string, page::DevicesByDriver, std::less<>> devices_by_node_;
};

}  // namespace berth::ui
