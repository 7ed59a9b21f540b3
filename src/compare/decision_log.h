// DecisionLog: what was decided about which pod in a run, in order, and where each pod went. What two
// runs of the same input are compared by.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"

namespace berth::compare {

inline double seconds_of(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

struct DecisionLog {
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Decided {
    Duration at{0};
    std::uint32_t pod = 0;
    std::uint32_t node = kNone;
    std::uint32_t ordinal = 0;  // the how many'th decision about this pod, from 1
  };
  struct PodEntry {
    std::string name;  // "namespace/name"
    std::uint32_t decisions = 0;
    std::uint32_t last_chosen = 0;  // ordinal of the last decision with a node; 0: none
    std::uint32_t bound_by = 0;     // that of the decision after which it was bound last
    std::size_t chosen_place = 0;   // of the last decision with a node, in `decisions`
    std::uint32_t node = kNone;     // bound there last
    Duration bound_at{0};
  };

  std::vector<PodEntry> pods;
  std::map<std::string, std::uint32_t, std::less<>> pod_numbers;
  std::vector<std::string> nodes;
  std::map<std::string, std::uint32_t, std::less<>> node_numbers;
  std::vector<Decided> decisions;

  std::uint32_t pod_number(std::string_view full_name) {
    const auto known = pod_numbers.find(full_name);
    if (known != pod_numbers.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(pods.size());
    pods.push_back({.name = std::string(full_name)});
    pod_numbers.emplace(full_name, number);
    return number;
  }
  std::uint32_t node_number(std::string_view name) {
    const auto known = node_numbers.find(name);
    if (known != node_numbers.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(nodes.size());
    nodes.emplace_back(name);
    node_numbers.emplace(name, number);
    return number;
  }
  const PodEntry* find(std::string_view full_name) const {
    const auto known = pod_numbers.find(full_name);
    return known == pod_numbers.end() ? nullptr : &pods[known->second];
  }
  std::string_view node_name(std::uint32_t node) const {
    return node == kNone ? std::string_view() : std::string_view(nodes[node]);
  }
};

}  // namespace berth::compare
