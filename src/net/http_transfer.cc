#include "net/http_transfer.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/check.h"
#include "net/freed.h"
#include "net/http_failure.h"

namespace berth::net {
namespace {

using Url = std::unique_ptr<CURLU, Freed<curl_url_cleanup>>;
using Easy = std::unique_ptr<CURL, Freed<curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Freed<curl_multi_cleanup>>;
using List = std::unique_ptr<curl_slist, Freed<curl_slist_free_all>>;

void append(List& list, const std::string& text) {
  if (curl_slist* longer = curl_slist_append(list.get(), text.c_str())) {
    [[maybe_unused]] curl_slist* same = list.release();
    list.reset(longer);
  }
}

std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string result(text);
  curl_free(text);
  return result;
}

// Never 0, which libcurl takes for "no limit".
long milliseconds(Duration duration) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<long>(std::clamp<std::int64_t>(count, 1, std::numeric_limits<int>::max()));
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

bool is_address(const std::string& host) {
  in_addr address{};
  return host.starts_with('[') || inet_pton(AF_INET, host.c_str(), &address) == 1;
}

// A peer that is gone without a word is noticed after this, also while we only listen.
int tune_socket(void* /*user*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const unsigned patience_ms = 45'000;
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
  return CURL_SOCKOPT_OK;
}

bool breaks_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace

struct HttpTransfer::Handle {
  Easy easy;
  List headers;
  List connect_to;
  std::array<char, CURL_ERROR_SIZE> error{};

  template <typename Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy.get(), option, value);
  }
  void set_text(CURLoption option, const std::string& text) {
    curl_easy_setopt(easy.get(), option, text.c_str());
  }
  // Not copied: the settings live as long as the transfer.
  void set_blob(CURLoption option, const std::string& text) {
    curl_blob blob{};
    blob.data = const_cast<char*>(text.data());
    blob.len = text.size();
    blob.flags = CURL_BLOB_NOCOPY;
    curl_easy_setopt(easy.get(), option, &blob);
  }
};

HttpTransfer::HttpTransfer(HttpCallId id, HttpCall call, HttpTransferCallbacks callbacks,
                           const HttpClientOptions& options,
                           std::shared_ptr<const TlsClientSettings> tls)
    : id_(id),
      call_(std::move(call)),
      callbacks_(std::move(callbacks)),
      options_(options),
      tls_(std::move(tls)) {}

HttpTransfer::~HttpTransfer() = default;

Result<void> HttpTransfer::prepare() {
  handle_ = std::make_unique<Handle>();
  handle_->easy.reset(curl_easy_init());
  if (!handle_->easy) return fail(ErrorKind::kInternal, "libcurl could not make a handle");
  Handle& handle = *handle_;
  handle.set(CURLOPT_PRIVATE, static_cast<void*>(this));
  handle.set(CURLOPT_ERRORBUFFER, handle.error.data());
  handle.set(CURLOPT_NOSIGNAL, 1L);
  handle.set(CURLOPT_HEADERFUNCTION, &on_header);
  handle.set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  handle.set(CURLOPT_WRITEFUNCTION, &on_body);
  handle.set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  if (Result<void> ok = set_url(); !ok) return ok;
  if (Result<void> ok = set_headers(); !ok) return ok;
  set_body();
  set_connection();
  set_tls();
  handle.set(CURLOPT_HTTPHEADER, handle.headers.get());
  return {};
}

Result<void> HttpTransfer::set_url() {
  const Url url(curl_url());
  const CURLUcode parsed = curl_url_set(url.get(), CURLUPART_URL, call_.url.c_str(), 0);
  const std::string scheme = parsed == CURLUE_OK ? url_part(url.get(), CURLUPART_SCHEME) : "";
  if (scheme != "http" && scheme != "https")
    return fail(ErrorKind::kInvalid, fmt::format("\"{}\" is not a URL of HTTP", call_.url));
  const std::string host = url_part(url.get(), CURLUPART_HOST);
  const std::string port = url_part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  name_ = host;
  host_ = host + ":" + port;
  if (scheme == "https" && !tls_->server_name.empty()) {
    // libcurl expects of a server, and tells it in the handshake, the name in the URL: so that name
    // goes there, with the real address beside it, and the Host header stays as it was.
    const std::string given_port = url_part(url.get(), CURLUPART_PORT);
    append(handle_->headers, "Host: " + host + (given_port.empty() ? "" : ":" + given_port));
    append(handle_->connect_to, fmt::format("::{}:{}", host, port));
    handle_->set(CURLOPT_CONNECT_TO, handle_->connect_to.get());
    if (curl_url_set(url.get(), CURLUPART_HOST, tls_->server_name.c_str(), 0) != CURLUE_OK)
      return fail(ErrorKind::kInvalid,
                  fmt::format("\"{}\" is not a name that a server can have", tls_->server_name));
    handle_->set_text(CURLOPT_URL, url_part(url.get(), CURLUPART_URL));
  } else {
    handle_->set_text(CURLOPT_URL, call_.url);
  }
  handle_->set(CURLOPT_PROTOCOLS_STR, "http,https");
  handle_->set(CURLOPT_PATH_AS_IS, 1L);
  if (options_.proxy == "-")
    handle_->set(CURLOPT_PROXY, "");
  else if (!options_.proxy.empty())
    handle_->set_text(CURLOPT_PROXY, options_.proxy);
  else if (is_loopback(host))
    handle_->set(CURLOPT_NOPROXY, "*");
  handle_->set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  return {};
}

Result<void> HttpTransfer::set_headers() {
  for (const auto& [name, value] : call_.headers) {
    if (name.empty() || breaks_line(name) || breaks_line(value))
      return fail(ErrorKind::kInvalid, fmt::format("the header \"{}\" cannot be sent", name));
    append(handle_->headers, value.empty() ? name + ";" : name + ": " + value);
  }
  if (!call_.bearer_token.empty()) {
    if (breaks_line(call_.bearer_token))
      return fail(ErrorKind::kInvalid, "the bearer token has a line break in it");
    append(handle_->headers, "Authorization: Bearer " + call_.bearer_token);
  }
  if (!call_.headers.find("User-Agent")) handle_->set_text(CURLOPT_USERAGENT, options_.user_agent);
  // What libcurl would add by itself.
  append(handle_->headers, "Expect:");
  if (!call_.headers.find("Content-Type")) append(handle_->headers, "Content-Type:");
  if (!call_.headers.find("Accept")) append(handle_->headers, "Accept: */*");
  if (options_.compression) handle_->set(CURLOPT_ACCEPT_ENCODING, "");
  return {};
}

void HttpTransfer::set_body() {
  if (call_.method == "HEAD") {
    handle_->set(CURLOPT_NOBODY, 1L);
    return;
  }
  const bool takes_body =
      call_.method == "POST" || call_.method == "PUT" || call_.method == "PATCH";
  if (takes_body || !call_.body.empty()) {
    handle_->set(CURLOPT_POSTFIELDS, call_.body.data());
    handle_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
  }
  handle_->set_text(CURLOPT_CUSTOMREQUEST, call_.method);
}

void HttpTransfer::set_connection() {
  handle_->set(CURLOPT_HTTP_VERSION,
               static_cast<long>(options_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  // One connection for many requests, rather than one each while the first is being made.
  if (options_.http2 && call_.url.starts_with("https:")) handle_->set(CURLOPT_PIPEWAIT, 1L);
  handle_->set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(options_.connect_timeout));
  if (call_.timeout > Duration::zero())
    handle_->set(CURLOPT_TIMEOUT_MS, milliseconds(call_.timeout));
  if (call_.idle_timeout > Duration::zero()) {
    handle_->set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    handle_->set(CURLOPT_LOW_SPEED_TIME, (milliseconds(call_.idle_timeout) + 999) / 1000);
  }
  handle_->set(CURLOPT_TCP_KEEPALIVE, 1L);
  handle_->set(CURLOPT_TCP_KEEPIDLE, 30L);
  handle_->set(CURLOPT_TCP_KEEPINTVL, 15L);
  handle_->set(CURLOPT_SOCKOPTFUNCTION, &tune_socket);
  handle_->set(CURLOPT_BUFFERSIZE, 128L << 10);
}

void HttpTransfer::set_tls() {
  Handle& handle = *handle_;
  const TlsClientSettings& tls = *tls_;
  handle.set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (tls.insecure) {
    handle.set(CURLOPT_SSL_VERIFYPEER, 0L);
    handle.set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!tls.ca_pem.empty() || !tls.ca_file.empty()) {
    handle.set(CURLOPT_CAPATH, static_cast<char*>(nullptr));  // these and no others
    if (!tls.ca_pem.empty())
      handle.set_blob(CURLOPT_CAINFO_BLOB, tls.ca_pem);
    else
      handle.set_text(CURLOPT_CAINFO, tls.ca_file);
  }
  if (!tls.certificate_pem.empty())
    handle.set_blob(CURLOPT_SSLCERT_BLOB, tls.certificate_pem);
  else if (!tls.certificate_file.empty())
    handle.set_text(CURLOPT_SSLCERT, tls.certificate_file);
  if (!tls.key_pem.empty())
    handle.set_blob(CURLOPT_SSLKEY_BLOB, tls.key_pem);
  else if (!tls.key_file.empty())
    handle.set_text(CURLOPT_SSLKEY, tls.key_file);
}

std::size_t HttpTransfer::on_header(char* data, std::size_t one, std::size_t size, void* self) {
  static_cast<HttpTransfer*>(self)->header_line(std::string_view(data, one * size));
  return one * size;
}

std::size_t HttpTransfer::on_body(char* data, std::size_t one, std::size_t size, void* self) {
  const std::string_view piece(data, one * size);
  return static_cast<HttpTransfer*>(self)->body_piece(piece) ? piece.size() : CURL_WRITEFUNC_ERROR;
}

void HttpTransfer::header_line(std::string_view line) {
  if (head_complete_) return;  // a trailer
  line = trimmed(line);
  if (line.starts_with("HTTP/")) {  // also after a 100
    response_.headers = {};
    return;
  }
  if (!line.empty()) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    response_.headers.add(std::string(line.substr(0, colon)),
                          std::string(trimmed(line.substr(colon + 1))));
    return;
  }
  long status = 0;
  curl_easy_getinfo(handle_->easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return;
  head_complete_ = true;
  response_.status = static_cast<int>(status);
  if (streaming() && callbacks_.stream.begin)
    callbacks_.stream.begin(response_.status, std::move(response_.headers));
}

bool HttpTransfer::body_piece(std::string_view piece) {
  if (piece.empty()) return true;
  if (streaming()) {
    if (callbacks_.stream.chunk) callbacks_.stream.chunk(piece);
    return true;
  }
  if (response_.body.size() + piece.size() > options_.max_response_bytes) {
    too_large_ = true;
    return false;
  }
  response_.body += piece;
  return true;
}

// Only a new connection looks a name up; what libcurl remembers takes no time.
void HttpTransfer::report_lookup() const {
  if (!options_.resolved || !handle_ || !handle_->easy || is_address(name_)) return;
  long connections = 0;
  curl_off_t microseconds = 0;
  curl_easy_getinfo(handle_->easy.get(), CURLINFO_NUM_CONNECTS, &connections);
  curl_easy_getinfo(handle_->easy.get(), CURLINFO_NAMELOOKUP_TIME_T, &microseconds);
  if (connections == 0 || microseconds == 0) return;
  options_.resolved(name_, std::chrono::microseconds(microseconds));
}

void HttpTransfer::finish(Result<void> ended) {
  report_lookup();
  if (!ended)
    ended = fail(ended.error().kind, error_prefix(call_.method, call_.url) + ended.error().message);
  if (streaming()) {
    if (callbacks_.stream.end) callbacks_.stream.end(std::move(ended));
    return;
  }
  if (ended)
    callbacks_.done(std::move(response_));
  else
    callbacks_.done(fail(std::move(ended.error())));
}

// "127.0.0.1:6443", "[::1]:6443"; nothing when there was no connection.
std::string HttpTransfer::endpoint(bool remote) const {
  CURL* easy = handle_->easy.get();
  const char* address = nullptr;
  long port = 0;
  curl_easy_getinfo(easy, remote ? CURLINFO_PRIMARY_IP : CURLINFO_LOCAL_IP, &address);
  curl_easy_getinfo(easy, remote ? CURLINFO_PRIMARY_PORT : CURLINFO_LOCAL_PORT, &port);
  if (!address || *address == '\0' || port == 0) return {};
  const bool v6 = std::string_view(address).find(':') != std::string_view::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port);
}

Error HttpTransfer::error_of(int code) const {
  CURL* easy = handle_->easy.get();
  if (code == CURLE_WRITE_ERROR && too_large_)
    return {ErrorKind::kInvalid,
            fmt::format("the answer is larger than {} bytes", options_.max_response_bytes)};
  HttpFailure failure;
  failure.code = code;
  const std::string_view noted = handle_->error.data();
  failure.detail =
      noted.empty() ? std::string_view(curl_easy_strerror(static_cast<CURLcode>(code))) : noted;
  long number = 0;
  curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
  failure.os_error = static_cast<int>(number);
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &failure.verify_result);
  curl_off_t connected = 0;
  curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connected);
  failure.connected = connected > 0;
  failure.local = endpoint(false);
  failure.remote = endpoint(true);
  failure.host = host_;
  failure.idle_timeout = call_.idle_timeout;
  return net::error_of(failure, *tls_);
}

