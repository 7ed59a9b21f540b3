// The scheduler's HTTPS server, wired: flags in, doors to the scheduler and to the API server that
// knows who may look (shell.md §4). World thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/scheduler_metrics.h"
#include "app/scheduler_setup.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "berth/waiting_pods.h"
#include "kube/authentication_config.h"
#include "kube/http_api_client.h"
#include "kube/reviews.h"
#include "serve/server.h"
#include "telemetry/log.h"

namespace berth::app {

// What the server shows of the scheduler.
struct ServedScheduler {
  serve::HealthChecks health;
  serve::ListPods list_pods;
  WaitingPods* waiting_pods = nullptr;
  serve::AnswerUi answer_ui;
  serve::ExplainPods explain;
};

class SchedulerServing {
 public:
  // Listens from now on. `setup`, `loop`, `metrics` and what `shown` refers to outlive it.
  static Result<std::unique_ptr<SchedulerServing>> start(const SchedulerSetup& setup, Loop& loop,
                                                         ProgramMetrics& metrics,
                                                         ServedScheduler shown, Random random,
                                                         telemetry::Log log);
  ~SchedulerServing();

  std::uint16_t port() const { return server_->port(); }

  // Learns from the cluster whose certificates to believe, and goes on learning. `failed` is called
  // when that does not work and has to (--authentication-tolerate-lookup-failure=false).
  void follow_cluster(std::function<void(Error)> failed);

  void stop();

 private:
  SchedulerServing(const SchedulerSetup& setup, Loop& loop, Random random, telemetry::Log log);

  Result<void> make_clients(ProgramMetrics& metrics);
  void make_reviews(ProgramMetrics& metrics);
  serve::ServerOptions server_options(ServedScheduler shown, ProgramMetrics& metrics);
  serve::ReviewToken token_door();
  serve::ReviewAccess access_door();
  // Begins a review on the world thread. Any thread; what it returns takes it back.
  serve::CancelReview begin_review(std::function<Task<void>(CancelToken)> review);
  Task<void> run_review(std::uint64_t id, std::function<Task<void>(CancelToken)> review);
  Task<void> answer(std::string token, std::function<void(Result<serve::TokenReview>)> done,
                    CancelToken cancel);
  Task<void> answer(kube::AccessAttributes attributes,
                    std::function<void(Result<serve::AccessReview>)> done, CancelToken cancel);
  Task<void> follow(std::function<void(Error)> failed);

  const SchedulerSetup& setup_;
  Loop& loop_;
  Random random_;
  const telemetry::Log log_;
  std::unique_ptr<kube::HttpApiClient> authentication_;  // none: tokens are not looked at
  std::unique_ptr<kube::HttpApiClient> authorization_;   // none: nothing but the open paths
  std::unique_ptr<kube::Reviews> reviews_;
  std::unique_ptr<kube::AuthenticationConfig> trust_;
  std::unique_ptr<serve::SchedulerServer> server_;
  CancelSource end_;
  // Reviews under way. What other threads post holds it weakly, and may come when this has gone.
  std::shared_ptr<std::map<std::uint64_t, CancelSource>> open_reviews_ =
      std::make_shared<std::map<std::uint64_t, CancelSource>>();
  std::atomic<std::uint64_t> last_review_ = 0;
  TaskSet tasks_;
};

}  // namespace berth::app
