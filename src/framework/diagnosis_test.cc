#include "berth/status.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

struct SentenceCase {
  const char* behaviour;
  FitError error;
  const char* sentence;
};

TEST(FitError, SaysWhyInUpstreamsWords) {
  FitError histogram;
  histogram.all_nodes = 12;
  histogram.reasons = {{"Insufficient cpu", 2}, {"node(s) were unschedulable", 10}};

  FitError before_filter;
  before_filter.all_nodes = 3;
  before_filter.reasons = {{"never shown", 3}};
  before_filter.pre_filter_message = "pod affinity terms conflict";

  FitError preempted = histogram;
  preempted.post_filter_message = "preemption: 0/12 nodes are available";

  FitError nothing;
  nothing.all_nodes = 2;

  FitError both = before_filter;
  both.post_filter_message = "not found";

  const SentenceCase cases[] = {
      {"counts are sorted as text, so ten comes before two", histogram,
       "0/12 nodes are available: 10 node(s) were unschedulable, 2 Insufficient cpu."},
      {"a PreFilter rejection stands for all nodes", before_filter,
       "0/3 nodes are available: pod affinity terms conflict."},
      {"PostFilter's words come last, without a period of ours", preempted,
       "0/12 nodes are available: 10 node(s) were unschedulable, 2 Insufficient cpu. preemption: "
       "0/12 nodes are available"},
      {"no reasons, no list", nothing, "0/2 nodes are available:"},
      {"both messages", both, "0/3 nodes are available: pod affinity terms conflict. not found"},
  };
  for (const SentenceCase& c : cases) EXPECT_EQ(c.error.message(), c.sentence) << c.behaviour;
}

TEST(FitError, OfOneNodeNamesTheRejectorEvenWithoutAName) {
  const auto removed = fit_error_for_one(Outcome::unschedulable("removed"));
  EXPECT_EQ(removed->message(), "0/1 nodes are available: 1 removed.");
  EXPECT_EQ(removed->unschedulable_plugins, std::set<std::string>{""});

  const auto pending = fit_error_for_one(Outcome::of(Code::kPending, "later").by("Gate"));
  EXPECT_EQ(pending->unschedulable_plugins, std::set<std::string>{"Gate"});
  EXPECT_EQ(pending->pending_plugins, std::set<std::string>{"Gate"});
}

TEST(Diagnosis, NotesWhoRejected) {
  Diagnosis diagnosis;
  diagnosis.add_plugin(Code::kUnschedulable, "A");
  diagnosis.add_plugin(Code::kPending, "B");
  diagnosis.add_plugin(Code::kError, "C");
  diagnosis.add_plugin(Code::kUnschedulable, "");
  EXPECT_EQ(diagnosis.unschedulable_plugins, (std::set<std::string>{"A", "B"}));
  EXPECT_EQ(diagnosis.pending_plugins, std::set<std::string>{"B"});
}

TEST(Outcome, MessageHasTheErrorFirst) {
  Outcome outcome = Outcome::of(Code::kUnschedulable, "second");
  outcome.reasons.push_back("third");
  outcome.error = "first";
  EXPECT_EQ(outcome.message(), "first, second, third");
  EXPECT_EQ(Outcome::failure("only").message(), "only");
  EXPECT_EQ(Outcome().message(), "");
}

}  // namespace
}  // namespace berth
