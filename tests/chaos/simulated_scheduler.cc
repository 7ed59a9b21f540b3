#include "simulated_scheduler.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "config/flags/command.h"
#include "plugins/table.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

class NoSink final : public telemetry::LogSink {
 public:
  void write(std::string_view) override {}
};

telemetry::Log make_log(const VirtualLoop& loop, bool prints) {
  telemetry::LogOptions options;
  options.verbosity = prints ? 2 : -1;
  options.utc = true;
  std::unique_ptr<telemetry::LogSink> sink = std::make_unique<NoSink>();
  if (prints) sink = telemetry::descriptor_sink(1);
  return telemetry::Log(std::make_shared<telemetry::LogOutput>(
      options, [&loop] { return loop.wall_now(); }, std::move(sink)));
}

}  // namespace

SimulatedScheduler::SimulatedScheduler(std::string machine, const Surroundings& surroundings,
                                       Random random)
    : machine_(std::move(machine)),
      surroundings_(surroundings),
      token_file_(fmt::format("{}/{}", surroundings.tokens, machine_)),
      random_(random) {
  // Clocks of machines differ.
  wall_offset_ = Duration(1s) * static_cast<int>(random_.below(60)) - 30s;
}

SimulatedScheduler::~SimulatedScheduler() { kill(); }

app::SchedulerSetup SimulatedScheduler::setup(Life& life) {
  std::vector<config::EarlyRecord> records;
  std::vector<std::string> flags{"--secure-port=0", "--pod-max-in-unschedulable-pods-duration=60s"};
  if (random_.chance(0.3)) flags.insert(flags.end(), {"--kube-api-qps=5", "--kube-api-burst=10"});
  auto command = config::parse_scheduler_command(flags, 0, records);
  BERTH_CHECK(command.has_value());
  Result<config::Configuration> configuration = config::make_configuration(*command, life.interner);
  BERTH_CHECK(configuration.has_value());
  if (random_.chance(0.5)) configuration->client_connection.content_type = "application/json";
  configuration->extenders = surroundings_.extenders;
  app::SchedulerSetup setup{.command = std::move(*command),
                            .configuration = std::move(*configuration),
                            .client = {},
                            .plugins = plugins::make_plugin_table()};
  setup.client.server = "https://10.0.0.1:6443";
  setup.client.token_file = token_file_;
  simulation::add_plugins(setup.plugins, setup.configuration, *life.mischief);
  return setup;
}

void SimulatedScheduler::start() {
  BERTH_CHECK(!running());
  kill();
  life_ = std::make_unique<Life>();
  Life& life = *life_;
  life.who = fmt::format("{}-{}", machine_, ++lives_);
  const WallTime wall = VirtualLoop::kDefaultStart + wall_offset_;
  life.election = std::make_unique<VirtualLoop>(surroundings_.clock, wall);
  life.world = std::make_unique<VirtualLoop>(surroundings_.clock, wall);
  life.mischief = std::make_unique<simulation::Mischief>(*life.world, life.history, random_.next());
  if (lifted_) life.mischief->lift();
  life.recorder =
      std::make_unique<simulation::Recorder>(*life.world, life.history, surroundings_.happened);
  if (surroundings_.prints) life.recorder->print(life.who);
  app::SchedulerHost host{.world = *life.world, .election = *life.election, .name = life.who};
  host.seed = random_.next();
  host.observer = life.recorder.get();
  host.transport = [this, &life](const net::HttpClientOptions&) {
    std::unique_ptr<net::HttpTransport> transport = surroundings_.network.connect(life.who);
    if (!surroundings_.planted) return transport;
    return surroundings_.planted(std::move(transport), *life.world);
  };
  life.process = std::make_unique<app::SchedulerProcess>(
      setup(life), std::move(host), life.interner, make_log(*life.world, surroundings_.prints));
  BERTH_CHECK(life.process->make().has_value());
  life.process->start([&life](Result<int> exit) {
    life.exit = std::move(exit);
    // A process that has ended does nothing more.
    life.world->halt();
    life.election->halt();
  });
}

void SimulatedScheduler::kill() {
  if (life_) life_->process.reset();  // its parts refer to everything else
  life_.reset();
}

void SimulatedScheduler::stop() { life_->process->stop(); }

}  // namespace berth::chaos
