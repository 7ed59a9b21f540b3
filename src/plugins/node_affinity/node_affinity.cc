#include "plugins/node_affinity/node_affinity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "api/names.h"
#include "berth/topology.h"
#include "plugins/arguments.h"
#include "plugins/event_objects.h"
#include "plugins/normalize.h"
#include "plugins/obstacles.h"
#include "plugins/required_node_affinity.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kNotAdded, kNotThePods };
constexpr std::string_view kNodeAffinityReasons[] = {
    "node(s) didn't match scheduler-enforced node affinity",
    "node(s) didn't match Pod's node affinity/selector",
};
constexpr const char* kConflict = "pod affinity terms conflict";

// Sorted and without repetition, as a PreFilterResult has them.
using Names = std::vector<Symbol>;

Names sorted_names(Names names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

// The only nodes that can match the term; nullopt if any node can. Parity: all values count, though
// a requirement with more than one will never match.
std::optional<Names> nodes_named_by(const NodeSelectorTerm& term) {
  std::optional<Names> named;
  for (const SelectorRequirement& field : term.match_fields) {
    if (field.key != names::kMetadataName || field.op != SelectorOperator::kIn) continue;
    Names values = sorted_names(field.values);
    if (named) {
      Names common;
      std::ranges::set_intersection(*named, values, std::back_inserter(common));
      values = std::move(common);
    }
    named = std::move(values);
  }
  return named;
}

// The only nodes that some term can mean; nullopt when any node might be meant.
std::optional<Names> nodes_named_by(const std::vector<NodeSelectorTerm>& terms) {
  if (terms.empty()) return std::nullopt;
  Names all;
  for (const NodeSelectorTerm& term : terms) {
    const std::optional<Names> named = nodes_named_by(term);
    if (!named) return std::nullopt;
    all.insert(all.end(), named->begin(), named->end());
  }
  return sorted_names(std::move(all));
}

// Whether PreFilter leaves the node out: no term that the pod requires can mean it.
bool is_left_out(const Pod& pod, const Node& node) {
  const ::berth::NodeAffinity* affinity = node_affinity_of(pod.spec());
  if (!affinity || !affinity->required || affinity->required->empty()) return false;
  return std::ranges::none_of(*affinity->required, [&](const NodeSelectorTerm& term) {
    const std::optional<Names> named = nodes_named_by(term);
    return !named || std::ranges::binary_search(*named, node.symbol);
  });
}

Obstacle affinity_obstacle(std::string code, std::string reason,
                           const std::vector<NodeSelectorTerm>& terms, const Node& node,
                           const Symbols& symbols) {
  TermMismatch mismatch = mismatch_of(terms, node, symbols, [&](const NodeSelectorTerm& term) {
    return CompiledNodeTerm(term, symbols, {}).matches(node, symbols);
  });
  return {.code = std::move(code),
          .reason = std::move(reason),
          .subject = std::move(mismatch.subject),
          .text = std::move(mismatch.text),
          .facts = {{"term", std::to_string(mismatch.term)},
                    {"requirements", fmt::format("{}", fmt::join(mismatch.requirements, "; "))}},
          .distance = mismatch.distance};
}

Obstacle selector_obstacle(std::string reason, const Label& wanted, const Node& node,
                           const Symbols& symbols) {
  const std::string key(symbols.text(wanted.key)), value(symbols.text(wanted.value));
  const Symbol* actual = node.labels.find(wanted.key);
  Obstacle obstacle{.code = "NodeSelectorMismatch",
                    .reason = std::move(reason),
                    .subject = fmt::format("{}={}", key, value),
                    .text = {},
                    .facts = {{"key", key}, {"value", value}}};
  obstacle.text = fmt::format("needs label {} (nodeSelector), the node has {}", obstacle.subject,
                              label_text(wanted.key, node.labels, symbols));
  if (actual) obstacle.facts["actual"] = symbols.text(*actual);
  return obstacle;
}

// Of a node that does not match: which part of it, or both.
std::vector<Obstacle> mismatches(const Pod& pod, const Node& node) {
  const Symbols& symbols = pod.symbols();
  const std::string reason(kNodeAffinityReasons[kNotThePods]);
  std::vector<Obstacle> all;
  for (const Label& wanted : pod.spec().node_selector) {
    if (all.size() == kMostObstacles) break;
    if (!Selector::of_set({wanted}).matches(node.labels, symbols))
      all.push_back(selector_obstacle(reason, wanted, node, symbols));
  }
  const ::berth::NodeAffinity* affinity = node_affinity_of(pod.spec());
  if (!affinity || !affinity->required) return all;
  const bool terms_match =
      !all.empty() && NodeSelector::compile(*affinity->required, symbols).matches(node, symbols);
  if (!terms_match)
    all.push_back(
        affinity_obstacle("NodeAffinityMismatch", reason, *affinity->required, node, symbols));
  return all;
}

std::span<const PreferredSchedulingTerm> preferred_by(const Pod& pod) {
  const ::berth::NodeAffinity* affinity = node_affinity_of(pod.spec());
  return affinity ? std::span(affinity->preferred) : std::span<const PreferredSchedulingTerm>();
}

Result<NodePreferences> preferences_of(const Pod& pod) {
  const ::berth::NodeAffinity* affinity = node_affinity_of(pod.spec());
  if (!affinity) return NodePreferences{};
  return NodePreferences::compile(affinity->preferred, pod.symbols());
}

std::vector<std::string> errors_in(const std::vector<NodeSelectorTerm>& terms,
                                   const Symbols& symbols) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const CompiledNodeTerm term(terms[i], symbols, fmt::format("nodeSelectorTerms[{}]", i));
    all.insert(all.end(), term.errors().begin(), term.errors().end());
  }
  return all;
}

