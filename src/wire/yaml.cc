#include "wire/yaml.h"

#include <fmt/format.h>
#include <yaml.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/keyed_hash.h"
#include "base/utf8.h"
#include "wire/json_text.h"
#include "wire/yaml_tree.h"

// libyaml, of which Go's library is a translation, cuts the text into events. The tree is made
// here, aliases, merges and what words mean in yaml_tree.cc, so that the rules are Go's and the
// bounds ours.

namespace berth {
namespace {

// ---- from text to trees -------------------------------------------------------------------------

class YamlParser {
 public:
  explicit YamlParser(std::string_view text) {
    usable_ = yaml_parser_initialize(&parser_) == 1;
    if (!usable_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  YamlParser(const YamlParser&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;
  ~YamlParser() {
    if (usable_) yaml_parser_delete(&parser_);
  }

  // The next document, or nothing at the end.
  Result<std::optional<YamlTree>> next() {
    if (!usable_) return fail(ErrorKind::kInternal, "yaml: no memory for a parser");
    tree_ = YamlTree{};
    open_.clear();
    anchors_.clear();
    for (;;) {
      Event event;
      if (yaml_parser_parse(&parser_, &event.value) != 1) return syntax_error();
      switch (event.value.type) {
        case YAML_NO_EVENT:
        case YAML_STREAM_END_EVENT: return std::nullopt;
        case YAML_DOCUMENT_END_EVENT: return std::move(tree_);
        default:
          if (auto taken = take(event.value); !taken) return fail(std::move(taken).error());
      }
    }
  }

 private:
  struct Event {
    yaml_event_t value{};
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { yaml_event_delete(&value); }
  };

  static std::string text_of(const unsigned char* text) {
    return text ? std::string(reinterpret_cast<const char*>(text)) : std::string();
  }

  Result<void> take(const yaml_event_t& event) {
    YamlNode node;
    node.line = static_cast<std::uint32_t>(event.start_mark.line) + 1;
    std::string anchor;
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        node.value.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
        node.tag = text_of(scalar.tag);
        node.plain = scalar.plain_implicit != 0;
        anchor = text_of(scalar.anchor);
        break;
      }
      case YAML_SEQUENCE_START_EVENT:
        node.kind = YamlNode::Kind::kSequence;
        anchor = text_of(event.data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        node.kind = YamlNode::Kind::kMapping;
        anchor = text_of(event.data.mapping_start.anchor);
        break;
      case YAML_ALIAS_EVENT: {
        node.kind = YamlNode::Kind::kAlias;
        node.value = text_of(event.data.alias.anchor);
        const auto found = anchors_.find(node.value);
        if (found == anchors_.end()) {
          return yaml_error(node.line,
                            fmt::format("unknown anchor '{}' referenced", shortened(node.value)));
        }
        node.target = found->second;
        break;
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: open_.pop_back(); return {};
      default: return {};
    }
    return add(std::move(node), anchor);
  }

  Result<void> add(YamlNode node, const std::string& anchor) {
    const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
    const std::size_t line = node.line;
    if (!anchor.empty()) anchors_.insert_or_assign(anchor, index);
    if (open_.empty()) {
      tree_.root = index;
    } else {
      tree_.nodes[open_.back()].children.push_back(index);
    }
    const bool opens =
        node.kind == YamlNode::Kind::kSequence || node.kind == YamlNode::Kind::kMapping;
    tree_.nodes.push_back(std::move(node));
    if (opens) open_.push_back(index);
    if (open_.size() > kMaxNesting)
      return yaml_error(line, fmt::format("exceeded max depth of {}", kMaxNesting));
    return {};
  }

  std::unexpected<Error> syntax_error() const {
    if (parser_.error == YAML_MEMORY_ERROR)
      return fail(ErrorKind::kInternal, "yaml: out of memory");
    return yaml_error(parser_.problem_mark.line + 1,
                      parser_.problem ? parser_.problem : "cannot be read as YAML");
  }

  yaml_parser_t parser_{};
  bool usable_ = false;
  YamlTree tree_;
  std::vector<std::uint32_t> open_;
  boost::unordered_flat_map<std::string, std::uint32_t, TextHash> anchors_;
};

// ---- the text itself ----------------------------------------------------------------------------

// Characters that YAML allows; anything else is refused before a parser sees it.
Result<void> check_characters(std::string_view text) {
  std::size_t line = 1;
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (length == 0) return yaml_error(line, "invalid UTF-8");
    if (c == '\n') ++line;
    const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F ||
                         (c == 0xC2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xA0 &&
                          static_cast<unsigned char>(text[1]) != 0x85);
    const bool not_a_character =
        length == 3 && (text.substr(0, 3) == "\xEF\xBF\xBE" || text.substr(0, 3) == "\xEF\xBF\xBF");
    if (control || not_a_character) return yaml_error(line, "control characters are not allowed");
    text.remove_prefix(length);
  }
  return {};
}

// ---- documents ----------------------------------------------------------------------------------

Result<std::vector<YamlDocument>> read_documents(YamlParser& parser) {
  std::vector<YamlDocument> documents;
  for (;;) {
    auto tree = parser.next();
    if (!tree) return fail(std::move(tree).error());
    if (!*tree) return documents;
    if ((*tree)->nodes.empty()) continue;
    const std::size_t line = (*tree)->nodes[(*tree)->root].line;
    Result<std::string> json = yaml_to_json(**tree);
    if (!json) return fail(std::move(json).error());
    if (*json != "null") documents.push_back({*std::move(json), line});
  }
}

}  // namespace

Result<std::vector<YamlDocument>> parse_yaml(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<YamlDocument> documents;
  if (const auto objects = split_json_objects(text)) {
    for (const JsonSlice& object : *objects)
      documents.push_back({std::string(object.text), object.line});
    return documents;
  }
  if (auto checked = check_characters(text); !checked) return fail(std::move(checked).error());

  YamlParser parser(text);
  return read_documents(parser);
}

}  // namespace berth
