#include "chaos_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tests/simulation/manifests.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

constexpr Duration kChaosTime = 150s;
// Longer than a call that times out, two of the longest stays among the unschedulable, backoffs and
// an election: an attempt may only delete the claim that a dead scheduler left, which wakes nobody.
constexpr Duration kRestTime = 300s;
constexpr std::size_t kMostViolations = 8;  // one bug shows many times
constexpr int kDevices = 2;                 // on each node

}  // namespace

ChaosRun::ChaosRun(std::uint64_t seed, std::string tokens, Planted planted, bool prints)
    : planted_(std::move(planted)),
      outside_(clock_),
      random_(seed),
      ledger_(clock_, [this](std::string_view what, std::string_view about) { note(what, about); }),
      network_(outside_, random_.fork(), draw_weather(random_), ledger_),
      server_(outside_, network_, random_.fork()),
      surroundings_{.clock = clock_,
                    .network = network_,
                    .happened = report_.happened,
                    .tokens = std::move(tokens),
                    .prints = prints,
                    .planted = planted_.transport},
      prints_(prints) {
  server_.moved = [this](std::string_view pod) { violated(fmt::format("{} was moved", pod)); };
  server_.planted = planted_.server;
  server_.come_up();
  if (random_.chance(0.25)) {
    extender_ = std::make_unique<SimulatedExtender>(server_, random_.fork());
    network_.set_extender(extender_->handler());
    surroundings_.extenders = {extender_->config()};
  }
  const std::uint64_t schedulers = 2 + random_.below(2);
  for (std::uint64_t i = 1; i <= schedulers; ++i)
    schedulers_.push_back(
        std::make_unique<SimulatedScheduler>(fmt::format("s{}", i), surroundings_, random_.fork()));
  rotate_tokens();
  tokens_ = {*tokens_.rbegin()};
}

ChaosRun::~ChaosRun() { schedulers_.clear(); }

void ChaosRun::note(std::string_view what, std::string_view about) {
  if (what != "sent" && what != "done") ++report_.happened[std::string(what)];
  if (!prints_) return;
  fmt::print("{:8.3f} {} {}\n", std::chrono::duration<double>(clock_.now().since_start).count(),
             what, about);
  std::fflush(stdout);
}

Duration ChaosRun::delay(Duration longest) {
  return Duration(
      static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(longest.count()) + 1)));
}

void ChaosRun::build_cluster() {
  for (const std::string& manifest : simulation::class_manifests()) server_.put(manifest);
  for (const auto& [name, value] : {std::pair{"low", 0}, {"middle", 100}, {"high", 1000}})
    server_.put(fmt::format(
        R"({{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":)"
        R"("{}"}},"value":{}}})",
        name, value));
  const std::uint64_t nodes = 2 + random_.below(3);
  for (std::uint64_t i = 1; i <= nodes; ++i) {
    const std::string name = fmt::format("n{}", i);
    nodes_[name] = fmt::format("{}", 1 + random_.below(3));
    for (const std::string& manifest : simulation::node_manifests(name, nodes_[name]))
      server_.put(manifest);
    server_.put(simulation::disk_manifest(name));
    server_.put(simulation::slice_manifest(name, 1, kDevices));
  }
  for (std::uint64_t i = 4 + random_.below(6); i > 0; --i) create_pod();
}

// Processes that end are started again, by the kubelet, say.
void ChaosRun::revive() {
  for (const std::unique_ptr<SimulatedScheduler>& scheduler : schedulers_)
    if (!scheduler->running()) {
      note("start", scheduler->machine());
      scheduler->start();
    }
}

ChaosReport ChaosRun::run() {
  build_cluster();
  revive();
  std::vector<TimePoint> times(25 + random_.below(35));
  for (TimePoint& time : times) time = {delay(kChaosTime)};
  std::ranges::sort(times);
  for (const TimePoint time : times) {
    clock_.run_until(time);
    // Not only between two moments, but between any two steps.
    for (std::uint64_t steps = random_.below(30); steps > 0; --steps) clock_.step();
    something_happens();
    if (!look()) break;
    if (random_.chance(0.3)) revive();
  }
  if (report_.violations.empty()) come_to_rest();
  if (report_.violations.size() > kMostViolations) report_.violations.resize(kMostViolations);
  report_.end = server_.save();
  return std::move(report_);
}

void ChaosRun::come_to_rest() {
  note("rest", "");
  network_.lift();
  if (extender_) extender_->lift();
  if (!server_.up()) server_.come_up();
  for (const std::unique_ptr<SimulatedScheduler>& scheduler : schedulers_) {
    scheduler->lift();
    if (!scheduler->running()) continue;
    scheduler->world().resume();
    scheduler->election().resume();
    for (const WaitingPod& waiting : scheduler->engine().waiting_pods().list())
      for (const std::string& plugin : waiting.pending_plugins)
        scheduler->engine().waiting_pods().allow(waiting.pod->uid(), plugin);
  }
  write_tokens();
  const TimePoint end = clock_.now() + kRestTime;
  while (clock_.now() < end) {
    revive();
    clock_.run_until(clock_.now() + 10s);
    if (!look()) return;
  }
  // A flush or a renewal may just have set something going. It ends by itself.
  const auto quiet = [this] {
    return network_.under_way() == 0 && std::ranges::all_of(schedulers_, [](const auto& scheduler) {
             return scheduler->running() && scheduler->engine().tasks() == 0 &&
                    scheduler->engine().pods_being_written() == 0;
           });
  };
  for (int steps = 0; steps < 5'000 && !quiet(); ++steps) clock_.step();
  look_at_rest();
}

}  // namespace berth::chaos
