#include "net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

#include "base/testing/names.h"
#include "net/http_server.h"
#include "net/testing/loopback.h"

namespace berth::net::testing {
namespace {

// Answers with the request in words, and says which connection it came on.
void describe(const HttpRequest& request, const std::shared_ptr<HttpResponder>& responder) {
  HttpResponse response;
  response.status = request.path() == "/missing" ? 404 : 200;
  response.headers.add("X-Peer", request.peer.address);
  response.headers.add("X-Type", request.headers.joined("content-type"));
  response.headers.add("X-Token", request.headers.joined("authorization"));
  response.headers.add("X-Agent", request.headers.joined("user-agent"));
  response.headers.add("X-Extra", request.headers.joined("x-extra"));
  response.body = request.method + " " + request.target + " " + request.body;
  responder->respond(std::move(response));
}

// Neither answers nor lets go.
HttpHandler keep_waiting(std::vector<std::shared_ptr<HttpResponder>>& kept, Mutex& mutex) {
  return [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
    MutexLock lock(mutex);
    kept.push_back(std::move(responder));
  };
}

TEST(HttpClient, SendsWhatItIsToldAndReturnsWhatIsAnswered) {
  const auto server = start({}, describe);
  HttpClient client(plain_options());
  HttpCall call = get(url(*server, "/a/../b?c=%20"));
  call.headers.add("X-Extra", "1");
  call.headers.add("X-Extra", "2");
  const Result<HttpResponse> answer = send(client, call);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "GET /a/../b?c=%20 ");
  EXPECT_EQ(answer->headers.find("x-extra"), "1, 2");
  EXPECT_EQ(answer->headers.find("x-agent"), "berth");
  EXPECT_EQ(answer->headers.find("x-type"), "");
  EXPECT_EQ(send(client, get(url(*server, "/missing")))->status, 404);
}

TEST(HttpClient, EveryMethodAndBody) {
  const auto server = start({}, describe);
  HttpClient client(plain_options());
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    HttpCall call = get(url(*server, "/x"));
    call.method = method;
    call.body = std::string("a\0b", 3);
    call.headers.add("Content-Type", "application/json");
    call.bearer_token = "secret";
    const Result<HttpResponse> answer = send(client, call);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, std::string(method) + " /x " + call.body);
    EXPECT_EQ(answer->headers.find("x-type"), "application/json");
    EXPECT_EQ(answer->headers.find("x-token"), "Bearer secret");
    call.body.clear();
    EXPECT_EQ(send(client, call)->body, std::string(method) + " /x ");
  }
  HttpCall head = get(url(*server, "/x"));
  head.method = "HEAD";
  EXPECT_EQ(send(client, head)->body, "");
}

TEST(HttpClient, LargeBodiesGoBothWays) {
  HttpServerOptions options;
  options.limits.body_bytes = 32 << 20;
  const auto server = start(options, describe);
  HttpClient client(plain_options());
  HttpCall call = get(url(*server, "/"));
  call.method = "POST";
  for (int i = 0; call.body.size() < 8'000'000; ++i) call.body += std::to_string(i);
  const Result<HttpResponse> answer = send(client, call);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->body == "POST / " + call.body);
}

