#include "config/core_json.h"

#include <utility>

namespace berth::config {
namespace {

constexpr std::pair<std::string_view, SelectorOperator> kOperators[] = {
    {"In", SelectorOperator::kIn},          {"NotIn", SelectorOperator::kNotIn},
    {"Exists", SelectorOperator::kExists},  {"DoesNotExist", SelectorOperator::kDoesNotExist},
    {"Gt", SelectorOperator::kGreaterThan}, {"Lt", SelectorOperator::kLessThan},
};

bool decode_symbol(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols, Symbol& out) {
  std::string text;
  in.read(json, text);
  out = symbols.intern(text);
  return true;
}

bool decode_symbols(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                    std::vector<Symbol>& out) {
  return in.list("string", json, out, [&](StrictDecoder&, const JsonValue& item, Symbol& symbol) {
    decode_symbol(in, item, symbols, symbol);
  });
}

// Which selector a requirement is part of: their operators differ, and so do their types' names.
struct SelectorFlavor {
  std::string_view requirement;
  std::string_view op;
  std::size_t operators;  // how many of kOperators it knows
};
constexpr SelectorFlavor kNodeFlavor{"v1.NodeSelectorRequirement", "v1.NodeSelectorOperator", 6};
constexpr SelectorFlavor kLabelFlavor{"v1.LabelSelectorRequirement", "v1.LabelSelectorOperator", 4};

void decode_requirement(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                        const SelectorFlavor& flavor, SelectorRequirement& out) {
  std::string op;
  in.object(flavor.requirement, json, [&](std::string_view name, const JsonValue& value) {
    if (name == "key") return decode_symbol(in, value, symbols, out.key);
    if (name == "operator") return in.read(value, op, flavor.op);
    if (name == "values") return decode_symbols(in, value, symbols, out.values);
    return false;
  });
  out.op = SelectorOperator::kUnknown;
  for (std::size_t i = 0; i < flavor.operators; ++i) {
    if (kOperators[i].first == op) out.op = kOperators[i].second;
  }
  if (out.op == SelectorOperator::kUnknown) out.operator_text = symbols.intern(op);
}

bool decode_requirements(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                         const SelectorFlavor& flavor, std::vector<SelectorRequirement>& out) {
  return in.list(flavor.requirement, json, out,
                 [&](StrictDecoder&, const JsonValue& item, SelectorRequirement& requirement) {
                   decode_requirement(in, item, symbols, flavor, requirement);
                 });
}

void decode_term(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                 NodeSelectorTerm& out) {
  in.object("v1.NodeSelectorTerm", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "matchExpressions") {
      return decode_requirements(in, value, symbols, kNodeFlavor, out.match_expressions);
    }
    if (name == "matchFields") {
      return decode_requirements(in, value, symbols, kNodeFlavor, out.match_fields);
    }
    return false;
  });
}

bool decode_required(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                     std::optional<std::vector<NodeSelectorTerm>>& out) {
  out.reset();
  if (json.is_null()) return true;
  out.emplace();
  in.object("v1.NodeSelector", json, [&](std::string_view name, const JsonValue& value) {
    if (name != "nodeSelectorTerms") return false;
    return in.list("v1.NodeSelectorTerm", value, *out,
                   [&](StrictDecoder&, const JsonValue& item, NodeSelectorTerm& term) {
                     decode_term(in, item, symbols, term);
                   });
  });
  return true;
}

void decode_preferred(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                      PreferredSchedulingTerm& out) {
  in.object("v1.PreferredSchedulingTerm", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "weight") return in.read(value, out.weight);
    if (name != "preference") return false;
    decode_term(in, value, symbols, out.preference);
    return true;
  });
}

bool decode_selector(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
                     std::optional<LabelSelector>& out) {
  out.reset();
  if (json.is_null()) return true;
  LabelSelector& selector = out.emplace();
  in.object("v1.LabelSelector", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "matchLabels") {
      return in.text_map(value, [&](std::string_view key, std::string_view text) {
        selector.match_labels.push_back({symbols.intern(key), symbols.intern(text)});
      });
    }
    if (name == "matchExpressions") {
      return decode_requirements(in, value, symbols, kLabelFlavor, selector.match_expressions);
    }
    return false;
  });
  return true;
}

bool decode_policy(StrictDecoder& in, const JsonValue& json,
                   std::optional<NodeInclusionPolicy>& out) {
  out.reset();
  if (json.is_null()) return true;
  std::string text;
  in.read(json, text, "v1.NodeInclusionPolicy");
  // Parity: not validated; whatever is not Honor is ignored.
  out = text == "Honor" ? NodeInclusionPolicy::kHonor : NodeInclusionPolicy::kIgnore;
  return true;
}

JsonValue text_of(Symbol symbol, const SymbolHold& symbols) {
  return JsonValue::of_text(symbol.empty() ? "" : symbols.text(symbol));
}

JsonValue selector_tree(const std::vector<Symbol>& texts, const SymbolHold& symbols) {
  JsonValue list = JsonValue::array();
  for (const Symbol text : texts) list.items.push_back(text_of(text, symbols));
  return list;
}

JsonValue selector_tree(const std::vector<SelectorRequirement>& requirements,
                        const SymbolHold& symbols) {
  JsonValue list = JsonValue::array();
  for (const SelectorRequirement& requirement : requirements) {
    JsonValue entry = JsonValue::object();
    entry.add("key", text_of(requirement.key, symbols));
    JsonValue op = text_of(requirement.operator_text, symbols);
    for (const auto& [text, known] : kOperators) {
      if (known == requirement.op) op = JsonValue::of_text(text);
    }
    entry.add("operator", std::move(op));
    if (!requirement.values.empty())
      entry.add("values", selector_tree(requirement.values, symbols));
    list.items.push_back(std::move(entry));
  }
  return list;
}

