// RunPages: what `berth run` serves beside the API of its cluster: the live page, the pods that
// wait at Permit, and explanations. The API server lets in who may use it, and nobody else (memapi/browser_guard.h).
#pragma once

#include <cstdint>

#include "base/thread.h"
#include "berth/loop.h"
#include "berth/waiting_pods.h"
#include "engine/engine.h"
#include "live/live_explainer.h"
#include "memapi/api_server.h"
#include "serve/background.h"
#include "serve/explanations.h"
#include "ui/endpoints.h"
#include "ui/live_feed.h"

namespace berth::app {

class RunPages {
 public:
  RunPages(Loop& loop, std::uint64_t epoch) : feed_(loop, epoch) {}
  RunPages(const RunPages&) = delete;
  RunPages& operator=(const RunPages&) = delete;

  // World thread: whose cluster it is, from follow() to let_go().
  void follow(Engine& engine, live::LiveExplainer& explainer) EXCLUDES(mutex_);
  void let_go() EXCLUDES(mutex_);
  ui::LiveFeed& feed() { return feed_; }

  // For the API server, which this outlives.
  memapi::AnswerElsewhere door();

 private:
  net::HttpResponse answer_waiting_pods(const net::HttpRequest& request, std::string_view path)
      EXCLUDES(mutex_);
  void explain(const net::HttpRequest& request, std::shared_ptr<net::HttpResponder> responder)
      EXCLUDES(mutex_);

  ui::LiveFeed feed_;
  const ui::Endpoints page_{feed_, "berth run"};
  Mutex mutex_;
  WaitingPods* waiting_pods_ GUARDED_BY(mutex_) = nullptr;
  serve::ExplainPods explain_ GUARDED_BY(mutex_);
  serve::Background background_{"explain-text"};
};

}  // namespace berth::app
