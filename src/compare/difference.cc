#include "compare/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compare/cause.h"
#include "compare/decision_probes.h"
#include "compare/figures.h"

namespace berth::compare {
namespace {

// Pods that are listed, with or without a reason.
constexpr std::size_t kMostListed = 1000;

JsonValue number_of(std::size_t value) {
  return JsonValue::of_int(static_cast<std::int64_t>(value));
}

// How a pod stands on one side.
struct PodStand {
  std::string node;  // empty: none
  std::optional<Duration> bound_at;
  std::uint32_t ordinal = 0;  // of the decision that made it so; 0: there was none
  std::size_t place = 0;      // of that decision in the log; behind all if the pod has no node
};

// A pod that is not on the same node on both sides.
struct MovedPod {
  std::string name;
  PodStand there, here;
};

PodStand stand_of(const DecisionLog& log, const std::string& name) {
  PodStand stand;
  stand.place = log.decisions.size();
  const DecisionLog::PodEntry* const pod = log.find(name);
  if (!pod) return stand;
  stand.ordinal = pod->decisions;
  if (pod->node == DecisionLog::kNone) return stand;
  stand.node = log.nodes[pod->node];
  stand.bound_at = pod->bound_at;
  stand.ordinal = pod->bound_by;
  stand.place = pod->chosen_place;
  return stand;
}

// In the order in which they were decided there, then here, then by name.
std::vector<MovedPod> moved_pods(const DecisionLog& there, const DecisionLog& here) {
  std::vector<MovedPod> moved;
  const auto add = [&](const std::string& name) {
    MovedPod pod{name, stand_of(there, name), stand_of(here, name)};
    if (pod.there.node != pod.here.node) moved.push_back(std::move(pod));
  };
  for (const DecisionLog::PodEntry& pod : there.pods) add(pod.name);
  for (const DecisionLog::PodEntry& pod : here.pods)
    if (!there.find(pod.name)) add(pod.name);
  std::ranges::sort(moved, std::less<>(), [](const MovedPod& pod) {
    return std::tuple(pod.there.place, pod.here.place, std::string_view(pod.name));
  });
  return moved;
}

// The first place at which the two sides decided something else.
struct Divergence {
  const DecisionLog::Decided* there = nullptr;  // null: that side had decided everything
  const DecisionLog::Decided* here = nullptr;
};

std::optional<Divergence> first_divergence(const DecisionLog& there, const DecisionLog& here) {
  const std::size_t common = std::min(there.decisions.size(), here.decisions.size());
  for (std::size_t i = 0; i < common; ++i) {
    const DecisionLog::Decided& a = there.decisions[i];
    const DecisionLog::Decided& b = here.decisions[i];
    if (there.pods[a.pod].name != here.pods[b.pod].name ||
        there.node_name(a.node) != here.node_name(b.node))
      return Divergence{&a, &b};
  }
  if (there.decisions.size() == here.decisions.size()) return std::nullopt;
  Divergence divergence;
  if (common < there.decisions.size()) divergence.there = &there.decisions[common];
  if (common < here.decisions.size()) divergence.here = &here.decisions[common];
  return divergence;
}

// What is asked of one side, and what came of it.
class ProbedSide {
 public:
  ProbedSide(const SideQuestion& question, const DecisionLog& log)
      : question_(question), log_(log) {}

  void ask(const std::string& pod, std::uint32_t ordinal, std::vector<std::string> nodes) {
    if (ordinal == 0) return;
    std::vector<std::string>& asked = asked_[{pod, ordinal}];
    for (std::string& node : nodes)
      if (!node.empty() && std::ranges::find(asked, node) == asked.end())
        asked.push_back(std::move(node));
  }

  Result<void> run(const PluginTable& plugins) {
    if (asked_.empty()) return {};
    SideQuestion question = question_;
    question.until = last_asked();
    question.warns = false;
    question.strict = false;
    std::vector<Probe> probes;
    for (const auto& [key, nodes] : asked_) probes.push_back({key.first, key.second, nodes});
    Interner interner;
    DecisionProbes observer(std::move(probes));
    Result<std::unique_ptr<SideSimulation>> side =
        SideSimulation::make(question, plugins, interner, {&observer}, nullptr);
    if (!side) return fail(side.error());
    observer.begin((*side)->simulation().loop());
    if (Result<void> loaded = (*side)->load(); !loaded) return loaded;
    (*side)->simulation().run();
    decisions_ = observer.decisions();
    return {};
  }