// Whether a node may be as a term says. A pod may have thousands of terms that name keys and values
// which no node has; each costs one lookup, and nothing per node.
class TermsWorthAsking {
 public:
  explicit TermsWorthAsking(const Cluster& cluster) : cluster_(cluster) {}

  // Looking costs something, too.
  static constexpr std::size_t kMany = 16;

  bool operator()(const CompiledNodeTerm& term) const {
    return std::ranges::all_of(term.labels(), [this](const Requirement& requirement) {
      switch (requirement.op) {
        case SelectorOperator::kIn:
          return std::ranges::any_of(requirement.values, [&](Symbol value) {
            return cluster_.topology().any_node_has(requirement.key, value);
          });
        case SelectorOperator::kExists:
        case SelectorOperator::kGreaterThan:
        case SelectorOperator::kLessThan:
          return cluster_.nodes().any_node_has_label(requirement.key);
        default: return true;
      }
    });
  }

  template <typename Terms>
  static void keep(Terms& terms, std::size_t count, const Cluster& cluster) {
    if (count > kMany) terms.drop_terms(std::not_fn(TermsWorthAsking(cluster)));
  }

 private:
  const Cluster& cluster_;
};

std::string signature_of(const std::vector<SelectorRequirement>& requirements, const Pod& pod) {
  std::vector<std::string> texts;
  for (const SelectorRequirement& requirement : requirements) {
    std::vector<std::string> values;
    for (const Symbol value : requirement.values) values.push_back(delimited(pod.text(value)));
    std::ranges::sort(values);
    texts.push_back(fmt::format("{}{}[{}]", delimited(pod.text(requirement.key)),
                                delimited(operator_text(requirement, pod.symbols())),
                                fmt::join(values, "")));
  }
  std::ranges::sort(texts);
  return fmt::format("[{}]", fmt::join(texts, ""));
}

std::string signature_of(const NodeSelectorTerm& term, const Pod& pod) {
  return signature_of(term.match_expressions, pod) + signature_of(term.match_fields, pod);
}

std::string signature_of(const ::berth::NodeAffinity& affinity, const Pod& pod) {
  std::vector<std::string> required, preferred;
  if (affinity.required)
    for (const NodeSelectorTerm& term : *affinity.required)
      required.push_back(signature_of(term, pod));
  for (const PreferredSchedulingTerm& term : affinity.preferred)
    preferred.push_back(fmt::format("{}{}", term.weight, signature_of(term.preference, pod)));
  std::ranges::sort(required);
  std::ranges::sort(preferred);
  return fmt::format("{}({})({})", affinity.required ? "required" : "any", fmt::join(required, ","),
                     fmt::join(preferred, ","));
}

}  // namespace

