// ChaosRun: two or three complete schedulers and one API server with a network between them, on
// virtual time, everything drawn from one seed. For some minutes everything goes wrong that can;
// then all is well, and the cluster comes to rest.
//
//   s1  world loop, election loop ─┐
//   s2  world loop, election loop ─┼─ Network ─── SimulatedServer with its controllers
//   s3  world loop, election loop ─┘     │  └──── SimulatedExtender, in some runs
//                                     Ledger: who sent what when
//
// What must be true:
//   at any time   see ledger.h; a device is allocated to one claim, a volume is one claim's; no
//   node
//                 is over its allocatable, but for pods that nobody could know of
//   at rest       one scheduler leads, and knows what is stored (tests/simulation/invariants.h);
//                 conditions and nominations are those of the last decision; every pod that fits
//                 somewhere is bound
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/random.h"
#include "ledger.h"
#include "network.h"
#include "simulated_extender.h"
#include "simulated_scheduler.h"
#include "simulated_server.h"

namespace berth::chaos {

// Bugs to plant. What is empty is as it should be.
struct Planted {
  decltype(Surroundings::planted) transport;
  decltype(SimulatedServer::planted) server;
  // Done to the world at rest, before the last look.
  std::function<void(SimulatedServer&, Engine& leading)> at_rest;
  std::function<void(simulation::History&)> doctored;  // the leader's, before the last look
};

struct ChaosReport {
  std::vector<std::string> violations;
  std::map<std::string, int> happened;  // what the run was like
  std::string end;                      // the API server's objects, to compare runs
};

class ChaosRun {
 public:
  // `tokens` is a folder for the schedulers' token files.
  ChaosRun(std::uint64_t seed, std::string tokens, Planted planted = {}, bool prints = false);
  ~ChaosRun();

  ChaosReport run();

 private:
  void build_cluster();
  void something_happens();
  void come_to_rest();
  void note(std::string_view what, std::string_view about);
  void violated(std::string text) { report_.violations.push_back(std::move(text)); }
  Duration delay(Duration longest);
  void revive();  // starts the schedulers that have ended

  // ---- what can happen (happenings.cc)
  void create_pod();
  void delete_pod();
  void remove_node();
  void bring_node_back();
  void cordon();
  void touch_claim();
  void bind_behind_the_back();
  void settle_waiting();
  void kill_scheduler();
  void stop_scheduler();
  void halt_scheduler();
  void part_scheduler();
  void jump_clock();
  void rotate_tokens();
  void server_goes_down();
  void server_is_restored();
  void watches_end();
  SimulatedScheduler* some_scheduler();
  Ref<const Pod> some_pod(const std::function<bool(const Pod&)>& which);
  void write_tokens();

  // ---- what must be true (checks.cc)
  bool look();
  void look_at_nodes();
  void look_at_claims();
  void look_at_rest();
  void look_at_leader(SimulatedScheduler& leader);
  void look_at_conditions(SimulatedScheduler& leader);
  void look_at_pending_pods();
  SimulatedScheduler* leader();

  const Planted planted_;
  ChaosReport report_;
  VirtualClock clock_;
  VirtualLoop outside_;  // of the network and the server
  Random random_;
  Ledger ledger_;
  Network network_;
  SimulatedServer server_;
  std::unique_ptr<SimulatedExtender> extender_;  // null: there is none
  Surroundings surroundings_;
  std::vector<std::unique_ptr<SimulatedScheduler>> schedulers_;
  std::map<std::string, std::string> nodes_;  // that there were, and their cpu
  std::set<std::string> tokens_;              // that the server accepts
  int made_pods_ = 0;
  int made_tokens_ = 0;
  bool prints_;
};

}  // namespace berth::chaos
