// Objects in both encodings, as upstream's own codecs write them: testing/golden.txt has the JSON
// of an object on one line and its protobuf, envelope included, in hexadecimal on the next. For
// tests and benchmarks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/testing/hex.h"

namespace berth::testing {

struct Golden {
  std::string json;
  std::string proto;  // with its envelope
};

const std::vector<Golden>& golden_objects();
// The one whose JSON has `"kind":"<kind>"` and `"name":"<name>"` (of any object in it).
const Golden& golden(std::string_view kind, std::string_view name);

}  // namespace berth::testing
