#include "net/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"

namespace berth::net {
namespace {

TEST(HttpHeaders, NamesCompareWithoutRegardToCase) {
  HttpHeaders headers{{"Content-Type", "text/plain"}, {"accept", "a"}, {"Accept", "b"}};
  EXPECT_EQ(headers.find("content-TYPE"), "text/plain");
  EXPECT_EQ(headers.find("ACCEPT"), "a");
  EXPECT_EQ(headers.find("accept-language"), std::nullopt);
  EXPECT_EQ(headers.find("accep"), std::nullopt);
  EXPECT_EQ(headers.joined("Accept"), "a, b");
  EXPECT_EQ(headers.joined("Via"), "");
}

TEST(HttpHeaders, JoinedKeepsEmptyValues) {
  const HttpHeaders headers{{"X", ""}, {"X", "b"}};
  EXPECT_EQ(headers.joined("x"), ", b");
}

TEST(HttpHeaders, SetTakesThePlaceOfAllOfThatName) {
  HttpHeaders headers{{"A", "1"}, {"B", "2"}, {"a", "3"}};
  headers.set("A", "4");
  EXPECT_THAT(std::vector(headers.begin(), headers.end()),
              ElementsAre(Pair("B", "2"), Pair("A", "4")));
  headers.add("b", "5");
  EXPECT_EQ(headers.size(), 3u);
}

TEST(HttpRequest, SplitsTheTargetAtTheFirstQuestionMark) {
  HttpRequest request;
  request.target = "/api/v1/pods?watch=true&x=a?b";
  EXPECT_EQ(request.path(), "/api/v1/pods");
  EXPECT_EQ(request.query(), "watch=true&x=a?b");
  request.target = "/healthz";
  EXPECT_EQ(request.path(), "/healthz");
  EXPECT_EQ(request.query(), "");
  request.target = "";
  EXPECT_EQ(request.path(), "");
}

TEST(HttpQuery, ParametersComeUnescapedAndInOrder) {
  EXPECT_THAT(parse_query("labelSelector=app%3Dweb%2Ctier%3Da+b&watch=&x&labelSelector=2"),
              ElementsAre(Pair("labelSelector", "app=web,tier=a b"), Pair("watch", ""),
                          Pair("x", ""), Pair("labelSelector", "2")));
  EXPECT_THAT(parse_query(""), IsEmpty());
  EXPECT_THAT(parse_query("&&"), IsEmpty());
  EXPECT_THAT(parse_query("a=%zz&b=%4&c=1"), ElementsAre(Pair("c", "1")));
}

TEST(HttpEscapes, BrokenOnesAreNothing) {
  EXPECT_EQ(unescape("a%20b+c"), "a b+c");
  EXPECT_EQ(unescape("a%20b+c", true), "a b c");
  EXPECT_EQ(unescape("%"), std::nullopt);
  EXPECT_EQ(unescape("%4"), std::nullopt);
  EXPECT_EQ(unescape("%4g"), std::nullopt);
  EXPECT_EQ(unescape("%00"), std::string(1, '\0'));
}

TEST(HttpEscapes, EveryByteSurvivesTheWayThereAndBack) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string escaped = escape(all);
  for (const char c : escaped) EXPECT_TRUE(c > ' ' && c < 127);
  EXPECT_EQ(unescape(escaped, true), all);
  EXPECT_EQ(escape("a-b_c.d~e/f ü"), "a-b_c.d~e%2Ff%20%C3%BC");
}

}  // namespace
}  // namespace berth::net
