#include "serve/server.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/file.h"
#include "net/http_server.h"
#include "serve/background.h"
#include "serve/cpu_profile.h"
#include "serve/metrics_page.h"
#include "serve/responses.h"
#include "serve/waiting_pods.h"
#include "telemetry/process_metrics.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::serve {
namespace {

// Of a request's head, and of its body where it has one.
constexpr std::size_t kMaxHeadBytes = 64 << 10;
constexpr std::size_t kMaxBodyBytes = 64 << 10;

// One request on its way to an answer, which it gets once.
class Exchange {
 public:
  Exchange(net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder,
           TimePoint started)
      : request_(std::move(request)), responder_(std::move(responder)), started_(started) {}

  const net::HttpRequest& request() const { return request_; }
  TimePoint started() const { return started_; }
  bool answered() const { return answered_; }
  Departure& departure() { return departure_; }

  void on_gone(std::function<void()> callback) { responder_->on_gone(std::move(callback)); }
  // The client has gone. False: it has its answer.
  bool go() {
    if (answered_.exchange(true)) return false;
    departure_.go();
    return true;
  }
  void read_body(std::size_t most_bytes, std::function<void()> done) {
    responder_->read_body(most_bytes, [this, done = std::move(done)](std::string body) {
      request_.body = std::move(body);
      done();
    });
  }

  // False: it was answered already.
  bool respond(net::HttpResponse response) {
    if (answered_.exchange(true)) return false;
    net::HttpHeaders headers{{"Cache-Control", "no-cache, private"}};
    for (const auto& [name, value] : response.headers) headers.add(name, value);
    response.headers = std::move(headers);
    responder_->respond(std::move(response));
    return true;
  }

  std::string path;  // unescaped, without query
  UserInfo user;

 private:
  net::HttpRequest request_;
  const std::shared_ptr<net::HttpResponder> responder_;
  const TimePoint started_;
  std::atomic<bool> answered_ = false;
  Departure departure_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// The path that a request is about, whatever form its target has; nothing if it has none.
std::optional<std::string> path_of(const net::HttpRequest& request) {
  std::string_view path = request.path();
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!path.starts_with(scheme)) continue;
    const std::size_t slash = path.find('/', scheme.size());
    path = slash == std::string_view::npos ? "/" : path.substr(slash);
  }
  if (!path.starts_with('/')) return std::nullopt;
  return net::unescape(path);
}

// Whether it is the folder or in it.
bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// In Go's words: "listen tcp 127.0.0.1:10259: bind: address already in use".
Error listen_error(const ServerOptions& options, const Error& error) {
  const bool v6 = options.bind_address.find(':') != std::string::npos;
  const std::string place =
      fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), options.bind_address, options.port);
  const std::string prefix =
      fmt::format("cannot listen on {}:{}: ", options.bind_address, options.port);
  if (!error.message.starts_with(prefix)) return error;
  return {error.kind, fmt::format("failed to listen on {}: listen tcp {}: bind: {}", place, place,
                                  lower_case(error.message.substr(prefix.size())))};
}

}  // namespace

// The state of one request until its answer. Requests that wait for an API server hold it.
class Pipeline : public std::enable_shared_from_this<Pipeline> {
 public:
  Pipeline(Loop& loop, ServerOptions options, telemetry::Log log)
      : loop_(loop),
        options_(std::move(options)),
        log_(std::move(log)),
        serving_metrics_(*options_.metrics),
        health_metrics_(slis_),
        authenticator_(loop, options_.authentication, serving_metrics_, log_),
        authorizer_(loop, options_.authorization, serving_metrics_, log_),
        health_endpoints_{HealthEndpoint("healthz", options_.health.healthz, health_metrics_, log_),
                          HealthEndpoint("livez", options_.health.livez, health_metrics_, log_),
                          HealthEndpoint("readyz", options_.health.readyz, health_metrics_, log_)} {
    telemetry::add_process_start_time(slis_, telemetry::Stability::kAlpha);
  }

  void start(net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder);
  // Refuses the requests that are not answered yet; no API server is asked any more.
  void close();

  Authenticator& authenticator() { return authenticator_; }
  const ServerOptions& options() const { return options_; }

 private:
  void authenticate(const ExchangePtr& exchange);
  void authorize(const ExchangePtr& exchange);
  void forget(const ExchangePtr& exchange);
  void route(const ExchangePtr& exchange);
  std::optional<net::HttpResponse> answer(const Exchange& exchange);
  std::optional<net::HttpResponse> answer_health(const Exchange& exchange) const;
  std::optional<net::HttpResponse> answer_debug(const Exchange& exchange) const;
  void answer_pod_resources(const ExchangePtr& exchange);
  void answer_explain(const ExchangePtr& exchange);
  void ask_to_explain(const ExchangePtr& exchange);
  void begin_profile(const ExchangePtr& exchange);
  void end_profile(const ExchangePtr& exchange, Duration duration);
  bool takes_body(const Exchange& exchange) const {
    return options_.profiling && takes_debug_flag(exchange.request(), exchange.path);
  }
  void respond(const ExchangePtr& exchange, net::HttpResponse response);

