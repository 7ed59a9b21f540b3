#include "net/http_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/testing/names.h"

namespace berth::net {
namespace {

struct Read {
  std::optional<HttpRequest> request;
  std::optional<HttpRefusal> refusal;
  std::string rest;
};

// Gives the reader the bytes in pieces of this size.
Read read(std::string_view bytes, std::size_t piece = 1'000'000, std::size_t max_head = 1000,
          std::size_t max_body = 1000) {
  HttpRequestReader reader(max_head, max_body);
  std::string waiting;
  Read result;
  while (!bytes.empty() && !reader.complete()) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const auto used = reader.put(waiting);
    if (!used) {
      result.refusal = used.error();
      return result;
    }
    waiting.erase(0, *used);
  }
  if (reader.complete()) result.request = reader.take();
  result.rest = waiting + std::string(bytes);
  return result;
}

TEST(HttpRequestReader, ReadsARequestHoweverItIsCut) {
  const std::string_view bytes =
      "POST /api/v1/pods?dryRun=All HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
      "Content-Length: 5\r\n\r\nhelloGET /next HTTP/1.1\r\n";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Read got = read(bytes, piece);
    ASSERT_TRUE(got.request) << piece;
    EXPECT_EQ(got.request->method, "POST");
    EXPECT_EQ(got.request->target, "/api/v1/pods?dryRun=All");
    const HttpHeaders& headers = got.request->headers;
    EXPECT_THAT(std::vector(headers.begin(), headers.end()),
                ElementsAre(Pair("Host", "a"), Pair("Content-Type", "application/json"),
                            Pair("Content-Length", "5")));
    EXPECT_EQ(got.request->body, "hello");
    EXPECT_EQ(got.rest, "GET /next HTTP/1.1\r\n") << piece;
  }
}

TEST(HttpRequestReader, ReadsChunkedBodiesHoweverTheyAreCut) {
  const std::string_view bytes =
      "PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4;x=y\r\nwiki\r\n5\r\npedia\r\n0\r\nTrailer: x\r\n\r\nrest";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Read got = read(bytes, piece);
    ASSERT_TRUE(got.request) << piece;
    EXPECT_EQ(got.request->body, "wikipedia");
    EXPECT_EQ(got.rest, "rest");
  }
}

TEST(HttpRequestReader, TakesAbsoluteTargetsAndEmptyLinesBefore) {
  EXPECT_EQ(read("\r\n\r\nGET http://a:1/x?y HTTP/1.1\r\nHost: a\r\n\r\n").request->target, "/x?y");
  EXPECT_EQ(read("GET HTTPS://a HTTP/1.1\r\nHost: a\r\n\r\n").request->target, "/");
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").request->target, "*");
  EXPECT_EQ(read("GET / HTTP/1.0\r\n\r\n").request->target, "/");
}

TEST(HttpRequestReader, KnowsWhatTheClientExpects) {
  struct Case {
    std::string_view head;
    bool keep_alive;
    bool http_1_0;
    bool expects_continue;
  };
  for (const Case& c :
       {Case{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true, false, false},
        Case{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false, false, false},
        Case{"GET / HTTP/1.0\r\n\r\n", false, true, false},
        Case{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true, true, false},
        Case{"PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n"
             "Content-Length: 3\r\n\r\n",
             true, false, true}}) {
    HttpRequestReader reader(1000, 1000);
    ASSERT_TRUE(reader.put(c.head));
    ASSERT_TRUE(reader.head_complete()) << c.head;
    EXPECT_EQ(reader.keep_alive(), c.keep_alive) << c.head;
    EXPECT_EQ(reader.http_1_0(), c.http_1_0) << c.head;
    EXPECT_EQ(reader.expects_continue(), c.expects_continue) << c.head;
  }
}

TEST(HttpRequestReader, RefusesWhatIsMalformed) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"nonsense\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET relative HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {std::string("\x16\x03\x01\x02\x00", 5), 400},
  };
  for (const auto& [bytes, status] : cases) {
    const Read got = read(bytes);
    ASSERT_TRUE(got.refusal) << bytes;
    EXPECT_EQ(got.refusal->status, status) << bytes;
    EXPECT_FALSE(got.refusal->message.empty());
  }
}

TEST(HttpRequestReader, RefusesWhatIsTooLarge) {
  const std::string fill(2000, 'x');
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(read(head + "Content-Length: 1001\r\n\r\n").refusal->status, 413);
  EXPECT_EQ(read(head + "Content-Length: 99999999999999999\r\n\r\n").refusal->status, 413);
  EXPECT_TRUE(read(head + "Content-Length: 1000\r\n\r\n" + fill.substr(0, 1000)).request);
  EXPECT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + fill).refusal->status, 413);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{100000}}) {
    EXPECT_EQ(read("GET /" + fill, piece).refusal->status, 431) << piece;
    EXPECT_EQ(read(head + "X: " + fill, piece).refusal->status, 431) << piece;
    std::string lines = head;
    for (int i = 0; i < 200; ++i) lines += "X-Some: header\r\n";
    EXPECT_EQ(read(lines, piece).refusal->status, 431) << piece;
  }
}

TEST(HttpAnswers, ResponsesSayTheirLength) {
  HttpResponse response;
  response.headers = {{"Content-Type", "text/plain"}, {"content-length", "99"}};
  response.body = "hello";
  EXPECT_EQ(response_bytes(response, {}),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello");
  HttpAnswerForm form;
  form.head_only = true;
  form.keep_alive = false;
  form.date = "now";
  EXPECT_EQ(response_bytes(response, form),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: now\r\nConnection: close\r\n"
            "Content-Length: 5\r\n\r\n");
  response.status = 204;
  EXPECT_EQ(response_bytes(response, {}),
            "HTTP/1.1 204 No Content\r\nContent-Type: text/plain\r\n\r\n");
  response.status = 799;
  EXPECT_THAT(response_bytes(response, {}), HasSubstr("HTTP/1.1 799 "));
}

TEST(HttpAnswers, AHeaderCannotBeginAnother) {
  HttpResponse response;
  response.headers = {{"X", "a\r\nSet-Cookie: b"}, {"Y\nZ", "c"}};
  EXPECT_THAT(response_bytes(response, {}), Not(HasSubstr("Set-Cookie")));
  EXPECT_THAT(response_bytes(response, {}), HasSubstr("\r\nX: a\r\nY: c\r\n"));
}

TEST(HttpAnswers, StreamsComeInChunks) {
  EXPECT_EQ(stream_head_bytes(200, {{"A", "b"}}, {}),
            "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(chunk_bytes(std::string(26, 'x'), {}), "1a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(chunk_bytes("", {}), "");
  EXPECT_EQ(stream_end_bytes({}), "0\r\n\r\n");
  HttpAnswerForm old;
  old.http_1_0 = true;
  old.keep_alive = false;
  EXPECT_EQ(stream_head_bytes(200, {}, old), "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(chunk_bytes("abc", old), "abc");
  EXPECT_EQ(stream_end_bytes(old), "");
}

TEST(HttpAnswers, DatesAreInTheFormOfTheStandard) {
  EXPECT_EQ(http_date({std::chrono::seconds(784111777)}), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date({std::chrono::seconds(1767225600)}), "Thu, 01 Jan 2026 00:00:00 GMT");
}

}  // namespace
}  // namespace berth::net
