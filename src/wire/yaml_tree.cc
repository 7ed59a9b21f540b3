#include "wire/yaml_tree.h"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <utility>

#include "base/keyed_hash.h"
#include "wire/json_text.h"
#include "wire/yaml_scalar.h"

namespace berth {
namespace {

class YamlToJson {
 public:
  explicit YamlToJson(const YamlTree& tree) : tree_(tree), alias_open_(tree.nodes.size()) {}

  Result<std::string> write() {
    if (value(tree_.root, 1) && !duplicates_.empty()) {
      failure_ = Error{ErrorKind::kInvalid, "yaml: unmarshal errors:" + duplicates_};
    }
    if (failure_) return fail(*std::move(failure_));
    return std::move(out_);
  }

 private:
  using Kind = YamlNode::Kind;

  // A map's entries as they stand after merging, in the order of their first appearance.
  struct Entry {
    std::string key;
    std::uint32_t value = 0;
    bool merged = false;
  };
  struct Entries {
    std::vector<Entry> list;
    boost::unordered_flat_map<std::string, std::size_t, TextHash> places;
  };

  bool stop(std::size_t line, std::string_view message) {
    if (!failure_) failure_ = yaml_error(line, message).error();
    return false;
  }

  // The bounds of go-yaml: a document may consist of aliases to a part that shrinks with its size.
  bool count(std::size_t line) {
    ++visited_;
    if (alias_depth_ > 0) ++visited_by_alias_;
    if (visited_by_alias_ <= 100 || visited_ <= 1000) return true;
    constexpr double kLow = 400'000;
    constexpr double kHigh = 4'000'000;
    const auto total = static_cast<double>(visited_);
    double allowed = 0.99;
    if (total >= kHigh) {
      allowed = 0.10;
    } else if (total > kLow) {
      allowed = 0.99 - 0.89 * (total - kLow) / (kHigh - kLow);
    }
    if (static_cast<double>(visited_by_alias_) / total > allowed) return too_many_aliases(line);
    return true;
  }
  bool too_many_aliases(std::size_t line) {
    return stop(line, "document contains excessive aliasing");
  }

  bool value(std::uint32_t index, std::size_t depth) {
    const YamlNode& node = tree_.nodes[index];
    if (depth > kMaxNesting)
      return stop(node.line, fmt::format("exceeded max depth of {}", kMaxNesting));
    if (!count(node.line)) return false;
    // Large scalars can be repeated, too.
    if (alias_depth_ > 0 && out_.size() > kMaxExpanded) return too_many_aliases(node.line);
    switch (node.kind) {
      case Kind::kScalar: return scalar(node);
      case Kind::kSequence: return sequence(node, depth);
      case Kind::kMapping: return mapping(node, depth);
      case Kind::kAlias: {
        if (!enter_alias(index)) return false;
        const bool written = value(node.target, depth);
        leave_alias(index);
        return written;
      }
    }
    return false;
  }

  bool enter_alias(std::uint32_t index) {
    const YamlNode& node = tree_.nodes[index];
    if (alias_open_[index])
      return stop(node.line,
                  fmt::format("anchor '{}' value contains itself", shortened(node.value)));
    alias_open_[index] = true;
    ++alias_depth_;
    return true;
  }
  void leave_alias(std::uint32_t index) {
    alias_open_[index] = false;
    --alias_depth_;
  }

  std::optional<YamlScalar> resolve(const YamlNode& node) {
    if (node.tag.empty())
      return node.plain ? resolve_plain(node.value) : YamlScalar{YamlType::kString, node.value};
    Result<YamlScalar> resolved = resolve_tagged(node.tag, node.value);
    if (resolved) return *std::move(resolved);
    stop(node.line, resolved.error().message);
    return std::nullopt;
  }

  bool scalar(const YamlNode& node) {
    const auto resolved = resolve(node);
    if (!resolved) return false;
    if (resolved->type == YamlType::kString) {
      append_json_string(out_, resolved->json);
      return true;
    }
    if (resolved->type == YamlType::kFloat &&
        (resolved->json == "NaN" || resolved->json.ends_with('f')))
      return stop(node.line, "unsupported value: " + resolved->json);
    out_ += resolved->json;
    return true;
  }