  Loop& loop_;
  const ServerOptions options_;
  const telemetry::Log log_;
  telemetry::Registry slis_;
  telemetry::ServingMetrics serving_metrics_;
  telemetry::HealthMetrics health_metrics_;
  Authenticator authenticator_;
  Authorizer authorizer_;
  const std::array<HealthEndpoint, 3> health_endpoints_;
  Background background_{"serve-text"};

  Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  boost::unordered_flat_set<ExchangePtr> open_ GUARDED_BY(mutex_);
  std::unique_ptr<CpuProfile> profile_ GUARDED_BY(mutex_);
};

void Pipeline::start(net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
  auto exchange = std::make_shared<Exchange>(std::move(request), std::move(responder), loop_.now());
  std::optional<std::string> path = path_of(exchange->request());
  if (!path) {
    net::HttpResponse refusal = plain_text("400 Bad Request");
    refusal.status = 400;
    return respond(exchange, std::move(refusal));
  }
  exchange->path = std::move(*path);
  bool closed = false;
  {
    MutexLock lock(mutex_);
    closed = closed_;
    if (!closed) open_.insert(exchange);
  }
  if (closed) return respond(exchange, text_error(503, "the server is shutting down"));
  exchange->on_gone([self = weak_from_this(), gone = std::weak_ptr(exchange)] {
    const auto pipeline = self.lock();
    const auto waiting = gone.lock();
    if (pipeline && waiting && waiting->go()) pipeline->forget(waiting);
  });
  authenticate(exchange);
}

void Pipeline::authenticate(const ExchangePtr& exchange) {
  const bool taken = authenticator_.authenticate(
      exchange->request(),
      [self = shared_from_this(), exchange](std::optional<UserInfo> user) {
        if (exchange->answered()) return;
        if (!user) return self->respond(exchange, unauthorized(exchange->request()));
        exchange->user = std::move(*user);
        self->authorize(exchange);
      },
      &exchange->departure());
  if (!taken) respond(exchange, too_many_requests());
}

void Pipeline::forget(const ExchangePtr& exchange) {
  MutexLock lock(mutex_);
  open_.erase(exchange);
}

void Pipeline::authorize(const ExchangePtr& exchange) {
  AccessAttributes wanted{exchange->user, exchange->path, lower_case(exchange->request().method)};
  const bool taken = authorizer_.authorize(
      std::move(wanted),
      [self = shared_from_this(), exchange](Result<AccessReview> review) {
        if (exchange->answered()) return;
        const net::HttpRequest& request = exchange->request();
        if (!review)
          return self->respond(exchange, internal_error(request, review.error().message));
        if (review->decision != AccessDecision::kAllowed)
          return self->respond(exchange,
                               forbidden(request, exchange->user.name, lower_case(request.method),
                                         exchange->path, review->reason));
        self->route(exchange);
      },
      &exchange->departure());
  if (!taken) respond(exchange, too_many_requests());
}

void Pipeline::route(const ExchangePtr& exchange) {
  if (options_.answer_ui && is_below(exchange->path, "/ui"))
    return options_.answer_ui(exchange->request(), exchange->path,
                              [self = shared_from_this(), exchange](net::HttpResponse response) {
                                self->respond(exchange, std::move(response));
                              });
  if (exchange->path == "/metrics/resources" && options_.list_pods)
    return answer_pod_resources(exchange);
  if (exchange->path == kExplainPath && options_.explain) return answer_explain(exchange);
  if (exchange->path == kCpuProfilePath && options_.profiling) return begin_profile(exchange);
  const auto answer_now = [self = shared_from_this(), exchange] {
    std::optional<net::HttpResponse> response = self->answer(*exchange);
    self->respond(exchange, response ? std::move(*response) : page_not_found());
  };
  if (takes_body(*exchange)) return exchange->read_body(kMaxBodyBytes, answer_now);
  answer_now();
}

std::optional<net::HttpResponse> Pipeline::answer(const Exchange& exchange) {
  const net::HttpRequest& request = exchange.request();
  const std::string& path = exchange.path;
  if (path == "/metrics") return answer_metrics(request, *options_.metrics);
  if (path == "/metrics/slis") return answer_metrics(request, slis_);
  if (path == "/configz" && options_.component_config)
    return answer_configz(options_.component_config());
  if (path == "/flagz" && options_.flagz) return answer_flagz(request, options_.program);
  if (path == "/statusz" && options_.statusz)
    return answer_statusz(request, options_.program, options_.flagz, loop_.wall_now());
  if (path.starts_with("/debug/")) return answer_debug(exchange);
  return answer_health(exchange);
}

