#include "serve/testing/served.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>

#include "base/ascii.h"
#include "base/file.h"

namespace berth::serve::testing {

AuthenticationOptions known_tokens() {
  AuthenticationOptions options;
  options.review_token = [](const std::string& token,
                            const std::function<void(Result<TokenReview>)>& done) {
    TokenReview review;
    review.authenticated = true;
    if (token == "admintoken") {
      review.user = {"tadmin", "uid1", {"system:masters"}, {}};
    } else if (token == "plaintoken") {
      review.user = {"plain", "uid2", {}, {}};
    } else if (token == "montoken") {
      review.user = {"mon", "uid3", {"system:monitoring"}, {}};
    } else {
      review.authenticated = false;
      review.error = "[invalid bearer token]";
    }
    done(review);
    return CancelReview();
  };
  return options;
}

AuthorizationOptions known_rights() {
  AuthorizationOptions options;
  options.review_access = [](const AccessAttributes& wanted,
                             const std::function<void(Result<AccessReview>)>& done) {
    const bool may = wanted.user.name == "mon" && wanted.path == "/metrics" && wanted.verb == "get";
    done(AccessReview{may ? AccessDecision::kAllowed : AccessDecision::kNoOpinion, {}});
    return CancelReview();
  };
  return options;
}

Served::Served() {
  options.bind_address = "127.0.0.1";
  options.port = 0;
  options.authentication = known_tokens();
  options.authorization = known_rights();
  options.metrics = &registry;
  options.program.started = loop.wall_now();
  options.program.go_version = "go1.26.8";
  options.program.binary_version = "1.37.1";
  options.program.emulated_version = "1.37";
  options.program.flags = {{"bind-address", "127.0.0.1"}, {"config", ""}, {"v", "4"}};
  options.component_config = [] { return std::string(R"({"kind":"KubeSchedulerConfiguration"})"); };
  options.health.healthz = {ping_check()};
  options.health.livez = {ping_check()};
  options.health.readyz = {
      {"shutdown", [] { return Result<void>(); }},
      {"sched-handler-sync", [] { return Result<void>(); }},
  };
}

Served::~Served() {
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

void Served::start() {
  if (options.certificates.cert_file.empty()) {
    folder_ = ::testing::TempDir() + "berth-serve-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    options.certificates.cert_file = folder_ + "/tls.crt";
    options.certificates.key_file = folder_ + "/tls.key";
    const net::KeyPair& pair = net::testing::certificates().server;
    ASSERT_TRUE(write_file(options.certificates.cert_file, pair.certificate_pem));
    ASSERT_TRUE(write_file(options.certificates.key_file, pair.key_pem));
  }
  Result<std::unique_ptr<SchedulerServer>> started = SchedulerServer::start(loop, options, log.log);
  ASSERT_TRUE(started) << started.error().message;
  server = std::move(*started);
}

std::string Served::url(std::string_view path) const {
  return fmt::format("https://127.0.0.1:{}{}", server->port(), path);
}

net::HttpResponse Served::ask(Ask ask) {
  auto answered = std::make_shared<std::promise<net::HttpResponse>>();
  std::future<net::HttpResponse> answer = answered->get_future();
  this->ask(std::move(ask),
            [answered](net::HttpResponse response) { answered->set_value(std::move(response)); });
  if (answer.wait_for(net::testing::kPatience) == std::future_status::ready) return answer.get();
  ADD_FAILURE() << "no answer";
  return {};
}

void Served::ask(Ask ask, std::function<void(net::HttpResponse)> answered) {
  net::HttpClientOptions client_options;
  client_options.proxy = "-";
  client_options.tls = std::move(ask.tls);
  client_options.tls.insecure = true;
  clients_.push_back(std::make_unique<net::HttpClient>(std::move(client_options)));
  net::HttpCall call;
  call.method = std::move(ask.method);
  call.url = url(ask.path);
  call.headers = std::move(ask.headers);
  call.body = std::move(ask.body);
  call.bearer_token = std::move(ask.token);
  clients_.back()->send(
      std::move(call), [answered = std::move(answered)](Result<net::HttpResponse> answer) {
        EXPECT_TRUE(answer) << answer.error().message;
        answered(answer ? std::move(*answer)
                        : net::HttpResponse{.status = 0, .headers = {}, .body = {}});
      });
}

std::string Served::metric(std::string_view series) const {
  const std::string text = "\n" + registry.text();
  const std::string line = fmt::format("\n{} ", series);
  const std::size_t at = text.find(line);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + line.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string head_of(const net::HttpResponse& response) {
  std::string head = std::to_string(response.status);
  std::map<std::string, std::string> sorted(response.headers.begin(), response.headers.end());
  for (const auto& [name, value] : sorted) {
    const std::string key = lower_case(name);
    if (key == "date" || key == "content-length" || key == "process-start-time-unix") continue;
    head += fmt::format("; {}: {}", key, value);
  }
  return head;
}

}  // namespace berth::serve::testing
