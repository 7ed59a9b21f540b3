#include "api/affinity_proto.h"

#include "api/object_proto.h"
#include "api/words.h"

namespace berth {
namespace {

NodeSelectorTerm read_node_selector_term(ProtoReader& proto, SymbolHold& symbols) {
  NodeSelectorTerm term;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_requirement(proto, symbols, term.match_expressions); break;
      case 2: append_requirement(proto, symbols, term.match_fields); break;
      default: break;
    }
  });
  return term;
}

NodeAffinity read_node_affinity(ProtoReader& proto, SymbolHold& symbols) {
  NodeAffinity affinity;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      affinity.required = read_node_selector(proto, symbols);
    } else if (field == 2) {
      PreferredSchedulingTerm& preferred = affinity.preferred.emplace_back();
      proto.fields([&](std::uint32_t part) {
        switch (part) {
          case 1: preferred.weight = proto.int32(); break;
          case 2: preferred.preference = read_node_selector_term(proto, symbols); break;
          default: break;
        }
      });
    }
  });
  return affinity;
}

PodAffinityTerm read_pod_affinity_term(ProtoReader& proto, SymbolHold& symbols) {
  PodAffinityTerm term;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: term.label_selector = read_label_selector(proto, symbols); break;
      case 2: append_symbol(proto, symbols, term.namespaces); break;
      case 3: term.topology_key = read_symbol(proto, symbols); break;
      case 4: term.namespace_selector = read_label_selector(proto, symbols); break;
      case 5: append_symbol(proto, symbols, term.match_label_keys); break;
      case 6: append_symbol(proto, symbols, term.mismatch_label_keys); break;
      default: break;
    }
  });
  return term;
}

PodAffinity read_pod_affinity(ProtoReader& proto, SymbolHold& symbols) {
  PodAffinity affinity;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) {
      affinity.required.push_back(read_pod_affinity_term(proto, symbols));
    } else if (field == 2) {
      WeightedPodAffinityTerm& preferred = affinity.preferred.emplace_back();
      proto.fields([&](std::uint32_t part) {
        switch (part) {
          case 1: preferred.weight = proto.int32(); break;
          case 2: preferred.term = read_pod_affinity_term(proto, symbols); break;
          default: break;
        }
      });
    }
  });
  return affinity;
}

std::optional<NodeInclusionPolicy> read_inclusion_policy(ProtoReader& proto) {
  const std::string_view text = proto.text();
  const std::optional<NodeInclusionPolicy> policy = inclusion_policy(text);
  if (!policy) proto.fail(unsupported_inclusion_policy(text));
  return policy;
}

}  // namespace

std::vector<NodeSelectorTerm> read_node_selector(ProtoReader& proto, SymbolHold& symbols) {
  std::vector<NodeSelectorTerm> terms;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) terms.push_back(read_node_selector_term(proto, symbols));
  });
  return terms;
}

std::shared_ptr<const Affinity> read_affinity(ProtoReader& proto, SymbolHold& symbols) {
  auto affinity = std::make_shared<Affinity>();
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: affinity->node = read_node_affinity(proto, symbols); break;
      case 2: affinity->pod = read_pod_affinity(proto, symbols); break;
      case 3: affinity->pod_anti = read_pod_affinity(proto, symbols); break;
      default: break;
    }
  });
  return affinity;
}

TopologySpreadConstraint read_spread_constraint(ProtoReader& proto, SymbolHold& symbols) {
  TopologySpreadConstraint constraint;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: constraint.max_skew = proto.int32(); break;
      case 2: constraint.topology_key = read_symbol(proto, symbols); break;
      case 3: constraint.when_unsatisfiable = unsatisfiable_action(proto.text()); break;
      case 4: constraint.label_selector = read_label_selector(proto, symbols); break;
      case 5: constraint.min_domains = proto.int32(); break;
      case 6: constraint.node_affinity_policy = read_inclusion_policy(proto); break;
      case 7: constraint.node_taints_policy = read_inclusion_policy(proto); break;
      case 8: append_symbol(proto, symbols, constraint.match_label_keys); break;
      default: break;
    }
  });
  return constraint;
}

}  // namespace berth