JsonValue selector_tree(const NodeSelectorTerm& term, const SymbolHold& symbols) {
  JsonValue tree = JsonValue::object();
  if (!term.match_expressions.empty()) {
    tree.add("matchExpressions", selector_tree(term.match_expressions, symbols));
  }
  if (!term.match_fields.empty())
    tree.add("matchFields", selector_tree(term.match_fields, symbols));
  return tree;
}

JsonValue selector_tree(const LabelSelector& selector, const SymbolHold& symbols) {
  JsonValue tree = JsonValue::object();
  if (!selector.match_labels.empty()) {
    JsonValue labels = JsonValue::object();
    for (const Label& label : selector.match_labels) {
      labels.add(text_of(label.key, symbols).text, text_of(label.value, symbols));
    }
    tree.add("matchLabels", std::move(labels));
  }
  if (!selector.match_expressions.empty()) {
    tree.add("matchExpressions", selector_tree(selector.match_expressions, symbols));
  }
  return tree;
}

std::string_view policy_text(NodeInclusionPolicy policy) {
  return policy == NodeInclusionPolicy::kHonor ? "Honor" : "Ignore";
}

}  // namespace

void decode(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols, NodeAffinity& out) {
  in.object("v1.NodeAffinity", json, [&](std::string_view name, const JsonValue& value) {
    if (name == "requiredDuringSchedulingIgnoredDuringExecution") {
      return decode_required(in, value, symbols, out.required);
    }
    if (name == "preferredDuringSchedulingIgnoredDuringExecution") {
      return in.list("v1.PreferredSchedulingTerm", value, out.preferred,
                     [&](StrictDecoder&, const JsonValue& item, PreferredSchedulingTerm& term) {
                       decode_preferred(in, item, symbols, term);
                     });
    }
    return false;
  });
}

JsonValue to_tree(const NodeAffinity& affinity, const SymbolHold& symbols) {
  JsonValue tree = JsonValue::object();
  if (affinity.required) {
    JsonValue terms = JsonValue::array();
    for (const NodeSelectorTerm& term : *affinity.required) {
      terms.items.push_back(selector_tree(term, symbols));
    }
    JsonValue selector = JsonValue::object();
    selector.add("nodeSelectorTerms", std::move(terms));
    tree.add("requiredDuringSchedulingIgnoredDuringExecution", std::move(selector));
  }
  if (!affinity.preferred.empty()) {
    JsonValue terms = JsonValue::array();
    for (const PreferredSchedulingTerm& term : affinity.preferred) {
      JsonValue entry = JsonValue::object();
      entry.add("preference", selector_tree(term.preference, symbols));
      entry.add("weight", JsonValue::of_int(term.weight));
      terms.items.push_back(std::move(entry));
    }
    tree.add("preferredDuringSchedulingIgnoredDuringExecution", std::move(terms));
  }
  return tree;
}

void decode(StrictDecoder& in, const JsonValue& json, SymbolHold& symbols,
            TopologySpreadConstraint& out, std::string& unknown_action) {
  out.max_skew = 0;
  std::string action;
  in.object("v1.TopologySpreadConstraint", json,
            [&](std::string_view name, const JsonValue& value) {
              if (name == "maxSkew") return in.read(value, out.max_skew);
              if (name == "topologyKey") return decode_symbol(in, value, symbols, out.topology_key);
              if (name == "whenUnsatisfiable") {
                return in.read(value, action, "v1.UnsatisfiableConstraintAction");
              }
              if (name == "labelSelector")
                return decode_selector(in, value, symbols, out.label_selector);
              if (name == "minDomains") return in.read(value, out.min_domains);
              if (name == "nodeAffinityPolicy")
                return decode_policy(in, value, out.node_affinity_policy);
              if (name == "nodeTaintsPolicy")
                return decode_policy(in, value, out.node_taints_policy);
              if (name == "matchLabelKeys")
                return decode_symbols(in, value, symbols, out.match_label_keys);
              return false;
            });
  if (action == "DoNotSchedule") {
    out.when_unsatisfiable = UnsatisfiableAction::kDoNotSchedule;
  } else if (action == "ScheduleAnyway") {
    out.when_unsatisfiable = UnsatisfiableAction::kScheduleAnyway;
  } else {
    out.when_unsatisfiable = UnsatisfiableAction::kUnknown;
    unknown_action = std::move(action);
  }
}

JsonValue to_tree(const TopologySpreadConstraint& constraint, const SymbolHold& symbols) {
  JsonValue tree = JsonValue::object();
  if (constraint.label_selector) {
    tree.add("labelSelector", selector_tree(*constraint.label_selector, symbols));
  }
  if (!constraint.match_label_keys.empty()) {
    tree.add("matchLabelKeys", selector_tree(constraint.match_label_keys, symbols));
  }
  tree.add("maxSkew", JsonValue::of_int(constraint.max_skew));
  if (constraint.min_domains) tree.add("minDomains", JsonValue::of_int(*constraint.min_domains));
  if (constraint.node_affinity_policy) {
    tree.add("nodeAffinityPolicy",
             JsonValue::of_text(policy_text(*constraint.node_affinity_policy)));
  }
  if (constraint.node_taints_policy) {
    tree.add("nodeTaintsPolicy", JsonValue::of_text(policy_text(*constraint.node_taints_policy)));
  }
  tree.add("topologyKey", text_of(constraint.topology_key, symbols));
  const bool hard = constraint.when_unsatisfiable == UnsatisfiableAction::kDoNotSchedule;
  tree.add("whenUnsatisfiable", JsonValue::of_text(hard ? "DoNotSchedule" : "ScheduleAnyway"));
  return tree;
}

}  // namespace berth::config
