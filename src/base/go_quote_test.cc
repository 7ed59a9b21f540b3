#include "base/go_quote.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(GoQuote, EscapesWhatATerminalMayNotShow) {
  struct Case {
    std::string_view text;
    std::string_view quoted;
  };
  const Case cases[] = {
      {"", R"("")"},
      {"web-1", R"("web-1")"},
      {R"(a"b\c)", R"("a\"b\\c")"},
      {"\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
      {std::string_view("\0\x1b\x7f", 3), R"("\x00\x1b\x7f")"},
      {"grün 木 🚢", R"("grün 木 🚢")"},
      {"\u00a0\u200b\ufeff", R"("\u00a0\u200b\ufeff")"},
      {"\U000e0001", R"("\U000e0001")"},
      {"a\xff\xc3", R"("a\xff\xc3")"},
  };
  for (const Case& test : cases) EXPECT_EQ(go_quoted(test.text), test.quoted);
}

}  // namespace
}  // namespace berth
