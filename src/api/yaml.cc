#include "api/yaml.h"

#include <fmt/format.h>
#include <libfyaml.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "api/json_text.h"
#include "api/yaml_scalar.h"

// libfyaml cuts the text into events; the tree, aliases, merges and what words mean are made here,
// so that the rules are Go's and the bounds ours.

namespace berth {
namespace {

std::unexpected<Error> fail_at(std::size_t line, std::string_view message) {
  return fail(ErrorKind::kInvalid, fmt::format("yaml: line {}: {}", line, message));
}

// A name in a message; a user may have written a very long one.
std::string shortened(std::string text) {
  constexpr std::size_t kLongest = 80;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

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

// ---- from text to trees -------------------------------------------------------------------------

struct ParserClose {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct DiagnosticsClose {
  void operator()(fy_diag* diagnostics) const { fy_diag_destroy(diagnostics); }
};

class YamlParser {
 public:
  explicit YamlParser(std::string_view text) {
    fy_diag_cfg quiet{};
    fy_diag_cfg_default(&quiet);
    diagnostics_.reset(fy_diag_create(&quiet));
    if (!diagnostics_) return;
    fy_diag_set_collect_errors(diagnostics_.get(), true);  // instead of printing them

    fy_parse_cfg config{};
    config.search_path = "";
    config.diag = diagnostics_.get();
    // Depth is limited here; libfyaml's own limit is less than manifests have.
    config.flags = static_cast<fy_parse_cfg_flags>(
        FYPCF_DISABLE_DEPTH_LIMIT | FYPCF_DEFAULT_VERSION_1_1 | FYPCF_JSON_NONE |
        FYPCF_SLOPPY_FLOW_INDENTATION);
    parser_.reset(fy_parser_create(&config));
    usable_ = parser_ && fy_parser_set_string(parser_.get(), text.data(), text.size()) == 0;
  }

  // libfyaml does not see that an item of a list may be empty if the list is not indented. The line
  // after such an item, if that is where the parser stopped.
  std::optional<std::size_t> line_after_empty_item() const {
    return missed_empty_item_ ? std::optional(stuck_at_line_) : std::nullopt;
  }

  // The next document, or nothing at the end.
  Result<std::optional<YamlTree>> next() {
    if (!usable_) return fail(ErrorKind::kInternal, "yaml: no memory for a parser");
    tree_ = YamlTree{};
    open_.clear();
    anchors_.clear();
    bool in_document = false;
    for (;;) {
      fy_event* event = fy_parser_parse(parser_.get());
      if (event == nullptr) {
        if (in_document || fy_parser_get_stream_error(parser_.get())) return syntax_error();
        return std::nullopt;
      }
      const Event guard{parser_.get(), event};
      switch (event->type) {
        case FYET_DOCUMENT_START: in_document = true; break;
        case FYET_DOCUMENT_END: return std::move(tree_);
        case FYET_STREAM_END: return std::nullopt;
        default:
          if (auto taken = take(*event); !taken) return fail(std::move(taken).error());
      }
    }
  }

 private:
  struct Event {
    fy_parser* parser;
    fy_event* event;
    Event(fy_parser* p, fy_event* e) : parser(p), event(e) {}
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { fy_parser_event_free(parser, event); }
  };

  static std::string text_of(fy_token* token) {
    if (token == nullptr) return {};
    std::size_t length = 0;
    const char* text = fy_token_get_text(token, &length);
    return text ? std::string(text, length) : std::string();
  }

  Result<void> take(fy_event& event) {
    YamlNode node;
    if (const fy_mark* mark = fy_event_start_mark(&event); mark && mark->line >= 0)
      line_ = static_cast<std::uint32_t>(mark->line) + 1;
    node.line = line_;
    std::string anchor;
    switch (event.type) {
      case FYET_SCALAR:
        node.value = text_of(event.scalar.value);
        node.tag = text_of(event.scalar.tag);
        node.plain = event.scalar.value == nullptr ||
                     fy_token_scalar_style(event.scalar.value) == FYSS_PLAIN;
        anchor = text_of(event.scalar.anchor);
        break;
      case FYET_SEQUENCE_START:
        node.kind = YamlNode::Kind::kSequence;
        anchor = text_of(event.sequence_start.anchor);
        break;
      case FYET_MAPPING_START:
        node.kind = YamlNode::Kind::kMapping;
        anchor = text_of(event.mapping_start.anchor);
        break;
      case FYET_ALIAS: {
        node.kind = YamlNode::Kind::kAlias;
        node.value = text_of(event.alias.anchor);
        const auto found = anchors_.find(node.value);
        if (found == anchors_.end())
          return fail_at(line_, fmt::format("unknown anchor '{}' referenced", shortened(node.value)));
        node.target = found->second;
        break;
      }
      case FYET_SEQUENCE_END:
      case FYET_MAPPING_END:
        if (!open_.empty()) open_.pop_back();
        return {};
      default: return {};
    }
    return add(std::move(node), anchor);
  }

  Result<void> add(YamlNode node, const std::string& anchor) {
    const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
    if (!anchor.empty()) anchors_.insert_or_assign(anchor, index);
    if (open_.empty()) {
      tree_.root = index;
    } else {
      tree_.nodes[open_.back()].children.push_back(index);
    }
    const bool opens =
        node.kind == YamlNode::Kind::kSequence || node.kind == YamlNode::Kind::kMapping;
    tree_.nodes.push_back(std::move(node));
    if (opens) {
      open_.push_back(index);
      if (open_.size() > kMaxNesting)
        return fail_at(line_, fmt::format("exceeded max depth of {}", kMaxNesting));
    }
    return {};
  }

  // Where the parser gave up, and why.
  std::unexpected<Error> syntax_error() {
    std::size_t line = line_;
    std::string message = "cannot be read as YAML";
    void* state = nullptr;
    if (const fy_diag_error* error = fy_diag_errors_iterate(diagnostics_.get(), &state)) {
      if (error->line > 0) line = static_cast<std::size_t>(error->line);
      if (error->msg && *error->msg) message = error->msg;
      stuck_at_line_ = line;
      missed_empty_item_ = message == "did not find expected node content";
    }
    return fail_at(line, message);
  }

  std::unique_ptr<fy_diag, DiagnosticsClose> diagnostics_;
  std::unique_ptr<fy_parser, ParserClose> parser_;
  bool usable_ = false;
  YamlTree tree_;
  std::vector<std::uint32_t> open_;
  boost::unordered_flat_map<std::string, std::uint32_t> anchors_;
  std::uint32_t line_ = 1;
  std::size_t stuck_at_line_ = 0;
  bool missed_empty_item_ = false;
};

// ---- from trees to JSON -------------------------------------------------------------------------

class JsonWriter {
 public:
  explicit JsonWriter(const YamlTree& tree) : tree_(tree), alias_open_(tree.nodes.size()) {}

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
    boost::unordered_flat_map<std::string, std::size_t> places;
  };

  bool stop(std::size_t line, std::string_view message) {
    if (!failure_) failure_ = fail_at(line, message).error();
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
      return stop(node.line, fmt::format("anchor '{}' value contains itself", shortened(node.value)));
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
    if (resolved->type == YamlType::kFloat && (resolved->json == "NaN" || resolved->json.ends_with('f')))
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

// ---- the text itself ----------------------------------------------------------------------------

// Characters that YAML allows; anything else is refused before a parser sees it.
Result<void> check_characters(std::string_view text) {
  std::size_t line = 1;
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (length == 0) return fail_at(line, "invalid UTF-8");
    if (c == '\n') ++line;
    const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F ||
                         (c == 0xC2 && length == 2 && static_cast<unsigned char>(text[1]) < 0xA0 &&
                          static_cast<unsigned char>(text[1]) != 0x85);
    const bool not_a_character = length == 3 && (text.substr(0, 3) == "\xEF\xBF\xBE" ||
                                                 text.substr(0, 3) == "\xEF\xBF\xBF");
    if (control || not_a_character) return fail_at(line, "control characters are not allowed");
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
    Result<std::string> json = JsonWriter(**tree).write();
    if (!json) return fail(std::move(json).error());
    if (*json != "null") documents.push_back({*std::move(json), line});
  }
}

// Writes the null that an item before `line` stands for: "-" becomes "- ~". False if there is no such
// item.
bool say_empty_item(std::string& text, std::size_t line) {
  std::size_t end = 0;
  for (std::size_t i = 1; i < line && end != std::string::npos; ++i) {
    end = text.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  if (end == std::string::npos) end = text.size();
  while (end > 0) {
    const std::size_t newline = end >= 2 ? text.rfind('\n', end - 2) : std::string::npos;
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    std::size_t at = text.find_first_not_of(" \t\r\n", begin);
    const bool blank = at == std::string::npos || at >= end || text[at] == '#';
    if (!blank) {
      // Items may stand in items: "- - ".
      while (at + 1 < end && text[at] == '-' && text[at + 1] == ' ') {
        const std::size_t next = text.find_first_not_of(' ', at + 1);
        if (next == std::string::npos || next >= end || text[next] != '-') break;
        at = next;
      }
      if (text[at] != '-') return false;
      const std::size_t rest = text.find_first_not_of(" \t\r", at + 1);
      if (rest < text.size() && text[rest] != '\n' && text[rest] != '#') return false;
      text.insert(at + 1, " ~");
      return true;
    }
    end = begin;
  }
  return false;
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

  // A text with many empty items is read this often before we lose patience.
  constexpr int kMaxRepairs = 100;
  std::string repaired;
  for (int repairs = 0;; ++repairs) {
    YamlParser parser(text);
    Result<std::vector<YamlDocument>> read = read_documents(parser);
    const auto line = parser.line_after_empty_item();
    if (read || !line || repairs == kMaxRepairs) return read;
    if (repairs == 0) repaired = text;
    if (!say_empty_item(repaired, *line)) return read;
    text = repaired;
  }
}

}  // namespace berth
