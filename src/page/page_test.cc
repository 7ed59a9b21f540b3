#include "page/page.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace berth::page {
namespace {

// What a browser takes for the data: all up to the first end tag.
std::string data_of(std::string_view html) {
  constexpr std::string_view kTag = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(kTag);
  if (begin == std::string_view::npos) return "no data element";
  html.remove_prefix(begin + kTag.size());
  return std::string(html.substr(0, html.find("</script>")));
}

struct EscapeCase {
  const char* name;
  const char* data;
  const char* written;
};

class PageData : public ::testing::TestWithParam<EscapeCase> {};

TEST_P(PageData, IsWrittenSoThatItStaysData) {
  EXPECT_EQ(data_of(page_with(GetParam().data)), GetParam().written);
}

INSTANTIATE_TEST_SUITE_P(
    Escapes, PageData,
    ::testing::Values(
        EscapeCase{"plain", R"({"title": "a & b > c"})", R"({"title": "a & b > c"})"},
        EscapeCase{"end_tag", R"(["</script><script>alert(1)</script>"])",
                   R"(["\u003c/script>\u003cscript>alert(1)\u003c/script>"])"},
        EscapeCase{"end_tag_in_capitals", R"(["</SCRIPT >"])", R"(["\u003c/SCRIPT >"])"},
        EscapeCase{"comment", R"(["<!-- <script>"])", R"(["\u003c!-- \u003cscript>"])"},
        EscapeCase{"line_separators", "[\"a\xE2\x80\xA8\x62\xE2\x80\xA9\"]",
                   R"(["a\u2028b\u2029"])"},
        EscapeCase{"other_characters", "[\"\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80\"]",
                   "[\"\xC3\xBC \xE2\x82\xAC \xF0\x9F\x98\x80\"]"},
        EscapeCase{"byte_that_is_not_utf8", "[\"\xFF\x3C/script>\"]",
                   "[\"\xEF\xBF\xBD\\u003c/script>\"]"},
        EscapeCase{"character_cut_short", "[\"\xE2\x80\"]", "[\"\xEF\xBF\xBD\xEF\xBF\xBD\"]"},
        // As overlong UTF-8 a '<' is no '<'.
        EscapeCase{"overlong", "[\"\xC0\xBC/script>\"]", "[\"\xEF\xBF\xBD\xEF\xBF\xBD/script>\"]"},
        EscapeCase{"nothing", "", ""}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Page, AsksNobodyForAnything) {
  const std::string html = page_with("{}");
  // Not by matchers, which would print all of it.
  EXPECT_NE(html.find("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "script-src 'sha256-"),
            std::string::npos);
  for (const char* unwanted : {"unsafe-", "<script src", "<link rel=\"stylesheet", "href=\"http",
                               "{{policy", "{{style", "{{library", "{{script", "{{data"})
    EXPECT_EQ(html.find(unwanted), std::string::npos) << unwanted;
}

TEST(Page, OfTheSameDataIsTheSameBytes) {
  EXPECT_EQ(page_with(R"({"title": "x"})"), page_with(R"({"title": "x"})"));
}

}  // namespace
}  // namespace berth::page
