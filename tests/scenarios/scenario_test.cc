// Plays every scenario file and compares what came of it, line by line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "scenario_file.h"

namespace berth::scenarios {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> scenario_paths() {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(BERTH_SCENARIOS))
    if (entry.path().extension() == ".scenario") paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  return paths;
}

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class ScenarioTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ScenarioTest, EndsAsItSays) {
  const Result<ScenarioFile> expected = parse_scenario_file(read(GetParam()));
  ASSERT_TRUE(expected.has_value()) << expected.error().message;
  const Result<ScenarioFile> played = play(*expected);
  ASSERT_TRUE(played.has_value()) << played.error().message;
  if (std::getenv("BERTH_WRITE_SCENARIOS")) {
    std::ofstream(GetParam()) << to_text(*played);
    return;
  }
  EXPECT_FALSE(expected->kinds.empty()) << "nothing of the timeline is compared";
  EXPECT_EQ(played->timeline, expected->timeline);
  EXPECT_EQ(played->pods, expected->pods);
  // The same again, to the byte.
  const Result<ScenarioFile> again = play(*expected);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_text(*again), to_text(*played));
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  const fs::path path(info.param);
  std::string name = path.parent_path().filename().string() + "_" + path.stem().string();
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Text, ScenarioTest, ::testing::ValuesIn(scenario_paths()), test_name);

TEST(ScenarioFiles, ThereAreSome) { EXPECT_GE(scenario_paths().size(), 20u); }

}  // namespace
}  // namespace berth::scenarios