  const ProbedDecision* find(const std::string& pod, std::uint32_t ordinal) const {
    const auto found = decisions_.find({pod, ordinal});
    return found == decisions_.end() ? nullptr : &found->second;
  }

 private:
  Duration last_asked() const {
    Duration last{0};
    for (const DecisionLog::Decided& decided : log_.decisions)
      if (asked_.contains({log_.pods[decided.pod].name, decided.ordinal}))
        last = std::max(last, decided.at);
    return last;
  }

  const SideQuestion& question_;
  const DecisionLog& log_;
  std::map<DecisionProbes::Key, std::vector<std::string>> asked_;
  std::map<DecisionProbes::Key, ProbedDecision> decisions_;
};

class Differences {
 public:
  explicit Differences(const DifferenceQuestion& question)
      : question_(question),
        names_{question.there.side.name, question.here.side.name},
        moved_(moved_pods(question.log_there, question.log_here)),
        divergence_(first_divergence(question.log_there, question.log_here)),
        there_(question.there, question.log_there),
        here_(question.here, question.log_here) {}

  Result<JsonValue> find(const PluginTable& plugins);

 private:
  // How many of the moved pods are told why.
  std::size_t explained() const { return std::min(moved_.size(), question_.explained); }
  bool same_pod_diverges() const;
  void ask();
  JsonValue counts() const;
  JsonValue divergence_json() const;
  JsonValue pod_json(std::size_t index, std::map<std::string, std::size_t>& by_plugin) const;
  void add_cause(const MovedPod& pod, JsonValue& json,
                 std::map<std::string, std::size_t>& by_plugin) const;
  std::string there_pod() const {
    return divergence_->there ? question_.log_there.pods[divergence_->there->pod].name
                              : std::string();
  }
  std::string here_pod() const {
    return divergence_->here ? question_.log_here.pods[divergence_->here->pod].name : std::string();
  }

