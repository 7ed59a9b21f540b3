#include "queue/nominations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

struct Nominated : QueueWorld {
  Symbol n1 = world.symbol("n1"), n2 = world.symbol("n2");

  std::vector<std::string> on(Symbol node) {
    std::vector<std::string> names;
    for (const Ref<const Pod>& pod : queue().nominated_pods(node)) names.emplace_back(pod->name());
    return names;
  }
  // Seen by the cluster, but not queued.
  Ref<const Pod> seen(const testing::PodBuilder& builder) {
    Ref<const Pod> pod = builder.build();
    cluster.see_pod(pod);
    return pod;
  }
};

TEST(Nominations, TheLogNamesTheNodesWhereTheyMayLookDifferent) {
  Nominated w;
  auto changes = [&w, from = w.queue().nomination_log_end()]() mutable {
    const auto since = w.queue().nominations_since(from);
    from = w.queue().nomination_log_end();
    return since ? std::vector<Symbol>(since->begin(), since->end()) : std::vector<Symbol>{};
  };
  w.add(w.pod("plain"));
  EXPECT_THAT(changes(), IsEmpty());
  w.add(w.pod("a").nominated("n1"));
  EXPECT_THAT(changes(), Each(w.n1));
  w.queue().pop();  // whoever it was: it is no longer there to be seen
  w.queue().pop();
  EXPECT_THAT(changes(), ElementsAre(w.n1));
  EXPECT_FALSE(w.queue().nominations_since(w.queue().nomination_log_end() + 1))
      << "a position that never was: everywhere";
}

TEST(Nominations, AreTakenFromThePodsStatusWhenItIsAdded) {
  Nominated w;
  w.add(w.pod("a").nominated("n1"));
  w.add(w.pod("b"));
  EXPECT_THAT(w.on(w.n1), ElementsAre("a"));
  EXPECT_THAT(w.queue().nominated_nodes(), ElementsAre(w.n1));
}

TEST(Nominations, OverridingSetsMovesAndClears) {
  Nominated w;
  const auto pod = w.seen(w.pod("a").nominated("n1"));
  w.queue().nominate(*pod, Nominating::to("n2"));
  EXPECT_THAT(w.on(w.n2), ElementsAre("a"));
  w.queue().nominate(*pod, Nominating::to("n1"));
  EXPECT_THAT(w.on(w.n2), IsEmpty());
  EXPECT_THAT(w.on(w.n1), ElementsAre("a"));
  w.queue().nominate(*pod, Nominating::clear());
  EXPECT_THAT(w.queue().nominated_nodes(), IsEmpty());
  EXPECT_THAT(w.on(Symbol{}), IsEmpty());
}

TEST(Nominations, WithoutAnOpinionTheStatusDecides) {
  for (const std::optional<Nominating>& none : {std::optional<Nominating>{}, {Nominating{}}}) {
    Nominated w;
    const auto with = w.seen(w.pod("with").nominated("n1"));
    const auto without = w.seen(w.pod("without"));
    w.queue().nominate(*without, Nominating::to("n2"));
    w.queue().nominate(*with, none);
    w.queue().nominate(*without, none);
    EXPECT_THAT(w.on(w.n1), ElementsAre("with"));
    EXPECT_THAT(w.on(w.n2), IsEmpty()) << "its status names no node";
  }
}

TEST(Nominations, PodsThatAreGoneOrBoundGetNone) {
  Nominated w;
  const Ref<const Pod> gone = w.pod("gone");
  w.queue().nominate(*gone, Nominating::to("n1"));
  const Ref<const Pod> bound = w.pod("bound");
  w.cluster.see_pod(w.pod("bound").on("n2"));
  w.queue().nominate(*bound, Nominating::to("n1"));
  EXPECT_THAT(w.on(w.n1), IsEmpty());
}

TEST(Nominations, RemovingAPodOrItsNominationFreesTheNode) {
  Nominated w;
  const auto a = w.add(w.pod("a").nominated("n1"));
  const auto b = w.add(w.pod("b").nominated("n1"));
  w.queue().remove(*a);
  EXPECT_THAT(w.on(w.n1), ElementsAre("b"));
  w.queue().remove_nomination(b->uid());
  w.queue().remove_nomination(b->uid());
  EXPECT_THAT(w.queue().nominated_nodes(), IsEmpty());
  EXPECT_EQ(w.place(b), QueuePlace::kActive) << "only its nomination went";
}

TEST(Nominations, NodesAndPodsComeInTheOrderOfNomination) {
  Nominated w;
  const Symbol n3 = w.world.symbol("n3");
  const auto a = w.add(w.pod("a").nominated("n2"));
  w.add(w.pod("b").nominated("n1"));
  w.add(w.pod("c").nominated("n2"));
  w.add(w.pod("d").nominated("n3"));
  EXPECT_THAT(w.queue().nominated_nodes(), ElementsAre(w.n2, w.n1, n3));
  EXPECT_THAT(w.on(w.n2), ElementsAre("a", "c"));
  w.queue().remove(*a);
  EXPECT_THAT(w.queue().nominated_nodes(), ElementsAre(w.n2, w.n1, n3));
  w.queue().nominate(*a, Nominating::to("n2"));
  EXPECT_THAT(w.on(w.n2), ElementsAre("c", "a"));
}

