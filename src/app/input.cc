#include "app/input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <utility>

#include "config/load.h"

namespace berth::app {

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // A folder can be opened, but not read; an empty file leaves nothing to copy, which is no error.
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.fail())
    return fail(ErrorKind::kNotFound,
                fmt::format("cannot read {}: {}", path,
                            errno != 0 ? std::strerror(errno) : "it is not a file"));
  return std::move(text).str();
}

Result<std::vector<ManifestObject>> read_manifests(const std::string& path, bool strict,
                                                   Interner& interner, std::ostream& warnings) {
  const Result<std::string> text = read_file(path);
  if (!text) return fail(text.error());
  Result<std::vector<ManifestObject>> objects = read_manifest(*text, shown_path(path), interner);
  if (!objects) return objects;
  const std::vector<std::string> faults = name_unknown_fields(*objects);
  if (strict && !faults.empty())
    return fail(ErrorKind::kInvalid, fmt::format("{}", fmt::join(faults, "; ")));
  for (const std::string& fault : faults) warnings << "warning: " << fault << '\n';
  return objects;
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
