#include "kube/http_api_client.h"

#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "base/base64.h"
#include "base/file.h"
#include "base/time_text.h"
#include "kube/request_retry.h"
#include "net/tls.h"

namespace berth::kube {
namespace {

std::string host_of(std::string_view server) {
  if (const std::size_t scheme = server.find("://"); scheme != std::string_view::npos)
    server.remove_prefix(scheme + 3);
  return std::string(server.substr(0, server.find('/')));
}

net::TlsClientSettings tls_settings(const ClientConfig& config, const Credential& credential) {
  net::TlsClientSettings tls;
  tls.ca_pem = config.ca_data;
  tls.ca_file = config.ca_file;
  tls.server_name = config.tls_server_name;
  tls.insecure = config.insecure_skip_tls_verify;
  if (!credential.cert_data.empty()) {
    tls.certificate_pem = credential.cert_data;
    tls.key_pem = credential.key_data;
  } else {
    tls.certificate_pem = config.cert_data;
    tls.certificate_file = config.cert_file;
    tls.key_pem = config.key_data;
    tls.key_file = config.key_file;
  }
  return tls;
}

// A key of extra that is no header's name as it is.
std::string header_key(std::string_view key) {
  constexpr std::string_view kLegal =
      "!#$&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";
  std::string escaped;
  for (const char c : key) {
    if (kLegal.find(c) != std::string_view::npos)
      escaped += c;
    else
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

// The headers that all requests have, whatever they ask.
net::HttpHeaders identity_headers(const ClientConfig& config) {
  net::HttpHeaders headers;
  if (config.uses_tls() && (!config.username.empty() || !config.password.empty()))
    headers.add("Authorization", "Basic " + base64(config.username + ":" + config.password));
  const Impersonation& as = config.impersonate;
  if (!as.user.empty()) headers.add("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.add("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra)
    for (const std::string& value : values)
      headers.add("Impersonate-Extra-" + header_key(key), value);
  return headers;
}

std::string accept_header(const HttpApiClientOptions& options) {
  if (!options.accept_content_types.empty()) return options.accept_content_types;
  if (options.content_type.empty()) return std::string(kProtoContentType) + ",application/json";
  return options.content_type + ", */*";
}

std::string body_type(const HttpApiClientOptions& options) {
  if (!options.content_type.empty()) return options.content_type;
  return options.accept_content_types.empty() ? std::string(kProtoContentType) : "application/json";
}

constexpr const char* kLeaseLost = "not sent, because the lease is no longer held";

bool changes_something(const ApiCall& call) {
  return call.method != "GET" && call.method != "HEAD";
}

ApiResult no_answer(ErrorKind kind, std::string message) {
  return std::unexpected(ApiFailure{{kind, std::move(message)}, {}});
}

net::HttpClientOptions client_options(const HttpApiClientOptions& options,
                                      telemetry::ClientMetrics& metrics) {
  net::HttpClientOptions result;
  result.tls = tls_settings(options.config, Credential());
  result.tls_file_interval = options.tls_file_interval;
  result.proxy = options.config.proxy_url;
  result.user_agent = options.user_agent;
  result.resolved = [&metrics](std::string_view host, Duration took) {
    metrics.dns_resolution_duration.histogram({host}).observe(
        std::chrono::duration<double>(took).count());
  };
  return result;
}

std::unique_ptr<net::HttpTransport> make_transport(const HttpApiClientOptions& options,
                                                   telemetry::ClientMetrics& metrics) {
  net::HttpClientOptions client = client_options(options, metrics);
  if (options.transport) return options.transport(std::move(client));
  return std::make_unique<net::HttpClient>(std::move(client));
}

}  // namespace

HttpApiClient::HttpApiClient(HttpApiClientOptions options, Loop& loop, telemetry::Log log,
                             telemetry::ClientMetrics& metrics, Credentials::RunProcess run)
    : options_(std::move(options)),
      loop_(loop),
      accept_(accept_header(options_)),
      content_type_(body_type(options_)),
      identity_(identity_headers(options_.config)),
      report_(metrics, std::move(log), options_.config.server, host_of(options_.config.server)),
      turns_(options_.qps, options_.burst, loop),
      source_(options_.config, loop, metrics, std::move(run)),
      client_(make_transport(options_, metrics)) {}

HttpApiClient::~HttpApiClient() {
  source_.close();
}  // before the client ends, which its thread uses

net::HttpCall HttpApiClient::http_call(const ApiCall& call, const Credential& credential) const {
  net::HttpCall http;
  http.method = call.method;
  http.url = url(call);
  http.headers = identity_;
  http.headers.add("Accept", call.accept.empty() ? accept_ : call.accept);
  if (!call.body.empty())
    http.headers.add("Content-Type", call.content_type.empty() ? content_type_ : call.content_type);
  http.body = call.body;
  if (!identity_.find("Authorization")) http.bearer_token = credential.bearer_token;
  http.timeout = call.timeout;
  return http;
}

void HttpApiClient::show(const Credential& credential) {
  const MutexLock lock(shown_mutex_);
  if (credential.cert_data == shown_.cert_data && credential.key_data == shown_.key_data) return;
  shown_ = credential;
  client_->set_tls(tls_settings(options_.config, credential));
}

Task<Result<Credential>> HttpApiClient::credential(CancelToken cancel) {
  if (std::optional<Result<Credential>> there = source_.at_hand()) co_return std::move(*there);
  // Held by the question, too: the answer may be on its way when the task ends.
  auto answer = std::make_shared<Eventual<Result<Credential>>>();
  source_.ask([answer, &world = loop_](Result<Credential> found) {
    world.post([answer, found = std::move(found)]() mutable { answer->set(std::move(found)); });
  });
  const auto registration =
      cancel.on_cancel([answer] { answer->set(fail(ErrorKind::kCancelled, "context canceled")); });
  Result<Credential> found = co_await *answer;
  co_return found;
}

// Which of our credentials the server may have refused; it does not say.
std::string HttpApiClient::why_unauthorized(const Credential& credential) const {
  const ClientConfig& config = options_.config;
  std::string pem = credential.cert_data.empty() ? config.cert_data : credential.cert_data;
  std::string certificate = "the client certificate";
  if (pem.empty() && !config.cert_file.empty()) {
    Result<std::string> read = read_file(config.cert_file);
    if (read) pem = std::move(*read);
    certificate += " in " + config.cert_file;
  }
  if (const Result<WallTime> expires = net::expiry(pem); expires && *expires <= loop_.wall_now())
    return fmt::format(" ({} expired at {})", certificate, rfc3339(*expires));
  if (credential.bearer_token.empty()) return {};
  if (!config.token_file.empty())
    return fmt::format(" (the token in {} was not accepted)", config.token_file);
  return " (the token was not accepted)";
}

ApiResult HttpApiClient::result_of(const ApiCall& call, Result<net::HttpResponse> answer,
                                   const Credential& credential) {
  if (!answer) {
    Error& error = answer.error();
    if (error.kind == ErrorKind::kCancelled) error.message = prefix(call) + "context canceled";
    return std::unexpected(ApiFailure{std::move(error), {}});
  }
  report_.received(call.method, answer->body.size());
  report_.warnings(answer->headers);
  std::string type(answer->headers.find("Content-Type").value_or(""));
  if (answer->status >= 200 && answer->status < 300)
    return ApiAnswer{answer->status, std::move(type), std::move(answer->body)};
  ApiFailure failure = failure_of(answer->status, type, answer->body, call.method, call.path);
  if (failure.status.retry_after_seconds == 0)
    failure.status.retry_after_seconds = retry_after_seconds(answer->headers).value_or(0);
  if (answer->status == 401) {
    source_.refuse(credential);
    failure.error.message += why_unauthorized(credential);
  }
  return std::unexpected(std::move(failure));
}

// What came of one try.
struct HttpApiClient::Tried {
  ApiResult result = no_answer(ErrorKind::kInternal, "");
  std::optional<Retry> retry;  // not the last one; what the result is does not matter
  std::string lost;            // why there was no answer, if it is to be tried again
};

// Nothing: it was not sent, because it may not be, or was cancelled before it might.
Task<std::optional<Result<net::HttpResponse>>> HttpApiClient::send(const ApiCall& call,
                                                                   const Credential& credential,
                                                                   CancelToken cancel) {
  WriteGate* const gate = changes_something(call) ? options_.write_gate : nullptr;
  for (;;) {
    net::HttpCall http = http_call(call, credential);
    if (!gate) {
      Task<Result<net::HttpResponse>> fetching =
          net::fetch(*client_, loop_, std::move(http), cancel);
      Result<net::HttpResponse> answer = co_await fetching;
      co_return answer;
    }
    Task<bool> passing = gate->pass(cancel);
    const bool passed = co_await passing;
    if (!passed) co_return std::nullopt;
    const auto withheld = std::make_shared<std::atomic<bool>>(false);
    http.may_send = [gate, withheld] {
      *withheld = gate->permit() != WritePermit::kSend;
      return !*withheld;
    };
    WriteGate::UnderWay under_way(*gate);
    Task<Result<net::HttpResponse>> fetching = net::fetch(*client_, loop_, std::move(http), cancel);
    Result<net::HttpResponse> answer = co_await fetching;
    if (answer || *withheld) under_way.answered();
    if (answer || !*withheld) co_return answer;
  }
}

// One try of a request that has a slot.
Task<std::unique_ptr<HttpApiClient::Tried>> HttpApiClient::try_once(const ApiCall& call, int number,
                                                                    CancelToken cancel) {
  auto tried = std::make_unique<Tried>();
  Task<Result<Credential>> asking = credential(cancel);
  const Result<Credential> who = co_await asking;
  if (!who) {
    tried->result = no_answer(who.error().kind, prefix(call) + who.error().message);
    co_return tried;
  }
  show(*who);
  const TimePoint sent = loop_.now();
  Task<std::optional<Result<net::HttpResponse>>> sending = send(call, *who, cancel);
  std::optional<Result<net::HttpResponse>> sent_answer = co_await sending;
  if (!sent_answer) {
    tried->result =
        no_answer(ErrorKind::kCancelled,
                  prefix(call) + (cancel.cancelled() ? "context canceled" : kLeaseLost));
    co_return tried;
  }
  Result<net::HttpResponse>& answer = *sent_answer;
  const std::optional<int> code = answer ? std::optional(answer->status) : std::nullopt;
  report_.tried(call.method, call.path, code, number > 1, loop_.now() - sent);
  report_.sent(call.method, call.body.size());
  tried->retry = retry_after(call.method, number, answer);
  if (!tried->retry)
    tried->result = result_of(call, std::move(answer), *who);
  else if (!answer)
    tried->lost = std::move(answer.error().message);
  co_return tried;
}

// Thousands may wait in here for their turn: what a try needs is made when it begins.
Task<ApiResult> HttpApiClient::call_with_retries(const ApiCall& call, CancelToken cancel) {
  std::optional<Retry> retry;
  std::string lost;  // the error of a try before
  for (int number = 1;; ++number) {
    if (turns_.limited()) {
      const TimePoint asked = loop_.now();
      Task<bool> turn = turns_.wait(call.urgency, cancel);
      const bool come = co_await turn;
      const TimePoint now = loop_.now();
      report_.waited(now, now - asked, retry ? retry->reason : "", call.method, call.path);
      if (!come)
        co_return no_answer(ErrorKind::kCancelled,
                            "client rate limiter Wait returned an error: context canceled");
    }
    if (retry) report_.will_try_again(std::chrono::seconds(retry->seconds), number - 1, call.path);

    Task<bool> slot = slots_.take(call.urgency, cancel);
    const bool taken = co_await slot;
    if (!taken) co_return no_answer(ErrorKind::kCancelled, prefix(call) + "context canceled");
    std::optional<TakenSlot> under_way(std::in_place, slots_);
    Task<std::unique_ptr<Tried>> trying = try_once(call, number, cancel);
    const std::unique_ptr<Tried> tried = co_await trying;
    under_way.reset();
    retry = std::move(tried->retry);
    if (!retry) {
      ApiResult& result = tried->result;
      const bool answered = result || result.error().status.code != 0;
      if (!answered && !lost.empty() && result.error().error.message != lost)
        result.error().error.message +=
            " - error from a previous attempt: " + lost.substr(prefix(call).size());
      co_return std::move(result);
    }
    if (!tried->lost.empty()) lost = std::move(tried->lost);
    Task<bool> pausing = pause(loop_, std::chrono::seconds(retry->seconds), cancel);
    const bool waited = co_await pausing;
    if (!waited) co_return no_answer(ErrorKind::kCancelled, prefix(call) + "context canceled");
  }
}

// ---- streams ------------------------------------------------------------------------------------

// Wraps the callbacks, to see the answers as well.
net::HttpStreamCallbacks HttpApiClient::watched(net::HttpCallId id, const ApiCall& call,
                                                net::HttpStreamCallbacks callbacks,
                                                const Credential& credential) {
  struct Seen {
    bool begun = false;
    TimePoint sent;
    std::string method, path;
  };
  auto seen = std::make_shared<Seen>(Seen{false, loop_.now(), call.method, call.path});
  net::HttpStreamCallbacks result;
  result.begin = [this, seen, credential, begin = std::move(callbacks.begin)](
                     int code, net::HttpHeaders headers) {
    seen->begun = true;
    report_.tried(seen->method, seen->path, code, false, loop_.now() - seen->sent);
    report_.warnings(headers);
    if (code == 401) source_.refuse(credential);
    if (begin) begin(code, std::move(headers));
  };
  result.chunk = std::move(callbacks.chunk);
  result.end = [this, seen, id, end = std::move(callbacks.end)](Result<void> ended) {
    if (!seen->begun)
      report_.tried(seen->method, seen->path, std::nullopt, false, loop_.now() - seen->sent);
    streams_.close(id);
    if (end) end(std::move(ended));
  };
  return result;
}

void HttpApiClient::begin_stream(net::HttpCallId id, ApiCall call,
                                 net::HttpStreamCallbacks callbacks,
                                 Result<Credential> credential) {
  if (credential && streams_.cancelled(id))
    credential = fail(ErrorKind::kCancelled, "context canceled");
  if (!credential) {
    streams_.close(id);
    if (callbacks.end)
      callbacks.end(fail(credential.error().kind, prefix(call) + credential.error().message));
    return;
  }
  show(*credential);
  net::HttpStreamCallbacks heard = watched(id, call, std::move(callbacks), *credential);
  const net::HttpCallId under_way = client_->stream(http_call(call, *credential), std::move(heard));
  if (streams_.begun(id, under_way)) client_->cancel(under_way);
}

Task<ApiResult> HttpApiClient::call(ApiCall call, CancelToken cancel) {
  if (call.timeout <= Duration::zero()) call.timeout = options_.timeout;
  const TimePoint begun = loop_.now();
  Task<ApiResult> calling = call_with_retries(call, cancel);
  ApiResult result = co_await calling;
  report_.done(call.method, loop_.now() - begun);
  co_return result;
}

net::HttpCallId HttpApiClient::stream(ApiCall call, net::HttpStreamCallbacks callbacks) {
  const net::HttpCallId id = streams_.open();
  // Never calls back from here, so that the caller has the id by then.
  if (std::optional<Result<Credential>> there = source_.at_hand(); there && *there) {
    begin_stream(id, std::move(call), std::move(callbacks), std::move(*there));
    return id;
  }
  source_.ask([this, id, call = std::move(call),
               callbacks = std::move(callbacks)](Result<Credential> credential) {
    begin_stream(id, call, callbacks, std::move(credential));
  });
  return id;
}

void HttpApiClient::cancel(net::HttpCallId stream) {
  if (const std::optional<net::HttpCallId> call = streams_.cancel(stream)) client_->cancel(*call);
}

BodyFormat HttpApiClient::format() const {
  return content_type_.starts_with(kProtoContentType) ? BodyFormat::kProtobuf : BodyFormat::kJson;
}

}  // namespace berth::kube
