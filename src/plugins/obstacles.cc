#include "plugins/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "berth/resources.h"

namespace berth::plugins {
namespace {

constexpr std::size_t kMostValues = 5;  // of a requirement that are named
constexpr std::size_t kMostTerms = 3;   // that are described
constexpr std::size_t kMostTermsAsked = 64;
constexpr std::int64_t kEverydayAmount = std::int64_t{1} << 50;

// The largest suffix that leaves a whole number.
std::string with_suffix(std::int64_t number, std::int64_t base,
                        const std::array<std::string_view, 6>& suffixes) {
  std::size_t suffix = 0;
  while (number % base == 0 && suffix + 1 < suffixes.size()) {
    number /= base;
    ++suffix;
  }
  return fmt::format("{}{}", number, suffixes[suffix]);
}

// "[hdd, ssd]", in the order of their texts.
std::string values_text(const std::vector<Symbol>& values, const Symbols& symbols) {
  std::vector<std::string_view> texts;
  texts.reserve(values.size());
  for (const Symbol value : values) texts.push_back(symbols.text(value));
  std::ranges::sort(texts);
  if (texts.size() <= kMostValues + 1) return fmt::format("[{}]", fmt::join(texts, ", "));
  const std::size_t more = texts.size() - kMostValues;
  texts.resize(kMostValues);
  return fmt::format("[{}, and {} more]", fmt::join(texts, ", "), more);
}

std::string written_text(const SelectorRequirement& written, const Symbols& symbols) {
  if (written.op == SelectorOperator::kUnknown)
    return fmt::format("{} {} {}", symbols.text(written.key), operator_text(written, symbols),
                       values_text(written.values, symbols));
  return requirement_text(written.key, written.op, written.values, symbols);
}

// One term, and what of it a node does not match.
struct OfTerm {
  std::size_t number = 0;
  std::size_t size = 0;  // how many requirements it has
  std::vector<std::string> requirements;
  std::vector<std::string> texts;

