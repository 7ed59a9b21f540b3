#include "plugins/node_ports/node_ports.h"

#include <gtest/gtest.h>

#include "api/names.h"
#include "base/testing/names.h"
#include "berth/random.h"
#include "cluster/host_ports.h"
#include "cluster/trial.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

constexpr ClusterEvent kNodePortsPodEvent{EventResource::kAssignedPod, action::kDelete, {}};

struct Port {
  std::int32_t port;
  std::string protocol = "TCP";
  std::string ip = "";
};

class NodePortsTest : public ::testing::Test {
 protected:
  PluginFixture fixture;
  testing::World& world = fixture.world;
  const Verdict taken =
      unschedulable({"node(s) didn't have free ports for the requested pod ports"});

  testing::PodBuilder pod(std::string name, const std::vector<Port>& ports) {
    testing::PodBuilder builder = world.pod(std::move(name));
    for (const Port& port : ports) builder.host_port(port.port, port.protocol, port.ip);
    return builder;
  }

  Code pre_filter(const Ref<const Pod>& asked) {
    Cycle cycle(asked, fixture.cluster);
    return fixture.make<NodePorts>()->pre_filter(cycle).outcome.code;
  }
};

// A pod whose init container, or sidecar, has the port.
Ref<const Pod> with_init_port(testing::PodBuilder builder, std::int32_t port, bool sidecar) {
  Container& init = builder.spec().init_containers.emplace_back();
  init.restart_always = sidecar;
  init.ports.push_back({port, port, builder.symbol("TCP"), {}});
  return builder;
}

TEST_F(NodePortsTest, RejectsNodesWhereAWantedPortIsTaken) {
  struct Row {
    const char* why;
    std::vector<Port> used, wanted;
    bool fits;
  };
  const Row table[] = {
      {"nothing in use", {}, {{8080}}, true},
      {"another port", {{8081}}, {{8080}}, true},
      {"the same port", {{8080}}, {{8080}}, false},
      {"another protocol", {{80, "UDP"}}, {{80, "TCP"}}, true},
      {"another address", {{80, "TCP", "127.0.0.1"}}, {{80, "TCP", "127.0.0.2"}}, true},
      {"the same address", {{80, "TCP", "127.0.0.1"}}, {{80, "TCP", "127.0.0.1"}}, false},
      {"wanted everywhere", {{80, "TCP", "127.0.0.1"}}, {{80}}, false},
      {"used everywhere", {{80, "TCP", "0.0.0.0"}}, {{80, "TCP", "10.0.0.1"}}, false},
      {"no address is every address", {{80}}, {{80, "TCP", "0.0.0.0"}}, false},
      {"everywhere, another protocol", {{80, "UDP", "0.0.0.0"}}, {{80, "TCP", "0.0.0.0"}}, true},
      {":: is one address", {{80, "TCP", "::"}}, {{80, "TCP", "10.0.0.1"}}, true},
      {"wanted :: is one address", {{80, "TCP", "10.0.0.1"}}, {{80, "TCP", "::"}}, true},
      {":: in use, wanted everywhere", {{80, "TCP", "::"}}, {{80, "TCP", "0.0.0.0"}}, false},
      {"one of two wanted", {{80}}, {{81}, {80}}, false},
      {"one of two in use", {{80}, {81}}, {{81}}, false},
      {"no protocol is TCP", {{80, ""}}, {{80, "TCP"}}, false},
      {"its own ports do not conflict", {}, {{80}, {80}}, true},
  };
  const auto plugin = fixture.make<NodePorts>();
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const Row& row = table[i];
    const std::string node = "n" + std::to_string(i);
    fixture.add_node(world.node(node));
    fixture.add_pod(pod("used-" + node, row.used).on(node));
    const Verdict expected = row.fits ? Verdict{} : taken;
    EXPECT_EQ(fixture.filter(*plugin, pod("p", row.wanted))[node], expected) << row.why;
    EXPECT_EQ(fixture.filter_one_by_one(*plugin, pod("p", row.wanted))[node], expected) << row.why;
  }
}

TEST_F(NodePortsTest, PortsOfSidecarsCountThoseOfOtherInitContainersDoNot) {
  fixture.add_node(world.node("sidecar"));
  fixture.add_node(world.node("init"));
  fixture.add_pod(with_init_port(std::move(world.pod("a").on("sidecar")), 80, true));
  fixture.add_pod(with_init_port(std::move(world.pod("b").on("init")), 80, false));
  const Verdicts expected{{"sidecar", taken}, {"init", {}}};
  const auto plugin = fixture.make<NodePorts>();
  EXPECT_EQ(fixture.filter(*plugin, pod("p", {{80}})), expected);
  EXPECT_EQ(fixture.filter(*plugin, with_init_port(world.pod("p"), 80, true)), expected);
  EXPECT_EQ(pre_filter(with_init_port(world.pod("p"), 80, false)), Code::kSkip);
}

TEST_F(NodePortsTest, APodWithoutHostPortsIsNotLookedAt) {
  EXPECT_EQ(pre_filter(world.pod("p")), Code::kSkip);
  EXPECT_EQ(pre_filter(pod("p", {{0}})), Code::kSkip);
  EXPECT_EQ(pre_filter(pod("p", {{1}})), Code::kSuccess);
}

TEST_F(NodePortsTest, PodsOfATrialCount) {
  fixture.add_node(world.node("n"));
  fixture.add_pod(pod("a", {{80}}).on("n"));
  const auto plugin = fixture.make<NodePorts>();
  const NodeRow row = fixture.cluster.nodes().find(world.symbol("n"));
  {
    Trial trial(fixture.cluster);
    trial.remove(fixture.cluster.nodes().pods(row)[0], row);
    EXPECT_EQ(fixture.filter(*plugin, pod("p", {{80}}))["n"], Verdict{});
  }
  EXPECT_EQ(fixture.filter(*plugin, pod("p", {{80}}))["n"], taken);
}

