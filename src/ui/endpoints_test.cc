#include "ui/endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace berth::ui {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class EndpointsTest : public ::testing::Test {
 protected:
  net::HttpResponse ask(const std::string& target, std::string method = "GET") {
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = target;
    std::optional<net::HttpResponse> answer;
    endpoints.answer(request, net::unescape(request.path()).value(),
                     [&](net::HttpResponse response) { answer = std::move(response); });
    loop.run_until(loop.now());
    return answer.value_or(net::HttpResponse{.status = 0, .headers = {}, .body = {}});
  }
  static std::string header(const net::HttpResponse& response, std::string_view name) {
    return std::string(response.headers.find(name).value_or(""));
  }

  VirtualLoop loop;
  LiveFeed feed{loop, 1};
  Endpoints endpoints{feed, "a </script> scheduler"};
};

TEST_F(EndpointsTest, ThePageMayAskItsOwnServerAndNobodyElse) {
  const net::HttpResponse page = ask("/ui/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(header(page, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(header(page, "Content-Security-Policy"),
              AllOf(HasSubstr("default-src 'none'"), HasSubstr("connect-src 'self'"),
                    HasSubstr("frame-ancestors 'none'"), Not(HasSubstr("unsafe"))));
  // Not by matchers, which would print all of it.
  EXPECT_NE(page.body.find("connect-src 'self'\">"), std::string::npos);
  EXPECT_NE(page.body.find(R"("title": "a \u003c/script> scheduler", "live": true)"),
            std::string::npos);
}

TEST_F(EndpointsTest, TheFolderLeadsToThePage) {
  const net::HttpResponse redirection = ask("/ui");
  EXPECT_EQ(redirection.status, 301);
  EXPECT_EQ(header(redirection, "Location"), "ui/");
}

TEST_F(EndpointsTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(ask("/ui/nothing").status, 404);
  EXPECT_EQ(ask("/ui/data/changes").status, 410);
  EXPECT_EQ(ask("/ui/data/changes?since=1.1-0").status, 410);
  EXPECT_EQ(ask("/ui/data/snapshot").status, 503);  // nobody is followed
  const net::HttpResponse post = ask("/ui/data/snapshot", "POST");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(header(post, "Allow"), "GET");
}

TEST(UiPaths, AreTheFolderAndWhatIsInIt) {
  for (const char* path : {"/ui", "/ui/", "/ui/data/snapshot"})
    EXPECT_TRUE(is_ui_path(path)) << path;
  for (const char* path : {"/", "/uix", "/metrics", "/debug/ui/", ""})
    EXPECT_FALSE(is_ui_path(path)) << path;
}

}  // namespace
}  // namespace berth::ui
