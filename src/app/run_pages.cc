#include "app/run_pages.h"

#include <optional>
#include <string>
#include <utility>

#include "serve/waiting_pods.h"

namespace berth::app {

void RunPages::follow(Engine& engine, live::LiveExplainer& explainer) {
  feed_.follow(engine);
  const MutexLock lock(mutex_);
  waiting_pods_ = &engine.waiting_pods();
  explain_ = explainer.door([] { return Result<void>(); });
}

void RunPages::let_go() {
  feed_.let_go();
  const MutexLock lock(mutex_);
  waiting_pods_ = nullptr;
  explain_ = {};
}

net::HttpResponse RunPages::answer_waiting_pods(const net::HttpRequest& request,
                                                std::string_view path) {
  const MutexLock lock(mutex_);
  if (!waiting_pods_) return {.status = 503, .headers = {}, .body = {}};
  const serve::UserInfo user{"a user of berth run", "", {}, {}};
  return serve::answer_waiting_pods(request, path, user, *waiting_pods_);
}

void RunPages::explain(const net::HttpRequest& request,
                       std::shared_ptr<net::HttpResponder> responder) {
  serve::ExplainPods explain;
  {
    const MutexLock lock(mutex_);
    explain = explain_;
  }
  if (!explain) return responder->respond({.status = 503, .headers = {}, .body = {}});
  serve::explain_pods(request, std::move(responder), explain, background_);
}

memapi::AnswerElsewhere RunPages::door() {
  return [this](const net::HttpRequest& request,
                const std::shared_ptr<net::HttpResponder>& responder) {
    const std::optional<std::string> path = net::unescape(request.path());
    if (!path) return false;
    const auto respond = [responder](net::HttpResponse response) {
      response.headers.add("Cache-Control", "no-cache, private");
      responder->respond(std::move(response));
    };
    if (ui::is_ui_path(*path)) {
      page_.answer(request, *path, respond);
      return true;
    }
    if (*path == serve::kExplainPath) {
      explain(request, responder);
      return true;
    }
    if (*path == serve::kWaitingPodsPath ||
        path->starts_with(std::string(serve::kWaitingPodsPath) + "/")) {
      respond(answer_waiting_pods(request, *path));
      return true;
    }
    return false;
  };
}

}  // namespace berth::app
