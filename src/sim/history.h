// History: a run as the page (web/) shows it: the nodes and pods that there were, and what happened
// to them, in order, with virtual times. web/model.js describes the JSON that it makes.
//
// The Timeline beside it is for people who read JSON: it names pods by their names and repeats
// every sentence. Here a pod is its place in a list, so that a run of fifty thousand pods opens in a
// browser, and amounts of resources are there, which the tiles need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/loop.h"
#include "berth/node.h"
#include "berth/object.h"
#include "page/change_writer.h"
#include "page/node_devices.h"
#include "wire/json_line.h"

namespace berth::sim {

class History final : public page::ChangeWriter {
 public:
  explicit History(Loop& loop) : ChangeWriter(loop) {}

  // A change of a node, pod, claim or slice in the store; others are ignored.
  void changed(const Delta& delta);

  // The object `History` of web/model.js, of a run that took so long.
  std::string json(Duration duration) const;

 private:
  struct NodeEntry {
    std::string name;
    std::string first;  // what the page knows of it, as it was first seen: members of an object
    std::string now;
    Ref<const Node> node;  // null: it is not there
  };
  // What is remembered of a pod, to tell what is new about it.
  struct PodEntry {
    std::size_t index = 0;
    PodStage stage;
  };

  void node_changed(DeltaType type, const Ref<const Node>& node);
  void show_node(const Ref<const Node>& node);
  PodEntry& entry_of(const Pod& pod);
  std::size_t node_index(std::string_view name);
  std::size_t text_index(std::string_view text);

  // Everything is named by its place in a list.
  void add_pod(JsonLine& line, std::string_view key, const Pod& pod) override {
    line.number(key, entry_of(pod).index);
  }
  void add_node(JsonLine& line, std::string_view key, std::string_view node) override {
    line.number(key, node_index(node));
  }
  void add_text(JsonLine& line, std::string_view key, std::string_view text) override {
    line.number(key, text_index(text));
  }
  void add(const JsonLine& change) override { changes_.push_back(change.done()); }

  page::NodeDevices devices_;
  std::vector<NodeEntry> nodes_;
  std::map<std::string, std::size_t, std::less<>> node_indices_;  // by name
  std::vector<std::string> pods_;                                 // JSON
  std::unordered_map<Uid, PodEntry> pod_entries_;
  std::vector<std::string> templates_;  // JSON: what many pods have in common
  std::map<std::string, std::size_t, std::less<>> template_indices_;
  std::vector<std::string> texts_;
  std::map<std::string, std::size_t, std::less<>> text_indices_;
  std::vector<std::string> changes_;  // JSON
};

}  // namespace berth::sim