  double missing() const {
    return size == 0 ? 1 : static_cast<double>(requirements.size()) / static_cast<double>(size);
  }
};

OfTerm look_at(const NodeSelectorTerm& term, std::size_t number, const Node& node,
               const Symbols& symbols,
               const std::function<bool(const NodeSelectorTerm&)>& matches) {
  OfTerm out{number, term.match_expressions.size() + term.match_fields.size(), {}, {}};
  NodeSelectorTerm single;
  single.match_expressions.resize(1);
  for (const SelectorRequirement& written : term.match_expressions) {
    single.match_expressions.front() = written;
    if (matches(single)) continue;
    out.requirements.push_back(written_text(written, symbols));
    out.texts.push_back(fmt::format("needs label {}, the node has {}", out.requirements.back(),
                                    label_text(written.key, node.labels, symbols)));
    if (written.op == SelectorOperator::kDoesNotExist)
      out.texts.back() =
          fmt::format("must not have label {}, the node has {}", symbols.text(written.key),
                      label_text(written.key, node.labels, symbols));
  }
  single.match_expressions.clear();
  single.match_fields.resize(1);
  for (const SelectorRequirement& written : term.match_fields) {
    single.match_fields.front() = written;
    if (matches(single)) continue;
    out.requirements.push_back(written_text(written, symbols));
    out.texts.push_back(
        fmt::format("needs field {}, the node is {}", out.requirements.back(), node.name));
  }
  if (out.requirements.empty()) {
    const char* kind = out.size == 0 ? "empty term" : "invalid term";
    out.requirements.emplace_back(kind);
    out.texts.push_back(fmt::format("an {} matches no node", kind));
  }
  return out;
}

}  // namespace

std::string left_out_sentence(std::string_view plugin) {
  return fmt::format("node(s) didn't satisfy plugin(s) [{}]", plugin);
}

std::string amount_text(std::string_view resource, std::int64_t amount) {
  const bool is_cpu = resource == "cpu";
  const bool is_bytes = resource == "memory" || resource == "ephemeral-storage" ||
                        resource == "storage" || resource.starts_with("hugepages-");
  // The canonical form of most amounts needs no arithmetic on big numbers.
  if (amount == 0) return "0";
  if (std::abs(amount) < kEverydayAmount) {
    if (is_cpu && amount % 1000 != 0) return fmt::format("{}m", amount);
    if (is_bytes && std::abs(amount) >= 1024)
      return with_suffix(amount, 1024, {"", "Ki", "Mi", "Gi", "Ti", "Pi"});
    return with_suffix(is_cpu ? amount / 1000 : amount, 1000, {"", "k", "M", "G", "T", "P"});
  }
  if (is_cpu) return Quantity::of_milli(amount).to_string();
  return Quantity::of(amount, is_bytes ? Quantity::Format::kBinarySI : Quantity::Format::kDecimalSI)
      .to_string();
}

double missing_part(std::int64_t wanted, std::int64_t available) {
  if (wanted <= 0 || available <= 0) return 1;
  return std::clamp(1 - static_cast<double>(available) / static_cast<double>(wanted), 0.0, 1.0);
}

std::string requirement_text(Symbol key, SelectorOperator op, const std::vector<Symbol>& values,
                             const Symbols& symbols) {
  const std::string_view name = symbols.text(key);
  const auto bound = [&] { return values.empty() ? std::string_view() : symbols.text(values[0]); };
  switch (op) {
    case SelectorOperator::kIn: return fmt::format("{} in {}", name, values_text(values, symbols));
    case SelectorOperator::kNotIn:
      return fmt::format("{} not in {}", name, values_text(values, symbols));
    case SelectorOperator::kExists: return std::string(name);
    case SelectorOperator::kDoesNotExist: return fmt::format("no {}", name);
    case SelectorOperator::kGreaterThan: return fmt::format("{} > {}", name, bound());
    case SelectorOperator::kLessThan: return fmt::format("{} < {}", name, bound());
    case SelectorOperator::kUnknown: break;
  }
  return std::string(name);
}

std::string selector_text(const Selector& selector, const Symbols& symbols) {
  if (selector.is_nothing()) return "no pods";
  if (selector.is_empty()) return "all pods";
  std::vector<std::string> texts;
  for (const Requirement& requirement : selector.requirements())
    if (requirement.op == SelectorOperator::kIn && requirement.values.size() == 1)
      texts.push_back(fmt::format("{}={}", symbols.text(requirement.key),
                                  symbols.text(requirement.values.front())));
    else
      texts.push_back(
          requirement_text(requirement.key, requirement.op, requirement.values, symbols));
  std::ranges::sort(texts);  // a compiled selector is in the order of its symbols' numbers
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string label_text(Symbol key, const LabelSet& labels, const Symbols& symbols) {
  const Symbol* value = labels.find(key);
  return value ? fmt::format("{}={}", symbols.text(key), symbols.text(*value))
               : fmt::format("no label {}", symbols.text(key));
}

TermMismatch mismatch_of(std::span<const NodeSelectorTerm> terms, const Node& node,
                         const Symbols& symbols,
                         const std::function<bool(const NodeSelectorTerm&)>& matches) {
  TermMismatch out;
  if (terms.empty()) {
    out.subject = "no term";
    out.text = "the node affinity has no term, so that it matches no node";
    return out;
  }
  // Of many terms the first are looked at; the nearest of these is described even if it is not one
  // of the first few.
  std::vector<OfTerm> looked_at;
  for (std::size_t i = 0; i < std::min(terms.size(), kMostTermsAsked); ++i)
    looked_at.push_back(look_at(terms[i], i, node, symbols, matches));
  std::ranges::sort(looked_at, {},
                    [](const OfTerm& term) { return std::pair(term.missing(), term.number); });
  looked_at.resize(std::min(looked_at.size(), kMostTerms));
  out.term = looked_at.front().number;
  out.requirements = looked_at.front().requirements;
  out.distance = looked_at.front().missing();
  std::ranges::sort(looked_at, {}, &OfTerm::number);
  for (const OfTerm& term : looked_at) {
    const std::string number = terms.size() > 1 ? fmt::format("term {}: ", term.number) : "";
    if (!out.subject.empty()) out.subject += " or ";
    out.subject += fmt::format("{}", fmt::join(term.requirements, " and "));
    if (!out.text.empty()) out.text += "; ";
    out.text += number + fmt::format("{}", fmt::join(term.texts, ", and "));
  }
  if (terms.size() > looked_at.size()) {
    const std::string more = fmt::format(" and {} more terms", terms.size() - looked_at.size());
    out.subject += more;
    out.text += ";" + more;
  }
  return out;
}

}  // namespace berth::plugins
