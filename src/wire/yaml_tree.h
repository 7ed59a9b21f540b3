// A YAML document as a tree, between parse_yaml's two halves: the parser that makes it and the
// writer that turns it into JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth {

struct YamlNode {
  enum class Kind : std::uint8_t { kScalar, kSequence, kMapping, kAlias };
  Kind kind = Kind::kScalar;
  bool plain = true;
  std::uint32_t line = 1;
  std::uint32_t target = 0;             // of an alias
  std::string tag;                      // of a scalar
  std::string value;                    // of a scalar; the name of an alias
  std::vector<std::uint32_t> children;  // of a mapping: key, value, key, value, …

  bool is_merge_key() const {
    return kind == Kind::kScalar && value == "<<" &&
           ((plain && tag.empty()) || tag == "tag:yaml.org,2002:merge");
  }
};

struct YamlTree {
  std::vector<YamlNode> nodes;
  std::uint32_t root = 0;
};

// The document as JSON: words resolved, aliases followed, maps merged, keys checked.
Result<std::string> yaml_to_json(const YamlTree& tree);

// "yaml: line 3: …"
std::unexpected<Error> yaml_error(std::size_t line, std::string_view message);
// A name in a message; a user may have written a very long one.
std::string shortened(std::string text);

}  // namespace berth
