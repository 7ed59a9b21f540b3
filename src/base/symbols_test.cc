#include "berth/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/thread.h"

namespace berth {
namespace {

constexpr std::array<std::string_view, 3> kFixed = {"cpu", "memory", "pods"};

TEST(Symbols, EqualTextsAreOneSymbol) {
  Symbols symbols;
  const Symbol zone = symbols.intern("zone-a");
  EXPECT_EQ(symbols.intern(std::string("zone-") + "a"), zone);
  EXPECT_NE(symbols.intern("zone-b"), zone);
  EXPECT_EQ(symbols.text(zone), "zone-a");
  EXPECT_EQ(symbols.size(), 2U);
}

TEST(Symbols, NumbersFollowFromTheStringsAndTheirOrderAndAreClose) {
  Symbols one, other;
  std::uint32_t highest = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::string text = "example.com/resource-" + std::to_string(i);
    const Symbol symbol = one.intern(text);
    EXPECT_EQ(other.intern(text), symbol);
    highest = std::max(highest, symbol.id);
  }
  EXPECT_LT(highest, 9000U) << "the parts of the table are not filled evenly";
}

TEST(Symbols, TheEmptyTextIsTheEmptySymbol) {
  Symbols symbols;
  EXPECT_EQ(symbols.intern(""), Symbol{});
  EXPECT_EQ(symbols.find(""), Symbol{});
  EXPECT_EQ(symbols.text(Symbol{}), "");
  symbols.retain(Symbol{});
  symbols.release(Symbol{});
  EXPECT_EQ(symbols.size(), 0U);
}

TEST(Symbols, TextsMayHaveAnyBytes) {
  Symbols symbols;
  const std::string with_zero("a\0b", 3);
  const Symbol symbol = symbols.intern(with_zero);
  EXPECT_NE(symbol, symbols.intern("a"));
  EXPECT_EQ(symbols.text(symbol), with_zero);
}

TEST(Symbols, FixedNamesHaveTheNumbersOneTwoThree) {
  Symbols symbols(kFixed);
  EXPECT_EQ(symbols.intern("cpu").id, 1U);
  EXPECT_EQ(symbols.find("memory").id, 2U);
  EXPECT_EQ(symbols.text(Symbol{3}), "pods");
  EXPECT_EQ(symbols.size(), 3U);
  EXPECT_GT(symbols.intern("gpu").id, 3U);
}

TEST(Symbols, FixedNamesStayHoweverOftenTheyAreReleased) {
  Symbols symbols(kFixed);
  const Symbol cpu = symbols.intern("cpu");
  for (int i = 0; i < 3; ++i) symbols.release(cpu);
  EXPECT_EQ(symbols.find("cpu"), cpu);
  EXPECT_EQ(symbols.text(cpu), "cpu");
}

TEST(Symbols, AFixedNameGivenTwiceIsABug) {
  const std::array<std::string_view, 2> twice = {"cpu", "cpu"};
  EXPECT_DEATH(Symbols{twice}, "must hold");
}

TEST(Symbols, FindDoesNotHold) {
  Symbols symbols;
  EXPECT_EQ(symbols.find("node-1"), Symbol{});
  const Symbol node = symbols.intern("node-1");
  EXPECT_EQ(symbols.find("node-1"), node);
  symbols.release(node);
  EXPECT_EQ(symbols.find("node-1"), Symbol{});
}

TEST(Symbols, AStringStaysUntilItsLastHolderLeaves) {
  Symbols symbols;
  const Symbol node = symbols.intern("node-1");
  symbols.intern("node-1");
  symbols.retain(node);
  symbols.release(node);
  symbols.release(node);
  EXPECT_EQ(symbols.text(node), "node-1");
  symbols.release(node);
  EXPECT_EQ(symbols.size(), 0U);
}

TEST(Symbols, ChurnDoesNotGrowTheTable) {
  Symbols symbols(kFixed);
  std::uint32_t highest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Symbol symbol = symbols.intern("node-" + std::to_string(i));
    highest = std::max(highest, symbol.id);
    symbols.release(symbol);
  }
  EXPECT_EQ(symbols.size(), kFixed.size());
  EXPECT_LE(highest, 100U) << "numbers of strings that are gone are used again";
}