Result<std::unique_ptr<Plugin>> NodeAffinity::create(const config::PluginArgs& arguments,
                                                     const Handle& handle) {
  using Args = config::NodeAffinityArgs;
  // Parity: upstream words this complaint differently from that of other plugins.
  if (!std::holds_alternative<std::monostate>(arguments) && !std::get_if<Args>(&arguments))
    return fail(ErrorKind::kInvalid,
                "args are not of type NodeAffinityArgs, got " + type_text(arguments));
  Added added;
  const Args* args = std::get_if<Args>(&arguments);
  if (!args || !args->added_affinity) return std::make_unique<NodeAffinity>(std::move(added));

  const Symbols& symbols = handle.cluster.symbols();
  if (args->symbols.table().get() != &symbols)
    return fail(ErrorKind::kInternal, "addedAffinity was read with another scheduler's symbols");
  added.symbols = args->symbols;
  const std::string parsing = "parsing addedAffinity.";
  if (const auto& required = args->added_affinity->required) {
    added.required = NodeSelector::compile(*required, symbols);
    added.written = *required;
    const std::vector<std::string> errors = errors_in(*required, symbols);
    if (!errors.empty())
      return fail(
          ErrorKind::kInvalid,
          parsing + "requiredDuringSchedulingIgnoredDuringExecution: " + aggregate(errors).message);
  }
  Result<NodePreferences> preferred =
      NodePreferences::compile(args->added_affinity->preferred, symbols);
  if (!preferred)
    return fail(ErrorKind::kInvalid, parsing + "preferredDuringSchedulingIgnoredDuringExecution: " +
                                         preferred.error().message);
  added.preferred = std::move(*preferred);
  added.prefers = !args->added_affinity->preferred.empty();
  return std::make_unique<NodeAffinity>(std::move(added));
}

std::span<const std::string_view> NodeAffinity::reasons() const { return kNodeAffinityReasons; }

PreFilterResult NodeAffinity::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  RequiredNodeAffinity required = required_node_affinity(pod);
  if (required.empty() && !added_.required) return PreFilterResult::skip();
  TermsWorthAsking::keep(required, required.term_count(), cycle.cluster());
  cycle.put(*this, std::move(required));

  const ::berth::NodeAffinity* affinity = node_affinity_of(pod.spec());
  if (!affinity || !affinity->required) return PreFilterResult::success();
  std::optional<Names> named = nodes_named_by(*affinity->required);
  if (!named) return PreFilterResult::success();
  if (named->empty()) return Outcome::of(Code::kUnschedulableAndUnresolvable, kConflict);
  return {Outcome::success(), std::move(*named)};
}

void NodeAffinity::filter(const Cycle& cycle, FilterPass& pass) const {
  const NodeTable& nodes = cycle.nodes();
  if (added_.required)
    pass.feasible().for_each([&](NodeRow row) {
      if (!added_.required->matches(nodes.node(row), cycle.symbols()))
        pass.reject(row, Code::kUnschedulableAndUnresolvable, kNotAdded);
    });
  const auto keep_matching = [&](const RequiredNodeAffinity& required) {
    if (required.empty()) return;
    pass.feasible().for_each([&](NodeRow row) {
      if (!required.matches(nodes.node(row), cycle.symbols()))
        pass.reject(row, Code::kUnschedulableAndUnresolvable, kNotThePods);
    });
  };
  if (const auto* kept = cycle.find<RequiredNodeAffinity>(*this))
    keep_matching(*kept);
  else
    keep_matching(required_node_affinity(cycle.pod()));
}

