// Symbols: strings as 32-bit numbers.
//
// Label keys and values, namespaces, node and resource names and images repeat a million times in a
// cluster and are compared all day; they become symbols where objects enter, and are turned back
// into text only to be shown. One table per engine; it arrives by constructor.
//
// A symbol is valid while it is held: objects that keep symbols keep a SymbolHold with them. When
// the last holder of a string is gone its number is given to another string, so that the table does
// not grow with churn. Names of pods and UIDs, which hardly repeat, do not belong here.
//
// Threads: Symbols may be used from any thread; a SymbolHold belongs to one thread at a time. A
// SymbolHold without a table holds nothing: it has no text and cannot intern.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// 0 is the empty string in every table.
struct Symbol {
  std::uint32_t id = 0;

  bool empty() const { return id == 0; }
  friend auto operator<=>(Symbol, Symbol) = default;
};

class Symbols {
 public:
  // `fixed` get the numbers 1, 2, … and stay for ever: names that the code itself knows.
  explicit Symbols(std::span<const std::string_view> fixed = {});
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // The symbol of `text`, with one more holder.
  Symbol intern(std::string_view text);
  // The symbol of `text` if it is held, else the empty symbol. Not held for the caller.
  Symbol find(std::string_view text) const;

  void retain(Symbol symbol);
  void release(Symbol symbol);

  // The text, as long as the symbol is held.
  std::string_view text(Symbol symbol) const;

  // How many strings there are now.
  std::size_t size() const;

 private:
  struct Entry;
  struct Constants;
  struct Shard;
  Entry& entry(std::uint32_t id) const;

  static constexpr std::uint32_t kShards = 16;  // few threads intern at once
  std::uint32_t fixed_ = 0;
  std::unique_ptr<const Constants> constants_;
  std::unique_ptr<Shard[]> shards_;
};

// The symbols that one object keeps alive.
class SymbolHold {
 public:
  SymbolHold() = default;
  explicit SymbolHold(std::shared_ptr<Symbols> table) : table_(std::move(table)) {}
  SymbolHold(const SymbolHold& other);
  SymbolHold(SymbolHold&& other) noexcept
      : table_(std::move(other.table_)), held_(std::move(other.held_)) {
    other.held_.clear();
  }
  SymbolHold& operator=(SymbolHold other) noexcept {
    std::swap(table_, other.table_);
    std::swap(held_, other.held_);
    return *this;
  }
  ~SymbolHold();

  Symbol intern(std::string_view text);
  void retain(Symbol symbol);
  std::string_view text(Symbol symbol) const { return table_->text(symbol); }

  const std::shared_ptr<Symbols>& table() const { return table_; }
  std::size_t size() const { return held_.size(); }
  // For memory accounting and to give back what growing left over.
  void shrink_to_fit() { held_.shrink_to_fit(); }

 private:
  std::shared_ptr<Symbols> table_;
  std::vector<Symbol> held_;
};

}  // namespace berth

template <>
struct std::hash<berth::Symbol> {
  std::size_t operator()(berth::Symbol symbol) const noexcept {
    // Fibonacci hashing: consecutive numbers must not land in consecutive buckets' low bits only.
    return static_cast<std::size_t>(symbol.id) * 0x9e3779b97f4a7c15ULL;
  }
};