TEST(HttpClient, WhatIsNotToBeSentAnyMoreIsNotSent) {
  std::atomic<int> asked = 0;
  const auto server = start({}, [&](const HttpRequest& request, const auto& responder) {
    ++asked;
    describe(request, responder);
  });
  HttpClient client(plain_options());
  HttpCall call = get(url(*server, "/x"));
  call.method = "POST";
  for (const bool reused : {false, true}) {
    call.may_send = [] { return false; };
    const Result<HttpResponse> withheld = send(client, call);
    ASSERT_FALSE(withheld);
    EXPECT_EQ(withheld.error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(asked, reused ? 1 : 0);
    call.may_send = [] { return true; };
    EXPECT_EQ(send(client, call)->status, 200);
  }
  EXPECT_EQ(asked, 2);
}

TEST(HttpClient, KeepsConnections) {
  const auto server = start({}, describe);
  HttpClient client(plain_options());
  const std::string first(*send(client, get(url(*server, "/")))->headers.find("x-peer"));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(send(client, get(url(*server, "/")))->headers.find("x-peer"), first);
}

TEST(HttpClient, ABodyTooLargeForTheServerIsAnAnswer) {
  HttpServerOptions options;
  options.limits.body_bytes = 1000;
  const auto server = start(options, describe);
  HttpClient client(plain_options());
  HttpCall call = get(url(*server, "/"));
  call.method = "POST";
  call.body = std::string(1'500'000, 'x');
  const Result<HttpResponse> answer = send(client, call);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST(HttpClient, AnAnswerCountsEvenIfTheBodyCouldNotBeSent) {
  RawListener server;
  HttpClient client(plain_options());
  HttpCall call = get(server.url());
  call.method = "POST";
  call.body = std::string(32'000'000, 'x');  // more than the system keeps on the way
  StreamLog log;
  client.stream(call, log.callbacks());
  std::unique_ptr<RawSocket> connection = server.accept();
  connection->receive_until("\r\n\r\n");
  connection->send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  ASSERT_TRUE(log.wait_for("ok"));
  connection.reset();  // the body is unread
  const Result<void> ended = log.ended();
  EXPECT_TRUE(ended) << ended.error().message;
}

TEST(HttpClient, AnAnswerTooLargeForUsIsAnError) {
  const auto server = start({}, describe);
  HttpClientOptions options = plain_options();
  options.max_response_bytes = 3;
  HttpClient client(options);
  const Result<HttpResponse> answer = send(client, get(url(*server, "/")));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(answer.error().message, HasSubstr("the answer is larger than 3 bytes"));
}

TEST(HttpClient, StreamsArriveChunkByChunk) {
  std::promise<std::shared_ptr<HttpResponder>> asked;
  const auto server = start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
    asked.set_value(std::move(responder));
  });
  HttpClient client(plain_options());
  StreamLog log;
  client.stream(get(url(*server, "/watch")), log.callbacks());
  const std::shared_ptr<HttpResponder> responder = asked.get_future().get();
  responder->begin(200, {{"Content-Type", "application/json"}});
  EXPECT_EQ(log.status(), 200);
  EXPECT_EQ(log.headers().find("content-type"), "application/json");
  responder->write("one\n");
  EXPECT_TRUE(log.wait_for("one\n"));
  responder->write("two\n");
  EXPECT_TRUE(log.wait_for("one\ntwo\n"));
  responder->end();
  EXPECT_TRUE(log.ended());
  EXPECT_EQ(log.text(), "one\ntwo\n");
}

TEST(HttpClient, AStreamThatIsCutIsAnError) {
  std::promise<std::shared_ptr<HttpResponder>> asked;
  auto server = start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
    asked.set_value(std::move(responder));
  });
  HttpClient client(plain_options());
  StreamLog log;
  client.stream(get(url(*server, "/watch")), log.callbacks());
  std::shared_ptr<HttpResponder> responder = asked.get_future().get();
  responder->begin(200, {});
  responder->write("one");
  EXPECT_TRUE(log.wait_for("one"));
  responder.reset();
  const Result<void> ended = log.ended();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(ended.error().message, HasSubstr("EOF"));
}

TEST(HttpClient, ALongStreamIsReadAsFastAsItComes) {
  constexpr std::size_t kBytes = 24 << 20;
  const auto server = start({}, [](const HttpRequest&, const std::shared_ptr<HttpResponder>& to) {
    to->respond({200, {}, std::string(kBytes, 'x')});
  });
  HttpClient client(plain_options());
  StreamLog log;
  client.stream(get(url(*server, "/")), log.callbacks());
  EXPECT_TRUE(log.ended());
  EXPECT_EQ(log.text().size(), kBytes);
}

TEST(HttpClient, TimeOutsAndCancelsEndACall) {
  Mutex mutex;
  std::vector<std::shared_ptr<HttpResponder>> kept;
  const auto server = start({}, keep_waiting(kept, mutex));
  HttpClient client(plain_options());
  HttpCall call = get(url(*server, "/slow"));
  call.timeout = std::chrono::milliseconds(20);
  const Result<HttpResponse> late = send(client, call);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(late.error().message,
              StartsWith("Get \"" + url(*server, "/slow") + "\": context deadline exceeded"));

  StreamLog log;
  const HttpCallId id = client.stream(get(url(*server, "/slow")), log.callbacks());
  client.cancel(id);
  EXPECT_EQ(log.ended().error().kind, ErrorKind::kCancelled);
  client.cancel(id);    // a no-op
  client.cancel(4711);  // another
  MutexLock lock(mutex);
  kept.clear();
}

