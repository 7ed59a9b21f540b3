#include "net/curl_easy.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "net/freed.h"

namespace berth::net {
namespace {

using Url = std::unique_ptr<CURLU, Freed<curl_url_cleanup>>;
using Easy = std::unique_ptr<CURL, Freed<curl_easy_cleanup>>;
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

}  // namespace

long curl_milliseconds(Duration duration) {
  const auto count = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  return static_cast<long>(std::clamp<std::int64_t>(count, 1, std::numeric_limits<int>::max()));
}

struct CurlEasy::Parts {
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
  // Not copied: the settings live as long as the handle.
  void set_blob(CURLoption option, const std::string& text) {
    curl_blob blob{};
    blob.data = const_cast<char*>(text.data());
    blob.len = text.size();
    blob.flags = CURL_BLOB_NOCOPY;
    curl_easy_setopt(easy.get(), option, &blob);
  }
};

CurlEasy::CurlEasy(const HttpClientOptions& options, std::shared_ptr<const TlsClientSettings> tls)
    : options_(options), tls_(std::move(tls)), parts_(std::make_unique<Parts>()) {
  parts_->easy.reset(curl_easy_init());
}

CurlEasy::~CurlEasy() = default;

void* CurlEasy::handle() const { return parts_->easy.get(); }

void CurlEasy::add_header(const std::string& line) { append(parts_->headers, line); }

void CurlEasy::use_headers() { parts_->set(CURLOPT_HTTPHEADER, parts_->headers.get()); }

Result<void> CurlEasy::aim_at(const std::string& to) {
  if (!parts_->easy) return fail(ErrorKind::kInternal, "libcurl could not make a handle");
  parts_->set(CURLOPT_PRIVATE, static_cast<void*>(this));
  parts_->set(CURLOPT_ERRORBUFFER, parts_->error.data());
  parts_->set(CURLOPT_NOSIGNAL, 1L);
  const Url url(curl_url());
  const CURLUcode parsed = curl_url_set(url.get(), CURLUPART_URL, to.c_str(), 0);
  const std::string scheme = parsed == CURLUE_OK ? url_part(url.get(), CURLUPART_SCHEME) : "";
  if (scheme != "http" && scheme != "https")
    return fail(ErrorKind::kInvalid, fmt::format("\"{}\" is not a URL of HTTP", to));
  name_ = url_part(url.get(), CURLUPART_HOST);
  const std::string port = url_part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  host_ = name_ + ":" + port;
  if (scheme == "https" && !tls_->server_name.empty()) {
    // libcurl expects of a server, and tells it in the handshake, the name in the URL: so that name
    // goes there, with the real address beside it, and the Host header stays as it was.
    const std::string given_port = url_part(url.get(), CURLUPART_PORT);
    add_header("Host: " + name_ + (given_port.empty() ? "" : ":" + given_port));
    append(parts_->connect_to, fmt::format("::{}:{}", name_, port));
    parts_->set(CURLOPT_CONNECT_TO, parts_->connect_to.get());
    if (curl_url_set(url.get(), CURLUPART_HOST, tls_->server_name.c_str(), 0) != CURLUE_OK)
      return fail(ErrorKind::kInvalid,
                  fmt::format("\"{}\" is not a name that a server can have", tls_->server_name));
    parts_->set_text(CURLOPT_URL, url_part(url.get(), CURLUPART_URL));
  } else {
    parts_->set_text(CURLOPT_URL, to);
  }
  parts_->set(CURLOPT_PROTOCOLS_STR, "http,https");
  parts_->set(CURLOPT_PATH_AS_IS, 1L);
  set_proxy(name_);
  set_connection(to);
  set_tls();
  return {};
}

void CurlEasy::set_proxy(const std::string& host) {
  if (options_.proxy == "-")
    parts_->set(CURLOPT_PROXY, "");
  else if (!options_.proxy.empty())
    parts_->set_text(CURLOPT_PROXY, options_.proxy);
  else if (is_loopback(host))
    parts_->set(CURLOPT_NOPROXY, "*");
  parts_->set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

void CurlEasy::set_connection(const std::string& url) {
  parts_->set(CURLOPT_HTTP_VERSION,
              static_cast<long>(options_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  // One connection for many requests, rather than one each while the first is being made.
  if (options_.http2 && url.starts_with("https:")) parts_->set(CURLOPT_PIPEWAIT, 1L);
  parts_->set(CURLOPT_CONNECTTIMEOUT_MS, curl_milliseconds(options_.connect_timeout));
  parts_->set(CURLOPT_TCP_KEEPALIVE, 1L);
  parts_->set(CURLOPT_TCP_KEEPIDLE, 30L);
  parts_->set(CURLOPT_TCP_KEEPINTVL, 15L);
  parts_->set(CURLOPT_SOCKOPTFUNCTION, &tune_socket);
}

void CurlEasy::set_tls() {
  const TlsClientSettings& tls = *tls_;
  parts_->set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  // A session that is taken up again would not show the server our certificate anew.
  parts_->set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
  // In seconds, of the system's authorities (others are given as text): libcurl's own is a day.
  parts_->set(CURLOPT_CA_CACHE_TIMEOUT, 60L);
  if (tls.insecure) {
    parts_->set(CURLOPT_SSL_VERIFYPEER, 0L);
    parts_->set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!tls.ca_pem.empty() || !tls.ca_file.empty()) {
    parts_->set(CURLOPT_CAPATH, static_cast<char*>(nullptr));  // these and no others
    if (!tls.ca_pem.empty())
      parts_->set_blob(CURLOPT_CAINFO_BLOB, tls.ca_pem);
    else
      parts_->set_text(CURLOPT_CAINFO, tls.ca_file);
  }
  if (!tls.certificate_pem.empty())
    parts_->set_blob(CURLOPT_SSLCERT_BLOB, tls.certificate_pem);
  else if (!tls.certificate_file.empty())
    parts_->set_text(CURLOPT_SSLCERT, tls.certificate_file);
  if (!tls.key_pem.empty())
    parts_->set_blob(CURLOPT_SSLKEY_BLOB, tls.key_pem);
  else if (!tls.key_file.empty())
    parts_->set_text(CURLOPT_SSLKEY, tls.key_file);
}

// Only a new connection looks a name up; what libcurl remembers takes no time.
void CurlEasy::report_lookup() const {
  if (!options_.resolved || !parts_->easy || is_address(name_)) return;
  long connections = 0;
  curl_off_t microseconds = 0;
  curl_easy_getinfo(parts_->easy.get(), CURLINFO_NUM_CONNECTS, &connections);
  curl_easy_getinfo(parts_->easy.get(), CURLINFO_NAMELOOKUP_TIME_T, &microseconds);
  if (connections == 0 || microseconds == 0) return;
  options_.resolved(name_, std::chrono::microseconds(microseconds));
}

// "127.0.0.1:6443", "[::1]:6443"; nothing when there was no connection.
std::string CurlEasy::endpoint(bool remote) const {
  const char* address = nullptr;
  long port = 0;
  CURL* easy = parts_->easy.get();
  curl_easy_getinfo(easy, remote ? CURLINFO_PRIMARY_IP : CURLINFO_LOCAL_IP, &address);
  curl_easy_getinfo(easy, remote ? CURLINFO_PRIMARY_PORT : CURLINFO_LOCAL_PORT, &port);
  if (!address || *address == '\0' || port == 0) return {};
  const bool v6 = std::string_view(address).find(':') != std::string_view::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port);
}

HttpFailure CurlEasy::failure(int code) const {
  HttpFailure failure;
  failure.code = code;
  const std::string_view noted = parts_->error.data();
  failure.detail =
      noted.empty() ? std::string_view(curl_easy_strerror(static_cast<CURLcode>(code))) : noted;
  CURL* easy = parts_->easy.get();
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
  return failure;
}

}  // namespace berth::net
