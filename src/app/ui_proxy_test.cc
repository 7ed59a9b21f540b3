// The proxy over real sockets, with a scheduler that answers what it is asked.
#include "app/ui_proxy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/loop_thread.h"
#include "net/testing/loopback.h"

namespace berth::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class EchoingScheduler final : public kube::ApiClient {
 public:
  Task<kube::ApiResult> call(kube::ApiCall, CancelToken) override { co_return kube::ApiAnswer{}; }
  net::HttpCallId stream(kube::ApiCall call, net::HttpStreamCallbacks callbacks) override {
    {
      const MutexLock lock(mutex_);
      requests_.push_back(call.method + " " + call.path);
    }
    if (is_away) {
      callbacks.end(fail(ErrorKind::kUnavailable, "connection refused"));
      return 1;
    }
    callbacks.begin(200, {{"Content-Type", "text/plain"},
                          {"Set-Cookie", "stolen=1"},
                          {"Access-Control-Allow-Origin", "*"}});
    callbacks.chunk("about " + call.path);
    callbacks.end({});
    return 1;
  }
  void cancel(net::HttpCallId) override {}
  BodyFormat format() const override { return BodyFormat::kJson; }

  std::vector<std::string> requests() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return requests_;
  }
  std::atomic<bool> is_away = false;

 private:
  Mutex mutex_;
  std::vector<std::string> requests_ GUARDED_BY(mutex_);
};

class UiProxyTest : public ::testing::Test {
 protected:
  UiProxyTest() {
    Result<std::unique_ptr<UiProxy>> started = UiProxy::start(loop, scheduler, Random(5), 0);
    EXPECT_TRUE(started);
    proxy = std::move(*started);
    link = proxy->link();
    const std::size_t path = link.find('/', sizeof "http://");
    host = link.substr(sizeof "http://" - 1, path - (sizeof "http://" - 1));
    link.erase(0, path);
    prefix = link.substr(0, link.find('/', 1));
  }

  struct Ask {
    std::string path;
    std::string method = "GET";
    std::string cookie = {};
    std::string origin = {};
    std::string host = {};
  };
  // Head and body of the answer.
  std::string ask(const Ask& wanted) {
    net::testing::RawSocket socket(
        static_cast<std::uint16_t>(std::stoi(host.substr(host.find(':') + 1))));
    std::string request =
        fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", wanted.method,
                    wanted.path, wanted.host.empty() ? host : wanted.host);
    if (!wanted.cookie.empty()) request += fmt::format("Cookie: {}\r\n", wanted.cookie);
    if (!wanted.origin.empty()) request += fmt::format("Origin: {}\r\n", wanted.origin);
    if (wanted.method == "POST") request += "Content-Length: 0\r\n";
    socket.send(request + "\r\n");
    return socket.receive_until("\r\nnever\r\n");
  }
  // The cookie that the link is exchanged for.
  std::string use_link() {
    const std::string answer = ask({.path = link});
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("url=ui/"),
                              HasSubstr("HttpOnly; SameSite=Strict"),
                              HasSubstr(fmt::format("Path={}/;", prefix))));
    const std::size_t begin = answer.find("Set-Cookie: ") + sizeof "Set-Cookie: " - 1;
    return answer.substr(begin, answer.find(';', begin) - begin);
  }

  EchoingScheduler scheduler;
  RealLoop loop;
  std::unique_ptr<UiProxy> proxy;
  std::string link, host, prefix;
  LoopThread world{"world", loop};
};

TEST_F(UiProxyTest, TheLinkIsGoodForOneBrowser) {
  const std::string cookie = use_link();
  EXPECT_THAT(ask({.path = prefix + "/ui/", .cookie = cookie}),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("about /ui/")));
  EXPECT_THAT(ask({.path = link}),
              AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("This link has been used"),
                    Not(HasSubstr("Set-Cookie"))));
  // The browser that has used it may go back to it.
  EXPECT_THAT(ask({.path = link, .cookie = cookie}), StartsWith("HTTP/1.1 200"));
}

