// Labels, and the selectors that match them.
//
// Symbols in a LabelSet or a selector are held by the object they are part of (a pod's spec or
// meta, a node), not here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"
#include "berth/symbols.h"

namespace berth {

struct Label {
  Symbol key;
  Symbol value;

  friend auto operator<=>(const Label&, const Label&) = default;
};

// Sorted by key (by number, not by text); a key is there at most once.
class LabelSet {
 public:
  LabelSet() = default;
  explicit LabelSet(std::vector<Label> labels);  // in any order; of equal keys the last one counts

  // Null when the key is absent; a present key may have the empty value.
  const Symbol* find(Symbol key) const;
  bool contains(Symbol key) const { return find(key) != nullptr; }
  // The value, or the empty symbol when the key is absent.
  Symbol get(Symbol key) const {
    const Symbol* value = find(key);
    return value ? *value : Symbol{};
  }

  bool empty() const { return labels_.empty(); }
  std::size_t size() const { return labels_.size(); }
  auto begin() const { return labels_.begin(); }
  auto end() const { return labels_.end(); }

  friend bool operator==(const LabelSet&, const LabelSet&) = default;

 private:
  std::vector<Label> labels_;
};

enum class SelectorOperator : std::uint8_t {
  kIn,
  kNotIn,
  kExists,
  kDoesNotExist,
  kGreaterThan,  // node selectors only
  kLessThan,     // node selectors only
  kUnknown,      // what the object says is in SelectorRequirement::operator_text
};

// One requirement as it is written in an object; whether it makes sense is found out when it is
// compiled.
struct SelectorRequirement {
  Symbol key;
  SelectorOperator op = SelectorOperator::kIn;
  Symbol operator_text;
  std::vector<Symbol> values;

  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

// metav1.LabelSelector as written. An absent one (std::nullopt where it is used) matches nothing,
// an empty one everything.
struct LabelSelector {
  std::vector<Label> match_labels;
  std::vector<SelectorRequirement> match_expressions;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// A compiled requirement.
struct Requirement {
  Symbol key;
  SelectorOperator op = SelectorOperator::kIn;  // never kUnknown
  std::vector<Symbol> values;                   // sorted
  std::int64_t bound = 0;                       // of kGreaterThan and kLessThan

  bool matches(const LabelSet& labels, const Symbols& symbols) const;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// A compiled selector.
class Selector {
 public:
  static Selector nothing();
  static Selector everything() { return Selector(); }
  // An absent selector gives nothing(). Errors are upstream's sentences (plugins.md §2.1).
  static Result<Selector> compile(const std::optional<LabelSelector>& written,
                                  const Symbols& symbols);
  // Equality with each of the labels, unchecked: nodeSelector, a Service's selector.
  static Selector of_set(const std::vector<Label>& labels);

  bool matches(const LabelSet& labels, const Symbols& symbols) const;
  bool is_nothing() const { return nothing_; }
  // Everything: no requirement at all.
  bool is_empty() const { return !nothing_ && requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  void add(Requirement requirement) { requirements_.push_back(std::move(requirement)); }

  friend bool operator==(const Selector&, const Selector&) = default;

 private:
  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

// Checks one written requirement. `path` begins the error's sentence.
Result<Requirement> compile_requirement(const SelectorRequirement& written, const Symbols& symbols,
                                        const std::string& path);
// The same, with everything that is wrong as a sentence of its own; `compiled` counts only if there
// is none.
std::vector<std::string> check_requirement(const SelectorRequirement& written,
                                           const Symbols& symbols, const std::string& path,
                                           Requirement& compiled);

// Several sentences as one error: each once, in brackets if there is more than one. An object may
// have tens of thousands of mistakes: past so many bytes they are only counted.
inline constexpr std::size_t kLongestAggregate = std::size_t{64} << 10;
Error aggregate(const std::vector<std::string>& sentences);
// A list of strings as errors show it: ["a","b"], or null.
std::string quoted_list(const std::vector<Symbol>& values, const Symbols& symbols);
// What the object says: "In", "Gt", …
std::string_view operator_text(const SelectorRequirement& written, const Symbols& symbols);

bool is_valid_label_key(std::string_view key);
// What is wrong with a label key or another qualified name, in upstream's words.
std::vector<std::string> label_key_problems(std::string_view key);
bool is_valid_label_value(std::string_view value);
// Digits with an optional sign, in the range of 64 bits.
std::optional<std::int64_t> parse_label_integer(std::string_view text);

}  // namespace berth