  bool sequence(const YamlNode& node, std::size_t depth) {
    out_.push_back('[');
    bool first = true;
    for (const std::uint32_t child : node.children) {
      if (!std::exchange(first, false)) out_.push_back(',');
      if (!value(child, depth + 1)) return false;
    }
    out_.push_back(']');
    return true;
  }

  bool mapping(const YamlNode& node, std::size_t depth) {
    Entries entries;
    if (!collect(node, entries, depth, /*merging=*/false)) return false;
    out_.push_back('{');
    bool first = true;
    for (const Entry& entry : entries.list) {
      if (!std::exchange(first, false)) out_.push_back(',');
      append_json_string(out_, entry.key);
      out_.push_back(':');
      if (!value(entry.value, depth + 1)) return false;
    }
    out_.push_back('}');
    return true;
  }

  bool collect(const YamlNode& node, Entries& entries, std::size_t depth, bool merging) {
    if (depth > kMaxNesting)
      return stop(node.line, fmt::format("exceeded max depth of {}", kMaxNesting));
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = tree_.nodes[node.children[i]];
      if (key.is_merge_key()) {
        if (!merge(node.children[i + 1], entries, depth)) return false;
        continue;
      }
      if (!count(key.line)) return false;
      if (!add_entry(key, node.children[i + 1], entries, merging)) return false;
    }
    return true;
  }

  bool add_entry(const YamlNode& written_key, std::uint32_t value_index, Entries& entries,
                 bool merging) {
    const YamlNode* key = &written_key;
    if (key->kind == Kind::kAlias) key = &tree_.nodes[key->target];
    if (key->kind != Kind::kScalar)
      return stop(written_key.line, "invalid map key: neither a map nor a list can be one");
    const auto resolved = resolve(*key);
    if (!resolved) return false;
    Result<std::string> text = yaml_key(*resolved);
    if (!text) return stop(written_key.line, text.error().message);

    const auto [place, is_new] = entries.places.try_emplace(*text, entries.list.size());
    if (is_new) {
      entries.list.push_back({*std::move(text), value_index, merging});
      return true;
    }
    Entry& entry = entries.list[place->second];
    if (merging || entry.merged) {
      // Parity: what comes later counts, also when it comes from a merge.
      entry.value = value_index;
      entry.merged = merging;
      return true;
    }
    duplicates_ += fmt::format("\n  line {}: key {} already set in map",
                               tree_.nodes[value_index].line, shortened(shown_key(*resolved)));
    return true;
  }

  bool merge(std::uint32_t index, Entries& entries, std::size_t depth) {
    const YamlNode& node = tree_.nodes[index];
    if (node.kind == Kind::kSequence) {
      // Of several, the first one counts most.
      for (auto child = node.children.rbegin(); child != node.children.rend(); ++child)
        if (!merge_one(*child, entries, depth + 1)) return false;
      return true;
    }
    return merge_one(index, entries, depth + 1);
  }

  bool merge_one(std::uint32_t index, Entries& entries, std::size_t depth) {
    const YamlNode& node = tree_.nodes[index];
    if (!count(node.line)) return false;
    if (node.kind == Kind::kAlias && tree_.nodes[node.target].kind == Kind::kMapping) {
      if (!enter_alias(index)) return false;
      const bool merged = collect(tree_.nodes[node.target], entries, depth, /*merging=*/true);
      leave_alias(index);
      return merged;
    }
    if (node.kind != Kind::kMapping)
      return stop(node.line, "map merge requires map or sequence of maps as the value");
    return collect(node, entries, depth, /*merging=*/true);
  }

  static constexpr std::size_t kMaxExpanded = 64U << 20;

  const YamlTree& tree_;
  std::vector<bool> alias_open_;
  std::size_t alias_depth_ = 0;
  std::size_t visited_ = 0;
  std::size_t visited_by_alias_ = 0;
  std::string out_;
  std::string duplicates_;
  std::optional<Error> failure_;
};

}  // namespace

Result<std::string> yaml_to_json(const YamlTree& tree) { return YamlToJson(tree).write(); }

std::unexpected<Error> yaml_error(std::size_t line, std::string_view message) {
  return fail(ErrorKind::kInvalid, fmt::format("yaml: line {}: {}", line, message));
}

std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

}  // namespace berth