TEST_F(UiProxyTest, OthersAreTurnedAway) {
  const std::string cookie = use_link();
  const std::string name = cookie.substr(0, cookie.find('='));
  const struct {
    const char* who;
    Ask wanted;
    const char* answer;
  } rows[] = {
      {"without a cookie", {.path = prefix + "/ui/"}, "HTTP/1.1 403"},
      {"with another cookie", {.path = prefix + "/ui/", .cookie = name + "=x"}, "HTTP/1.1 403"},
      {"with a part of it",
       {.path = prefix + "/ui/", .cookie = cookie.substr(0, cookie.size() - 1)},
       "HTTP/1.1 403"},
      {"with a wrong token", {.path = prefix + "/open?token=x"}, "HTTP/1.1 403"},
      {"without a token", {.path = prefix + "/open"}, "HTTP/1.1 403"},
      {"under another name",
       {.path = prefix + "/ui/", .cookie = cookie, .host = "evil.example.com"},
       "HTTP/1.1 403"},
      {"outside of the prefix", {.path = "/ui/", .cookie = cookie}, "HTTP/1.1 404"},
  };
  for (const auto& row : rows) EXPECT_THAT(ask(row.wanted), StartsWith(row.answer)) << row.who;
  EXPECT_THAT(scheduler.requests(), IsEmpty());
}

TEST_F(UiProxyTest, OnlyWhatThePageNeedsIsAskedOfTheScheduler) {
  const std::string cookie = use_link();
  const auto get = [&](const std::string& path) {
    return ask({.path = prefix + path, .cookie = cookie});
  };
  for (const char* path : {"/metrics", "/configz", "/debug/flags/v", "/ui/../metrics", "/ui/other",
                           "/debug/waiting-pods/default/a/allow", "/"})
    EXPECT_THAT(get(path), StartsWith("HTTP/1.1 404")) << path;
  EXPECT_THAT(get("/ui/data/changes?since=a.1-2"), HasSubstr("about /ui/data/changes?since=a.1-2"));
  EXPECT_THAT(get("/explain?pod=default%2Fa"), HasSubstr("about /explain?pod=default%2Fa"));
  EXPECT_THAT(get("/debug/waiting-pods"), HasSubstr("about /debug/waiting-pods"));
  EXPECT_THAT(scheduler.requests(),
              ElementsAre("GET /ui/data/changes?since=a.1-2", "GET /explain?pod=default%2Fa",
                          "GET /debug/waiting-pods"));
}

TEST_F(UiProxyTest, AnOrderComesFromThePageItself) {
  const std::string cookie = use_link();
  const std::string path = prefix + "/debug/waiting-pods/default/a/allow";
  EXPECT_THAT(ask({.path = path, .method = "POST", .cookie = cookie}), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(
      ask({.path = path, .method = "POST", .cookie = cookie, .origin = "http://127.0.0.1:1"}),
      StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(scheduler.requests(), IsEmpty());
  EXPECT_THAT(ask({.path = path, .method = "POST", .cookie = cookie, .origin = "http://" + host}),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(scheduler.requests(), ElementsAre("POST /debug/waiting-pods/default/a/allow"));
}

TEST_F(UiProxyTest, OfTheSchedulersHeadersOnlySomeReachTheBrowser) {
  EXPECT_THAT(ask({.path = prefix + "/ui/", .cookie = use_link()}),
              AllOf(HasSubstr("Content-Type: text/plain"), HasSubstr("X-Frame-Options: DENY"),
                    Not(HasSubstr("stolen")), Not(HasSubstr("Access-Control"))));
}

TEST_F(UiProxyTest, ASchedulerThatIsAwayIsSaidToBe) {
  scheduler.is_away = true;
  EXPECT_THAT(ask({.path = prefix + "/ui/", .cookie = use_link()}),
              AllOf(StartsWith("HTTP/1.1 502"), HasSubstr("connection refused")));
}

}  // namespace
}  // namespace berth::app
