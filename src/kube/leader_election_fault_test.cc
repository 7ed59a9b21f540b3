// Two and three electors over one lease and a bad network, over many seeds: never two leaders at
// once, and always one again soon after the trouble is over.
#include <gtest/gtest.h>

#include <memory>

#include "base/testing/names.h"
#include "kube/leader_election.h"
#include "kube/testing/lease_server.h"

namespace berth::kube::testing {
namespace {

constexpr Duration kTrouble = seconds(300);
// What may pass until there is a leader again, once everything works: somebody who has just lost
// the lease tries to release it, or a write is still on its way; then the lease of somebody who is
// gone has to be seen (the longest pause between two tries is 4.4 s), to run out, and to be taken.
constexpr Duration kRecovery = milliseconds(10500) + seconds(15) + milliseconds(4400) + seconds(1);

telemetry::Log silent() {
  static std::string nowhere;
  return telemetry::Log(std::make_shared<telemetry::LogOutput>(
      telemetry::LogOptions{.verbosity = -1}, [] { return WallTime{}; },
      std::make_unique<telemetry::StringSink>(nowhere)));
}

Duration up_to(Random& random, Duration most) {
  return Duration(
      static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(most.count()) + 1)));
}

// What the network does to a request, when it does not work.
Fault random_fault(Random& random) {
  Fault fault;
  fault.there = random.chance(0.3) ? up_to(random, seconds(6)) : up_to(random, milliseconds(50));
  fault.back = random.chance(0.3) ? up_to(random, seconds(6)) : up_to(random, milliseconds(50));
  fault.request_lost = random.chance(0.1);
  fault.answer_lost = random.chance(0.15);
  if (random.chance(0.1)) fault.instead = refused(409, "Conflict", "the object has been modified");
  if (random.chance(0.1)) fault.instead = refused(500, "InternalError", "etcdserver: timed out");
  return fault;
}

// A process that is started again, under another name, whenever it has ended.
class Process {
 public:
  Process(VirtualLoop& loop, LeaseServer& server, std::string name, Random random,
          const bool& trouble, const bool& server_down)
      : client_(loop, server), loop_(loop), name_(std::move(name)), random_(random) {
    client_.set_fault([this, &trouble, &server_down](const ApiCall&) -> Fault {
      if (server_down) return {.instead = no_answer("connection refused")};
      if (trouble && random_.chance(0.5)) return random_fault(random_);
      return {.there = milliseconds(1), .back = milliseconds(1)};
    });
    tasks_.spawn(live());
  }

  bool leading() const { return elector_ && elector_->leading(); }
  // Between the two callbacks: what a scheduler goes by.
  bool working() const { return working_; }
  int terms() const { return terms_; }
  void stop() {
    if (stop_) stop_->cancel("stopped");
  }

 private:
  Task<void> live() {
    for (int life = 0;; ++life) {
      stop_ = std::make_unique<CancelSource>();
      LeaderElectionOptions options;
      options.identity = name_ + std::to_string(life);
      LeaderCallbacks callbacks;
      callbacks.on_started_leading = [this] {
        working_ = true;
        ++terms_;
      };
      callbacks.on_stopped_leading = [this] { working_ = false; };
      elector_ = std::make_unique<LeaderElector>(loop_, client_, random_.fork(), options, callbacks,
                                                 silent());
      Task<ElectionEnd> running = elector_->run(stop_->token());
      co_await running;
      SleepUntil pause(loop_, loop_.now() + milliseconds(500));
      co_await pause;
    }
  }

  LeaseClient client_;
  VirtualLoop& loop_;
  const std::string name_;
  Random random_;
  std::unique_ptr<CancelSource> stop_;
  std::unique_ptr<LeaderElector> elector_;
  bool working_ = false;
  int terms_ = 0;
  TaskSet tasks_;
};

class ElectorsOverABadNetwork : public ::testing::TestWithParam<int> {};

TEST_P(ElectorsOverABadNetwork, AreNeverTwoAndSoonOneAgain) {
  int terms = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    VirtualLoop loop;
    LeaseServer server;
    bool trouble = true;
    bool server_down = false;
    std::vector<std::unique_ptr<Process>> processes;
    for (int i = 0; i < GetParam(); ++i) {
      processes.push_back(std::make_unique<Process>(loop, server, std::string(1, char('a' + i)),
                                                    random.fork(), trouble, server_down));
    }
    const auto count = [&processes](bool (Process::*is)() const) {
      int found = 0;
      for (const auto& process : processes) found += (*process.*is)();
      return found;
    };
    const auto run_until = [&](TimePoint end) {
      while (loop.next_deadline() && *loop.next_deadline() <= end) {
        loop.step();
        ASSERT_LE(count(&Process::leading), 1) << loop.now().since_start.count();
        ASSERT_LE(count(&Process::working), 1) << loop.now().since_start.count();
      }
      loop.run_until(end);
    };

    while (loop.now() < TimePoint{kTrouble}) {
      run_until(loop.now() + up_to(random, seconds(10)));
      if (HasFatalFailure()) return;
      if (random.chance(0.1)) processes[random.below(processes.size())]->stop();
      if (random.chance(0.1)) loop.jump_wall_clock(up_to(random, seconds(7200)) - seconds(3600));
      if (random.chance(server_down ? 0.5 : 0.05)) server_down = !server_down;
    }
    trouble = server_down = false;
    run_until(loop.now() + kRecovery);
    if (HasFatalFailure()) return;
    EXPECT_EQ(count(&Process::working), 1);
    EXPECT_EQ(count(&Process::leading), 1);

    // A crash: nobody releases anything.
    std::size_t leader = 0;
    while (leader < processes.size() && !processes[leader]->working()) ++leader;
    if (leader == processes.size()) continue;
    terms += processes[leader]->terms();
    processes[leader].reset();
    processes.erase(processes.begin() + static_cast<std::ptrdiff_t>(leader));
    const TimePoint crash = loop.now();
    run_until(crash + (seconds(15) - milliseconds(2010)));
    EXPECT_EQ(count(&Process::leading), 0);
    run_until(crash + seconds(15) + milliseconds(2 * 4400 + 100));
    EXPECT_EQ(count(&Process::leading), 1);
    for (const auto& process : processes) terms += process->terms();
  }
  EXPECT_GT(terms, 300);  // there was some life in it
}

TEST_P(ElectorsOverABadNetwork, SurviveForeignWrites) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    VirtualLoop loop;
    LeaseServer server;
    bool trouble = false;
    bool server_down = false;
    std::vector<std::unique_ptr<Process>> processes;
    for (int i = 0; i < GetParam(); ++i) {
      processes.push_back(std::make_unique<Process>(loop, server, std::string(1, char('a' + i)),
                                                    random.fork(), trouble, server_down));
    }
    for (int i = 0; i < 5; ++i) {
      loop.run_until(loop.now() + seconds(40) + up_to(random, seconds(5)));
      int leading = 0;
      for (const auto& process : processes) leading += process->leading();
      EXPECT_EQ(leading, 1);
      // Somebody who is never heard of again; or nonsense, or nothing at all.
      switch (random.below(3)) {
        case 0:
          server.put(R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"x",
                         "leaseDurationSeconds":15,"leaseTransitions":3}})");
          break;
        case 1: server.put(R"({"metadata":{"name":"l"}})"); break;
        default: server.remove(); break;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Electors, ElectorsOverABadNetwork, ::testing::Values(2, 3));

}  // namespace
}  // namespace berth::kube::testing