TEST(Nominations, FollowUpdatesOfThePod) {
  struct Row {
    const char* what;
    std::string before, in_memory, after;
    std::vector<std::string> on_n1, on_n2;
  };
  const std::array rows{
      Row{"a node appears", "", "", "n1", {"a"}, {}},
      Row{"the node changes", "n1", "", "n2", {}, {"a"}},
      Row{"the node disappears", "n1", "", "", {}, {}},
      Row{"nothing in the status yet: what we decided holds", "", "n1", "", {"a"}, {}},
      Row{"the status comes, and differs", "", "n1", "n2", {}, {"a"}},
      Row{"the status is taken back", "n2", "n1", "", {}, {}},
      Row{"the status stays", "n2", "n1", "n2", {}, {"a"}},
  };
  for (const QueuePlace place :
       {QueuePlace::kActive, QueuePlace::kErrorBackoff, QueuePlace::kUnschedulable})
    for (const Row& row : rows) {
      Nominated w;
      const auto before = w.add(w.pod("a").nominated(row.before));
      if (place != QueuePlace::kActive) {
        const bool error = place == QueuePlace::kErrorBackoff;
        ASSERT_TRUE(w.fails(w.pop(), error ? PluginNames{} : PluginNames{"Fit"}));
      }
      ASSERT_EQ(w.place(before), place);
      if (!row.in_memory.empty()) w.queue().nominate(*before, Nominating::to(row.in_memory));
      const auto after = w.seen(w.pod("a").nominated(row.after).version("2"));
      w.queue().update(*before, after);
      EXPECT_EQ(w.on(w.n1), row.on_n1) << row.what;
      EXPECT_EQ(w.on(w.n2), row.on_n2) << row.what;
      for (const Symbol node : {w.n1, w.n2})
        for (const Ref<const Pod>& pod : w.queue().nominated_pods(node)) EXPECT_EQ(pod, after);
    }
}

TEST(Nominations, AGatedPodIsNominatedToo) {
  Nominated w;
  testing::NamedGate gate("Gate");
  gate.closed_for = {"a"};
  w.profiles.front().pre_enqueue = {&gate};
  const auto pod = w.add(w.pod("a").nominated("n1"));
  ASSERT_TRUE(w.queue().find(*pod)->gated());
  EXPECT_THAT(w.on(w.n1), ElementsAre("a"));
  EXPECT_EQ(w.queue().nominated_pods(w.n1).front(), pod);
}

TEST(Nominations, AddingAPodAgainLeavesItNominatedByItsStatusAlone) {
  Nominated w;
  const auto pod = w.add("a");
  w.queue().nominate(*pod, Nominating::to("n1"));
  w.queue().add(pod);
  EXPECT_THAT(w.on(w.n1), IsEmpty());
}

TEST(Nominations, StayWhenAnUpdateMakesThePodActive) {
  Nominated w;
  w.registers("Fit", {EventResource::kTargetPod, action::kUpdate, {}});
  const auto before = w.rejected("a", {"Fit"});
  w.queue().nominate(*before, Nominating::to("n1"));
  w.wait(10s);
  w.queue().update(*before, w.seen(w.pod("a").version("2")));
  EXPECT_EQ(w.place(before), QueuePlace::kActive);
  EXPECT_THAT(w.on(w.n1), ElementsAre("a"));
}

TEST(Nominations, APodInFlightIsThereByNameOnly) {
  Nominated w;
  const auto pod =
      w.add(w.pod("a").in("team").priority(7).cpu("2").label("x", "y").nominated("n1"));
  ASSERT_EQ(w.queue().nominated_pods(w.n1).front(), pod);
  QueuedPod popped = w.pop();
  const Ref<const Pod> bare = w.queue().nominated_pods(w.n1).front();
  EXPECT_EQ(bare->full_name(), "team/a");
  EXPECT_EQ(bare->uid(), pod->uid());
  EXPECT_EQ(bare->priority(), 0);
  EXPECT_EQ(bare->usage().requests, Resources{});
  EXPECT_TRUE(bare->labels().empty());
  EXPECT_EQ(w.queue().nominated_pods(w.n1).front(), bare) << "made once";
  ASSERT_TRUE(w.fails(std::move(popped), {"Fit"}));
  EXPECT_EQ(w.queue().nominated_pods(w.n1).front(), pod);
}

TEST(Nominations, HoldTheNamesOfTheirNodes) {
  QueueWorld w;
  const auto pod = w.add("a");
  w.queue().nominate(*pod, Nominating::to("only-here"));
  const Symbol node = w.queue().nominated_nodes().front();
  EXPECT_EQ(w.cluster.symbols().text(node), "only-here");
  const std::size_t symbols = w.cluster.symbols().size();
  w.queue().remove_nomination(pod->uid());
  EXPECT_EQ(w.cluster.symbols().size(), symbols - 1);
}

}  // namespace
}  // namespace berth