struct HttpTransferSet::Handle {
  Multi multi;
};

HttpTransferSet::HttpTransferSet() : handle_(std::make_unique<Handle>()) {
  // Once for the process; libcurl keeps a count and a lock of its own.
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  BERTH_CHECK(kReady == CURLE_OK);
  handle_->multi.reset(curl_multi_init());
  BERTH_CHECK(handle_->multi != nullptr);
}
HttpTransferSet::~HttpTransferSet() = default;

Result<void> HttpTransferSet::add(HttpTransfer& transfer) {
  const long most = static_cast<long>(transfer.options_.connections_per_host);
  curl_multi_setopt(handle_->multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS, most);
  const CURLMcode code = curl_multi_add_handle(handle_->multi.get(), transfer.handle_->easy.get());
  if (code != CURLM_OK) return fail(ErrorKind::kInternal, curl_multi_strerror(code));
  return {};
}

void HttpTransferSet::remove(HttpTransfer& transfer) {
  if (transfer.handle_ && transfer.handle_->easy)
    curl_multi_remove_handle(handle_->multi.get(), transfer.handle_->easy.get());
}

std::vector<HttpTransferSet::Ended> HttpTransferSet::work() {
  int running = 0;
  curl_multi_perform(handle_->multi.get(), &running);
  std::vector<Ended> ended;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(handle_->multi.get(), &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    void* self = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &self);
    const auto* transfer = static_cast<const HttpTransfer*>(self);
    Result<void> result;
    if (message->data.result != CURLE_OK)
      result = fail(transfer->error_of(static_cast<int>(message->data.result)));
    ended.push_back({transfer->id(), std::move(result)});
  }
  return ended;
}

void HttpTransferSet::wait() {
  constexpr int kLongestNapMs = 60'000;  // libcurl's own deadlines make it shorter
  curl_multi_poll(handle_->multi.get(), nullptr, 0, kLongestNapMs, nullptr);
}

void HttpTransferSet::wake() { curl_multi_wakeup(handle_->multi.get()); }

}  // namespace berth::net
