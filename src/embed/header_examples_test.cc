// The examples in the headers' opening comments compile, run, and do what they say.
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "berth/evaluate.h"
#include "berth/scheduler.h"
#include "berth/version.h"
#include "embed/testing/scheduler_fixture.h"

namespace berth {
namespace {

// What a program prints while this lives.
class Printed {
 public:
  Printed() : before_(std::cout.rdbuf(text_.rdbuf())) {}
  ~Printed() { std::cout.rdbuf(before_); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

// The rest of a program around an example.
class OnlyNode final : public PerNodeFilter {
 public:
  std::string_view name() const override { return "TeamQuota"; }
  Outcome filter_node(const Cycle& cycle, NodeRow row) const override {
    return cycle.nodes().name_text(row) == "ours" ? Outcome() : Outcome::unschedulable("not ours");
  }
};

Result<std::unique_ptr<Plugin>> make_team_quota(const config::PluginArgs&, const Handle&) {
  return std::make_unique<OnlyNode>();
}

void complain(const std::string& message) { FAIL() << message; }

void run_example_of_scheduler(const std::string& manifest) {
#include "embed/scheduler_example.inc"
}

void run_example_of_evaluate(const std::string& manifest, const std::string& three_nodes,
                             const std::string& pods) {
#include "embed/evaluate_example.inc"
  ASSERT_TRUE(placed) << placed.error().message;
  for (const Verdict& verdict : *placed) std::cout << verdict.pod << " on " << verdict.node << '\n';
}

TEST(HeaderExamples, OfSchedulerRuns) {
  const Printed printed;
  run_example_of_scheduler(testing::node("theirs", "8") + testing::node("ours", "2") +
                           testing::pod("web"));
  EXPECT_EQ(printed.text(), "ours\n");
}

TEST(HeaderExamples, OfEvaluateRuns) {
  const Printed printed;
  run_example_of_evaluate(
      testing::node("n1", "1"),
      testing::node("n2", "2") + testing::node("n3", "2") + testing::node("n4", "2"),
      testing::pod("small", "1") + testing::pod("large", "2"));
  EXPECT_EQ(printed.text(),
            "default/large: 0/1 nodes are available: 1 Insufficient cpu.\n"
            "default/small on n2\n"
            "default/large on n3\n");
}

TEST(Version, IsThatOfTheProject) {
  EXPECT_STREQ(BERTH_VERSION, BERTH_PROJECT_VERSION);
  EXPECT_EQ(BERTH_VERSION, std::to_string(BERTH_VERSION_MAJOR) + "." +
                               std::to_string(BERTH_VERSION_MINOR) + "." +
                               std::to_string(BERTH_VERSION_PATCH));
}

}  // namespace
}  // namespace berth
