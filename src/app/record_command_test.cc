// `berth record` and `berth simulate --trace` as they are typed. What a recorder writes, whatever happens
// to its connections, is tested in tests/chaos.

#include "app/record_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli.h"
#include "base/file.h"

namespace berth::app {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct TraceCommandsTest : ::testing::Test {
  TraceCommandsTest() {
    folder =
        std::filesystem::path(::testing::TempDir()) /
        ("berth_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~TraceCommandsTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file((folder / name).string(), text));
    return (folder / name).string();
  }
  // A server to which nobody can connect.
  std::string kubeconfig() {
    return file("config",
                "current-context: c\n"
                "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                "users: [{name: u, user: {}}]\n");
  }
  int call(const std::vector<std::string>& args) {
    out.str(""), err.str("");
    return run(args, out, err);
  }

  std::filesystem::path folder;
  std::ostringstream out, err;
};

TEST_F(TraceCommandsTest, ARecorderThatCannotBeginSaysWhyInALine) {
  EXPECT_EQ(call({"record"}), 2);
  EXPECT_EQ(err.str(), "berth: say where to write: -o FILE (see `berth record --help`)\n");
  EXPECT_EQ(call({"record", "--kubeconfig", (folder / "none").string(), "-o", "x"}), 1);
  EXPECT_THAT(err.str(), AllOf(StartsWith("berth: "), HasSubstr("none")));
  EXPECT_EQ(call({"record", "--kubeconfig", kubeconfig(), "-o", "/no/such/file"}), 1);
  EXPECT_EQ(err.str(), "berth: cannot write /no/such/file: No such file or directory\n");
  EXPECT_EQ(call({"record", "--kubeconfig", kubeconfig(), "-o", (folder / "trace.jsonl").string()}),
            1);
  EXPECT_THAT(err.str(), StartsWith("berth: cannot read from http://127.0.0.1:1: "));
}

TEST_F(TraceCommandsTest, ATraceThatCannotBeReplayedSaysWhyInALine) {
  EXPECT_EQ(call({"simulate", "--trace", (folder / "none").string()}), 1);
  EXPECT_THAT(err.str(), EndsWith("none: No such file or directory\n"));
  const std::string pods =
      file("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1000,1,0,0\n");
  EXPECT_EQ(call({"simulate", "--trace", pods}), 1);
  EXPECT_EQ(err.str(),
            "berth: the trace has no nodes: give them with -f, or as nodePools of a --scenario\n");
  EXPECT_EQ(call({"simulate", "--trace", pods, "--gpu-share", "half"}), 2);
  EXPECT_EQ(err.str(),
            "berth: --gpu-share: \"half\" is none of devices, extended-resource (see `berth "
            "simulate --help`)\n");
  EXPECT_EQ(call({"simulate", "-f", pods, "--differences"}), 2);
  EXPECT_THAT(err.str(), StartsWith("berth: --differences are those from a trace"));
}

TEST_F(TraceCommandsTest, TablesOfOpenbAreOneTrace) {
  const std::string pods = file("pods.csv",
                                "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1000,1,1,600\n"
                                "b,1000,1,1,600\nc,1000,1,1,400\n");
  const std::string nodes =
      file("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,8000,8192,1,T4\n");
  for (const std::string share : {"devices", "extended-resource"}) {
    EXPECT_EQ(call({"simulate", "--trace", nodes, pods, "--gpu-share", share}), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr("3 pods: 2 bound, 1 pending")) << share;
  }
}

// The README shows it.
TEST_F(TraceCommandsTest, TheExampleIsReplayedAsTheReadmeSays) {
  const std::string readme = berth::read_file(BERTH_README).value();
  EXPECT_EQ(call({"simulate", "--trace", BERTH_EXAMPLES "/replay/shop.jsonl", "--differences"}), 0);
  EXPECT_THAT(readme, HasSubstr("--trace examples/replay/shop.jsonl --differences\n" + out.str()));
  EXPECT_EQ(call({"simulate", "--trace", BERTH_EXAMPLES "/replay/shop.jsonl", "-o", "json"}), 0);
  const std::string once = out.str();
  EXPECT_EQ(call({"simulate", "--trace", BERTH_EXAMPLES "/replay/shop.jsonl", "-o", "json"}), 0);
  EXPECT_EQ(out.str(), once);
}

}  // namespace
}  // namespace berth::app
