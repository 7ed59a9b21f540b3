// For tests of the library as an embedder meets it: manifests, plugins, and a Scheduler.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/scheduler.h"

namespace berth::testing {

inline std::string node(const std::string& name, const std::string& cpu = "4") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         "}\nstatus: {capacity: {cpu: '" + cpu + "', memory: 8Gi, pods: '10'}}\n";
}

inline std::string pod(const std::string& name, const std::string& cpu = "1",
                       const std::string& more_spec = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + more_spec +
         " containers: [{name: main, image: app, resources: {requests: {cpu: '" + cpu + "'}}}]}\n";
}

inline std::string profile_with(const std::string& plugin) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
         "profiles: [{plugins: {multiPoint: {enabled: [{name: " +
         plugin + "}]}}}]\n";
}

// Writes down what it is told.
class Diary final : public Observer {
 public:
  void wait_started(const Pod& pod, std::span<const PermitHold>) override {
    lines.push_back(std::string(pod.name()) + " waits");
  }
  void bound(const Pod& pod, std::string_view where, std::int32_t) override {
    lines.push_back(std::string(pod.name()) + " on " + std::string(where));
    if (on_bound) on_bound();
  }
  void failed(const Pod& pod, const Outcome& outcome) override {
    lines.push_back(std::string(pod.name()) + ": " + outcome.message());
  }
  void internal_error(std::string_view message) override { internal_errors.emplace_back(message); }

  std::vector<std::string> lines;
  std::vector<std::string> internal_errors;
  std::function<void()> on_bound;
};

inline PluginEntry entry(std::string name,
                         std::function<std::unique_ptr<Plugin>(const Handle&)> make) {
  PluginEntry result;
  result.name = std::move(name);
  result.create = [make](const config::PluginArgs&,
                         const Handle& handle) -> Result<std::unique_ptr<Plugin>> {
    return make(handle);
  };
  return result;
}

// Holds every pod for a minute.
class Hold final : public PermitPlugin {
 public:
  std::string_view name() const override { return "Hold"; }
  PermitResult permit(Cycle&, std::string_view) override {
    return PermitResult::wait(std::chrono::minutes(1));
  }
};

struct SchedulerTest : ::testing::Test {
  Scheduler::Options options;
  Diary diary;
  std::unique_ptr<Scheduler> scheduler;

  SchedulerTest() {
    options.plugins = Scheduler::built_in_plugins();
    options.observer = &diary;
  }
  void use(PluginEntry plugin) {
    options.configuration = profile_with(plugin.name);
    ASSERT_TRUE(options.plugins.add(std::move(plugin)).has_value());
  }
  std::string make() {
    Result<std::unique_ptr<Scheduler>> made = Scheduler::make(std::move(options));
    if (!made) return made.error().message;
    scheduler = std::move(*made);
    return {};
  }
  void start() {
    ASSERT_EQ(make(), "");
    scheduler->start();
  }
  void apply(const std::string& manifest) {
    const Result<void> applied = scheduler->apply(manifest);
    EXPECT_TRUE(applied.has_value()) << applied.error().message;
  }
  std::string where(const std::string& name) { return scheduler->node_of("default", name); }
};

}  // namespace berth::testing
