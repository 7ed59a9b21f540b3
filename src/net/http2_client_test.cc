// The client against a server that speaks HTTP/2, in good manners and bad.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <atomic>
#include <future>
#include <set>

#include "base/testing/names.h"
#include "net/http_client.h"
#include "net/testing/http2_server.h"
#include "net/testing/loopback.h"

namespace berth::net::testing {
namespace {

HttpClientOptions options() {
  HttpClientOptions options = plain_options();
  options.tls = client_tls();
  return options;
}

HttpCall post(const std::string& url, std::string body) {
  HttpCall call = get(url);
  call.method = "POST";
  call.body = std::move(body);
  return call;
}

// "POST /x body", and the head in words.
void describe_request(Http2Peer& peer, const Http2Request& request) {
  std::string head;
  for (const char* name : {"content-type", "content-length", "authorization", "user-agent",
                           "accept", "x-extra", "connection", "host"})
    head += std::string(name) + "=" + request.headers.joined(name) + ";";
  peer.respond(request.stream, request.path == "/missing" ? 404 : 200,
               request.method + " " + request.path + " " + request.body + "\n" + head);
}

void keep_waiting(Http2Peer&, const Http2Request&) {}

TEST(Http2Client, SendsWhatItIsToldAndReturnsWhatIsAnswered) {
  const Http2Server server(describe_request);
  HttpClient client(options());
  HttpCall call = post(server.url("/a/../b?c=%20"), std::string("a\0b", 3));
  call.headers.add("Content-Type", "application/json");
  call.headers.add("X-Extra", "1");
  call.headers.add("X-Extra", "2");
  call.headers.add("Connection", "close");  // has no meaning here
  call.bearer_token = "secret";
  const Result<HttpResponse> answer = send(client, call);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "POST /a/../b?c=%20 " + call.body +
                              "\ncontent-type=application/json;content-length=3;"
                              "authorization=Bearer secret;user-agent=berth;accept=*/*;"
                              "x-extra=1, 2;connection=;host=;");
  EXPECT_EQ(answer->headers.find("Content-Type"), "text/plain");
  EXPECT_EQ(send(client, get(server.url("/missing")))->status, 404);
  EXPECT_THAT(send(client, get(server.url("?x")))->body, HasSubstr("GET /?x "));
  EXPECT_THAT(send(client, post(server.url(""), ""))->body, HasSubstr("content-length=0;"));
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Client, WhatIsNotToBeSentAnyMoreIsNotSentAndTheConnectionGoesOn) {
  std::atomic<int> asked = 0;
  const Http2Server server([&](Http2Peer& peer, const Http2Request& request) {
    ++asked;
    describe_request(peer, request);
  });
  HttpClient client(options());
  HttpCall call = post(server.url("/x"), "body");
  for (int i = 0; i < 3; ++i) {
    call.headers.add("X-Extra", std::to_string(i));
    call.may_send = [] { return false; };
    const Result<HttpResponse> withheld = send(client, call);
    ASSERT_FALSE(withheld);
    EXPECT_EQ(withheld.error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(asked, i);
    call.may_send = [] { return true; };
    const Result<HttpResponse> answer = send(client, call);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_THAT(answer->body, HasSubstr("POST /x body"));
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Client, WhatWaitsForAStreamIsAskedAboutAgainWhenSomethingHappens) {
  // One stream at a time, and the first takes for ever.
  std::promise<void> first_arrived;
  std::atomic<bool> second_arrived = false;
  const Http2Server server(
      [&](Http2Peer& peer, const Http2Request& request) {
        if (request.path == "/settings") return describe_request(peer, request);
        if (request.path == "/first") return first_arrived.set_value();
        second_arrived = true;
      },
      1);
  HttpClient client(options());
  ASSERT_TRUE(send(client, get(server.url("/settings"))));  // now the limit is known
  client.send(get(server.url("/first")), [](const Result<HttpResponse>&) {});
  first_arrived.get_future().wait();
  std::promise<void> waits;
  std::atomic<int> questions = 0;
  std::atomic<bool> wanted = true;
  HttpCall call = post(server.url("/second"), "body");
  call.may_send = [&] {
    if (++questions == 1) waits.set_value();
    return wanted.load();
  };
  std::promise<Result<HttpResponse>> second;
  client.send(call, [&](Result<HttpResponse> answer) { second.set_value(std::move(answer)); });
  waits.get_future().wait();
  wanted = false;
  client.send(get(server.url("/third")), [](const Result<HttpResponse>&) {});
  const Result<HttpResponse> answer = second.get_future().get();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kCancelled);
  EXPECT_FALSE(second_arrived);
}

TEST(Http2Client, ConcurrentCallsShareAConnection) {
  const Http2Server server(describe_request, 7);  // fewer at once than are sent
  HttpClient client(options());
  std::atomic<int> good = 0;
  {
    std::vector<Thread> callers;
    for (int c = 0; c < 4; ++c)
      callers.emplace_back("caller", [&, c] {
        std::vector<std::promise<void>> ended(50);
        for (int i = 0; i < 50; ++i) {
          const std::string path = "/" + std::to_string(c) + "/" + std::to_string(i);
          client.send(get(server.url(path)), [&, i, path](const Result<HttpResponse>& answer) {
            if (answer && answer->body.starts_with("GET " + path + " ")) ++good;
            ended[static_cast<std::size_t>(i)].set_value();
          });
        }
        for (std::promise<void>& each : ended) each.get_future().wait();
      });
  }
  EXPECT_EQ(good, 200);
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Client, LargeBodiesGoBothWays) {
  const Http2Server server(describe_request);
  HttpClient client(options());
  HttpCall call = post(server.url("/"), "");
  for (int i = 0; call.body.size() < 9'000'000; ++i) call.body += std::to_string(i);
  const Result<HttpResponse> answer = send(client, call);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->body.starts_with("POST / " + call.body + "\n"));
}

TEST(Http2Client, AnAnswerTooLargeForUsIsAnErrorAndTheConnectionGoesOn) {
  const Http2Server server(describe_request);
  HttpClientOptions small = options();
  small.max_response_bytes = 1000;
  HttpClient client(small);
  const Result<HttpResponse> answer = send(client, post(server.url("/"), std::string(2000, 'x')));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(answer.error().message, HasSubstr("the answer is larger than 1000 bytes"));
  EXPECT_TRUE(send(client, get(server.url("/"))));
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Client, StreamsArrivePieceByPieceBesideOtherCalls) {
  std::int32_t watch = 0;
  const Http2Server server([&](Http2Peer& peer, const Http2Request& request) {
    if (request.path == "/watch") {
      watch = request.stream;
      return peer.begin(watch, "one ");
    }
    peer.write(watch, request.body, request.path == "/last");
    peer.respond(request.stream, 200, "");
  });
  HttpClient client(options());
  StreamLog log;
  client.stream(get(server.url("/watch")), log.callbacks());
  EXPECT_EQ(log.status(), 200);
  EXPECT_EQ(log.headers().find("content-type"), "text/plain");
  EXPECT_TRUE(log.wait_for("one "));
  EXPECT_TRUE(send(client, post(server.url("/"), "two ")));
  EXPECT_TRUE(log.wait_for("one two "));
  EXPECT_TRUE(send(client, post(server.url("/last"), "three")));
  EXPECT_TRUE(log.ended());
  EXPECT_EQ(log.text(), "one two three");
}

TEST(Http2Client, WhatComesBeforeTheAnswerIsNotTheAnswer) {
  const Http2Server server([](Http2Peer& peer, const Http2Request& request) {
    peer.inform(request.stream, 103);
    peer.respond(request.stream, 201, "done");
  });
  HttpClient client(options());
  const Result<HttpResponse> answer = send(client, get(server.url("/")));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 201);
  EXPECT_EQ(answer->body, "done");
}

