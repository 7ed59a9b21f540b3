#include "api/testing/golden.h"

#include <fmt/format.h>

#include <fstream>

#include "base/check.h"

namespace berth::testing {
namespace {

std::vector<Golden> read_all() {
  std::ifstream file(BERTH_GOLDEN);
  std::vector<Golden> objects;
  std::string json;
  std::string hex;
  while (std::getline(file, json) && std::getline(file, hex))
    objects.push_back({json, from_hex(hex)});
  BERTH_CHECK(!objects.empty());
  return objects;
}

}  // namespace

const std::vector<Golden>& golden_objects() {
  static const std::vector<Golden> objects = read_all();
  return objects;
}

const Golden& golden(std::string_view kind, std::string_view name) {
  for (const Golden& object : golden_objects()) {
    if (object.json.starts_with(fmt::format(R"({{"kind":"{}",)", kind)) &&
        object.json.contains(fmt::format(R"("name":"{}")", name)))
      return object;
  }
  BERTH_CHECK(false);
}

}  // namespace berth::testing
