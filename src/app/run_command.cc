#include "app/run_command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "app/demo.h"
#include "app/embedded_cluster.h"
#include "app/input.h"
#include "app/live_summary.h"
#include "app/object_sources.h"
#include "app/run_pages.h"
#include "base/signals.h"
#include "berth/interner.h"
#include "berth/random.h"
#include "engine/engine.h"
#include "extender/extenders.h"
#include "framework/log_observer.h"
#include "framework/observers.h"
#include "live/live_explainer.h"
#include "telemetry/log.h"

namespace berth::app {
namespace {

constexpr Duration kIdleCheck = std::chrono::milliseconds(200);
// A demo that is to end has an end.
constexpr std::size_t kArrivalsOfAScript = 32;
constexpr Duration kIntervalOfAScript = std::chrono::milliseconds(100);

// The width of the terminal that `out` is; 0: it is none.
std::size_t terminal_columns(const std::ostream& out) {
  if (&out != &std::cout || !::isatty(STDOUT_FILENO)) return 0;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// The scheduler of the embedded cluster, and whoever watches it.
class EmbeddedScheduler {
 public:
  EmbeddedScheduler(Loop& loop, memapi::LocalClient& api, LiveSummary& summary, RunPages& pages,
                    PluginTable plugins, std::shared_ptr<telemetry::LogOutput> log)
      : loop_(loop),
        pages_(pages),
        cluster_(api, interner_, telemetry::Log(log)),
        log_observer_(telemetry::Log(std::move(log))),
        observers_({&summary, &log_observer_, &pages.feed()}),
        plugins_(std::move(plugins)),
        objects_(api) {}
  ~EmbeddedScheduler() {
    pages_.let_go();
    explainer_.reset();
    engine_.reset();  // its attempts refer to everything else
  }
  EmbeddedScheduler(const EmbeddedScheduler&) = delete;
  EmbeddedScheduler& operator=(const EmbeddedScheduler&) = delete;

  Result<void> start(const RunOptions& options) {
    EngineOptions engine;
    live::LiveExplainerOptions explaining;
    engine.seed = seed_from_system();
    if (Result<void> set = engine.gates.set(options.feature_gates); !set) return set;
    if (Result<void> valid = engine.gates.validate(); !valid) return valid;
    Result<config::Configuration> configuration =
        read_configuration(options.config, engine.gates, interner_);
    if (!configuration) return fail(configuration.error());
    explaining.configuration = *configuration;
    explaining.gates = engine.gates;
    engine.configuration = std::move(*configuration);
    Result<std::unique_ptr<extender::Extenders>> extenders =
        extender::Extenders::make(engine.configuration.extenders, loop_);
    if (!extenders) return fail(extenders.error());
    extenders_ = std::move(*extenders);
    engine.extenders = extenders_->all();
    Result<std::unique_ptr<Engine>> made =
        Engine::make(loop_, interner_, plugins_, cluster_, observers_, std::move(engine));
    if (!made) return fail(made.error());
    engine_ = std::move(*made);
    explainer_ = std::make_unique<live::LiveExplainer>(loop_, *engine_, interner_, plugins_,
                                                       objects_, std::move(explaining));
    pages_.follow(*engine_, *explainer_);
    cluster_.serve(*engine_, extenders_->objects().needs().any() ? &extenders_->objects() : nullptr,
                   &pages_.feed());
    engine_->start();
    return {};
  }

  Engine& engine() { return *engine_; }

 private:
  Loop& loop_;
  RunPages& pages_;
  Interner interner_;
  EmbeddedCluster cluster_;
  LogObserver log_observer_;
  Observers observers_;
  PluginTable plugins_;
  EmbeddedObjects objects_;
  std::unique_ptr<extender::Extenders> extenders_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<live::LiveExplainer> explainer_;
};

// Nothing is being done, and nothing that is under way will give the pods that wait a chance.
bool is_idle(Engine& engine, const LiveSummary& summary, const std::optional<Demo>& demo) {
  if (demo && !demo->over()) return false;
  const QueueSizes queue = engine.queue().sizes();
  if (queue.active > 0 || queue.backoff > 0 || queue.in_flight > 0) return false;
  if (engine.tasks() > 0 || summary.in_motion() > 0) return false;
  return queue.unschedulable == 0 || !summary.room_to_come();
}

void stop_when_idle(RealLoop& loop, Engine& engine, const LiveSummary& summary,
                    const std::optional<Demo>& demo) {
  loop.after(kIdleCheck, [&] {
    if (is_idle(engine, summary, demo)) return loop.stop();
    stop_when_idle(loop, engine, summary, demo);
  });
}

}  // namespace

Result<void> run_cluster(const RunOptions& options, PluginTable plugins, std::ostream& out,
                         std::ostream& err) {
  RealLoop loop;
  ignore_broken_pipes();
  const SignalWatch signals({SIGINT, SIGTERM}, [&loop](int) { loop.stop(); });
  RunPages pages(loop, seed_from_system());
  EmbeddedServerOptions server_options = options.server;
  server_options.elsewhere = pages.door();
  Result<std::unique_ptr<EmbeddedServer>> server =
      EmbeddedServer::start(loop, std::move(server_options));
  if (!server) return fail(server.error());
  memapi::LocalClient& api = (*server)->local();

  telemetry::LogOptions log_options;
  log_options.verbosity = options.verbosity;
  log_options.process_id = static_cast<std::uint32_t>(::getpid());
  const auto log = std::make_shared<telemetry::LogOutput>(
      log_options, [&loop] { return loop.wall_now(); }, telemetry::descriptor_sink(STDERR_FILENO));
  // Log records would be drawn over.
  LiveSummary summary(api, out, options.verbosity == 0 ? terminal_columns(out) : 0);
  EmbeddedScheduler scheduler(loop, api, summary, pages, std::move(plugins), log);
  if (Result<void> started = scheduler.start(options); !started) return started;

  (*server)->introduce(out);
  out << '\n';
  summary.start();
  std::optional<Demo> demo;
  if (options.demo) {
    DemoOptions stream;
    if (options.exit_when_idle) {
      stream.rounds = kArrivalsOfAScript;
      stream.interval = kIntervalOfAScript;
    }
    demo.emplace(api, Random(seed_from_system()), stream);
  }
  if (options.exit_when_idle) stop_when_idle(loop, scheduler.engine(), summary, demo);
  loop.run();
  demo.reset();
  scheduler.engine().stop();
  summary.finish();
  const Result<void> stopped = (*server)->stop();
  if (!out) err << "berth: cannot write the output\n";
  return stopped;
}

}  // namespace berth::app
