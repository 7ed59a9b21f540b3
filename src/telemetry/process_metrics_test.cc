#include "telemetry/process_metrics.h"

#include <gtest/gtest.h>

namespace berth::telemetry {
namespace {

TEST(ProcessMetrics, AreThoseOfTheKernel) {
  Registry registry;
  add_process_metrics(registry);
  const std::string text = registry.text();
  for (const char* name :
       {"process_cpu_seconds_total", "process_max_fds", "process_open_fds",
        "process_resident_memory_bytes", "process_start_time_seconds",
        "process_virtual_memory_bytes", "process_virtual_memory_max_bytes",
        "process_network_receive_bytes_total", "process_network_transmit_bytes_total"})
    EXPECT_NE(text.find("\n" + std::string(name) + " "), std::string::npos) << name << text;
  EXPECT_NE(text.find("# HELP process_max_fds Maximum"), std::string::npos);
  EXPECT_GT(process_start_time(), 1.6e9);
}

TEST(ProcessMetrics, AreLeftOutWhereNothingCanBeRead) {
  Registry registry;
  add_process_metrics(registry, "/nowhere");
  EXPECT_EQ(registry.text(), "");
  EXPECT_EQ(process_start_time("/nowhere"), 0);
}

TEST(ProcessMetrics, StartTimeHasAStabilityWhereUpstreamGivesItOne) {
  Registry registry;
  add_process_start_time(registry, Stability::kAlpha);
  EXPECT_TRUE(registry.text().starts_with("# HELP process_start_time_seconds [ALPHA] Start"));
}

}  // namespace
}  // namespace berth::telemetry
