// For tests of HttpApiClient: a server of our own on the loopback interface, and a world in which
// hours of waiting take no time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "berth/task.h"
#include "kube/http_api_client.h"
#include "net/http_server.h"
#include "net/testing/loopback.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace berth::kube::testing {

// A GET of this.
inline ApiCall at(std::string path) {
  ApiCall call;
  call.path = std::move(path);
  return call;
}

// An API server that answers what it is told to, and remembers what it was asked.
class Server {
 public:
  explicit Server(std::optional<net::TlsServerSettings> tls = {}) {
    scheme_ = tls ? "https://" : "http://";
    net::HttpServerOptions options;
    options.tls = std::move(tls);
    server_ = net::testing::start(
        options, [this](net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
          net::HttpResponse answer;
          {
            const MutexLock lock(mutex_);
            requests_.push_back(std::move(request));
            const std::size_t next = std::min(requests_.size(), answers_.size());
            if (next > 0) answer = answers_[next - 1];
          }
          responder->respond(std::move(answer));
        });
  }

  // The first answer, the second, …; the last for all that follow.
  void answer(std::vector<net::HttpResponse> answers) {
    const MutexLock lock(mutex_);
    answers_ = std::move(answers);
  }
  std::string url() const { return scheme_ + server_->address(); }
  std::string host() const { return server_->address(); }
  std::vector<net::HttpRequest> requests() {
    const MutexLock lock(mutex_);
    return requests_;
  }
  net::HttpRequest last() { return requests().back(); }
  std::string last(std::string_view header) { return last().headers.joined(header); }
  void stop() { server_.reset(); }

 private:
  Mutex mutex_;
  std::vector<net::HttpRequest> requests_ GUARDED_BY(mutex_);
  std::vector<net::HttpResponse> answers_ GUARDED_BY(mutex_);
  std::string scheme_;
  std::unique_ptr<net::HttpServer> server_;  // last: its threads use the above
};

// A loop whose time moves only by its timers, and which waits for what other threads post.
class PatientLoop final : public Loop {
 public:
  TimePoint now() const override { return loop_.now(); }
  WallTime wall_now() const override { return loop_.wall_now(); }
  void post(Callback work) override EXCLUDES(mutex_) {
    loop_.post(std::move(work));
    const MutexLock lock(mutex_);
    posted_.notify_all();
  }
  TimerId at(TimePoint when, Callback work, TimerKind kind) override {
    return loop_.at(when, std::move(work), kind);
  }
  void cancel(TimerId id) override { loop_.cancel(id); }

  // Works, and moves time where nothing else is to be done, until it is so.
  void run_until(const std::function<bool()>& so) EXCLUDES(mutex_) {
    const auto deadline = std::chrono::steady_clock::now() + net::testing::kPatience;
    while (!so()) {
      if (loop_.step()) continue;
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing ever happened";
      const MutexLock lock(mutex_);
      if (!loop_.has_posted()) posted_.wait_until(mutex_, deadline);
    }
  }

 private:
  VirtualLoop loop_{net::testing::real_now()};
  Mutex mutex_;
  Condition posted_;
};

struct HttpApiClientTest : ::testing::Test {
  PatientLoop loop;
  std::string log_text;
  std::shared_ptr<telemetry::LogOutput> log_output = std::make_shared<telemetry::LogOutput>(
      telemetry::LogOptions{.verbosity = 4, .utc = true}, [this] { return loop.wall_now(); },
      std::make_unique<telemetry::StringSink>(log_text));
  telemetry::Registry registry;
  telemetry::ClientMetrics metrics{registry};
  HttpApiClientOptions options;
  Credentials::RunProcess run = [](const auto&, const auto&, const auto&) {
    return Result<ProcessResult>(fail(ErrorKind::kNotFound, "no program in this test"));
  };
  std::optional<HttpApiClient> made;
  TaskSet tasks;

  HttpApiClientTest() {
    options.user_agent = "kube-scheduler/v1.37.1 (linux/amd64) kubernetes/0000000/scheduler";
    options.qps = -1;
    options.config.proxy_url = "-";
  }

  HttpApiClient& client() {
    if (!made) made.emplace(options, loop, telemetry::Log(log_output), metrics, run);
    return *made;
  }
  // For a server with TLS that the test authority vouches for.
  void trust(const Server& server) {
    options.config.server = server.url();
    options.config.ca_data = net::testing::certificates().authority.certificate_pem;
  }

  static Task<void> keep(Task<ApiResult> calling, std::optional<ApiResult>& result) {
    ApiResult got = co_await calling;
    result.emplace(std::move(got));
  }
  ApiResult call(ApiCall what, CancelToken cancel = {}) {
    std::optional<ApiResult> result;
    tasks.spawn(keep(client().call(std::move(what), cancel), result));
    loop.run_until([&] { return result.has_value(); });
    return result.value_or(std::unexpected(ApiFailure{}));
  }
  ApiResult get(std::string path) { return call(at(std::move(path))); }
  std::string complaint(std::string path = "/api/v1/pods") {
    const ApiResult result = get(std::move(path));
    return result ? "none" : result.error().error.message;
  }
  std::uint64_t count(const std::string& code, const std::string& verb, const Server& server) {
    return metrics.requests.counter({code, verb, server.host()}).value();
  }
};

inline net::HttpResponse status(int code, net::HttpHeaders headers = {}) {
  return {code, std::move(headers), ""};
}

}  // namespace berth::kube::testing
