#include "net/http_transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "net/freed.h"

namespace berth::net {
namespace {

using Multi = std::unique_ptr<CURLM, Freed<curl_multi_cleanup>>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace

HttpTransfer::HttpTransfer(OpenCall& call, std::shared_ptr<const TlsClientSettings> tls)
    : call_(call), easy_(call.options(), std::move(tls)) {
  easy_.call = call.id();
}

Result<void> HttpTransfer::prepare() {
  if (Result<void> ok = easy_.aim_at(call_.call().url); !ok) return ok;
  CURL* easy = easy_.handle();
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, static_cast<void*>(this));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, static_cast<void*>(this));
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_connected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, static_cast<void*>(this));
  set_headers();
  set_body();
  set_limits();
  easy_.use_headers();
  return {};
}

void HttpTransfer::set_headers() {
  const HttpHeaders& headers = call_.call().headers;
  for (const auto& [name, value] : headers)
    easy_.add_header(value.empty() ? name + ";" : name + ": " + value);
  if (!call_.call().bearer_token.empty())
    easy_.add_header("Authorization: Bearer " + call_.call().bearer_token);
  CURL* easy = easy_.handle();
  if (!headers.find("User-Agent"))
    curl_easy_setopt(easy, CURLOPT_USERAGENT, call_.options().user_agent.c_str());
  // What libcurl would add by itself.
  easy_.add_header("Expect:");
  if (!headers.find("Content-Type")) easy_.add_header("Content-Type:");
  if (!headers.find("Accept")) easy_.add_header("Accept: */*");
  if (call_.options().compression) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
}

void HttpTransfer::set_body() {
  const HttpCall& call = call_.call();
  CURL* easy = easy_.handle();
  if (call.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return;
  }
  const bool takes_body = call.method == "POST" || call.method == "PUT" || call.method == "PATCH";
  if (takes_body || !call.body.empty()) {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call.method.c_str());
}

void HttpTransfer::set_limits() {
  const HttpCall& call = call_.call();
  CURL* easy = easy_.handle();
  if (call.timeout > Duration::zero())
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, curl_milliseconds(call.timeout));
  if (call.idle_timeout > Duration::zero()) {
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                     (curl_milliseconds(call.idle_timeout) + 999) / 1000);
  }
}

int HttpTransfer::on_connected(void* self, char*, char*, int, int) {
  return static_cast<HttpTransfer*>(self)->call_.may_be_sent() ? CURL_PREREQFUNC_OK
                                                               : CURL_PREREQFUNC_ABORT;
}

std::size_t HttpTransfer::on_header(char* data, std::size_t one, std::size_t size, void* self) {
  static_cast<HttpTransfer*>(self)->header_line(std::string_view(data, one * size));
  return one * size;
}

std::size_t HttpTransfer::on_body(char* data, std::size_t one, std::size_t size, void* self) {
  const std::string_view piece(data, one * size);
  return static_cast<HttpTransfer*>(self)->call_.body(piece) ? piece.size() : CURL_WRITEFUNC_ERROR;
}

void HttpTransfer::header_line(std::string_view line) {
  if (call_.head_complete()) return;  // a trailer
  line = trimmed(line);
  if (line.starts_with("HTTP/")) return call_.begin_head();
  if (!line.empty()) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      call_.header(line.substr(0, colon), trimmed(line.substr(colon + 1)));
    return;
  }
  long status = 0;
  curl_easy_getinfo(easy_.handle(), CURLINFO_RESPONSE_CODE, &status);
  if (status == kUnauthorized) curl_easy_setopt(easy_.handle(), CURLOPT_FORBID_REUSE, 1L);
  if (status >= 200) call_.end_head(static_cast<int>(status));
}

// A server may answer before it has read the request to its end, and then close.
bool HttpTransfer::answer_complete() const {
  curl_off_t expected = -1, received = 0;
  curl_easy_getinfo(easy_.handle(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
  curl_easy_getinfo(easy_.handle(), CURLINFO_SIZE_DOWNLOAD_T, &received);
  return call_.head_complete() && expected >= 0 && received >= expected;
}

Result<void> HttpTransfer::result_of(int code) const {
  if (code == CURLE_OK) return {};
  if (code == CURLE_SEND_ERROR && answer_complete()) return {};
  if (call_.withheld()) return fail(OpenCall::withheld_error());
  if (code == CURLE_WRITE_ERROR && call_.too_large()) return fail(call_.too_large_error());
  HttpFailure failure = easy_.failure(code);
  failure.idle_timeout = call_.call().idle_timeout;
  return fail(error_of(failure, easy_.tls()));
}

struct HttpTransferSet::Parts {
  Multi multi;
  std::vector<curl_waitfd> waited;
};

HttpTransferSet::HttpTransferSet() : parts_(std::make_unique<Parts>()) {
  // Once for the process; libcurl keeps a count and a lock of its own.
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  BERTH_CHECK(kReady == CURLE_OK);
  parts_->multi.reset(curl_multi_init());
  BERTH_CHECK(parts_->multi != nullptr);
}
HttpTransferSet::~HttpTransferSet() = default;

void HttpTransferSet::limit_connections(std::size_t per_host) {
  curl_multi_setopt(parts_->multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS,
                    static_cast<long>(per_host));
}

Result<void> HttpTransferSet::add(CurlEasy& easy) {
  const CURLMcode code = curl_multi_add_handle(parts_->multi.get(), easy.handle());
  if (code != CURLM_OK) return fail(ErrorKind::kInternal, curl_multi_strerror(code));
  return {};
}

void HttpTransferSet::remove(CurlEasy& easy) {
  if (easy.handle()) curl_multi_remove_handle(parts_->multi.get(), easy.handle());
}

std::vector<HttpTransferSet::Ended> HttpTransferSet::work() {
  int running = 0;
  curl_multi_perform(parts_->multi.get(), &running);
  std::vector<Ended> ended;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(parts_->multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    void* easy = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &easy);
    ended.push_back({static_cast<CurlEasy*>(easy), static_cast<int>(message->data.result)});
  }
  return ended;
}

void HttpTransferSet::wait(std::span<WaitedSocket> sockets, Duration most) {
  std::vector<curl_waitfd>& waited = parts_->waited;
  waited.clear();
  for (const WaitedSocket& each : sockets) {
    const int events = CURL_WAIT_POLLIN | (each.write ? CURL_WAIT_POLLOUT : 0);
    waited.push_back({each.socket, static_cast<short>(events), 0});
  }
  // libcurl's own deadlines make it shorter.
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(
      std::clamp(most, Duration::zero(), Duration(std::chrono::minutes(1))));
  curl_multi_poll(parts_->multi.get(), waited.data(), static_cast<unsigned>(waited.size()),
                  static_cast<int>(limit.count()), nullptr);
  for (std::size_t i = 0; i < sockets.size(); ++i) sockets[i].ready = waited[i].revents != 0;
}

void HttpTransferSet::wake() { curl_multi_wakeup(parts_->multi.get()); }

}  // namespace berth::net