std::vector<Obstacle> NodeAffinity::obstacles(const Cycle& cycle, NodeRow row) const {
  const Pod& pod = cycle.pod();
  const Symbols& symbols = cycle.symbols();
  if (row == kNoRow)
    return {
        {.code = "NodeAffinityConflict",
         .reason = kConflict,
         .subject = "metadata.name",
         .text = "the node affinity names nodes (metadata.name) in a way that no node can match",
         .facts = {}}};
  const Node& node = cycle.nodes().node(row);
  if (is_left_out(pod, node))
    return {affinity_obstacle("NodeAffinityMismatch", left_out_sentence(name()),
                              *node_affinity_of(pod.spec())->required, node, symbols)};
  if (added_.required && !added_.required->matches(node, symbols))
    return {affinity_obstacle("AddedAffinityMismatch", std::string(kNodeAffinityReasons[kNotAdded]),
                              added_.written, node, symbols)};
  const auto* required = cycle.find<RequiredNodeAffinity>(*this);
  if (!required || required->matches(node, symbols)) return {};
  return mismatches(pod, node);
}

Outcome NodeAffinity::pre_score(Cycle& cycle, const NodeSet&) const {
  if (preferred_by(cycle.pod()).empty() && !added_.prefers) return Outcome::skip();
  Result<NodePreferences> preferences = preferences_of(cycle.pod());
  if (!preferences) return Outcome::failure(preferences.error().message);
  TermsWorthAsking::keep(*preferences, preferences->size(), cycle.cluster());
  cycle.put(*this, std::move(*preferences));
  return Outcome::success();
}

Outcome NodeAffinity::score(const Cycle& cycle, const NodeSet& feasible,
                            std::span<Score> by_row) const {
  std::optional<NodePreferences> made;
  const NodePreferences* preferred = cycle.find<NodePreferences>(*this);
  if (!preferred) {
    Result<NodePreferences> preferences = preferences_of(cycle.pod());
    if (!preferences) return Outcome::failure(preferences.error().message);
    preferred = &made.emplace(std::move(*preferences));
  }
  const NodeTable& nodes = cycle.nodes();
  feasible.for_each([&](NodeRow row) {
    const Node& node = nodes.node(row);
    by_row[row] =
        added_.preferred.score(node, cycle.symbols()) + preferred->score(node, cycle.symbols());
  });
  return Outcome::success();
}

Outcome NodeAffinity::normalize(const Cycle&, const NodeSet& feasible,
                                std::span<Score> by_row) const {
  default_normalize(Prefer::kHighest, feasible, by_row);
  return Outcome::success();
}

std::optional<std::vector<EventRegistration>> NodeAffinity::events_to_register() const {
  const auto hint = [this](const Pod& pod, const AnyObject& before, const AnyObject& after) {
    return after_node_change(pod, before, after);
  };
  return {{{{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}},
            hint,
            HintScope::kClass}}};
}

Result<QueueingHint> NodeAffinity::after_node_change(const Pod& pod, const AnyObject& before,
                                                     const AnyObject& after) const {
  const auto node = change_in<Node>(before, after);
  if (!node) return fail(node.error());
  if (!node->after) return QueueingHint::kSkip;
  if (added_.required && !added_.required->matches(*node->after, pod.symbols()))
    return QueueingHint::kSkip;
  const RequiredNodeAffinity required = required_node_affinity(pod);
  const Result<bool> matches = required.match_or_error(*node->after, pod.symbols());
  if (!matches) return fail(matches.error());
  if (!*matches) return QueueingHint::kSkip;
  if (!node->before) return QueueingHint::kQueue;
  // Parity: whether addedAffinity kept the pod off the node before is not asked.
  return required.matches(*node->before, pod.symbols()) ? QueueingHint::kSkip
                                                        : QueueingHint::kQueue;
}

Outcome NodeAffinity::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  const ::berth::NodeAffinity* affinity = node_affinity_of(pod.spec());
  fragments.push_back({"v1.Pod.Spec.Affinity.NodeAffinity",
                       affinity ? signature_of(*affinity, pod) : std::string()});
  fragments.push_back(
      {"v1.Pod.Spec.Affinity.NodeSelector", signature_of_labels(pod.spec().node_selector, pod)});
  return Outcome::success();
}

}  // namespace berth::plugins