std::optional<net::HttpResponse> Pipeline::answer_health(const Exchange& exchange) const {
  const std::string_view path = exchange.path;
  for (const HealthEndpoint& endpoint : health_endpoints_) {
    if (!path.substr(1).starts_with(endpoint.name())) continue;
    const std::string_view rest = path.substr(1 + endpoint.name().size());
    if (rest.empty()) return endpoint.all(exchange.request().query());
    for (const HealthCheck& check : endpoint.checks())
      if (rest.front() == '/' && rest.substr(1) == check.name) return HealthEndpoint::one(check);
  }
  return std::nullopt;
}

std::optional<net::HttpResponse> Pipeline::answer_debug(const Exchange& exchange) const {
  const std::string& path = exchange.path;
  if (options_.waiting_pods && is_below(path, kWaitingPodsPath))
    return answer_waiting_pods(exchange.request(), path, exchange.user, *options_.waiting_pods);
  if (options_.profiling && is_below(path, "/debug/flags"))
    return answer_debug_flags(exchange.request(), path, log_.output());
  if (options_.profiling && is_below(path, "/debug/pprof")) return answer_pprof(path);
  return std::nullopt;
}

void Pipeline::answer_pod_resources(const ExchangePtr& exchange) {
  const bool reset = exchange->request().method == "DELETE";
  options_.list_pods([self = shared_from_this(), exchange, reset](std::optional<PodList> pods) {
    if (exchange->answered()) return;
    // Parity: who does not lead answers with nothing at all, not even a type.
    if (!pods) return self->respond(exchange, {});
    if (reset) return self->respond(exchange, metrics_reset());
    // Of many pods it is a long text, and this may be the world's thread.
    self->background_.post([self, exchange, pods = std::move(pods)] {
      const MetricsChoice choice = choose_metrics_format(exchange->request());
      self->respond(exchange, metrics_page(exchange->request(), choice,
                                           pod_resource_page(*pods, choice.format)));
    });
  });
}

void Pipeline::answer_explain(const ExchangePtr& exchange) {
  const net::HttpRequest& request = exchange->request();
  if (std::optional<net::HttpResponse> refused = explain_method_refused(request))
    return respond(exchange, std::move(*refused));
  if (request.method != "POST") return ask_to_explain(exchange);
  exchange->read_body(kMostPodBytes,
                      [self = shared_from_this(), exchange] { self->ask_to_explain(exchange); });
}

void Pipeline::ask_to_explain(const ExchangePtr& exchange) {
  Result<explain::Question> question = read_question(exchange->request());
  if (!question)
    return respond(exchange, question_refused(exchange->request(), question.error().message));
  CancelReview give_up = options_.explain(
      *std::move(question),
      [self = shared_from_this(), exchange](std::optional<explain::Answer> answer) {
        if (exchange->answered()) return;
        self->background_.post([self, exchange, answer = std::move(answer)] {
          self->respond(exchange, explain_response(exchange->request(), answer));
        });
      });
  if (!exchange->departure().set(give_up)) give_up();
}

void Pipeline::begin_profile(const ExchangePtr& exchange) {
  const Duration duration = profile_duration(exchange->request().query());
  Result<std::unique_ptr<CpuProfile>> profile = CpuProfile::start(loop_.wall_now());
  if (!profile) return respond(exchange, profile_refused(profile.error().message));
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    profile_ = std::move(*profile);
  }
  loop_.post([self = shared_from_this(), exchange, duration] {
    self->loop_.after(
        duration,
        [self, exchange, duration] {
          self->background_.post(
              [self, exchange, duration] { self->end_profile(exchange, duration); });
        },
        TimerKind::kHousekeeping);
  });
}

void Pipeline::end_profile(const ExchangePtr& exchange, Duration duration) {
  std::unique_ptr<CpuProfile> profile;
  {
    MutexLock lock(mutex_);
    profile = std::move(profile_);
  }
  if (!profile) return;
  const std::vector<ProfiledStack> stacks = profile->stop();
  const std::string maps = read_file("/proc/self/maps").value_or("");
  respond(exchange, profile_response(encode_profile(stacks, {profile->started(), duration}, maps)));
}