TEST(Symbols, ManyStringsKeepTheirTextsAndNumbers) {
  Symbols symbols(kFixed);
  std::vector<Symbol> held;
  std::set<Symbol> different;
  for (int i = 0; i < 50'000; ++i) {
    held.push_back(symbols.intern("value-" + std::to_string(i)));
    different.insert(held.back());
  }
  EXPECT_EQ(different.size(), held.size());
  for (int i = 0; i < 50'000; ++i)
    ASSERT_EQ(symbols.text(held[static_cast<std::size_t>(i)]), "value-" + std::to_string(i));
  EXPECT_EQ(symbols.text(Symbol{2}), "memory");
}

TEST(SymbolHold, KeepsSymbolsAliveAsLongAsItLives) {
  const auto symbols = std::make_shared<Symbols>();
  {
    SymbolHold hold(symbols);
    const Symbol zone = hold.intern("zone-a");
    EXPECT_EQ(hold.text(zone), "zone-a");
    EXPECT_EQ(hold.intern(""), Symbol{});
    EXPECT_EQ(hold.size(), 1U);
  }
  EXPECT_EQ(symbols->size(), 0U);
}

TEST(SymbolHold, CopiesHoldForThemselvesAndMovesDoNot) {
  const auto symbols = std::make_shared<Symbols>();
  auto first = std::make_unique<SymbolHold>(symbols);
  first->intern("zone-a");
  SymbolHold copy = *first;
  SymbolHold moved = std::move(*first);
  first.reset();
  moved = SymbolHold(symbols);
  EXPECT_EQ(symbols->size(), 1U) << "the copy still holds it";
  copy = SymbolHold();
  EXPECT_EQ(symbols->size(), 0U);
}

TEST(SymbolHold, RetainsWhatSomebodyElseInterned) {
  const auto symbols = std::make_shared<Symbols>();
  SymbolHold other(symbols);
  SymbolHold owner(symbols);
  other.retain(owner.intern("zone-a"));
  other.retain(Symbol{});
  owner = SymbolHold();
  EXPECT_EQ(symbols->size(), 1U);
  EXPECT_EQ(other.size(), 1U);
}

// Everybody interns, reads and drops the same few strings, so that the last holder's leave and the
// next one's arrival meet all the time.
TEST(ConcurrentSymbols, ThreadsInternReadAndReleaseTheSameStrings) {
  Symbols symbols(kFixed);
  std::atomic<int> wrong{0};
  {
    std::vector<Thread> threads;
    for (int worker = 0; worker < 4; ++worker)
      threads.emplace_back("interner", [&symbols, &wrong, worker] {
        for (int i = 0; i < 5'000; ++i) {
          const std::string text = "zone-" + std::to_string((i + worker) % 3);
          const Symbol symbol = symbols.intern(text);
          if (symbols.text(symbol) != text) ++wrong;
          symbols.retain(symbol);
          if (symbols.find(text) != symbol) ++wrong;
          symbols.release(symbol);
          symbols.release(symbol);
          if (symbols.intern("cpu").id != 1) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(symbols.size(), kFixed.size());
}

TEST(ConcurrentSymbols, TheTableGrowsWhileOthersReadIt) {
  const auto symbols = std::make_shared<Symbols>(kFixed);
  std::atomic<int> wrong{0};
  {
    std::vector<Thread> threads;
    for (int worker = 0; worker < 4; ++worker)
      threads.emplace_back("interner", [&symbols, &wrong, worker] {
        SymbolHold hold(symbols);
        std::vector<Symbol> mine;
        for (int i = 0; i < 3'000; ++i)
          mine.push_back(hold.intern(std::to_string(worker % 2) + "/" + std::to_string(i)));
        for (int i = 0; i < 3'000; ++i)
          if (hold.text(mine[static_cast<std::size_t>(i)]) !=
              std::to_string(worker % 2) + "/" + std::to_string(i))
            ++wrong;
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(symbols->size(), kFixed.size());
}

}  // namespace
}  // namespace berth
