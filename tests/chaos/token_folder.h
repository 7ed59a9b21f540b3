// A folder for token files that ends with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace berth::chaos {

class TokenFolder {
 public:
  TokenFolder() {
    path_ = (std::filesystem::temp_directory_path() / "berth-chaos-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TokenFolder() { std::filesystem::remove_all(path_); }
  TokenFolder(const TokenFolder&) = delete;
  TokenFolder& operator=(const TokenFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace berth::chaos
