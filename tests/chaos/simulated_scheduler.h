// SimulatedScheduler: one machine on which a complete scheduler process runs
// (app/scheduler_process), and is started again whenever it ends. Its loops, its clock and its
// network are the simulation's; everything else is what production runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/scheduler_process.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "network.h"
#include "tests/simulation/mischief.h"
#include "tests/simulation/recorder.h"

namespace berth::chaos {

// What all machines have in common.
struct Surroundings {
  VirtualClock& clock;
  Network& network;
  std::map<std::string, int>& happened;
  std::string tokens;  // folder of the token files
  std::vector<config::ExtenderConfig> extenders = {};
  bool prints = false;
  // Stands between a process and the network: a bug to plant.
  std::function<std::unique_ptr<net::HttpTransport>(std::unique_ptr<net::HttpTransport>,
                                                    VirtualLoop&)>
      planted = {};
};

class SimulatedScheduler {
 public:
  SimulatedScheduler(std::string machine, const Surroundings& surroundings, Random random);
  ~SimulatedScheduler();

  // Not while it runs.
  void start();
  // At once, whatever it is doing.
  void kill();
  // As SIGTERM does.
  void stop();

  bool running() const { return life_ != nullptr && !life_->exit; }
  bool ended() const { return life_ != nullptr && life_->exit; }
  const std::string& machine() const { return machine_; }
  const std::string& who() const { return life_->who; }
  const std::string& token_file() const { return token_file_; }

  // ---- while it runs
  Engine& engine() { return life_->process->engine(); }
  simulation::History& history() { return life_->history; }
  const simulation::Recorder& recorder() const { return *life_->recorder; }
  VirtualLoop& world() { return *life_->world; }
  VirtualLoop& election() { return *life_->election; }
  void lift() {
    lifted_ = true;
    if (life_) life_->mischief->lift();
  }

 private:
  // From start to end or death. Members go in the reverse order.
  struct Life {
    std::string who;
    std::unique_ptr<VirtualLoop> world, election;
    Interner interner;
    simulation::History history;
    std::unique_ptr<simulation::Mischief> mischief;
    std::unique_ptr<simulation::Recorder> recorder;
    std::unique_ptr<app::SchedulerProcess> process;
    std::optional<Result<int>> exit;
  };
  app::SchedulerSetup setup(Life& life);

  const std::string machine_;
  const Surroundings& surroundings_;
  const std::string token_file_;
  Random random_;
  Duration wall_offset_{0};
  int lives_ = 0;
  bool lifted_ = false;
  std::unique_ptr<Life> life_;
};

}  // namespace berth::chaos
