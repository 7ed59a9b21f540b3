#include "engine/debug_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "engine/testing/engine_fixture.h"

namespace berth {
namespace {

class DebugDump : public EngineTest {
 protected:
  const std::vector<std::string> ours_{"default-scheduler"};
};

TEST_F(DebugDump, ShowsNodesWithTheirPodsAndTheQueue) {
  start();
  node("n1");
  pod("first");
  run_to(1s);
  pod("second");
  run_to(2s);
  EXPECT_THAT(dump_nodes(*engine),
              AllOf(HasSubstr("Node name: n1\nDeleted: false\n"),
                    HasSubstr("Scheduled Pods(number: 1):\nname: first, namespace: default, uid: "),
                    HasSubstr("Nominated Pods(number: 0):\n")));
  const QueueDump queue = dump_queue(*engine);
  EXPECT_EQ(queue.summary, "activeQ:0; backoffQ:0; unschedulableEntities:1");
  EXPECT_THAT(queue.pods, HasSubstr("name: second, namespace: default"));
}

TEST_F(DebugDump, FindsNothingWhereWatchAndMemoryAgree) {
  start();
  node("n1");
  pod("first"), pod("second"), pod(world.pod("others").scheduler("another"));
  run_to(1s);
  EXPECT_TRUE(compare_cache(*engine, ours_).empty());
}

TEST_F(DebugDump, NamesPodsThatOnlyOneSideKnows) {
  start();
  node("n1");
  const Ref<const Pod> first = pod("first");
  run_to(1s);
  const Ref<const Pod> unseen = world.pod("unseen");
  engine->cluster().see_pod(unseen);
  engine->cluster().remove_seen_pod(*first);
  const CacheMismatch mismatch = compare_cache(*engine, ours_);
  EXPECT_THAT(mismatch.missed_pods, ElementsAre(unseen->uid_text()));
  EXPECT_THAT(mismatch.redundant_pods, ElementsAre(first->uid_text()));
}

}  // namespace
}  // namespace berth
