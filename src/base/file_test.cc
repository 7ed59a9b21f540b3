#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace berth {
namespace {

struct FileTest : ::testing::Test {
  std::filesystem::path folder;

  FileTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder =
        std::filesystem::path(::testing::TempDir()) / ("berth_file_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~FileTest() override { std::filesystem::remove_all(folder); }
  std::string at(const std::string& name) const { return (folder / name).string(); }
};

TEST_F(FileTest, WhatIsWrittenIsReadBack) {
  const std::string text = std::string("line\n\0after a zero", 18) + std::string(100'000, 'x');
  ASSERT_TRUE(write_file(at("a"), text));
  EXPECT_EQ(*read_file(at("a")), text);
}

TEST_F(FileTest, WritingReplacesAndLeavesNoDraft) {
  ASSERT_TRUE(write_file(at("a"), "old"));
  ASSERT_TRUE(write_file(at("a"), "new", 0600));
  EXPECT_EQ(*read_file(at("a")), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_EQ(std::filesystem::status(at("a")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(FileTest, ALinkIsWrittenThrough) {
  ASSERT_TRUE(write_file(at("a"), "a longer text"));
  std::filesystem::create_symlink(at("a"), at("link"));
  ASSERT_TRUE(write_file(at("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(at("link")));
  EXPECT_EQ(*read_file(at("a")), "new");
}

TEST_F(FileTest, ComplaintsReadLikeThoseOfGo) {
  EXPECT_EQ(read_file(at("none")).error().message,
            "open " + at("none") + ": no such file or directory");
  EXPECT_EQ(read_file(folder.string()).error().message,
            "read " + folder.string() + ": is a directory");
  EXPECT_EQ(check_file_exists(at("none")).error().message,
            "stat " + at("none") + ": no such file or directory");
  EXPECT_EQ(write_file(at("none/a"), "").error().message,
            "open " + at("none/a") + ": no such file or directory");
  EXPECT_TRUE(check_file_exists(folder.string()));
}

}  // namespace
}  // namespace berth
