#include "app/record_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "app/command_client.h"
#include "app/command_log.h"
#include "app/live_objects.h"
#include "app/recorder.h"
#include "app/version.h"
#include "kube/kubectl_config.h"
#include "trace/compressed_file.h"

namespace berth::app {
namespace {

constexpr std::string_view kRole = "berth-recorder in packaging/recorder.yaml";

// Until it is told to stop: then nobody waits for it any more.
Task<Result<void>> follow(CommandClient& client, const kube::KubectlConfig& config,
                          const RecordOptions& options, Interner& interner, trace::OutputFile& file,
                          std::optional<Recorder>& recorder, std::ostream& err) {
  std::vector<LiveKind> kinds;
  for (kube::WatchedKind& kind : recorded_kinds()) kinds.push_back({std::move(kind)});
  Task<Result<ReadAccess>> checking = check_read_access(client.api(), kinds, config, kRole);
  Result<ReadAccess> access = co_await checking;
  if (!access) co_return fail(std::move(access.error()));
  for (const std::string& resource : access->unserved)
    err << fmt::format("{} does not serve {}: not recorded\n", config.client.server, resource);
  RecorderOptions recording;
  for (const LiveKind& kind : kinds)
    if (std::ranges::find(access->unserved, kind.kind.full_resource()) == access->unserved.end())
      recording.kinds.push_back(kind.kind);
  if (options.anonymise) recording.anonymise = SipKey::from_system();
  recording.recorder = fmt::format("berth {}", kVersion);
  Eventual<Error> broken;
  recorder.emplace(client.loop(), client.api(), interner, Random(seed_from_system()), client.log(),
                   file, std::move(recording),
                   [&broken](const Error& error) { broken.set(error); });
  recorder->start();
  recorder->reflectors().on_synced([&recorder, &err] {
    err << fmt::format("{} objects are there; recording what happens until Ctrl-C\n",
                       recorder->records() - 1)
        << std::flush;
  });
  Error error = co_await broken;
  co_return fail(std::move(error));
}

}  // namespace

Result<void> record(const RecordOptions& options, std::ostream& err) {
  Result<kube::KubectlConfig> config =
      kube::load_kubectl_config(options.kubeconfig, options.context, kube::kubectl_environment());
  if (!config) return fail(std::move(config.error()));
  Interner interner;
  CommandClient client(config->client, kube::kRequestTimeout, {SIGINT, SIGTERM}, log_sink(err));
  const Result<std::unique_ptr<trace::OutputFile>> file = trace::OutputFile::create(options.output);
  if (!file) return fail(file.error());
  std::optional<Recorder> recorder;
  const std::optional<Result<void>> failed =
      client.wait_for(follow(client, *config, options, interner, **file, recorder, err));
  if (failed && !*failed) return *failed;
  if (!recorder) return fail(ErrorKind::kCancelled, "interrupted before anything was recorded");
  if (Result<void> finished = recorder->finish(); !finished) return finished;
  err << fmt::format("{} lines are in {}\n", recorder->records(), options.output);
  return {};
}

}  // namespace berth::app
