// A cluster for questions to Preemption: nodes of 4 cpu, a filter that counts cpu, and whatever a
// test puts there.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "framework/preemption.h"
#include "framework/testing/fake_plugins.h"

namespace berth::testing {

inline WallTime minute(int number) {
  return WallTime{std::chrono::hours(24 * 365 * 50) + std::chrono::minutes(number)};
}

class PreemptionTest : public ::testing::Test {
 protected:
  PreemptionTest() {
    profile.filter("Fit", [this](const Cycle& cycle, NodeRow row) {
      ++asked[std::string(cycle.nodes().name_text(row))];
      if (unresolvable.contains(std::string(cycle.nodes().name_text(row))))
        return Outcome::of(Code::kUnschedulableAndUnresolvable, "never");
      const std::int64_t wanted = cycle.pod().usage().requests.milli_cpu;
      const std::int64_t used = cycle.nodes().requested_milli_cpu()[row];
      return used + wanted > cycle.nodes().allocatable_milli_cpu()[row]
                 ? Outcome::unschedulable("Insufficient cpu")
                 : Outcome();
    });
  }

  void node(const std::string& name) { world.cluster.add_node(world.node(name).cpu("4")); }
  void place(Ref<const Pod> pod) { ASSERT_TRUE(world.cluster.add_pod(std::move(pod)).has_value()); }
  void place(const std::string& name, const std::string& node, int priority, int started,
             const std::string& cpu = "1", const std::string& app = "") {
    auto pod = world.pod(name);
    pod.on(node).priority(priority).started(minute(started)).cpu(cpu);
    if (!app.empty()) pod.label("app", app);
    place(pod);
  }
  void budget(const std::string& name, const std::string& app, int allowed,
              std::vector<std::string> disrupted = {}, const std::string& where = "default") {
    auto object = make_ref<PodDisruptionBudget>(world.interner.hold());
    object->name = name;
    object->namespace_name = object->symbols.intern(where);
    object->selector.emplace();
    if (!app.empty())
      object->selector->match_labels.push_back(
          {object->symbols.intern("app"), object->symbols.intern(app)});
    object->disruptions_allowed = allowed;
    object->disrupted_pods = std::move(disrupted);
    world.cluster.put(Ref<const Object>(std::move(object)));
  }

  // As after a search that found nothing; nodes in `turned_away` were rejected by an extender.
  Preemption::Choice choose(Ref<const Pod> pod, PreemptionLimits limits = {}) {
    world.cluster.see_pod(pod);
    world.cluster.begin_cycle();
    const Framework& framework = profile.framework();
    internal::CycleScratch scratch;
    scratch.reset(world.cluster.nodes().rows());
    Cycle cycle(pod, world.cluster);
    cycle.lend(&scratch);
    cycle.framework = &framework;
    EXPECT_TRUE(framework.run_pre_filter(cycle).outcome.ok());
    NodeSet feasible = world.cluster.nodes().nodes();
    Diagnosis diagnosis;
    diagnosis.explicit_nodes = feasible;
    EXPECT_TRUE(framework.run_filters_with_nominated(cycle, world.cluster, feasible).ok());
    for (const std::string& name : turned_away)
      scratch.verdicts[world.row(name)] = {Code::kUnschedulable, Status::kListed, Status::kNoPlugin,
                                           cycle.list_reasons({"no"})};
    asked.clear();
    cycle.may_suspend = true;
    const std::vector<Status> before = scratch.verdicts;
    Handle handle = world.handle();
    handle.extenders = extenders;
    const Preemption preemption(handle, limits);
    Preemption::Choice choice = run_task(world.loop, preemption.choose(cycle, diagnosis));
    EXPECT_EQ(scratch.verdicts, before) << "verdicts are put back";
    EXPECT_FALSE(world.cluster.nodes().on_trial());
    return choice;
  }
  // "n1: a b", "n1: a (1)" with a broken budget, or the message.
  std::string chosen(Ref<const Pod> pod, PreemptionLimits limits = {}) {
    return text_of(choose(std::move(pod), limits));
  }
  static std::string text_of(const Preemption::Choice& choice) {
    if (!choice.candidate) return choice.outcome.message();
    std::string text = choice.candidate->node + ":";
    for (const auto& victim : choice.candidate->victims.pods)
      text += " " + std::string(victim->name());
    if (choice.candidate->victims.pdb_violations > 0)
      text += " (" + std::to_string(choice.candidate->victims.pdb_violations) + ")";
    return text;
  }
  Ref<const Pod> important(const std::string& cpu) {
    return world.pod("high").priority(1000).cpu(cpu);
  }

  FakeWorld world;
  FakeProfile profile{world};
  std::map<std::string, int> asked;
  std::set<std::string> unresolvable, turned_away;
  std::vector<Extender*> extenders;
};

}  // namespace berth::testing
