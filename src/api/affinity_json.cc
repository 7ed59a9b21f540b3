#include "api/affinity_json.h"

#include "api/object_json.h"
#include "api/words.h"

namespace berth {
namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

NodeSelectorTerm read_node_selector_term(JsonReader& json, SymbolHold& symbols) {
  NodeSelectorTerm term;
  json.fields([&](std::string_view name) {
    if (name == "matchExpressions") {
      term.match_expressions = read_requirements(json, symbols);
    } else if (name == "matchFields") {
      term.match_fields = read_requirements(json, symbols);
    }
  });
  return term;
}

NodeAffinity read_node_affinity(JsonReader& json, SymbolHold& symbols) {
  NodeAffinity affinity;
  json.fields([&](std::string_view name) {
    if (name == kRequired) {
      affinity.required = read_node_selector(json, symbols);
    } else if (name == kPreferred) {
      json.items([&] {
        PreferredSchedulingTerm& preferred = affinity.preferred.emplace_back();
        json.fields([&](std::string_view part) {
          if (part == "weight") {
            preferred.weight = json.int32();
          } else if (part == "preference") {
            preferred.preference = read_node_selector_term(json, symbols);
          }
        });
      });
    }
  });
  return affinity;
}

PodAffinityTerm read_pod_affinity_term(JsonReader& json, SymbolHold& symbols) {
  PodAffinityTerm term;
  json.fields([&](std::string_view name) {
    if (name == "labelSelector") {
      term.label_selector = read_label_selector(json, symbols);
    } else if (name == "namespaceSelector") {
      term.namespace_selector = read_label_selector(json, symbols);
    } else if (name == "namespaces") {
      term.namespaces = read_symbols(json, symbols);
    } else if (name == "topologyKey") {
      term.topology_key = symbols.intern(json.text());
    } else if (name == "matchLabelKeys") {
      term.match_label_keys = read_symbols(json, symbols);
    } else if (name == "mismatchLabelKeys") {
      term.mismatch_label_keys = read_symbols(json, symbols);
    }
  });
  return term;
}

PodAffinity read_pod_affinity(JsonReader& json, SymbolHold& symbols) {
  PodAffinity affinity;
  json.fields([&](std::string_view name) {
    if (name == kRequired) {
      json.items([&] { affinity.required.push_back(read_pod_affinity_term(json, symbols)); });
    } else if (name == kPreferred) {
      json.items([&] {
        WeightedPodAffinityTerm& preferred = affinity.preferred.emplace_back();
        json.fields([&](std::string_view part) {
          if (part == "weight") {
            preferred.weight = json.int32();
          } else if (part == "podAffinityTerm") {
            preferred.term = read_pod_affinity_term(json, symbols);
          }
        });
      });
    }
  });
  return affinity;
}

std::optional<NodeInclusionPolicy> read_inclusion_policy(JsonReader& json) {
  const std::string_view text = json.text();
  const std::optional<NodeInclusionPolicy> policy = inclusion_policy(text);
  if (!policy) json.fail(unsupported_inclusion_policy(text));
  return policy;
}

}  // namespace

std::vector<NodeSelectorTerm> read_node_selector(JsonReader& json, SymbolHold& symbols) {
  std::vector<NodeSelectorTerm> terms;
  json.fields([&](std::string_view name) {
    if (name == "nodeSelectorTerms")
      json.items([&] { terms.push_back(read_node_selector_term(json, symbols)); });
  });
  return terms;
}

std::shared_ptr<const Affinity> read_affinity(JsonReader& json, SymbolHold& symbols) {
  auto affinity = std::make_shared<Affinity>();
  json.fields([&](std::string_view name) {
    if (name == "nodeAffinity") {
      affinity->node = read_node_affinity(json, symbols);
    } else if (name == "podAffinity") {
      affinity->pod = read_pod_affinity(json, symbols);
    } else if (name == "podAntiAffinity") {
      affinity->pod_anti = read_pod_affinity(json, symbols);
    }
  });
  return affinity;
}

std::vector<TopologySpreadConstraint> read_spread_constraints(JsonReader& json,
                                                              SymbolHold& symbols) {
  std::vector<TopologySpreadConstraint> constraints;
  json.items([&] {
    TopologySpreadConstraint& constraint = constraints.emplace_back();
    json.fields([&](std::string_view name) {
      if (name == "maxSkew") {
        constraint.max_skew = json.int32();
      } else if (name == "topologyKey") {
        constraint.topology_key = symbols.intern(json.text());
      } else if (name == "whenUnsatisfiable") {
        constraint.when_unsatisfiable = unsatisfiable_action(json.text());
      } else if (name == "labelSelector") {
        constraint.label_selector = read_label_selector(json, symbols);
      } else if (name == "minDomains") {
        constraint.min_domains = json.int32();
      } else if (name == "nodeAffinityPolicy") {
        constraint.node_affinity_policy = read_inclusion_policy(json);
      } else if (name == "nodeTaintsPolicy") {
        constraint.node_taints_policy = read_inclusion_policy(json);
      } else if (name == "matchLabelKeys") {
        constraint.match_label_keys = read_symbols(json, symbols);
      }
    });
  });
  return constraints;
}

}  // namespace berth