void Pipeline::respond(const ExchangePtr& exchange, net::HttpResponse response) {
  const int status = response.status;
  if (!exchange->respond(std::move(response))) return;
  {
    MutexLock lock(mutex_);
    open_.erase(exchange);
  }
  if (!log_.enabled(3)) return;
  const net::HttpRequest& request = exchange->request();
  log_.info(3, "HTTP",
            {{"verb", request.method},
             {"URI", request.target},
             {"latency", loop_.now() - exchange->started()},
             {"userAgent", request.headers.find("User-Agent").value_or("")},
             {"audit-ID", ""},
             {"srcIP", request.peer.address},
             {"resp", status}});
}

void Pipeline::close() {
  boost::unordered_flat_set<ExchangePtr> open;
  std::unique_ptr<CpuProfile> profile;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    open.swap(open_);
    profile = std::move(profile_);
  }
  background_.stop();
  for (const ExchangePtr& exchange : open) {
    respond(exchange, text_error(503, "the server is shutting down"));
    exchange->departure().go();  // a review that stayed open would hold this
  }
}

Result<std::unique_ptr<SchedulerServer>> SchedulerServer::start(Loop& loop, ServerOptions options,
                                                                telemetry::Log log) {
  if (const Result<void> ok = check_always_allow_paths(options.authorization.always_allow_paths);
      !ok)
    return fail(ok.error());
  CertificateOptions certificates = options.certificates;
  certificates.bind_address = options.bind_address;
  Result<std::unique_ptr<ServingCertificates>> loaded =
      ServingCertificates::load(std::move(certificates), loop.wall_now(), log);
  if (!loaded) return fail(loaded.error());

  net::HttpServerOptions listening;
  listening.address = options.bind_address;
  listening.port = options.port;
  listening.tls = (*loaded)->settings();
  listening.reuse_port = options.permit_port_sharing;
  listening.http2 = options.http2;
  listening.body_on_demand = true;
  listening.limits.streams = options.http2_max_streams;
  listening.limits.connections = options.max_connections;
  listening.limits.head_bytes = kMaxHeadBytes;
  listening.limits.idle_timeout = std::chrono::seconds(90);
  // Clients keep connections open, and stopping must not wait for them.
  listening.limits.close_timeout = std::chrono::milliseconds(200);
  listening.wall_clock = [&loop] { return loop.wall_now(); };
  const auto pipeline = std::make_shared<Pipeline>(loop, std::move(options), log);
  std::unique_ptr<SchedulerServer> made(
      new SchedulerServer(loop, std::move(log), std::move(*loaded), pipeline));
  made->believe();
  Result<std::unique_ptr<net::HttpServer>> server = net::HttpServer::start(
      std::move(listening),
      [pipeline](net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
        pipeline->start(std::move(request), std::move(responder));
      });
  if (!server) return fail(listen_error(pipeline->options(), server.error()));
  made->server_ = std::move(*server);
  made->look_at_files_later();
  return made;
}

SchedulerServer::SchedulerServer(Loop& loop, telemetry::Log log,
                                 std::unique_ptr<ServingCertificates> certificates,
                                 std::shared_ptr<Pipeline> pipeline)
    : loop_(loop),
      log_(std::move(log)),
      certificates_(std::move(certificates)),
      pipeline_(std::move(pipeline)) {}

SchedulerServer::~SchedulerServer() { stop(Duration::zero()); }

std::uint16_t SchedulerServer::port() const { return server_->port(); }

std::string SchedulerServer::address() const { return server_->address(); }

void SchedulerServer::set_cluster_trust(ClusterTrust trust) {
  cluster_headers_ = std::move(trust.request_headers);
  if (certificates_->set_cluster_authorities(std::move(trust.authorities))) use_certificates();
  believe();
}

void SchedulerServer::believe() {
  const ServerOptions& options = pipeline_->options();
  std::optional<RequestHeaders> proxy;
  if (certificates_->has_request_header_authority())
    proxy = options.certificates.request_header_ca_file.empty() ? cluster_headers_
                                                                : options.request_headers;
  pipeline_->authenticator().believe(certificates_->has_client_authority(), std::move(proxy));
}

void SchedulerServer::use_certificates() {
  if (!server_ || stopped_) return;
  if (const Result<void> used = server_->set_tls(certificates_->settings()); !used)
    log_.error(used.error().message, "Failed to use new certificates");
  else
    log_.info(2, "Certificates were loaded anew");
}

void SchedulerServer::look_at_files_later() {
  timer_ = loop_.after(
      pipeline_->options().reload_period,
      [this] {
        if (certificates_->reload()) use_certificates();
        look_at_files_later();
      },
      TimerKind::kHousekeeping);
}

void SchedulerServer::stop(Duration grace) {
  if (stopped_) return;
  stopped_ = true;
  if (timer_) loop_.cancel(*timer_);
  // Refuse waiting requests first: one that waits for the world thread waits for this function to
  // end.
  pipeline_->close();
  if (server_) server_->stop(grace);
}

}  // namespace berth::serve
