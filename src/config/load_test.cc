#include "config/load.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace berth::config {
namespace {

std::string load_error(const std::string& path) {
  Interner interner;
  const auto configuration = load_configuration(path, {}, interner);
  return configuration ? "" : configuration.error().message;
}

TEST(Load, SaysWhyAFileCannotBeRead) {
  const std::string directory = ::testing::TempDir();
  EXPECT_EQ(load_error("/no/such/file"), "open /no/such/file: no such file or directory");
  EXPECT_EQ(load_error(directory), "read " + directory + ": is a directory");
  Interner interner;
  EXPECT_EQ(load_configuration("/no/such/file", {}, interner).error().kind, ErrorKind::kNotFound);
}

TEST(Load, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "berth_load_test.yaml";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "parallelism: 3\n",
      file);
  std::fclose(file);
  Interner interner;
  const auto configuration = load_configuration(path, {}, interner);
  std::remove(path.c_str());
  ASSERT_TRUE(configuration) << configuration.error().message;
  EXPECT_EQ(configuration->parallelism, 3);
}

TEST(Load, NamesExtensionPoints) {
  EXPECT_EQ(to_string(ExtensionPoint::kPreEnqueue), "PreEnqueue");
  EXPECT_EQ(to_string(ExtensionPoint::kPodGroupPostFilter), "PodGroupPostFilter");
}

}  // namespace
}  // namespace berth::config