TEST(Http2Client, TimeOutsAndCancelsEndACallAndNotTheConnection) {
  const Http2Server server([](Http2Peer& peer, const Http2Request& request) {
    if (request.path != "/slow") describe_request(peer, request);
  });
  HttpClient client(options());
  HttpCall call = get(server.url("/slow"));
  call.timeout = std::chrono::milliseconds(50);
  ASSERT_TRUE(send(client, get(server.url("/"))));
  const Result<HttpResponse> late = send(client, call);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(late.error().message, "Get \"" + call.url + "\": context deadline exceeded");
  StreamLog log;
  client.cancel(client.stream(get(server.url("/slow")), log.callbacks()));
  EXPECT_EQ(log.ended().error().kind, ErrorKind::kCancelled);
  EXPECT_TRUE(send(client, get(server.url("/"))));
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Client, WhatIsUnderWayAtTheEndIsCancelled) {
  const Http2Server server(keep_waiting);
  std::vector<Result<HttpResponse>> answers;
  {
    HttpClient client(options());
    for (int i = 0; i < 3; ++i)
      client.send(get(server.url("/")),
                  [&](Result<HttpResponse> answer) { answers.push_back(std::move(answer)); });
  }
  ASSERT_EQ(answers.size(), 3u);
  for (const Result<HttpResponse>& answer : answers)
    EXPECT_EQ(answer.error().kind, ErrorKind::kCancelled);
}

