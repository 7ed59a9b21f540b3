#include "plugins/testing/plugin_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/check.h"

namespace berth::testing {

void PrintTo(const Verdict& verdict, std::ostream* out) {
  *out << to_string(verdict.code);
  for (const std::string& reason : verdict.reasons) *out << " `" << reason << "`";
}

Verdict unschedulable(std::vector<std::string> reasons) {
  return {Code::kUnschedulable, std::move(reasons)};
}
Verdict unresolvable(std::vector<std::string> reasons) {
  return {Code::kUnschedulableAndUnresolvable, std::move(reasons)};
}

CycleAtFilter::CycleAtFilter(Ref<const Pod> pod, const Cluster& cluster)
    : cycle(std::move(pod), cluster), feasible(cluster.nodes().nodes()) {
  scratch.reset(cluster.nodes().rows());
  cycle.lend(&scratch);
}

void CycleAtFilter::filter(const FilterPlugin& plugin) {
  FilterPass pass(0, cycle, feasible, scratch.verdicts);
  plugin.filter(cycle, pass);
}

Verdict CycleAtFilter::verdict(const Plugin& plugin, NodeRow row) const {
  const Status& status = scratch.verdicts[row];
  if (status.ok()) return {};
  return {status.code, cycle.reasons_of(status, &plugin)};
}

std::vector<Obstacle> checked_obstacles(const Plugin& plugin, const Cycle& cycle, NodeRow row,
                                        const std::vector<std::string>& sentences) {
  std::vector<Obstacle> all = dynamic_cast<const ObstaclePlugin&>(plugin).obstacles(cycle, row);
  std::set<std::string> said;
  for (const Obstacle& obstacle : all) {
    said.insert(obstacle.reason);
    EXPECT_FALSE(obstacle.code.empty());
    EXPECT_FALSE(obstacle.text.empty()) << obstacle.code;
    EXPECT_GE(obstacle.distance, 0) << obstacle.code;
    EXPECT_LE(obstacle.distance, 1) << obstacle.code;
  }
  EXPECT_EQ(said, std::set<std::string>(sentences.begin(), sentences.end()));
  return all;
}

namespace {

NodeSet left_out_by(const PreFilterResult& result, const NodeTable& nodes) {
  if (!result.nodes) return NodeSet(nodes.rows());
  NodeSet left_out = nodes.nodes();
  for (const Symbol name : *result.nodes)
    if (const NodeRow row = nodes.find(name); row != kNoRow) left_out.erase(row);
  return left_out;
}

std::string left_out_by_sentence(const Plugin& plugin) {
  return fmt::format("node(s) didn't satisfy plugin(s) [{}]", plugin.name());
}

}  // namespace

void PluginFixture::add_pod(Ref<const Pod> pod) {
  Result<void> added = cluster.add_pod(std::move(pod));
  BERTH_CHECK(added.has_value());
}

Handle PluginFixture::handle() {
  return {.profile_name = "default-scheduler",
          .loop = loop_,
          .random = random_,
          .cluster = cluster,
          .waiting_pods = waiting_pods_,
          .pods_in_pre_bind = pods_in_pre_bind_,
          .nominator = nominator_,
          .activator = activator_,
          .api = api,
          .gates = gates,
          .trial_cluster = &cluster};
}

Plugin* PluginFixture::created(Result<std::unique_ptr<Plugin>> result) {
  BERTH_CHECK(result.has_value());
  return result->release();
}

Verdicts PluginFixture::filter(const Plugin& plugin, Ref<const Pod> pod) {
  return filter_rows(plugin, std::move(pod), {cluster.nodes().nodes()});
}

Verdicts PluginFixture::filter_one_by_one(const Plugin& plugin, Ref<const Pod> pod) {
  std::vector<NodeSet> passes;
  cluster.nodes().nodes().for_each(
      [&](NodeRow row) { passes.emplace_back(cluster.nodes().rows()).insert(row); });
  return filter_rows(plugin, std::move(pod), passes);
}

Verdicts PluginFixture::filter_rows(const Plugin& plugin, Ref<const Pod> pod,
                                    const std::vector<NodeSet>& passes) {
  const NodeTable& nodes = cluster.nodes();
  CycleAtFilter at(std::move(pod), cluster);
  NodeSet left_out(nodes.rows());
  if (const auto* pre_filter = dynamic_cast<const PreFilterPlugin*>(&plugin)) {
    const PreFilterResult result = pre_filter->pre_filter(at.cycle);
    EXPECT_TRUE(result.outcome.ok()) << result.outcome.message();
    left_out = left_out_by(result, nodes);
  }
  for (const NodeSet& asked : passes) {
    at.feasible = asked;
    at.filter(dynamic_cast<const FilterPlugin&>(plugin));
    asked.for_each([&](NodeRow row) {
      EXPECT_EQ(at.feasible.contains(row), at.scratch.verdicts[row].ok()) << nodes.name_text(row);
    });
  }
  Verdicts verdicts;
  const bool explains = dynamic_cast<const ObstaclePlugin*>(&plugin) != nullptr;
  nodes.nodes().for_each([&](NodeRow row) {
    const Verdict verdict = at.verdict(plugin, row);
    if (explains && verdict.code != Code::kError)
      checked_obstacles(
          plugin, at.cycle, row,
          left_out.contains(row) ? std::vector{left_out_by_sentence(plugin)} : verdict.reasons);
    verdicts[std::string(nodes.name_text(row))] = verdict;
  });
  return verdicts;
}

Obstacles PluginFixture::obstacles(const Plugin& plugin, Ref<const Pod> pod) {
  const NodeTable& nodes = cluster.nodes();
  Obstacles found;
  CycleAtFilter at(std::move(pod), cluster);
  if (const auto* pre_filter = dynamic_cast<const PreFilterPlugin*>(&plugin)) {
    const PreFilterResult result = pre_filter->pre_filter(at.cycle);
    if (result.outcome.code == Code::kSkip) return found;
    if (!result.outcome.ok()) {
      found[""] = checked_obstacles(plugin, at.cycle, kNoRow, result.outcome.all_reasons());
      return found;
    }
    const NodeSet left_out = left_out_by(result, nodes);
    left_out.for_each([&](NodeRow row) {
      found[std::string(nodes.name_text(row))] =
          checked_obstacles(plugin, at.cycle, row, {left_out_by_sentence(plugin)});
    });
    at.feasible -= left_out;
  }
  const NodeSet asked = at.feasible;
  at.filter(dynamic_cast<const FilterPlugin&>(plugin));
  asked.for_each([&](NodeRow row) {
    const Verdict verdict = at.verdict(plugin, row);
    if (verdict.code == Code::kError) return;
    if (std::vector<Obstacle> all = checked_obstacles(plugin, at.cycle, row, verdict.reasons);
        !all.empty())
      found[std::string(nodes.name_text(row))] = std::move(all);
  });
  return found;
}

ObstacleTexts PluginFixture::obstacle_texts(const Plugin& plugin, Ref<const Pod> pod) {
  ObstacleTexts texts;
  for (const auto& [node, all] : obstacles(plugin, std::move(pod)))
    for (const Obstacle& obstacle : all)
      texts[node].push_back(
          fmt::format("{} {}: {}", obstacle.code, obstacle.subject, obstacle.text));
  return texts;
}

std::optional<Scores> PluginFixture::score(const Plugin& plugin, Ref<const Pod> pod) {
  const NodeTable& nodes = cluster.nodes();
  const NodeSet feasible = nodes.nodes();
  Cycle cycle(std::move(pod), cluster);
  if (const auto* pre_score = dynamic_cast<const PreScorePlugin*>(&plugin)) {
    const Outcome outcome = pre_score->pre_score(cycle, feasible);
    if (outcome.code == Code::kSkip) return std::nullopt;
    EXPECT_TRUE(outcome.ok()) << outcome.message();
  }
  const auto& scorer = dynamic_cast<const ScorePlugin&>(plugin);
  // Not zero to begin with: every feasible row must be written.
  std::vector<Score> by_row(nodes.rows(), -1);
  const Outcome scored = scorer.score(cycle, feasible, by_row);
  EXPECT_TRUE(scored.ok()) << scored.message();
  const Outcome normalized = scorer.normalize(cycle, feasible, by_row);
  EXPECT_TRUE(normalized.ok()) << normalized.message();
  Scores scores;
  feasible.for_each([&](NodeRow row) { scores[std::string(nodes.name_text(row))] = by_row[row]; });
  return scores;
}

QueueingHint PluginFixture::hint(const Plugin& plugin, const ClusterEvent& registered,
                                 Ref<const Pod> rejected, const AnyObject& before,
                                 const AnyObject& after) {
  const std::vector<EventRegistration> registrations = plugin.events_to_register().value();
  for (const EventRegistration& registration : registrations) {
    if (registration.event.resource != registered.resource ||
        registration.event.actions != registered.actions)
      continue;
    if (!registration.hint) return QueueingHint::kQueue;
    Result<QueueingHint> answer = registration.hint(*rejected, before, after);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer.value_or(QueueingHint::kQueue);
  }
  ADD_FAILURE() << "nothing registered for " << registered.label();
  return QueueingHint::kQueue;
}

void PluginFixture::expect_hints(const Plugin& plugin, const ClusterEvent& registered,
                                 const Ref<const Pod>& rejected, const std::vector<HintRow>& rows) {
  for (const HintRow& row : rows)
    EXPECT_EQ(hint(plugin, registered, rejected, row.before, row.after), row.hint) << row.why;
}

RegisteredEvents registered_events(const Plugin& plugin) {
  RegisteredEvents events;
  const std::vector<EventRegistration> registrations = plugin.events_to_register().value();
  for (const EventRegistration& registration : registrations)
    events.emplace_back(registration.event.resource, registration.event.actions);
  return events;
}

std::string signature(const SignPlugin& plugin, const Ref<const Pod>& pod,
                      const std::vector<std::string>& keys) {
  std::vector<SignatureFragment> fragments;
  const Outcome outcome = plugin.sign(*pod, fragments);
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  std::vector<std::string> signed_keys;
  std::string values;
  for (const SignatureFragment& fragment : fragments) {
    if (!signed_keys.empty()) values += "|";
    signed_keys.emplace_back(fragment.key);
    values += fragment.value;
  }
  EXPECT_EQ(signed_keys, keys);
  return values;
}

}  // namespace berth::testing
