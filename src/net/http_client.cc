#include "net/http_client.h"

#include <fmt/format.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "net/http_transfer.h"

namespace berth::net {

// What other threads hand in, until the client's thread takes it.
struct HttpClient::Parts {
  explicit Parts(HttpClientOptions given)
      : options(std::move(given)),
        tls(std::make_shared<const TlsClientSettings>(options.tls)),
        thread("http-client", [this] { run(); }) {}

  struct Inbox {
    std::vector<std::unique_ptr<HttpTransfer>> calls;
    std::vector<HttpCallId> cancels;
    bool ending = false;
  };

  HttpCallId submit(HttpCall call, HttpTransferCallbacks callbacks) EXCLUDES(mutex);
  void run() EXCLUDES(mutex);
  void begin(std::unique_ptr<HttpTransfer> transfer);
  void end(HttpCallId id, Result<void> ended);

  const HttpClientOptions options;
  HttpTransferSet transfers;

  Mutex mutex;
  Inbox inbox GUARDED_BY(mutex);
  HttpCallId last_id GUARDED_BY(mutex) = 0;
  std::shared_ptr<const TlsClientSettings> tls GUARDED_BY(mutex);

  // The client's thread only.
  boost::unordered_flat_map<HttpCallId, std::unique_ptr<HttpTransfer>> open;

  Thread thread;  // last: it uses all of the above
};

HttpCallId HttpClient::Parts::submit(HttpCall call, HttpTransferCallbacks callbacks) {
  HttpCallId id = 0;
  {
    MutexLock lock(mutex);
    id = ++last_id;
    inbox.calls.push_back(
        std::make_unique<HttpTransfer>(id, std::move(call), std::move(callbacks), options, tls));
  }
  transfers.wake();
  return id;
}

void HttpClient::Parts::begin(std::unique_ptr<HttpTransfer> transfer) {
  const HttpCallId id = transfer->id();
  Result<void> begun = transfer->prepare();
  if (begun) begun = transfers.add(*transfer);
  open.emplace(id, std::move(transfer));
  if (!begun) end(id, std::move(begun));
}

void HttpClient::Parts::end(HttpCallId id, Result<void> ended) {
  const auto found = open.find(id);
  if (found == open.end()) return;
  const std::unique_ptr<HttpTransfer> transfer = std::move(found->second);
  open.erase(found);
  transfers.remove(*transfer);
  transfer->finish(std::move(ended));
}

void HttpClient::Parts::run() {
  for (;;) {
    Inbox taken;
    {
      MutexLock lock(mutex);
      std::swap(taken, inbox);
      inbox.ending = taken.ending;
    }
    for (std::unique_ptr<HttpTransfer>& transfer : taken.calls) begin(std::move(transfer));
    for (const HttpCallId id : taken.cancels)
      end(id, fail(ErrorKind::kCancelled, "the request was cancelled"));
    if (taken.ending) break;
    for (HttpTransferSet::Ended& ended : transfers.work()) end(ended.id, std::move(ended.result));
    transfers.wait();
  }
  while (!open.empty())
    end(open.begin()->first, fail(ErrorKind::kCancelled, "the client was closed"));
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
  HttpTransferCallbacks callbacks;
  callbacks.done = std::move(done);
  return parts_->submit(std::move(call), std::move(callbacks));
}

HttpCallId HttpClient::stream(HttpCall call, HttpStreamCallbacks callbacks) {
  HttpTransferCallbacks all;
  all.stream = std::move(callbacks);
  return parts_->submit(std::move(call), std::move(all));
}

void HttpClient::cancel(HttpCallId id) {
  {
    MutexLock lock(parts_->mutex);
    parts_->inbox.cancels.push_back(id);
  }
  parts_->transfers.wake();
}

void HttpClient::set_tls(TlsClientSettings settings) {
  MutexLock lock(parts_->mutex);
  parts_->tls = std::make_shared<const TlsClientSettings>(std::move(settings));
}

std::string error_prefix(std::string_view method, std::string_view url) {
  std::string verb(method);
  for (std::size_t i = 1; i < verb.size(); ++i)
    verb[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(verb[i])));
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

// Cancels a call whose task ends before it.
class CallGuard {
 public:
  CallGuard(HttpClient& client, HttpCallId id) : client_(client), id_(id) {}
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;
  ~CallGuard() {
    if (!answered) client_.cancel(id_);
  }
  bool answered = false;

 private:
  HttpClient& client_;
  HttpCallId id_;
};

}  // namespace

Task<Result<HttpResponse>> fetch(HttpClient& client, Loop& loop, HttpCall call,
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
