#include "explain/node_groups.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace berth::explain {
namespace {

// How far a node is from having the pod: lower is nearer.
struct Distance {
  std::size_t obstacles = 0;
  double size = 0;

  friend auto operator<=>(const Distance&, const Distance&) = default;
};

struct Member {
  Distance distance;
  std::string_view name;
  const SearchTrace::Objections* objections;
};

Distance distance_of(const SearchTrace::Objections& objections) {
  Distance distance;
  for (const SearchTrace::Objection& objection : objections.by)
    for (const Obstacle& obstacle : objection.obstacles) {
      ++distance.obstacles;
      distance.size += obstacle.distance;
    }
  return distance;
}

// Equal for nodes that belong together: everything but amounts and words made of them.
std::string key_of(const SearchTrace::Objections& objections) {
  std::string key;
  const auto add = [&key](std::string_view part) {
    key += part;
    key.push_back('\0');
  };
  for (const SearchTrace::Objection& objection : objections.by) {
    add(objection.outcome.plugin);
    key.push_back(static_cast<char>('0' + static_cast<int>(objection.outcome.code)));
    key.push_back(objection.pre_filter ? 'p' : 'f');
    for (const Obstacle& obstacle : objection.obstacles) {
      add(obstacle.code);
      add(obstacle.reason);
      add(obstacle.subject);
    }
  }
  return key;
}

NodeGroup group_of(std::vector<Member>& members) {
  std::ranges::sort(members, {}, [](const Member& member) {
    return std::tuple(member.distance.size, member.name);
  });
  NodeGroup group;
  for (const Member& member : members) group.nodes.emplace_back(member.name);
  for (const SearchTrace::Objection& objection : members.front().objections->by)
    for (const Obstacle& obstacle : objection.obstacles)
      group.obstacles.push_back({.plugin = objection.outcome.plugin,
                                 .code = objection.outcome.code,
                                 .pre_filter = objection.pre_filter,
                                 .obstacle = obstacle});
  return group;
}

}  // namespace

std::vector<NodeGroup> group_nodes(const std::vector<SearchTrace::Objections>& objections,
                                   const NodeTable& nodes) {
  std::unordered_map<std::string, std::size_t> places;
  std::vector<std::vector<Member>> by_reasons;
  for (const SearchTrace::Objections& at : objections) {
    const auto [place, is_new] = places.try_emplace(key_of(at), by_reasons.size());
    if (is_new) by_reasons.emplace_back();
    by_reasons[place->second].push_back({distance_of(at), nodes.name_text(at.row), &at});
  }
  std::vector<std::pair<std::pair<Distance, std::string>, NodeGroup>> ordered;
  for (std::vector<Member>& members : by_reasons) {
    NodeGroup group = group_of(members);
    ordered.emplace_back(std::pair(members.front().distance, group.nodes.front()),
                         std::move(group));
  }
  std::ranges::sort(ordered, {}, &decltype(ordered)::value_type::first);
  std::vector<NodeGroup> groups;
  for (auto& [distance, group] : ordered) groups.push_back(std::move(group));
  return groups;
}

}  // namespace berth::explain
