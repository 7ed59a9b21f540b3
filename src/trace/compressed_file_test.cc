#include "trace/compressed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace berth::trace {
namespace {

class CompressedFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) { return testing::TempDir() + "berth-trace-" + name; }

  void write(const std::string& file, const std::vector<std::string>& pieces) {
    const auto output = OutputFile::create(file);
    ASSERT_TRUE(output) << output.error().message;
    for (const std::string& piece : pieces) ASSERT_TRUE((*output)->append(piece));
    ASSERT_TRUE((*output)->finish());
  }

  // The lines of a file, and whether it was cut off.
  std::vector<std::string> lines(const std::string& file) {
    std::vector<std::string> read;
    auto input = InputFile::open(file);
    EXPECT_TRUE(input) << input.error().message;
    if (!input) return read;
    while (const auto line = (*input)->next_line()) read.emplace_back(*line);
    cut_off_ = (*input)->cut_off();
    error_ = (*input)->error() ? (*input)->error()->message : "";
    return read;
  }

  bool cut_off_ = false;
  std::string error_;
};

TEST_F(CompressedFileTest, ReadsWhatItWroteCompressedAndPlain) {
  for (const char* const name : {"plain.jsonl", "packed.jsonl.gz"}) {
    write(path(name), {"one\ntw", "o\n", "\nfour\n"});
    EXPECT_THAT(lines(path(name)), testing::ElementsAre("one", "two", "", "four"));
    EXPECT_FALSE(cut_off_);
  }
  EXPECT_EQ(*read_file(path("plain.jsonl")), "one\ntwo\n\nfour\n");
  EXPECT_TRUE(read_file(path("packed.jsonl.gz"))->starts_with("\x1f\x8b"));
}

TEST_F(CompressedFileTest, KeepsLinesOfAnyLengthWhole) {
  const std::string long_line(1'000'000, 'x');
  write(path("long.gz"), {long_line, "\n", "end\n"});
  EXPECT_THAT(lines(path("long.gz")), testing::ElementsAre(long_line, "end"));
}

TEST_F(CompressedFileTest, SaysThatALineIsTooLong) {
  const std::string piece(std::size_t{1} << 20, 'x');
  write(path("huge.gz"), std::vector<std::string>(18, piece));
  EXPECT_TRUE(lines(path("huge.gz")).empty());
  EXPECT_THAT(error_, testing::HasSubstr("line 1 is longer than 16 MiB"));
}

TEST_F(CompressedFileTest, ReadsWhatWasFlushedBeforeTheWriterWasKilled) {
  const std::string file = path("killed.gz");
  const auto output = OutputFile::create(file);
  ASSERT_TRUE((*output)->append("one\ntwo\n"));
  ASSERT_TRUE((*output)->flush());
  ASSERT_TRUE((*output)->append("three\n"));
  std::filesystem::copy_file(file, path("as-killed.gz"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(lines(path("as-killed.gz")), testing::ElementsAre("one", "two"));
  EXPECT_TRUE(cut_off_);
}

TEST_F(CompressedFileTest, ReadsFilesThatAreCutOffAnywhere) {
  const std::string file = path("whole.gz");
  write(file, {"one\n", "two\n", "three\n"});
  const std::string bytes = *read_file(file);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::ofstream(path("cut.gz"), std::ios::binary) << bytes.substr(0, size);
    EXPECT_LE(lines(path("cut.gz")).size(), 4U) << size;
  }
}

TEST_F(CompressedFileTest, HandsOutALastLineWithoutAnEnd) {
  write(path("open.jsonl"), {"one\ntw"});
  EXPECT_THAT(lines(path("open.jsonl")), testing::ElementsAre("one", "tw"));
  EXPECT_TRUE(cut_off_);
}

TEST_F(CompressedFileTest, SaysWhatCannotBeReadOrWritten) {
  EXPECT_THAT(InputFile::open("/no/such").error().message,
              testing::StrEq("cannot read /no/such: No such file or directory"));
  EXPECT_THAT(InputFile::open("/").error().message,
              testing::StrEq("cannot read /: Is a directory"));
  EXPECT_THAT(OutputFile::create("/no/such").error().message,
              testing::StrEq("cannot write /no/such: No such file or directory"));
}

}  // namespace
}  // namespace berth::trace
