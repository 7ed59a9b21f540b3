// ScriptedTransport: an extender for tests in virtual time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/task.h"
#include "extender/transport.h"

namespace berth::extender::testing {

// Answers as it is told: after a while, or never.
class ScriptedTransport final : public ExtenderTransport {
 public:
  explicit ScriptedTransport(VirtualLoop& loop) : loop_(loop) {}

  Task<Result<net::HttpResponse>> post(std::string url, std::string body, CancelToken cancel,
                                       std::function<bool()> may_send) override {
    if (may_send && !may_send()) co_return fail(ErrorKind::kCancelled, "not sent");
    urls.push_back(std::move(url));
    bodies.push_back(std::move(body));
    Eventual<Result<net::HttpResponse>> answer;
    Timer timer(loop_);
    if (takes)
      timer.set = loop_.after(*takes, [&] {
        timer.set.reset();
        answer.set(script ? script(urls.back(), bodies.back()) : next);
      });
    const auto registration = cancel.on_cancel(
        [&answer] { answer.set(fail(ErrorKind::kCancelled, "the request was cancelled")); });
    Result<net::HttpResponse> result = co_await answer;
    co_return result;
  }

  std::optional<Duration> takes = Duration::zero();  // none: for ever
  Result<net::HttpResponse> next = net::HttpResponse{};
  // In place of `next`: by URL and body.
  std::function<Result<net::HttpResponse>(const std::string&, const std::string&)> script;
  std::vector<std::string> urls;
  std::vector<std::string> bodies;

 private:
  struct Timer {
    explicit Timer(VirtualLoop& on) : loop(on) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() {
      if (set) loop.cancel(*set);
    }
    VirtualLoop& loop;
    std::optional<TimerId> set;
  };

  VirtualLoop& loop_;
};

}  // namespace berth::extender::testing
