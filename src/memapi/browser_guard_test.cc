#include "memapi/browser_guard.h"

#include <gtest/gtest.h>

#include "memapi/testing/client.h"

namespace berth::memapi {
namespace {

int code_of(const char* host, const char* origin = nullptr, const char* body = "",
            const char* type = nullptr, ApiServerOptions options = {}) {
  testing::Client client(std::move(options));
  net::HttpRequest request;
  request.method = *body == '\0' ? "GET" : "POST";
  request.target = "/api/v1/namespaces";
  request.body = body;
  if (host) request.headers.add("Host", host);
  if (origin) request.headers.add("Origin", origin);
  if (type) request.headers.add("Content-Type", type);
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
  EXPECT_EQ(code_of("localhost", nullptr, body), 415);
  // What a form of a page may send without being asked.
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""})
    EXPECT_EQ(code_of("localhost", nullptr, body, type), 415) << type;
  EXPECT_EQ(code_of("localhost", nullptr, body, "application/json"), 201);
}

TEST(BrowserGuard, WhoHasATokenMayComeFromAnywhere) {
  ApiServerOptions options;
  options.token = "secret";
  EXPECT_EQ(code_of("berth.example.com", "http://example.com", "", nullptr, options), 401);
}

}  // namespace
}  // namespace berth::memapi
