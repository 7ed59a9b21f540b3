// A cluster for tests of InterPodAffinity: pods with terms in one line.
//
//   add(pod("a", {{"app", "web"}}, {away({in("app", {"web"})}, "host")}, "n1"));
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {

struct Wanted {
  std::string key;
  SelectorOperator op;
  std::vector<std::string> values;
};
using WantedList = std::vector<Wanted>;

inline Wanted in(std::string key, std::vector<std::string> values) {
  return {std::move(key), SelectorOperator::kIn, std::move(values)};
}
inline Wanted not_in(std::string key, std::vector<std::string> values) {
  return {std::move(key), SelectorOperator::kNotIn, std::move(values)};
}
inline Wanted has(std::string key) { return {std::move(key), SelectorOperator::kExists, {}}; }
inline Wanted lacks(std::string key) {
  return {std::move(key), SelectorOperator::kDoesNotExist, {}};
}

// An absent selector matches nothing.
struct WrittenTerm {
  bool anti = false;
  std::optional<std::int32_t> weight = {};  // none: required
  std::optional<WantedList> selector = {};
  std::string key = {};
  std::vector<std::string> namespaces = {};
  std::optional<WantedList> namespace_selector = {};

  WrittenTerm of(std::vector<std::string> names) && {
    namespaces = std::move(names);
    return std::move(*this);
  }
  WrittenTerm of_chosen(WantedList chosen) && {
    namespace_selector = std::move(chosen);
    return std::move(*this);
  }
};

inline WrittenTerm near(std::optional<WantedList> selector, std::string key = "zone") {
  return {.selector = std::move(selector), .key = std::move(key)};
}
inline WrittenTerm away(std::optional<WantedList> selector, std::string key = "zone") {
  return {.anti = true, .selector = std::move(selector), .key = std::move(key)};
}
inline WrittenTerm likes(std::int32_t weight, std::optional<WantedList> selector,
                         std::string key = "zone") {
  return {.weight = weight, .selector = std::move(selector), .key = std::move(key)};
}
inline WrittenTerm dislikes(std::int32_t weight, std::optional<WantedList> selector,
                            std::string key = "zone") {
  return {.anti = true, .weight = weight, .selector = std::move(selector), .key = std::move(key)};
}

class AffinityFixture : public ::testing::Test {
 protected:
  using Labels = std::map<std::string, std::string>;

  testing::PluginFixture fixture;
  testing::World& world = fixture.world;
  Cluster& cluster = fixture.cluster;

  void add_node(const std::string& name, const Labels& labels) {
    testing::NodeBuilder node = world.node(name);
    for (const auto& [key, value] : labels) node.label(key, value);
    fixture.add_node(node);
  }

  void add_namespace(const std::string& name, const Labels& labels) {
    auto object = make_ref<Namespace>(world.interner.hold());
    object->name = name;
    std::vector<Label> list;
    for (const auto& [key, value] : labels)
      list.push_back({object->symbols.intern(key), object->symbols.intern(value)});
    object->labels = LabelSet(std::move(list));
    cluster.put(object);
  }

  Ref<const Pod> pod(const std::string& name, const Labels& labels = {},
                     const std::vector<WrittenTerm>& terms = {}, const std::string& node = {},
                     const std::string& namespace_name = "default") {
    testing::PodBuilder pod = world.pod(name);
    pod.in(namespace_name);
    for (const auto& [key, value] : labels) pod.label(key, value);
    if (!node.empty()) pod.on(node);
    Affinity affinity;
    for (const WrittenTerm& from : terms) {
      std::optional<PodAffinity>& stanza = from.anti ? affinity.pod_anti : affinity.pod;
      if (!stanza) stanza.emplace();
      if (from.weight)
        stanza->preferred.push_back({*from.weight, written(pod, from)});
      else
        stanza->required.push_back(written(pod, from));
    }
    if (!terms.empty()) pod.spec().affinity = std::make_shared<const Affinity>(affinity);
    return pod;
  }

  void add(const Ref<const Pod>& placed) { fixture.add_pod(placed); }

  std::unique_ptr<InterPodAffinity> make(std::int32_t hard_weight = 1,
                                         bool ignore_preferred = false) {
    return fixture.make<InterPodAffinity>(
        config::InterPodAffinityArgs{hard_weight, ignore_preferred});
  }

  NodeRow row(const std::string& node) { return cluster.nodes().find(world.symbol(node)); }

 private:
  static std::optional<LabelSelector> written(testing::PodBuilder& pod,
                                              const std::optional<WantedList>& wanted) {
    if (!wanted) return std::nullopt;
    LabelSelector selector;
    for (const Wanted& want : *wanted) {
      SelectorRequirement& made = selector.match_expressions.emplace_back();
      made.key = pod.symbol(want.key);
      made.op = want.op;
      for (const std::string& value : want.values) made.values.push_back(pod.symbol(value));
    }
    return selector;
  }
  static PodAffinityTerm written(testing::PodBuilder& pod, const WrittenTerm& from) {
    PodAffinityTerm term;
    term.label_selector = written(pod, from.selector);
    term.namespace_selector = written(pod, from.namespace_selector);
    for (const std::string& name : from.namespaces) term.namespaces.push_back(pod.symbol(name));
    term.topology_key = pod.symbol(from.key);
    return term;
  }
};

}  // namespace berth::plugins
