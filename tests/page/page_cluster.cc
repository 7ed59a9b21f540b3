// `berth run` with a Permit plugin, for the cases of the live page: "Hold" holds every pod that has
// the label "hold" for ten minutes.
//
//   page_cluster ADDR:PORT CONFIGURATION
#include <chrono>
#include <iostream>
#include <memory>

#include "app/run_command.h"
#include "berth/cycle.h"
#include "berth/plugin.h"
#include "plugins/table.h"

namespace berth {
namespace {

class Hold final : public PermitPlugin {
 public:
  std::string_view name() const override { return "Hold"; }
  PermitResult permit(Cycle& cycle, std::string_view) override {
    const Pod& pod = cycle.pod();
    for (const Label& label : pod.labels())
      if (pod.text(label.key) == "hold") return PermitResult::wait(std::chrono::minutes(10));
    return {};
  }
};

int run(const char* listen, const char* configuration) {
  PluginTable plugins = plugins::make_plugin_table();
  PluginEntry entry;
  entry.name = "Hold";
  entry.extension_points = "Permit";
  entry.create = [](const config::PluginArgs&, const Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::make_unique<Hold>();
  };
  if (const Result<void> added = plugins.add(std::move(entry)); !added) return 1;
  app::RunOptions options;
  options.server.listen = listen;
  options.server.controllers = {"*"};
  options.config = configuration;
  const Result<void> done = app::run_cluster(options, std::move(plugins), std::cout, std::cerr);
  if (!done) std::cerr << done.error().message << '\n';
  return done ? 0 : 1;
}

}  // namespace
}  // namespace berth

int main(int count, char** words) {
  if (count == 3) return berth::run(words[1], words[2]);
  std::cerr << "page_cluster ADDR:PORT CONFIGURATION\n";
  return 2;
}
