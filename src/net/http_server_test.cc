#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/testing/names.h"
#include "net/testing/loopback.h"

namespace berth::net::testing {
namespace {

// Answers with what it was asked: "GET /path body".
void echo(const HttpRequest& request, const std::shared_ptr<HttpResponder>& responder) {
  HttpResponse response;
  response.body = request.method + " " + request.target + " " + request.body;
  responder->respond(std::move(response));
}

// Keeps what it was asked with, for the test to answer.
class Desk {
 public:
  HttpHandler handler() {
    return [this](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
      MutexLock lock(mutex_);
      waiting_.push_back(std::move(responder));
      changed_.notify_all();
    };
  }
  std::shared_ptr<HttpResponder> take() {
    MutexLock lock(mutex_);
    while (waiting_.empty()) changed_.wait(mutex_);
    std::shared_ptr<HttpResponder> responder = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    return responder;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<std::shared_ptr<HttpResponder>> waiting_ GUARDED_BY(mutex_);
};

// Set once, by any thread.
class Signal {
 public:
  void set() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait() {
    MutexLock lock(mutex_);
    while (count_ == 0) changed_.wait(mutex_);
  }
  int count() {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int count_ GUARDED_BY(mutex_) = 0;
};

TEST(HttpServer, AnswersRequestsInTurnOnOneConnection) {
  const auto server = start({}, echo);
  RawSocket socket(server->port());
  socket.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(socket.receive_until("GET /a "), "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nGET /a ");
  socket.send("POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_THAT(socket.receive_until("POST /b hi"), EndsWith("\r\n\r\nPOST /b hi"));
  EXPECT_EQ(server->connections(), 1u);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  const auto server = start({}, echo);
  RawSocket socket(server->port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += "GET /" + std::to_string(i) + "/ HTTP/1.1\r\nHost: a\r\n\r\n";
  socket.send(all);
  for (int i = 0; i < 50; ++i) {
    const std::string end = "GET /" + std::to_string(i) + "/ ";
    EXPECT_THAT(socket.receive_until(end), EndsWith(end));
  }
}

TEST(HttpServer, ClosesWhenTheClientWantsIt) {
  const auto server = start({}, echo);
  EXPECT_THAT(
      RawSocket(server->port()).ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
      AllOf(HasSubstr("Connection: close\r\n"), EndsWith("GET / ")));
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HTTP/1.0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.0 200 OK\r\n"), EndsWith("GET / ")));
}

TEST(HttpServer, AnswersAClientThatHasFinishedSending) {
  const auto server = start({}, echo);
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  socket.finish_sending();
  EXPECT_THAT(socket.receive_all(), EndsWith("GET / "));
}

TEST(HttpServer, HeadHasTheLengthAndNoBody) {
  const auto server = start({}, echo);
  EXPECT_THAT(
      RawSocket(server->port()).ask("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
      EndsWith("Content-Length: 8\r\n\r\n"));
}

TEST(HttpServer, TellsClientsToContinue) {
  const auto server = start({}, echo);
  RawSocket socket(server->port());
  socket.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(socket.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("hi");
  EXPECT_THAT(socket.receive_until("PUT / hi"), EndsWith("PUT / hi"));
}

TEST(HttpServer, RefusesMalformedRequestsInTheFormItIsGiven) {
  HttpServerOptions options;
  options.error_response = [](int status, std::string message) {
    HttpResponse response;
    response.status = status;
    response.body = "<" + message + ">";
    return response;
  };
  const auto server = start(options, echo);
  EXPECT_THAT(RawSocket(server->port()).ask("nonsense\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 400 Bad Request\r\n"), HasSubstr("Connection: close\r\n"),
                    HasSubstr("<malformed HTTP request: "), EndsWith(">")));
  // It goes on for others.
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HTTP/1.0\r\n\r\n"), EndsWith("GET / "));
}

TEST(HttpServer, LimitsHeadsAndBodies) {
  HttpServerOptions options;
  options.limits.body_bytes = 1000;
  options.limits.head_bytes = 500;
  const auto server = start(options, echo);
  const std::string fill(100'000, 'x');
  EXPECT_THAT(RawSocket(server->port())
                  .ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" + fill),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(RawSocket(server->port()).ask("GET /" + fill + " HTTP/1.1\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST(HttpServer, WaitsOnlySoLong) {
  HttpServerOptions options;
  options.limits.head_timeout = std::chrono::milliseconds(1);
  options.limits.body_timeout = std::chrono::milliseconds(1);
  options.limits.idle_timeout = std::chrono::milliseconds(1);
  const auto server = start(options, echo);
  EXPECT_THAT(RawSocket(server->port()).ask(""), IsEmpty());
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HT"), IsEmpty());
  HttpServerOptions patient_once = options;
  patient_once.limits.head_timeout = testing::kPatience;
  const auto other = start(patient_once, echo);
  EXPECT_THAT(
      RawSocket(other->port()).ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhi"),
      IsEmpty());
  EXPECT_THAT(RawSocket(other->port()).ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
              EndsWith("GET / "));  // closed when idle
}

HttpServerOptions with_connections(std::size_t most) {
  HttpServerOptions options;
  options.limits.connections = most;
  options.limits.local_connections = 0;
  return options;
}

TEST(HttpServer, ANewConnectionTakesThePlaceOfTheOneThatWaitedLongest) {
  const auto server = start(with_connections(2), echo);
  const auto ask = [](RawSocket& socket, const std::string& path) {
    socket.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return socket.receive_until("GET " + path + " ").ends_with("GET " + path + " ");
  };
  RawSocket first(server->port());
  RawSocket second(server->port());
  EXPECT_TRUE(ask(first, "/a"));
  EXPECT_TRUE(ask(second, "/b"));
  EXPECT_TRUE(ask(first, "/c"));
  RawSocket third(server->port());
  EXPECT_TRUE(ask(third, "/d"));
  EXPECT_THAT(second.receive_all(), IsEmpty());
  EXPECT_TRUE(ask(first, "/e"));
  // One that sends half a head, and one that sends nothing, wait as well.
  first.send("GET / HT");
  RawSocket fourth(server->port());
  EXPECT_THAT(third.receive_all(), IsEmpty());
  RawSocket fifth(server->port());
  EXPECT_TRUE(ask(fifth, "/f"));
  EXPECT_THAT(first.receive_all(), IsEmpty());
}

TEST(HttpServer, TurnsAwayConnectionsWhenAllOthersAreBeingAnswered) {
  Desk desk;
  const auto server = start(with_connections(1), desk.handler());
  RawSocket first(server->port());
  first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto responder = desk.take();
  RawSocket second(server->port());
  EXPECT_THAT(second.receive_all(), StartsWith("HTTP/1.1 503 "));
  responder->respond({200, {}, "at last"});
  EXPECT_THAT(first.receive_until("at last"), EndsWith("at last"));
}

TEST(HttpServer, ClientsOnThisMachineHavePlacesOfTheirOwn) {
  Desk desk;
  HttpServerOptions options = with_connections(0);
  options.limits.local_connections = 1;
  const auto server = start(options, desk.handler());
  RawSocket first(server->port());
  first.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  desk.take()->respond({200, {}, "ok"});
  EXPECT_THAT(first.receive_until("ok"), EndsWith("ok"));
}

// ---- bodies on demand

HttpServerOptions on_demand() {
  HttpServerOptions options;
  options.body_on_demand = true;
  options.limits.close_timeout = std::chrono::milliseconds(100);
  return options;
}

TEST(HttpServer, AStrangerIsAnsweredAtTheHead) {
  const auto server =
      start(on_demand(), [](const HttpRequest&, const std::shared_ptr<HttpResponder>& to) {
        to->respond({401, {}, "who are you?"});
      });
  // Nothing of the body is sent, and it is not asked for with 100 Continue either.
  for (const char* expect : {"", "Expect: 100-continue\r\n"}) {
    RawSocket socket(server->port());
    socket.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n" + std::string(expect) +
                "\r\n");
    EXPECT_THAT(socket.receive_until("you?"),
                AllOf(StartsWith("HTTP/1.1 401 "), HasSubstr("\r\nConnection: close\r\n")));
  }
}

TEST(HttpServer, ABodyThatNobodyReadsIsPassedOverIfItHasCome) {
  const auto server =
      start(on_demand(), [](const HttpRequest& request, const std::shared_ptr<HttpResponder>& to) {
        EXPECT_EQ(request.body, "");
        to->respond({200, {}, request.target});
      });
  RawSocket socket(server->port());
  socket.send(
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\nHost: "
      "a\r\n\r\n");
  EXPECT_THAT(socket.receive_until("/a"), Not(HasSubstr("Connection: close")));
  EXPECT_THAT(socket.receive_until("/b"), EndsWith("/b"));
}

TEST(HttpServer, ConcurrentHandlersReadABodyWhenTheyWantIt) {
  Desk desk;
  const auto server = start(on_demand(), desk.handler());
  RawSocket socket(server->port());
  socket.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  const auto read = [](std::shared_ptr<HttpResponder> responder) {
    HttpResponder& reader = *responder;
    reader.read_body(5, [responder = std::move(responder)](const std::string& body) {
      responder->respond({200, {}, "<" + body + ">"});
    });
  };
  read(desk.take());
  EXPECT_EQ(socket.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.send("hi");
  EXPECT_THAT(socket.receive_until("<hi>"), EndsWith("<hi>"));
  // Too long, as its head says, or as it turns out.
  socket.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n");
  read(desk.take());
  EXPECT_THAT(socket.receive_all(), StartsWith("HTTP/1.1 413 "));
  RawSocket chunks(server->port());
  chunks.send("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n");
  read(desk.take());
  chunks.send("2\r\nef\r\n");
  EXPECT_THAT(chunks.receive_all(), StartsWith("HTTP/1.1 413 "));
  // A client that goes before it has sent the body: nobody is left to answer.
  auto leaving = std::make_unique<RawSocket>(server->port());
  leaving->send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nh");
  auto last = desk.take();
  Signal gone;
  last->on_gone([&] { gone.set(); });
  read(std::move(last));
  leaving.reset();
  gone.wait();
}

TEST(HttpServer, AResponderThatIsDroppedIsAnError) {
  const auto server = start({}, [](const HttpRequest&, const std::shared_ptr<HttpResponder>&) {});
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HTTP/1.0\r\n\r\n"),
              StartsWith("HTTP/1.0 500 Internal Server Error\r\n"));
}

TEST(HttpServer, AHandlerThatThrowsIsAnError) {
  const auto server = start({}, [](const HttpRequest&, const std::shared_ptr<HttpResponder>&) {
    throw std::runtime_error("oops");
  });
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HTTP/1.0\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.0 500 "), HasSubstr("internal error: oops")));
}

TEST(HttpServer, OnlyTheFirstAnswerCounts) {
  const auto server = start({}, [](const HttpRequest&, const std::shared_ptr<HttpResponder>& to) {
    to->respond({200, {}, "one"});
    to->respond({200, {}, "two"});
    to->begin(200, {});
    EXPECT_FALSE(to->write("three"));
    to->end();
  });
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HTTP/1.0\r\n\r\n"), EndsWith("\r\n\r\none"));
}

TEST(HttpServer, StreamsChunksAsTheyCome) {
  Desk desk;
  const auto server = start({}, desk.handler());
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto responder = desk.take();
  responder->begin(200, {{"Content-Type", "application/json"}});
  EXPECT_THAT(socket.receive_until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_TRUE(responder->write("one\n"));
  EXPECT_EQ(socket.receive_until("one\n\r\n"), "4\r\none\n\r\n");
  EXPECT_TRUE(responder->write(""));
  EXPECT_TRUE(responder->write("two\n"));
  EXPECT_EQ(socket.receive_until("two\n\r\n"), "4\r\ntwo\n\r\n");
  responder->end();
  EXPECT_EQ(socket.receive_until("0\r\n\r\n"), "0\r\n\r\n");
  // And the connection is good for another request.
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  desk.take()->respond({200, {}, "again"});
  EXPECT_THAT(socket.receive_until("again"), EndsWith("again"));
}

TEST(HttpServer, AStreamToAnOldClientEndsWithTheConnection) {
  Desk desk;
  const auto server = start({}, desk.handler());
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const auto responder = desk.take();
  responder->begin(200, {});
  responder->write("one");
  responder->write("two");
  responder->end();
  EXPECT_THAT(socket.receive_all(), EndsWith("\r\n\r\nonetwo"));
}

TEST(HttpServer, AStreamThatIsDroppedDoesNotLookComplete) {
  Desk desk;
  const auto server = start({}, desk.handler());
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  auto responder = desk.take();
  responder->begin(200, {});
  responder->write("one");
  EXPECT_THAT(socket.receive_until("one\r\n"), EndsWith("one\r\n"));
  responder.reset();
  EXPECT_THAT(socket.receive_all(), IsEmpty());
}

TEST(HttpServer, NoticesThatAWatcherHasGone) {
  Desk desk;
  const auto server = start({}, desk.handler());
  auto socket = std::make_unique<RawSocket>(server->port());
  socket->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto responder = desk.take();
  responder->begin(200, {});
  Signal gone;
  responder->on_gone([&] { gone.set(); });
  socket.reset();
  gone.wait();
  EXPECT_FALSE(responder->write("one"));
  Signal late;
  responder->on_gone([&] { late.set(); });
  EXPECT_EQ(late.count(), 1);
  EXPECT_EQ(gone.count(), 1);
}

TEST(HttpServer, CutsAWatcherThatDoesNotRead) {
  Desk desk;
  HttpServerOptions options;
  options.limits.waiting_bytes = 256 << 10;
  const auto server = start(options, desk.handler());
  RawSocket socket(server->port(), 4096);
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto responder = desk.take();
  Signal gone;
  responder->on_gone([&] { gone.set(); });
  responder->begin(200, {});
  // The system's own buffers take some megabytes before anything waits here.
  int chunks = 0;
  while (responder->write(std::string(64 << 10, 'x'))) ASSERT_LT(++chunks, 10'000);
  gone.wait();
  EXPECT_FALSE(responder->write("more"));
  EXPECT_THAT(socket.receive_all(), Not(EndsWith("0\r\n\r\n")));
}

TEST(HttpServer, StopWaitsForAnswersUnderWay) {
  Desk desk;
  HttpServerOptions options;
  options.limits.close_timeout = std::chrono::milliseconds(100);  // these clients never close
  const auto server = start(options, desk.handler());
  RawSocket asking(server->port());
  RawSocket idle(server->port());
  asking.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  auto responder = desk.take();
  Thread stopping("stopping", [&] { server->stop(testing::kPatience); });
  EXPECT_THAT(idle.receive_all(), IsEmpty());
  responder->respond({200, {}, "at last"});
  EXPECT_THAT(asking.receive_all(), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("at last")));
  stopping.join();
  EXPECT_EQ(server->connections(), 0u);
}

TEST(HttpServer, StopEndsStreamsInGoodOrder) {
  Desk desk;
  HttpServerOptions options;
  options.limits.close_timeout = std::chrono::milliseconds(100);  // these clients never close
  const auto server = start(options, desk.handler());
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto responder = desk.take();
  responder->begin(200, {});
  responder->write("one");
  EXPECT_THAT(socket.receive_until("one\r\n"), EndsWith("one\r\n"));
  Signal gone;
  responder->on_gone([&] { gone.set(); });
  Thread stopping("stopping", [&] { server->stop(testing::kPatience); });
  gone.wait();
  EXPECT_FALSE(responder->write("two"));
  EXPECT_EQ(socket.receive_all(), "0\r\n\r\n");
  stopping.join();
}

TEST(HttpServer, StopWithoutGraceCuts) {
  Desk desk;
  auto server = start({}, desk.handler());
  RawSocket socket(server->port());
  socket.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto responder = desk.take();
  Signal gone;
  responder->on_gone([&] { gone.set(); });
  server.reset();
  EXPECT_EQ(gone.count(), 1);
  // Nobody hears it, and nothing breaks.
  responder->respond({200, {}, "too late"});
  EXPECT_THAT(socket.receive_all(), IsEmpty());
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = start({}, echo);
  HttpServerOptions taken;
  taken.port = server->port();
  const auto second = HttpServer::start(taken, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(second.error().message, "cannot listen on 127.0.0.1:" + std::to_string(server->port()) +
                                        ": Address already in use");
  HttpServerOptions nowhere;
  nowhere.address = "not an address";
  EXPECT_FALSE(HttpServer::start(nowhere, echo));
}

TEST(HttpServer, ListensEverywhereAndKnowsItsPeers) {
  HttpServerOptions options;
  options.address = "0.0.0.0";
  options.wall_clock = [] { return WallTime{std::chrono::seconds(784111777)}; };
  const auto server =
      start(options, [](const HttpRequest& request, const std::shared_ptr<HttpResponder>& to) {
        to->respond({200, {}, request.peer.address});
      });
  EXPECT_THAT(RawSocket(server->port()).ask("GET / HTTP/1.0\r\n\r\n"),
              AllOf(HasSubstr("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
                    HasSubstr("\r\n\r\n127.0.0.1:")));
}

TEST(HttpServer, ConcurrentClientsAndWatchersAreServed) {
  // Requests answered at once, streams written by another thread, clients that leave.
  Mutex mutex;
  Condition changed;
  std::vector<std::shared_ptr<HttpResponder>> watchers;
  bool over = false;
  auto server =
      start({}, [&](const HttpRequest& request, std::shared_ptr<HttpResponder> responder) {
        if (request.target != "/watch") return echo(request, responder);
        responder->begin(200, {});
        MutexLock lock(mutex);
        watchers.push_back(std::move(responder));
        changed.notify_all();
      });
  Thread writer("writer", [&] {
    for (;;) {
      std::vector<std::shared_ptr<HttpResponder>> current;
      {
        MutexLock lock(mutex);
        while (watchers.empty() && !over) changed.wait(mutex);
        if (over) return;
        current.swap(watchers);
      }
      for (const auto& watcher : current) {
        for (int i = 0; i < 20 && watcher->write("event\n"); ++i) {
        }
        watcher->end();
      }
    }
  });
  std::atomic<int> good = 0;
  {
    std::vector<Thread> clients;
    for (int c = 0; c < 4; ++c)
      clients.emplace_back("client", [&] {
        for (int i = 0; i < 25; ++i) {
          RawSocket socket(server->port());
          socket.send("GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
          if (i % 5 == 4) continue;  // leaves at once
          if (socket.receive_until("0\r\n\r\n").ends_with("event\n\r\n0\r\n\r\n")) ++good;
          socket.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
          if (socket.receive_until("GET /x ").ends_with("GET /x ")) ++good;
        }
      });
  }
  EXPECT_EQ(good, 4 * 20 * 2);
  server->stop(testing::kPatience);
  {
    MutexLock lock(mutex);
    over = true;
    changed.notify_all();
  }
  writer.join();
}

}  // namespace
}  // namespace berth::net::testing
