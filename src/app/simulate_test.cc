#include "app/simulate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/timeline_output.h"
#include "base/file.h"
#include "base/testing/names.h"

namespace berth::app {
namespace {

struct SimulateTest : public ::testing::Test {
  SimulateTest() {
    folder = std::filesystem::temp_directory_path() /
             fmt::format("berth-simulate-{}-{}", ::testing::UnitTest::GetInstance()->random_seed(),
                         static_cast<const void*>(this));
    std::filesystem::create_directories(folder);
  }
  ~SimulateTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = folder / name;
    std::ofstream(path) << text;
    return path;
  }

  // What it prints, or the error.
  std::string run(SimulateOptions options) const {
    std::ostringstream out, err;
    const Result<void> done = simulate(options, out, err);
    return done ? out.str() : "error: " + done.error().message;
  }

  std::filesystem::path folder;
};

// A List of so many pods, indented as kubectl has it.
std::string cluster(int pods) {
  std::string text =
      "{\n  \"apiVersion\": \"v1\",\n  \"items\": [\n    {\"apiVersion\": \"v1\", \"kind\": "
      "\"Node\", "
      "\"metadata\": {\"name\": \"n\"}, \"status\": {\"capacity\": {\"cpu\": \"4\", \"pods\": "
      "\"110\"}}}";
  for (int i = 0; i < pods; ++i)
    text += fmt::format(
        ",\n    {{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {{\"name\": \"p{}\", "
        "\"annotations\": {{\"x\": \"{}\"}}}}, \"spec\": {{\"containers\": [{{\"name\": "
        "\"c\"}}]}}}}",
        i, std::string(2000, 'x'));
  return text + "\n  ],\n  \"kind\": \"List\"\n}\n";
}

TEST_F(SimulateTest, TheTimelineGoesToAFileAsItHappensAndIsTheSameAsInJson) {
  SimulateOptions options;
  options.files = {file("c.json", cluster(3))};
  options.timeline = folder / "timeline";
  const std::string table = run(options);
  EXPECT_THAT(table, HasSubstr("3 pods: 3 bound"));
  options.output = OutputFormat::kJson;
  options.timeline.clear();
  const std::string json = run(options);
  std::ifstream timeline(folder / "timeline");
  std::string list, line;
  std::size_t entries = 0;
  for (; std::getline(timeline, line); ++entries) {
    EXPECT_THAT(line, StartsWith("{\"time\": \""));
    list += (list.empty() ? "[\n    " : ",\n    ") + line;
  }
  EXPECT_GE(entries, 12U);
  EXPECT_THAT(json, HasSubstr("\"timeline\": " + list + "\n  ]\n}\n"));
}

TEST_F(SimulateTest, ALongListIsReadPieceByPiece) {
  SimulateOptions options;
  const std::string text = cluster(800);
  ASSERT_GT(text.size(), std::size_t{1} << 20);
  options.files = {file("c.json", text)};
  EXPECT_THAT(run(options), HasSubstr("800 pods: 110 bound, 690 pending"));
}

TEST_F(SimulateTest, ALongListThatIsCutOffIsOneClearLine) {
  SimulateOptions options;
  const std::string text = cluster(800);
  options.files = {file("c.json", text.substr(0, text.size() - 3000))};
  const std::string error = run(options);
  EXPECT_THAT(error,
              StartsWith("error: " + options.files[0] + ": document 1 (line 1): line 803, byte "));
  EXPECT_THAT(error, EndsWith(": invalid JSON: the text ends in the middle"));
  EXPECT_EQ(std::ranges::count(error, '\n'), 0);
}

TEST_F(SimulateTest, FilesThatCannotBeReadOrWrittenAreNamed) {
  SimulateOptions options;
  options.files = {folder / "none"};
  EXPECT_EQ(run(options), "error: cannot read " + options.files[0] + ": No such file or directory");
  options.files = {folder};
  EXPECT_EQ(run(options), "error: cannot read " + options.files[0] + ": Is a directory");
  options.files = {file("c.json", cluster(1))};
  options.timeline = folder / "none" / "timeline";
  EXPECT_EQ(run(options),
            "error: cannot write " + options.timeline + ": No such file or directory");
}

TEST(Spool, GivesBackWhatWasAppendedHoweverMuch) {
  for (const std::size_t times : {0U, 1U, 100'000U}) {
    Spool spool;
    std::string expected;
    for (std::size_t i = 0; i < times; ++i) {
      const std::string text = fmt::format("entry {} of many\n", i);
      spool.append(text);
      expected += text;
    }
    std::ostringstream out;
    ASSERT_TRUE(spool.copy_to(out));
    EXPECT_EQ(out.str(), expected) << times;
  }
}

}  // namespace
}  // namespace berth::app
