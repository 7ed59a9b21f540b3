#include "queue/hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

#include "base/testing/names.h"
#include "queue/testing/queue_world.h"

namespace berth {
namespace {

constexpr auto kQueue = QueueingHint::kQueue;
constexpr auto kSkip = QueueingHint::kSkip;

// The decision for a pod with these rejectors, when these plugins give these hints for NodeAdd.
struct Judge {
  QueueWorld w;
  Requeue decide(const PluginNames& unschedulable, const PluginNames& pending,
                 const ClusterEvent& event = events::kNodeAdd, const AnyObject& after = {},
                 std::string scheduler = std::string(QueueWorld::kScheduler)) {
    Hints hints(w.cluster.symbol_table(), w.log);
    hints.set_profiles(w.profiles);
    QueuedPod queued;
    queued.pod = w.pod("a").scheduler(std::move(scheduler)).build();
    queued.unschedulable_plugins = unschedulable;
    queued.pending_plugins = pending;
    return hints.worth_requeuing(queued, event, {}, after);
  }
};

TEST(Hints, DecideByTheRejectorsOfThePodOnly) {
  struct Row {
    const char* what;
    PluginNames unschedulable, pending;
    Requeue expected;
  };
  const std::array rows{
      Row{"no rejectors", {}, {}, Requeue::kAfterBackoff},
      Row{"the rejector queues", {"Yes"}, {}, Requeue::kAfterBackoff},
      Row{"the rejector skips", {"No"}, {}, Requeue::kSkip},
      Row{"one of two queues", {"No", "Yes"}, {}, Requeue::kAfterBackoff},
      Row{"the rejector has no hint", {"Plain"}, {}, Requeue::kAfterBackoff},
      Row{"the rejector waits for something else", {"Deaf"}, {}, Requeue::kSkip},
      Row{"the rejector is unknown", {"Unknown"}, {}, Requeue::kSkip},
      Row{"nobody in particular", {""}, {}, Requeue::kSkip},
      Row{"a pending plugin queues", {"Yes"}, {"Yes"}, Requeue::kImmediately},
      Row{"a pending plugin that is in one set only", {}, {"Yes"}, Requeue::kImmediately},
      Row{"a pending plugin skips", {"No"}, {"No"}, Requeue::kSkip},
      Row{"pending skips, another queues", {"No", "Yes"}, {"No"}, Requeue::kAfterBackoff},
      Row{"pending and another queue", {"Also", "Yes"}, {"Yes"}, Requeue::kImmediately},
      Row{"the hint fails", {"Fails"}, {}, Requeue::kAfterBackoff},
      Row{"the hint throws", {"Throws"}, {}, Requeue::kAfterBackoff},
  };
  for (const Row& row : rows) {
    Judge judge;
    judge.w.registers("Yes", events::kNodeAdd, always(kQueue));
    judge.w.registers("Also", events::kNodeAdd, always(kQueue));
    judge.w.registers("No", events::kNodeAdd, always(kSkip));
    judge.w.registers("Plain", events::kNodeAdd);
    judge.w.registers("Deaf", events::kNodeDelete);
    judge.w.registers("Fails", events::kNodeAdd,
                      [](const Pod&, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
                        return fail(ErrorKind::kInternal, "no idea");
                      });
    judge.w.registers("Throws", events::kNodeAdd,
                      [](const Pod&, const AnyObject&, const AnyObject&) -> Result<QueueingHint> {
                        throw std::runtime_error("no idea");
                      });
    EXPECT_EQ(judge.decide(row.unschedulable, row.pending), row.expected) << row.what;
    const bool broken = row.unschedulable.contains("Fails") || row.unschedulable.contains("Throws");
    ASSERT_EQ(judge.w.log.internal_errors.size(), broken ? 1U : 0U) << row.what;
    if (broken) {
      EXPECT_THAT(judge.w.log.internal_errors.front(), HasSubstr("no idea"));
    }
  }
}

TEST(Hints, OneOfSeveralRegistrationsOfAPluginIsEnough) {
  Judge judge;
  judge.w.registers("Fit", {EventResource::kNode, action::kAdd | action::kUpdateNodeLabel, {}},
                    always(kSkip));
  judge.w.registers("Fit", {EventResource::kNode, action::kAll, {}}, always(kQueue));
  EXPECT_EQ(judge.decide({"Fit"}, {}), Requeue::kAfterBackoff);
}

TEST(Hints, AWildcardConcernsEverybodyUnlessItIsAboutOnePod) {
  Judge judge;
  const ClusterEvent& wildcard = events::kForceActivate;
  const Ref<const Pod> itself = judge.w.pod("a");
  const Ref<const Pod> other = judge.w.pod("b");
  const Ref<const Node> node = judge.w.world.node("n1");
  EXPECT_EQ(judge.decide({"Fit"}, {}, wildcard), Requeue::kAfterBackoff);
  EXPECT_EQ(judge.decide({"Fit"}, {"Fit"}, wildcard), Requeue::kAfterBackoff);
  EXPECT_EQ(judge.decide({"Fit"}, {}, wildcard, itself), Requeue::kAfterBackoff);
  EXPECT_EQ(judge.decide({"Fit"}, {}, wildcard, other), Requeue::kSkip);
  EXPECT_EQ(judge.decide({"Fit"}, {}, wildcard, Ref<const Object>(node)), Requeue::kSkip);
}

TEST(Hints, APodOfAnUnknownProfileIsRetriedRatherThanForgotten) {
  Judge judge;
  judge.w.registers("Fit", events::kNodeAdd, always(kSkip));
  EXPECT_EQ(judge.decide({"Fit"}, {}, events::kNodeAdd, {}, "somebody-else"),
            Requeue::kAfterBackoff);
}

TEST(Hints, EachProfileHasItsOwn) {
  QueueWorld w;
  w.registers("Fit", events::kNodeAdd, always(kSkip));
  w.profiles.push_back({"second", {{"Fit", {{events::kNodeAdd, always(kQueue)}}}}, {}});
  const auto first = w.rejected("a", {"Fit"});
  const auto second = w.add(w.pod("b").scheduler("second"));
  ASSERT_TRUE(w.fails(w.pop(), {"Fit"}));
  w.happens(events::kNodeAdd);
  EXPECT_EQ(w.place(first), QueuePlace::kUnschedulable);
  EXPECT_EQ(w.place(second), QueuePlace::kBackoff);
}

TEST(Hints, PluginsThatDidNotRejectAreNotAsked) {
  QueueWorld w;
  std::vector<std::string> asked;
  for (const char* plugin : {"Fit", "Taint", "Ports"})
    w.registers(plugin, events::kNodeAdd,
                [&asked, plugin](const Pod& pod, const AnyObject&,
                                 const AnyObject&) -> Result<QueueingHint> {
                  asked.push_back(std::string(plugin) + " about " + std::string(pod.name()));
                  return QueueingHint::kSkip;
                });
  w.rejected("a", {"Fit"});
  w.rejected("b", {"Taint", "Ports"});
  w.happens(events::kNodeAdd);
  EXPECT_THAT(asked, ElementsAre("Fit about a", "Ports about b", "Taint about b"));
}

TEST(PluginNames, AreASortedSetThatCopiesShare) {
  PluginNames names{"b", "a", "b"};
  EXPECT_THAT(names, ElementsAre("a", "b"));
  EXPECT_TRUE(names.contains("a"));
  EXPECT_FALSE(names.contains("c"));
  const PluginNames copy = names;
  EXPECT_TRUE(copy.shares_with(names));
  names.insert("b");
  EXPECT_TRUE(copy.shares_with(names));
  names.insert("0");
  EXPECT_THAT(names, ElementsAre("0", "a", "b"));
  EXPECT_THAT(copy, ElementsAre("a", "b"));
  names.clear();
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names, PluginNames{});
  EXPECT_EQ(PluginNames(std::set<std::string>{"a", "b"}), copy);
  EXPECT_TRUE(PluginNames(std::set<std::string>{}).empty());
  EXPECT_FALSE(PluginNames{""}.empty()) << "an empty name is a name";
}

}  // namespace
}  // namespace berth
