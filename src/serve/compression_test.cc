#include "serve/compression.h"

#include <gtest/gtest.h>

#include "serve/testing/served.h"

namespace berth::serve {
namespace {

TEST(Compression, IsAskedFor) {
  struct Row {
    const char* accept;
    bool wanted;
  };
  for (const Row& row :
       {Row{"gzip", true}, Row{"deflate, gzip;q=0.5", true}, Row{"deflate, br , gzip", true},
        Row{"gzip;q=0", false}, Row{"identity", false}, Row{"x-gzip", false}, Row{"", false}}) {
    net::HttpRequest request;
    request.headers.add("Accept-Encoding", row.accept);
    EXPECT_EQ(accepts_gzip(request), row.wanted) << row.accept;
  }
}

TEST(Compression, MakesLongAnswersShort) {
  net::HttpResponse response;
  response.body = std::string(100'000, 'a');
  compress(response);
  EXPECT_LT(response.body.size(), 10'000u);
  EXPECT_TRUE(response.body.starts_with("\x1f\x8b"));
  EXPECT_EQ(response.headers.find("Content-Encoding"), "gzip");
  net::HttpResponse empty;
  compress(empty);
  EXPECT_EQ(empty.headers.size(), 0u);
}

TEST(Compression, IsUndoneByTheClient) {
  testing::Served served;
  served.registry.add({.name = "x_total", .help = "Counts."}).counter().add(7);
  served.start();
  net::HttpClientOptions options;
  options.proxy = "-";
  options.tls.insecure = true;
  options.compression = true;
  net::HttpClient client(options);
  net::HttpCall call;
  call.url = served.url("/metrics");
  call.bearer_token = "admintoken";
  const Result<net::HttpResponse> response = net::testing::send(client, call);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->headers.find("Content-Encoding"), "gzip");
  EXPECT_NE(response->body.find("\nx_total 7\n"), std::string::npos);
}

}  // namespace
}  // namespace berth::serve
