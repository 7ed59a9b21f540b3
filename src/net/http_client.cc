#include "net/http_client.h"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/thread.h"
#include "net/http2_pool.h"
#include "net/http_transfer.h"
#include "net/open_call.h"
#include "net/tls_files.h"

namespace berth::net {

// What other threads hand in, until the client's thread takes it.
struct HttpClient::Parts {
  explicit Parts(HttpClientOptions given)
      : options(std::move(given)),
        files(options.tls),
        pool(transfers, options, files.settings(), clock),
        thread("http-client", [this] { run(); }) {}

  struct Inbox {
    std::vector<std::unique_ptr<OpenCall>> calls;
    std::vector<HttpCallId> cancels;
    std::optional<TlsClientSettings> tls;  // to be used for these calls and all that follow
    bool ending = false;

    bool empty() const { return calls.empty() && cancels.empty() && !ending; }
  };
  // A call under way: in the pool, or a transfer of libcurl's.
  struct Open {
    std::unique_ptr<OpenCall> call;
    std::unique_ptr<HttpTransfer> transfer;
  };

  HttpCallId submit(HttpCall call, HttpCallbacks callbacks) EXCLUDES(mutex);
  void run() EXCLUDES(mutex);
  void use(const TlsClientSettings& settings);
  void look_at_files(const OpenCall& call);
  void begin(std::unique_ptr<OpenCall> call);
  void transfer(Open& open);
  void work();
  void cancel(HttpCallId id, std::string why);
  void end(HttpCallId id, Result<void> ended);

  const HttpClientOptions options;
  const RealLoop clock;  // never run
  HttpTransferSet transfers;
  TlsFiles files;                            // the client's thread only
  std::optional<TimePoint> looked_at_files;  // nothing: the next call looks, whatever the interval
  Http2Pool pool;

  Mutex mutex;
  Inbox inbox GUARDED_BY(mutex);
  HttpCallId last_id GUARDED_BY(mutex) = 0;

  // The client's thread only.
  boost::unordered_flat_map<HttpCallId, Open> open;

