// YAML as Go programs read it: each document becomes JSON text, with YAML 1.1 scalars resolved the
// way sigs.k8s.io/yaml does (yes and on are booleans, 0x1f and 1_000 are numbers, ~ is null). JSON
// is YAML too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth {

struct YamlDocument {
  std::string json;
  std::size_t line = 1;  // where the document begins
};

// Documents that are empty or only comments are left out. A key that stands twice in a map is an
// error with the text that Go's YAML library gives it:
//   yaml: unmarshal errors:\n  line 5: key "parallelism" already set in map
Result<std::vector<YamlDocument>> parse_yaml(std::string_view text);

}  // namespace berth
