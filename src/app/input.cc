#include "app/input.h"

#include <fmt/format.h>

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