TEST_F(NodePortsTest, FilteringWithoutPreFilterIsAnError) {
  fixture.add_node(world.node("n"));
  const auto plugin = fixture.make<NodePorts>();
  CycleAtFilter at(pod("p", {{80}}), fixture.cluster);
  at.filter(*plugin);
  EXPECT_EQ(at.verdict(*plugin, 0),
            (Verdict{Code::kError, {"reading \"PreFilterNodePorts\" from cycleState: not found"}}));
}

TEST_F(NodePortsTest, QueuesWhenAPodWithSuchAPortGoes) {
  const auto plugin = fixture.make<NodePorts>();
  const Ref<const Pod> rejected = pod("p", {{80}, {443}});
  struct Row {
    const char* why;
    Ref<const Pod> gone;
    QueueingHint hint;
  };
  const Row table[] = {
      {"had the port", pod("q", {{80}}).on("n"), QueueingHint::kQueue},
      {"had one of its ports", pod("q", {{443}}).on("n"), QueueingHint::kQueue},
      {"was nominated", pod("q", {{80}}).nominated("n"), QueueingHint::kQueue},
      {"was not on a node", pod("q", {{80}}), QueueingHint::kSkip},
      {"had another port", pod("q", {{81}}).on("n"), QueueingHint::kSkip},
      {"had no host port", world.pod("q").on("n"), QueueingHint::kSkip},
      {"another protocol", pod("q", {{80, "UDP"}}).on("n"), QueueingHint::kSkip},
  };
  for (const Row& row : table)
    EXPECT_EQ(fixture.hint(*plugin, kNodePortsPodEvent, rejected, row.gone, {}), row.hint)
        << row.why;
  EXPECT_EQ(registered_events(*plugin),
            (RegisteredEvents{{EventResource::kAssignedPod, 2}, {EventResource::kNode, 1}}));
  EXPECT_FALSE(plugin->events_to_register()->at(1).hint);  // every node that is added may do
}

TEST_F(NodePortsTest, SignsThePortsAlone) {
  const auto plugin = fixture.make<NodePorts>();
  const auto signature = [&](const Ref<const Pod>& asked) {
    return berth::testing::signature(*plugin, asked, {"v1.Pod.Spec.HostPorts()"});
  };
  EXPECT_EQ(signature(pod("p", {{80}, {443}})),
            signature(pod("q", {{443, "UDP", "10.0.0.1"}, {80}, {80}})));
  EXPECT_EQ(signature(pod("p", {{80}})), signature(with_init_port(world.pod("q"), 80, false)));
  EXPECT_NE(signature(pod("p", {{80}})), signature(world.pod("q")));
  EXPECT_NE(signature(pod("p", {{80}})), signature(pod("q", {{8}, {1}})));
}

TEST_F(NodePortsTest, ManyPortsConflictAsTheyDoOneByOne) {
  Random random(3);
  SymbolHold symbols(fixture.cluster.symbol_table());
  const Symbol protocols[] = {symbols.intern("TCP"), symbols.intern("UDP")};
  const Symbol addresses[] = {names::kAnyAddress, symbols.intern("10.0.0.1"),
                              symbols.intern("10.0.0.2"), symbols.intern("::")};
  const auto some = [&] {
    std::vector<HostPort> ports;
    for (std::uint64_t i = random.below(6); i > 0; --i)
      ports.push_back({static_cast<std::int32_t>(1 + random.below(8)), protocols[random.below(2)],
                       addresses[random.below(4)]});
    std::ranges::sort(ports);
    const auto repeated = std::ranges::unique(ports);
    ports.erase(repeated.begin(), repeated.end());
    return ports;
  };
  int conflicts = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::vector<HostPort> wanted = some(), used = some();
    bool expected = false;
    for (const HostPort& a : wanted)
      for (const HostPort& b : used)
        expected |= a.port == b.port && a.protocol == b.protocol &&
                    (a.ip == b.ip || a.ip == names::kAnyAddress || b.ip == names::kAnyAddress);
    ASSERT_EQ(ports_conflict(wanted, used), expected);
    conflicts += expected ? 1 : 0;
  }
  EXPECT_GT(conflicts, 300);
}

TEST_F(NodePortsTest, SaysWhichPortIsTakenAndByWhom) {
  fixture.add_node(world.node("busy"));
  fixture.add_node(world.node("idle"));
  fixture.add_pod(world.pod("web-1").host_port(8080).on("busy"));
  fixture.add_pod(world.pod("dns").host_port(53, "UDP", "10.0.0.1").on("busy"));
  const Ref<const Pod> pod = world.pod("p").host_port(8080).host_port(53, "UDP", "10.0.0.1");
  const auto plugin = fixture.make<NodePorts>();
  EXPECT_EQ(
      fixture.obstacle_texts(*plugin, pod),
      (ObstacleTexts{
          {"busy",
           {"HostPortTaken 10.0.0.1:53/UDP: host port 10.0.0.1:53/UDP is taken by default/dns",
            "HostPortTaken 8080/TCP: host port 8080/TCP is taken by default/web-1"}}}));
  EXPECT_EQ(fixture.obstacles(*plugin, pod)["busy"].back().facts,
            (Facts{{"port", "8080"},
                   {"protocol", "TCP"},
                   {"hostIP", "0.0.0.0"},
                   {"takenBy", "default/web-1"}}));
}

}  // namespace
}  // namespace berth::plugins