TEST(HttpClient, AStreamMayBeSilentOnlySoLong) {
  std::promise<std::shared_ptr<HttpResponder>> asked;
  const auto server = start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
    responder->begin(200, {});
    asked.set_value(std::move(responder));
  });
  HttpClient client(plain_options());
  StreamLog log;
  HttpCall call = get(url(*server, "/"));
  call.idle_timeout = std::chrono::milliseconds(1);  // rounded up to a second
  client.stream(call, log.callbacks());
  EXPECT_EQ(log.ended().error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(log.status(), 200);
}

TEST(HttpClient, NobodyThereIsUnavailable) {
  std::uint16_t port = 0;
  {
    const auto server = start({}, describe);
    port = server->port();
  }
  HttpClient client(plain_options());
  const std::string nobody = "http://127.0.0.1:" + std::to_string(port) + "/";
  const Result<HttpResponse> answer = send(client, get(nobody));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(answer.error().message, "Get \"" + nobody + "\": dial tcp 127.0.0.1:" +
                                        std::to_string(port) + ": connect: connection refused");
}

TEST(HttpClient, WhatCannotBeSentIsInvalid) {
  HttpClient client(plain_options());
  for (const char* nonsense : {"", "nonsense://x", "ftp://x/", "http://", "http://a b/"})
    EXPECT_EQ(send(client, get(nonsense)).error().kind, ErrorKind::kInvalid) << nonsense;
  HttpCall call = get("http://127.0.0.1:1/");
  call.headers.add("X", "a\r\nY: b");
  EXPECT_EQ(send(client, call).error().kind, ErrorKind::kInvalid);
  HttpCall token = get("http://127.0.0.1:1/");
  token.bearer_token = "a\nb";
  EXPECT_EQ(send(client, token).error().kind, ErrorKind::kInvalid);
}

