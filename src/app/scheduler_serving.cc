#include "app/scheduler_serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/release.h"
#include "config/write.h"
#include "wire/yaml.h"

namespace berth::app {
namespace {

// Questions about callers must not wait behind one another for long.
constexpr float kReviewsPerSecond = 200;
constexpr int kReviewBurst = 400;

Result<std::unique_ptr<kube::HttpApiClient>> review_client(const std::string& kubeconfig,
                                                           Loop& loop, const telemetry::Log& log,
                                                           telemetry::ClientMetrics& metrics) {
  Result<std::optional<kube::ClientConfig>> config =
      kube::load_optional_client_config(kubeconfig, kube::pod_environment());
  if (!config) return fail(config.error());
  if (!*config) return nullptr;
  kube::HttpApiClientOptions options;
  options.config = std::move(**config);
  options.user_agent = "kube-scheduler";
  options.qps = kReviewsPerSecond;
  options.burst = kReviewBurst;
  options.content_type = "application/json";
  return std::make_unique<kube::HttpApiClient>(std::move(options), loop, log, metrics);
}

kube::UserInfo user_of(const serve::UserInfo& user) {
  return {.name = user.name, .uid = user.uid, .groups = user.groups, .extra = user.extra};
}
serve::UserInfo user_of(const kube::UserInfo& user) {
  return {.name = user.name, .uid = user.uid, .groups = user.groups, .extra = user.extra};
}

serve::AccessDecision decision_of(kube::AccessDecision decision) {
  switch (decision) {
    case kube::AccessDecision::kAllowed: return serve::AccessDecision::kAllowed;
    case kube::AccessDecision::kDenied: return serve::AccessDecision::kDenied;
    case kube::AccessDecision::kNoOpinion: return serve::AccessDecision::kNoOpinion;
  }
  return serve::AccessDecision::kNoOpinion;
}

serve::CertificateOptions certificate_options(const config::SchedulerOptions& options) {
  const config::SecureServingOptions& serving = options.secure_serving;
  serve::CertificateOptions certificates;
  certificates.cert_dir = serving.cert_dir;
  certificates.cert_file = serving.cert_file;
  certificates.key_file = serving.key_file;
  for (const config::NamedCertKey& named : serving.sni_cert_keys)
    certificates.named.push_back({named.cert_file, named.key_file, named.names});
  certificates.client_ca_file = options.authentication.client_ca_file;
  certificates.request_header_ca_file = options.authentication.request_header_ca_file;
  certificates.min_version = serving.min_tls_version;
  certificates.cipher_suites = serving.cipher_suites;
  return certificates;
}

serve::ProgramFacts program_facts(const SchedulerSetup& setup, WallTime started) {
  serve::ProgramFacts facts;
  facts.started = started;
  facts.go_version = "C++23";
  facts.binary_version = kKubernetesNumber;
  // Parity: the binary's own, whatever --emulated-version says.
  facts.emulated_version = kKubernetesMajorMinor;
  for (const config::FlagEcho& flag : setup.command.flags)
    facts.flags.emplace_back(flag.name, flag.value);
  return facts;
}

serve::ClusterTrust trust_of(const kube::AuthenticationSettings& settings) {
  return {.authorities = {.client_ca = settings.client_ca,
                          .request_header_ca = settings.request_header_ca},
          .request_headers = {.allowed_names = settings.allowed_names,
                              .username = settings.username_headers,
                              .uid = settings.uid_headers,
                              .group = settings.group_headers,
                              .extra_prefixes = settings.extra_header_prefixes}};
}

}  // namespace

SchedulerServing::SchedulerServing(const SchedulerSetup& setup, Loop& loop, Random random,
                                   telemetry::Log log)
    : setup_(setup), loop_(loop), random_(random), log_(std::move(log)) {}

// Nobody asks any more before those go whom the questions need.
SchedulerServing::~SchedulerServing() {
  server_.reset();
  tasks_.clear();
}

Result<std::unique_ptr<SchedulerServing>> SchedulerServing::start(
    const SchedulerSetup& setup, Loop& loop, ProgramMetrics& metrics, ServedScheduler shown,
    Random random, telemetry::Log log) {
  std::unique_ptr<SchedulerServing> serving(
      new SchedulerServing(setup, loop, random, std::move(log)));
  if (Result<void> made = serving->make_clients(metrics); !made) return fail(made.error());
  serving->make_reviews(metrics);
  Result<std::unique_ptr<serve::SchedulerServer>> server = serve::SchedulerServer::start(
      loop, serving->server_options(std::move(shown), metrics), serving->log_);
  if (!server)
    return fail(server.error().kind,
                fmt::format("failed to create listener: {}", server.error().message));
  serving->server_ = std::move(*server);
  return serving;
}

Result<void> SchedulerServing::make_clients(ProgramMetrics& metrics) {
  const config::SchedulerOptions& options = setup_.command.options;
  Result<std::unique_ptr<kube::HttpApiClient>> authentication =
      review_client(options.authentication.kubeconfig, loop_, log_, metrics.client);
  if (!authentication)
    return fail(authentication.error().kind,
                fmt::format("failed to get delegated authentication kubeconfig: {}",
                            authentication.error().message));
  authentication_ = std::move(*authentication);
  Result<std::unique_ptr<kube::HttpApiClient>> authorization =
      review_client(options.authorization.kubeconfig, loop_, log_, metrics.client);
  if (!authorization)
    return fail(authorization.error().kind,
                fmt::format("failed to get delegated authorization kubeconfig: {}",
                            authorization.error().message));
  authorization_ = std::move(*authorization);
  if (!authentication_)
    log_.plain(telemetry::Severity::kWarning,
               "No authentication-kubeconfig provided, so TokenReview of delegated authentication "
               "won't work");
  if (!authorization_)
    log_.plain(telemetry::Severity::kWarning,
               "No authorization-kubeconfig provided, so SubjectAccessReview of authorization "
               "tokens won't work");
  return {};
}

void SchedulerServing::make_reviews(ProgramMetrics& metrics) {
  if (!authentication_ && !authorization_) return;
  kube::Reviews::Options options;
  options.observe_token = [&serving = metrics.serving](std::string_view code, Duration took) {
    serving.apiserver_delegated_authn_request.counter({code}).add();
    serving.apiserver_delegated_authn_request_duration.histogram({code}).observe(
        std::chrono::duration<double>(took).count());
  };
  options.observe_access = [&serving = metrics.serving](std::string_view code, Duration took) {
    serving.apiserver_delegated_authz_request.counter({code}).add();
    serving.apiserver_delegated_authz_request_duration.histogram({code}).observe(
        std::chrono::duration<double>(took).count());
  };
  kube::ApiClient& authentication = authentication_ ? *authentication_ : *authorization_;
  kube::ApiClient& authorization = authorization_ ? *authorization_ : *authentication_;
  reviews_ = std::make_unique<kube::Reviews>(loop_, authentication, authorization, random_.fork(),
                                             std::move(options), log_);
}

serve::ServerOptions SchedulerServing::server_options(ServedScheduler shown,
                                                      ProgramMetrics& metrics) {
  const config::SchedulerOptions& flags = setup_.command.options;
  serve::ServerOptions options;
  options.bind_address = flags.secure_serving.bind_address;
  options.port = static_cast<std::uint16_t>(flags.secure_serving.port);
  options.permit_port_sharing = flags.secure_serving.permit_port_sharing;
  options.certificates = certificate_options(flags);
  options.http2 = !flags.secure_serving.disable_http2;
  if (flags.secure_serving.http2_max_streams > 0)
    options.http2_max_streams = static_cast<std::uint32_t>(
        std::min<std::int64_t>(flags.secure_serving.http2_max_streams, INT32_MAX));
  options.authentication.token_cache_ttl = flags.authentication.token_cache_ttl;
  if (authentication_) options.authentication.review_token = token_door();
  options.request_headers = {.allowed_names = flags.authentication.request_header_allowed_names,
                             .username = flags.authentication.request_header_username_headers,
                             .uid = flags.authentication.request_header_uid_headers,
                             .group = flags.authentication.request_header_group_headers,
                             .extra_prefixes = flags.authentication.request_header_extra_prefixes};
  options.authorization.always_allow_paths = flags.authorization.always_allow_paths;
  options.authorization.allow_cache_ttl = flags.authorization.allow_cache_ttl;
  options.authorization.deny_cache_ttl = flags.authorization.deny_cache_ttl;
  if (authorization_) options.authorization.review_access = access_door();
  options.program = program_facts(setup_, loop_.wall_now());
  options.health = std::move(shown.health);
  options.metrics = &metrics.registry;
  options.list_pods = std::move(shown.list_pods);
  options.component_config = [json = config::to_json(setup_.configuration)] { return json; };
  options.waiting_pods = shown.waiting_pods;
  options.answer_ui = std::move(shown.answer_ui);
  options.explain = std::move(shown.explain);
  options.profiling = setup_.configuration.enable_profiling;
  options.flagz = flags.gates.enabled("ComponentFlagz");
  options.statusz = flags.gates.enabled("ComponentStatusz");
  return options;
}

// ---- who is it, and may they

serve::CancelReview SchedulerServing::begin_review(std::function<Task<void>(CancelToken)> review) {
  const std::uint64_t id = ++last_review_;
  const std::weak_ptr<std::map<std::uint64_t, CancelSource>> open = open_reviews_;
  loop_.post([this, open, id, review = std::move(review)]() mutable {
    if (open.lock()) tasks_.spawn(run_review(id, std::move(review)));
  });
  return [&loop = loop_, open, id] {
    loop.post([open, id] {
      const auto reviews = open.lock();
      if (!reviews) return;
      if (const auto found = reviews->find(id); found != reviews->end())
        found->second.cancel("the client has gone");
    });
  };
}

Task<void> SchedulerServing::run_review(std::uint64_t id,
                                        std::function<Task<void>(CancelToken)> review) {
  CancelSource& stop = (*open_reviews_)[id];
  const CancelToken end = end_.token();
  const CancelToken::Registration forwarded =
      end.on_cancel([&stop, end] { stop.cancel(end.cause()); });
  Task<void> running = review(stop.token());
  co_await running;
  open_reviews_->erase(id);
}

serve::ReviewToken SchedulerServing::token_door() {
  return [this](std::string token, std::function<void(Result<serve::TokenReview>)> done) {
    return begin_review([this, token = std::move(token), done = std::move(done)](
                            CancelToken cancel) { return answer(token, done, cancel); });
  };
}

serve::ReviewAccess SchedulerServing::access_door() {
  return [this](serve::AccessAttributes attributes,
                std::function<void(Result<serve::AccessReview>)> done) {
    kube::AccessAttributes asked{.user = user_of(attributes.user),
                                 .path = std::move(attributes.path),
                                 .verb = std::move(attributes.verb)};
    return begin_review([this, asked = std::move(asked), done = std::move(done)](
                            CancelToken cancel) { return answer(asked, done, cancel); });
  };
}

Task<void> SchedulerServing::answer(std::string token,
                                    std::function<void(Result<serve::TokenReview>)> done,
                                    CancelToken cancel) {
  Task<Result<kube::TokenReview>> asking = reviews_->review_token(std::move(token), cancel);
  Result<kube::TokenReview> review = co_await asking;
  if (!review) {
    done(fail(review.error()));
    co_return;
  }
  done(serve::TokenReview{.authenticated = review->authenticated,
                          .user = user_of(review->user),
                          .error = std::move(review->error)});
}

Task<void> SchedulerServing::answer(kube::AccessAttributes attributes,
                                    std::function<void(Result<serve::AccessReview>)> done,
                                    CancelToken cancel) {
  Task<Result<kube::AccessReview>> asking = reviews_->review_access(std::move(attributes), cancel);
  Result<kube::AccessReview> review = co_await asking;
  if (!review) {
    done(fail(review.error()));
    co_return;
  }
  done(serve::AccessReview{.decision = decision_of(review->decision),
                           .reason = std::move(review->reason)});
}

// ---- whom the cluster believes

void SchedulerServing::follow_cluster(std::function<void(Error)> failed) {
  if (!authentication_ || setup_.command.options.authentication.skip_lookup) return;
  trust_ = std::make_unique<kube::AuthenticationConfig>(
      loop_, *authentication_, random_.fork(),
      [this](const kube::AuthenticationSettings& settings) {
        server_->set_cluster_trust(trust_of(settings));
      },
      log_);
  tasks_.spawn(follow(std::move(failed)));
}

Task<void> SchedulerServing::follow(std::function<void(Error)> failed) {
  Task<Result<void>> loading = trust_->load(end_.token());
  const Result<void> loaded = co_await loading;
  if (end_.cancelled()) co_return;
  if (!loaded) {
    if (!setup_.command.options.authentication.tolerate_lookup_failure) {
      failed(loaded.error());
      co_return;
    }
    log_.plain(telemetry::Severity::kWarning,
               fmt::format("Error looking up in-cluster authentication configuration: {}",
                           loaded.error().message));
    log_.plain(telemetry::Severity::kWarning,
               "Continuing without authentication configuration. This may treat all requests as "
               "anonymous.");
  }
  Task<void> watching = trust_->watch(end_.token());
  co_await watching;
}

void SchedulerServing::stop() {
  end_.cancel("the server stops");
  server_->stop();
}

}  // namespace berth::app