  Thread thread;  // last: it uses all of the above
};

// The caller that finds the inbox empty wakes the thread, which then takes all that is in it.
HttpCallId HttpClient::Parts::submit(HttpCall call, HttpCallbacks callbacks) {
  HttpCallId id = 0;
  bool first = false;
  {
    MutexLock lock(mutex);
    first = inbox.empty();
    id = ++last_id;
    inbox.calls.push_back(
        std::make_unique<OpenCall>(id, std::move(call), std::move(callbacks), options));
  }
  if (first) transfers.wake();
  return id;
}

void HttpClient::Parts::use(const TlsClientSettings& settings) {
  looked_at_files = clock.now();
  if (files.use(settings)) pool.use_tls(files.settings());
}

// Before every new connection, and from time to time while one lives. Whether libcurl makes a new
// one for a call of HTTP/1.1 is not known.
void HttpClient::Parts::look_at_files(const OpenCall& call) {
  if (!call.call().url.starts_with("https:")) return;
  const TimePoint now = clock.now();
  const bool dials = pool.takes(call) && !pool.connected(call);
  if (!dials && looked_at_files && now - *looked_at_files < options.tls_file_interval) return;
  looked_at_files = now;
  if (files.look()) pool.use_tls(files.settings());
}

void HttpClient::Parts::begin(std::unique_ptr<OpenCall> call) {
  const HttpCallId id = call->id();
  Open& entered = open[id];
  entered.call = std::move(call);
  if (Result<void> ok = entered.call->can_be_sent(); !ok) return end(id, std::move(ok));
  look_at_files(*entered.call);
  if (pool.takes(*entered.call))
    pool.begin(*entered.call);
  else
    transfer(entered);
}

void HttpClient::Parts::transfer(Open& given) {
  given.transfer = std::make_unique<HttpTransfer>(*given.call, files.settings());
  Result<void> begun = given.transfer->prepare();
  if (begun) begun = transfers.add(given.transfer->easy());
  if (begun) return;
  given.transfer.reset();
  end(given.call->id(), std::move(begun));
}

void HttpClient::Parts::end(HttpCallId id, Result<void> ended) {
  const auto found = open.find(id);
  if (found == open.end()) return;
  const Open taken = std::move(found->second);
  open.erase(found);
  if (taken.transfer) {
    transfers.remove(taken.transfer->easy());
    taken.transfer->easy().report_lookup();
  }
  // The next connection of HTTP/1.1 may be a new one.
  if (!ended || taken.call->status() == kUnauthorized) looked_at_files.reset();
  taken.call->finish(std::move(ended));
}

void HttpClient::Parts::cancel(HttpCallId id, std::string why) {
  const auto found = open.find(id);
  if (found == open.end()) return;
  if (!found->second.transfer) pool.forget(*found->second.call);
  end(id, fail(ErrorKind::kCancelled, std::move(why)));
}

void HttpClient::Parts::work() {
  for (const HttpTransferSet::Ended& ended : transfers.work()) {
    if (ended.easy->call == 0) {
      pool.dialed(*ended.easy, ended.code);
    } else if (const auto found = open.find(ended.easy->call); found != open.end()) {
      Result<void> result = found->second.transfer->result_of(ended.code);
      end(found->first, std::move(result));
    }
  }
  pool.work();
  for (Http2Pool::Outcome& outcome : pool.take_outcomes()) {
    if (!outcome.elsewhere)
      end(outcome.call, std::move(outcome.result));
    else if (const auto found = open.find(outcome.call); found != open.end())
      transfer(found->second);
  }
}

void HttpClient::Parts::run() {
  transfers.limit_connections(options.connections_per_host);
  for (;;) {
    Inbox taken;
    {
      MutexLock lock(mutex);
      std::swap(taken, inbox);
      inbox.ending = taken.ending;
    }
    if (taken.tls) use(*taken.tls);
    for (std::unique_ptr<OpenCall>& call : taken.calls) begin(std::move(call));
    for (const HttpCallId id : taken.cancels) cancel(id, "the request was cancelled");
    if (taken.ending) break;
    work();
    transfers.wait(pool.sockets(), pool.patience());
  }
  while (!open.empty()) cancel(open.begin()->first, "the client was closed");
}

HttpClient::HttpClient(HttpClientOptions options)
    : parts_(std::make_unique<Parts>(std::move(options))) {}

HttpClient::~HttpClient() {
  {
    MutexLock lock(parts_->mutex);
    parts_->inbox.ending = true;
  }
  parts_->transfers.wake();
  parts_->thread.join();
}

HttpCallId HttpClient::send(HttpCall call, std::function<void(Result<HttpResponse>)> done) {
  HttpCallbacks callbacks;
  callbacks.done = std::move(done);
  return parts_->submit(std::move(call), std::move(callbacks));
}

HttpCallId HttpClient::stream(HttpCall call, HttpStreamCallbacks callbacks) {
  HttpCallbacks all;
  all.stream = std::move(callbacks);
  return parts_->submit(std::move(call), std::move(all));
}

void HttpClient::cancel(HttpCallId id) {
  bool first = false;
  {
    MutexLock lock(parts_->mutex);
    first = parts_->inbox.empty();
    parts_->inbox.cancels.push_back(id);
  }
  if (first) parts_->transfers.wake();
}

void HttpClient::set_tls(TlsClientSettings settings) {
  // The thread is not woken: it takes effect with the next call.
  MutexLock lock(parts_->mutex);
  parts_->inbox.tls = std::move(settings);
}

std::string error_prefix(std::string_view method, std::string_view url) {
  std::string verb(method);
  for (std::size_t i = 1; i < verb.size(); ++i) verb[i] = lower_case(verb[i]);
  return fmt::format("{} \"{}\": ", verb, url);
}

bool lost_connection(const Error& error) {
  if (error.kind != ErrorKind::kUnavailable) return false;
  for (const std::string_view words :
       {": EOF", "unexpected EOF", "connection reset by peer", "broken pipe",
        "http2: client connection lost", "connection lost: "})
    if (error.message.find(words) != std::string::npos) return true;
  return false;
}

namespace {

// Cancels a call whose task is destroyed before it ends.
class CallGuard {
 public:
  CallGuard(HttpTransport& client, HttpCallId id) : client_(client), id_(id) {}
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  ~CallGuard() {
    if (!answered) client_.cancel(id_);
  }
  bool answered = false;

 private:
  HttpTransport& client_;
  HttpCallId id_;
};

}  // namespace

Task<Result<HttpResponse>> fetch(HttpTransport& client, Loop& loop, HttpCall call,
                                 CancelToken cancel) {
  if (cancel.cancelled())
    co_return fail(ErrorKind::kCancelled, "the request was cancelled: " + cancel.cause());
  // Held by the callback, too: the answer may be on its way when the task ends.
  auto answer = std::make_shared<Eventual<Result<HttpResponse>>>();
  const HttpCallId id = client.send(std::move(call), [answer, &loop](Result<HttpResponse> result) {
    loop.post([answer, result = std::move(result)]() mutable { answer->set(std::move(result)); });
  });
  CallGuard guard(client, id);
  const auto registration = cancel.on_cancel([&client, id] { client.cancel(id); });
  Result<HttpResponse> result = co_await *answer;
  guard.answered = true;
  co_return result;
}

}  // namespace berth::net