TEST(HttpClient, SurvivesAServerThatRestarts) {
  auto server = start({}, describe);
  HttpClient client(plain_options());
  EXPECT_TRUE(send(client, get(url(*server, "/"))));
  HttpServerOptions options;
  options.port = server->port();
  server.reset();
  server = start(options, describe);
  const Result<HttpResponse> answer = send(client, get(url(*server, "/")));
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST(HttpClient, WhatIsUnderWayAtTheEndIsCancelled) {
  Mutex mutex;
  std::vector<std::shared_ptr<HttpResponder>> kept;
  const auto server = start({}, keep_waiting(kept, mutex));
  std::vector<Result<HttpResponse>> answers;
  {
    HttpClient client(plain_options());
    for (int i = 0; i < 3; ++i)
      client.send(get(url(*server, "/")),
                  [&](Result<HttpResponse> answer) { answers.push_back(std::move(answer)); });
  }
  ASSERT_EQ(answers.size(), 3u);
  for (const Result<HttpResponse>& answer : answers)
    EXPECT_EQ(answer.error().kind, ErrorKind::kCancelled);
  MutexLock lock(mutex);
  kept.clear();
}

TEST(HttpClient, GoesThroughAProxy) {
  // A plain request to a proxy has the whole URL as its target; the server takes it for its own.
  const auto server = start({}, describe);
  HttpClientOptions options = plain_options();
  options.proxy = "http://" + server->address();
  HttpClient client(options);
  const Result<HttpResponse> answer = send(client, get("http://somewhere.invalid/x"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "GET /x ");
}

TEST(HttpClient, LookingUpANameIsMeasured) {
  const auto server = start({}, describe);
  std::promise<std::string> resolved;
  HttpClientOptions options = plain_options();
  options.resolved = [&](std::string_view host, Duration took) {
    EXPECT_GT(took, Duration::zero());
    resolved.set_value(std::string(host));  // a second time would throw
  };
  HttpClient client(options);
  EXPECT_TRUE(send(client, get(url(*server, "/"))));
  const std::string by_name = "http://localhost:" + std::to_string(server->port()) + "/";
  EXPECT_TRUE(send(client, get(by_name)));
  EXPECT_TRUE(send(client, get(by_name)));
  EXPECT_EQ(resolved.get_future().get(), "localhost");
}

// Runs the loop until the task is done.
Result<HttpResponse> run(RealLoop& loop, Task<Result<HttpResponse>> task) {
  std::optional<Result<HttpResponse>> answer;
  struct Waiting {
    static Task<void> wait(RealLoop& on, Task<Result<HttpResponse>> awaited,
                           std::optional<Result<HttpResponse>>& into) {
      Result<HttpResponse> result = co_await awaited;
      into = std::move(result);
      on.stop();
    }
  };
  TaskSet tasks;
  tasks.spawn(Waiting::wait(loop, std::move(task), answer));
  loop.run();
  return *answer;
}

TEST(HttpFetch, ConcurrentAnswersComeToTheWorldAsTasks) {
  const auto server = start({}, describe);
  RealLoop loop;
  HttpClient client(plain_options());
  const Result<HttpResponse> answer = run(loop, fetch(client, loop, get(url(*server, "/x"))));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "GET /x ");
}

TEST(HttpFetch, ConcurrentCancellationEndsTheCall) {
  Mutex mutex;
  std::vector<std::shared_ptr<HttpResponder>> kept;
  const auto server = start({}, keep_waiting(kept, mutex));
  RealLoop loop;
  HttpClient client(plain_options());
  CancelSource source;
  loop.post([&] { source.cancel("enough"); });
  const Result<HttpResponse> answer =
      run(loop, fetch(client, loop, get(url(*server, "/")), source.token()));
  EXPECT_EQ(answer.error().kind, ErrorKind::kCancelled);
  // A token that is cancelled already: nothing is sent.
  const Result<HttpResponse> at_once =
      run(loop, fetch(client, loop, get("http://127.0.0.1:1/"), source.token()));
  EXPECT_EQ(at_once.error(), (Error{ErrorKind::kCancelled, "the request was cancelled: enough"}));
  MutexLock lock(mutex);
  kept.clear();
}

TEST(HttpFetch, ConcurrentDestructionOfTheTaskCancelsTheCall) {
  std::promise<void> gone;
  Mutex mutex;
  std::vector<std::shared_ptr<HttpResponder>> kept;
  std::latch asked(1);
  const auto server = start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
    responder->on_gone([&] { gone.set_value(); });
    MutexLock lock(mutex);
    kept.push_back(std::move(responder));
    asked.count_down();
  });
  RealLoop loop;
  HttpClient client(plain_options());
  struct Ignoring {
    static Task<void> wait(Task<Result<HttpResponse>> awaited) {
      const Result<HttpResponse> result = co_await awaited;
      ADD_FAILURE() << "the task was destroyed before";
    }
  };
  {
    TaskSet tasks;
    tasks.spawn(Ignoring::wait(fetch(client, loop, get(url(*server, "/")))));
    asked.wait();
  }
  gone.get_future().wait();
  MutexLock lock(mutex);
  kept.clear();
}

TEST(HttpClient, ConcurrentCallersShareAClient) {
  const auto server = start({}, describe);
  HttpClient client(plain_options());
  std::atomic<int> good = 0;
  std::atomic<int> cancelled = 0;
  {
    std::vector<Thread> callers;
    for (int c = 0; c < 4; ++c)
      callers.emplace_back("caller", [&, c] {
        for (int i = 0; i < 50; ++i) {
          const std::string path = "/" + std::to_string(c) + "/" + std::to_string(i);
          const Result<HttpResponse> answer = send(client, get(url(*server, path)));
          if (answer && answer->body == "GET " + path + " ") ++good;
          std::promise<void> ended;
          client.cancel(client.send(get(url(*server, path)), [&](Result<HttpResponse> result) {
            if (result || result.error().kind == ErrorKind::kCancelled) ++cancelled;
            ended.set_value();
          }));
          ended.get_future().wait();
        }
      });
  }
  EXPECT_EQ(good, 200);
  EXPECT_EQ(cancelled, 200);
}

}  // namespace
}  // namespace berth::net::testing
