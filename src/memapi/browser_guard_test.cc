#include "memapi/browser_guard.h"

#include <gtest/gtest.h>

#include "memapi/testing/client.h"

namespace berth::memapi {
namespace {

struct Header {
  const char* name;
  const char* value;
};

int code_of(const char* host, const char* origin = nullptr, const char* body = "",
            const char* type = nullptr, ApiServerOptions options = {}, Header more = {}) {
  testing::Client client(std::move(options));
  net::HttpRequest request;
  request.method = *body == '\0' ? "GET" : "POST";
  request.target = "/api/v1/namespaces";
  request.body = body;
  if (host) request.headers.add("Host", host);
  if (origin) request.headers.add("Origin", origin);
  if (type) request.headers.add("Content-Type", type);
  if (more.name) request.headers.add(more.name, more.value);
  auto recorder = std::make_shared<testing::Recorder>();
  client.server.handle(std::move(request), recorder);
  return recorder->response.status;
}

TEST(BrowserGuard, OnlyNamesOfThisMachineAreServed) {
  for (const char* host :
       {"localhost", "localhost:8001", "127.0.0.1:8001", "127.8.8.8", "[::1]:8001", "[::1]"})
    EXPECT_EQ(code_of(host), 200) << host;
  EXPECT_EQ(code_of(nullptr), 200);
  for (const char* host :
       {"example.com", "example.com:8001", "127.0.0.1.example.com", "localhost.example.com:8001",
        "127.example.1.1", "10.0.0.1:8001", "[::2]:8001", "[fe80::1]", "localhost@example.com"})
    EXPECT_EQ(code_of(host), 403) << host;
}

TEST(BrowserGuard, PagesOfOtherOriginsAreNotServed) {
  EXPECT_EQ(code_of("localhost:8001", "http://localhost:8001"), 200);
  for (const char* origin : {"http://example.com", "null", "http://localhost:3000",
                             "https://localhost:8001", "http://localhost:8001.example.com", ""})
    EXPECT_EQ(code_of("localhost:8001", origin), 403) << origin;
}

TEST(BrowserGuard, ABodySaysWhatItIs) {
  const char* body = R"({"metadata":{"name":"x"}})";
  // What a form of a page may send without being asked.
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"})
    EXPECT_EQ(code_of("localhost", nullptr, body, type), 415) << type;
  EXPECT_EQ(code_of("localhost", nullptr, body, "application/json"), 201);
}

TEST(BrowserGuard, ABodyOfABrowserNeedsAType) {
  const char* body = R"({"metadata":{"name":"x"}})";
  EXPECT_EQ(code_of("localhost", "http://localhost", body), 415);
  EXPECT_EQ(code_of("localhost", "http://localhost", body, ""), 415);
  for (const Header& header : {Header{"Sec-Fetch-Site", "same-site"},
                               {"Sec-Fetch-Mode", "no-cors"},
                               {"User-Agent", "Mozilla/5.0 (X11; Linux x86_64)"}})
    EXPECT_EQ(code_of("localhost", nullptr, body, nullptr, {}, header), 415) << header.name;
  // Other programs' bodies are JSON, as at a real server.
  EXPECT_EQ(code_of("localhost", nullptr, body), 201);
  EXPECT_EQ(code_of("localhost", nullptr, body, nullptr, {}, {"User-Agent", "e2e.test/v1.37.1"}),
            201);
}

TEST(BrowserGuard, WhoHasATokenMayComeFromAnywhere) {
  ApiServerOptions options;
  options.token = "secret";
  EXPECT_EQ(code_of("berth.example.com", "http://example.com", "", nullptr, options), 401);
}

}  // namespace
}  // namespace berth::memapi