TEST(Http2Client, WhatTheServerRefusedIsSentAgain) {
  std::atomic<int> asked = 0;
  const Http2Server server([&](Http2Peer& peer, const Http2Request& request) {
    if (++asked <= 2) return peer.reset(request.stream, NGHTTP2_REFUSED_STREAM);
    describe_request(peer, request);
  });
  HttpClient client(options());
  const Result<HttpResponse> answer = send(client, post(server.url("/x"), "body"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->body, HasSubstr("POST /x body"));
  EXPECT_EQ(asked, 3);
}

TEST(Http2Client, AServerThatRefusesForEverIsAnError) {
  std::atomic<int> asked = 0;
  const Http2Server server([&](Http2Peer& peer, const Http2Request& request) {
    ++asked;
    peer.reset(request.stream, NGHTTP2_REFUSED_STREAM);
  });
  HttpClient client(options());
  EXPECT_EQ(send(client, get(server.url("/"))).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(asked, 5);
}

TEST(Http2Client, AStreamThatTheServerBreaksOffIsAnError) {
  const Http2Server server([](Http2Peer& peer, const Http2Request& request) {
    if (request.path == "/cut") peer.begin(request.stream, "half");
    if (request.path == "/cut" || request.path == "/broken")
      return peer.reset(request.stream, NGHTTP2_INTERNAL_ERROR);
    describe_request(peer, request);
  });
  HttpClient client(options());
  const Result<HttpResponse> broken = send(client, post(server.url("/broken"), "x"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(broken.error().message,
            "Post \"" + server.url("/broken") +
                "\": stream error: stream ID 1; INTERNAL_ERROR; received from peer");
  StreamLog log;
  client.stream(get(server.url("/cut")), log.callbacks());
  EXPECT_EQ(log.ended().error().kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(send(client, get(server.url("/"))));
  EXPECT_EQ(server.connections(), 1);
}

TEST(Http2Client, AGoodbyeMovesWhatWasNotLookedAtToANewConnection) {
  std::int32_t first = 0;
  std::atomic<int> done = 0;
  const Http2Server server([&](Http2Peer& peer, const Http2Request& request) {
    if (request.connection == 1 && request.path == "/first") {
      first = request.stream;
    } else if (request.connection == 1) {
      peer.goodbye(first, NGHTTP2_NO_ERROR);  // this one was not looked at
      peer.respond(first, 200, "after the goodbye");
    } else {
      ++done;
      peer.respond(request.stream, 200, "on the second");
    }
  });
  HttpClient client(options());
  std::promise<Result<HttpResponse>> slow;
  client.send(get(server.url("/first")),
              [&](Result<HttpResponse> answer) { slow.set_value(std::move(answer)); });
  const Result<HttpResponse> moved = send(client, post(server.url("/second"), "x"));
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->body, "on the second");
  const Result<HttpResponse> kept = slow.get_future().get();
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->body, "after the goodbye");
  EXPECT_EQ(done, 1);
}

TEST(Http2Client, AConnectionThatIsLostEndsItsCallsAndTheNextMakesAnother) {
  const Http2Server server([](Http2Peer& peer, const Http2Request& request) {
    if (request.path == "/close") return peer.close();
    if (request.path == "/nonsense") return peer.say(std::string(100, '\xff'));
    if (request.path == "/angry") {
      peer.goodbye(0, NGHTTP2_ENHANCE_YOUR_CALM);
      return peer.close();
    }
    if (request.path != "/wait") describe_request(peer, request);
  });
  HttpClient client(options());
  for (const char* path : {"/close", "/nonsense"}) {
    ASSERT_TRUE(send(client, get(server.url("/"))));
    StreamLog waiting;
    client.stream(get(server.url("/wait")), waiting.callbacks());
    const Result<HttpResponse> lost = send(client, post(server.url(path), "x"));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().kind, ErrorKind::kUnavailable);
    EXPECT_TRUE(lost_connection(lost.error())) << lost.error().message;
    EXPECT_EQ(waiting.ended().error().kind, ErrorKind::kUnavailable);
  }
  EXPECT_TRUE(send(client, get(server.url("/"))));
  EXPECT_EQ(server.connections(), 3);
}

TEST(Http2Client, AnIdleConnectionThatWasClosedIsNoFailure) {
  const Http2Server server([](Http2Peer& peer, const Http2Request& request) {
    describe_request(peer, request);
    if (request.path == "/last") {
      peer.goodbye(request.stream, NGHTTP2_NO_ERROR);
      peer.close();
    }
  });
  HttpClient client(options());
  std::set<std::string> seen;
  for (const char* path : {"/last", "/", "/last", "/"}) {
    const Result<HttpResponse> answer = send(client, post(server.url(path), "x"));
    if (std::string_view(path) == "/last") continue;  // may be lost with the connection
    ASSERT_TRUE(answer) << answer.error().message;
    seen.emplace(*answer->headers.find("x-connection"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"2", "3"}));
}

TEST(Http2Client, NobodyThereAndNobodyTrustedAreErrorsOfEachCall) {
  std::string nobody;
  {
    const Http2Server server(describe_request);
    nobody = server.url("/");
    HttpClientOptions suspicious = options();
    suspicious.tls.ca_pem = testing::certificates().other_authority.certificate_pem;
    HttpClient client(suspicious);
    for (int i = 0; i < 2; ++i)
      EXPECT_THAT(send(client, get(nobody)).error().message,
                  HasSubstr("x509: certificate signed by unknown authority"));
  }
  HttpClient client(options());
  const std::string address = nobody.substr(8, nobody.size() - 9);
  EXPECT_EQ(send(client, get(nobody)).error().message,
            "Get \"" + nobody + "\": dial tcp " + address + ": connect: connection refused");
}

TEST(Http2Client, ConcurrentCertificateChangeCountsForNewCalls) {
  const Http2Server server(describe_request);
  HttpClient client(options());
  ASSERT_TRUE(send(client, get(server.url("/"))));
  TlsClientSettings strangers;
  strangers.ca_pem = testing::certificates().other_authority.certificate_pem;
  client.set_tls(strangers);
  EXPECT_FALSE(send(client, get(server.url("/"))));
  client.set_tls(client_tls());
  EXPECT_TRUE(send(client, get(server.url("/"))));
}

TEST(Http2Client, WhatCannotBeSentIsInvalid) {
  const Http2Server server(describe_request);
  HttpClient client(options());
  HttpCall call = get(server.url("/"));
  call.headers.add("X", "a\r\nY: b");
  EXPECT_EQ(send(client, call).error().kind, ErrorKind::kInvalid);
  HttpCall token = get(server.url("/"));
  token.bearer_token = "a\nb";
  EXPECT_EQ(send(client, token).error().kind, ErrorKind::kInvalid);
}

TEST(Http2Client, AServerWithoutHttp2IsSpokenToInHttp1) {
  HttpServerOptions plain;
  plain.tls = testing::server_tls();
  const auto server = testing::start(
      plain, [](const HttpRequest& request, const std::shared_ptr<HttpResponder>& responder) {
        responder->respond({200, {}, request.body});
      });
  HttpClient client(options());
  for (int i = 0; i < 3; ++i) {
    const Result<HttpResponse> answer =
        send(client, post(testing::url(*server, "/", "https"), std::to_string(i)));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, std::to_string(i));
  }
}

}  // namespace
}  // namespace berth::net::testing
