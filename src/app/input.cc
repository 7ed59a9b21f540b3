#include "app/input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <utility>

#include "api/manifest_loader.h"
#include "app/progress.h"
#include "config/load.h"
#include "wire/json_stream.h"

namespace berth::app {
namespace {

// A file, or standard input, from its beginning to its end.
class InputFile : public TextSource {
 public:
  explicit InputFile(const std::string& path, Progress* progress = nullptr)
      : path_(path), progress_(progress) {
    if (path == "-") return;
    errno = 0;
    file_.open(path, std::ios::binary);
    if (!file_.is_open()) error_ = errno;
  }

  // A folder can be opened, but not read; of an empty file nothing is read, which is no error.
  Result<std::size_t> read(char* into, std::size_t size) override {
    std::istream& stream = path_ == "-" ? std::cin : file_;
    const bool is_open = path_ == "-" || file_.is_open();
    errno = error_;
    if (is_open) stream.read(into, static_cast<std::streamsize>(size));
    if (!is_open || stream.bad())
      return fail(ErrorKind::kNotFound,
                  fmt::format("cannot read {}: {}", path_,
                              errno != 0 ? std::strerror(errno) : "it is not a file"));
    const auto count = static_cast<std::size_t>(stream.gcount());
    bytes_ += count;
    if (progress_ != nullptr)
      progress_->update([this](Duration) {
        return fmt::format("reading {}: {} MB", shown_path(path_), bytes_ / 1'000'000);
      });
    return count;
  }

 private:
  std::string path_;
  Progress* progress_;
  int error_ = 0;  // of opening it
  std::size_t bytes_ = 0;
  std::ifstream file_;
};

Result<void> report_unknown_fields(const std::vector<std::string>& faults, bool strict,
                                   std::ostream& warnings) {
  if (strict && !faults.empty())
    return fail(ErrorKind::kInvalid, fmt::format("{}", fmt::join(faults, "; ")));
  for (const std::string& fault : faults) warnings << "warning: " << fault << '\n';
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  InputFile file(path);
  std::string text;
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + kPiece);
    const Result<std::size_t> read = file.read(text.data() + size, kPiece);
    if (!read) return fail(read.error());
    text.resize(size + *read);
    if (*read == 0) return text;
  }
}

Result<std::vector<ManifestObject>> read_manifests(const std::string& path, bool strict,
                                                   Interner& interner, std::ostream& warnings) {
  const Result<std::string> text = read_file(path);
  if (!text) return fail(text.error());
  Result<std::vector<ManifestObject>> objects = read_manifest(*text, shown_path(path), interner);
  if (!objects) return objects;
  const Result<void> reported =
      report_unknown_fields(name_unknown_fields(*objects), strict, warnings);
  if (!reported) return fail(reported.error());
  return objects;
}

Result<std::vector<ManifestObject>> load_manifests(const std::vector<std::string>& paths,
                                                   bool strict, Interner& interner, WallTime now,
                                                   std::ostream& warnings, Progress* progress) {
  ManifestLoader loader(interner, now);
  for (const std::string& path : paths) {
    InputFile file(path, progress);
    const Result<std::vector<std::string>> faults = loader.read(file, shown_path(path));
    if (progress != nullptr) progress->erase();
    if (!faults) return fail(faults.error());
    const Result<void> reported = report_unknown_fields(*faults, strict, warnings);
    if (!reported) return fail(reported.error());
  }
  return loader.finish();
}

std::string shown_path(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<config::Configuration> read_configuration(const std::string& path,
                                                 const config::FeatureGates& gates,
                                                 Interner& interner) {
  if (path.empty()) return config::default_configuration(gates);
  Result<config::Configuration> loaded = config::load_configuration(path, gates, interner);
  if (loaded || loaded.error().message.contains(path)) return loaded;
  return fail(loaded.error().kind, fmt::format("{}: {}", path, loaded.error().message));
}

}  // namespace berth::app