  const DifferenceQuestion& question_;
  const SideNames names_;
  const std::vector<MovedPod> moved_;
  const std::optional<Divergence> divergence_;
  ProbedSide there_, here_;
};

bool Differences::same_pod_diverges() const {
  return divergence_ && divergence_->there && divergence_->here && there_pod() == here_pod();
}

void Differences::ask() {
  if (question_.explained == 0) return;
  if (same_pod_diverges()) {
    const std::vector<std::string> nodes{
        std::string(question_.log_there.node_name(divergence_->there->node)),
        std::string(question_.log_here.node_name(divergence_->here->node))};
    there_.ask(there_pod(), divergence_->there->ordinal, nodes);
    here_.ask(here_pod(), divergence_->here->ordinal, nodes);
  }
  for (std::size_t i = 0; i < explained(); ++i) {
    const MovedPod& pod = moved_[i];
    there_.ask(pod.name, pod.there.ordinal, {pod.there.node, pod.here.node});
    here_.ask(pod.name, pod.here.ordinal, {pod.there.node, pod.here.node});
  }
}

Result<JsonValue> Differences::find(const PluginTable& plugins) {
  ask();
  if (Result<void> ran = there_.run(plugins); !ran) return fail(ran.error());
  if (Result<void> ran = here_.run(plugins); !ran) return fail(ran.error());
  JsonValue json = JsonValue::object();
  json.add("against", JsonValue::of_text(names_.there));
  json.add("pods", counts());
  if (divergence_) json.add("firstDivergence", divergence_json());
  std::map<std::string, std::size_t> by_plugin;
  JsonValue moved = JsonValue::array();
  for (std::size_t i = 0; i < std::min(moved_.size(), kMostListed); ++i)
    moved.items.push_back(pod_json(i, by_plugin));
  JsonValue plugin_counts = JsonValue::object();
  for (const auto& [plugin, count] : by_plugin) plugin_counts.add(plugin, number_of(count));
  if (!plugin_counts.members.empty()) json.add("byPlugin", std::move(plugin_counts));
  json.add("moved", std::move(moved));
  return json;
}

JsonValue Differences::counts() const {
  std::size_t elsewhere = 0, only_there = 0, only_here = 0;
  for (const MovedPod& pod : moved_)
    ++(pod.here.node.empty() ? only_there : pod.there.node.empty() ? only_here : elsewhere);
  JsonValue json = JsonValue::object();
  json.add("elsewhere", number_of(elsewhere));
  json.add("onlyThere", number_of(only_there));
  json.add("onlyHere", number_of(only_here));
  return json;
}

JsonValue Differences::divergence_json() const {
  JsonValue json = JsonValue::object();
  const auto side = [](const DecisionLog::Decided* decided, const DecisionLog& log) {
    JsonValue part = JsonValue::object();
    if (!decided) return part;
    part.add("at", rounded(seconds_of(decided->at)));
    part.add("pod", JsonValue::of_text(log.pods[decided->pod].name));
    if (decided->node != DecisionLog::kNone)
      part.add("node", JsonValue::of_text(log.node_name(decided->node)));
    return part;
  };
  json.add("there", side(divergence_->there, question_.log_there));
  json.add("here", side(divergence_->here, question_.log_here));
  Cause cause;
  if (same_pod_diverges()) {
    const ProbedDecision* const a = there_.find(there_pod(), divergence_->there->ordinal);
    const ProbedDecision* const b = here_.find(here_pod(), divergence_->here->ordinal);
    if (!a || !b) return json;
    cause = find_cause(*a, *b, names_);
  } else {
    cause.type = Cause::Type::kOrder;
    const auto tried = [](const std::string& pod, const std::string& name) {
      return pod.empty() ? fmt::format("side {} had nothing more to decide", name)
                         : fmt::format("side {} tried {}", name, pod);
    };
    cause.text =
        fmt::format("{}, {}", tried(there_pod(), names_.there), tried(here_pod(), names_.here));
  }
  json.add("cause", to_json_tree(cause));
  return json;
}

JsonValue Differences::pod_json(std::size_t index,
                                std::map<std::string, std::size_t>& by_plugin) const {
  const MovedPod& pod = moved_[index];
  JsonValue json = JsonValue::object();
  json.add("pod", JsonValue::of_text(pod.name));
  const auto add_stand = [&json](std::string_view side, const PodStand& stand) {
    if (stand.node.empty()) return;
    JsonValue place = JsonValue::object();
    place.add("node", JsonValue::of_text(stand.node));
    if (stand.bound_at) place.add("at", rounded(seconds_of(*stand.bound_at)));
    json.add(side, std::move(place));
  };
  add_stand("there", pod.there);
  add_stand("here", pod.here);
  if (index < explained()) add_cause(pod, json, by_plugin);
  return json;
}

void Differences::add_cause(const MovedPod& pod, JsonValue& json,
                            std::map<std::string, std::size_t>& by_plugin) const {
  const ProbedDecision* const a = there_.find(pod.name, pod.there.ordinal);
  const ProbedDecision* const b = here_.find(pod.name, pod.here.ordinal);
  Cause cause;
  // Where the search ended, and where the pod was bound.
  const auto later_failure = [](const ProbedDecision& decision, const std::string& node,
                                const std::string& side) {
    if (decision.chosen == node) return std::string();
    return fmt::format("on side {} the search chose {}, and a later step failed", side,
                       decision.chosen);
  };
  if (a && b) cause.text = later_failure(*a, pod.there.node, names_.there);
  if (a && b && cause.text.empty()) cause.text = later_failure(*b, pod.here.node, names_.here);
  if (a && b && cause.text.empty()) {
    const std::size_t elsewhere = count_elsewhere(*a, *b);
    json.add("diverged", JsonValue::of_bool(elsewhere > 0 || a->cluster != b->cluster));
    json.add("podsElsewhereThen", number_of(elsewhere));
    cause = find_cause(*a, *b, names_);
  } else if (!a || !b) {
    cause.text = fmt::format("side {} never tried this pod", a ? names_.here : names_.there);
  }
  ++by_plugin[cause.plugin.empty() ? std::string(to_string(cause.type)) : cause.plugin];
  json.add("cause", to_json_tree(cause));
}

}  // namespace

Result<JsonValue> find_difference(const DifferenceQuestion& question, const PluginTable& plugins) {
  return Differences(question).find(plugins);
}

}  // namespace berth::compare
