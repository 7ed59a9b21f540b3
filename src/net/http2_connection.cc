#include "net/http2_connection.h"

#include <curl/curl.h>
#include <openssl/ssl.h>

#include <array>
#include <string_view>
#include <utility>

namespace berth::net {
namespace {

// What is written at once, at least, when there is so much: a record of TLS.
constexpr std::size_t kEnough = 16 << 10;
// Of one connection, until others have their turn.
constexpr int kMostReads = 64;

// Set by us, not by libcurl, which would begin HTTP/2 itself as soon as the server agrees.
constexpr std::array<unsigned char, 12> kSpeaks = {2,   'h', '2', 8,   'h', 't',
                                                   't', 'p', '/', '1', '.', '1'};

CURLcode prepare_tls(CURL* /*easy*/, void* context, void* /*user*/) {
  auto* tls = static_cast<SSL_CTX*>(context);
  SSL_CTX_set_alpn_protos(tls, kSpeaks.data(), kSpeaks.size());
  // Several records for one question to the kernel.
  SSL_CTX_set_read_ahead(tls, 1);
  SSL_CTX_set_default_read_buffer_len(tls, 32 << 10);
  return CURLE_OK;
}

}  // namespace

Http2Connection::Http2Connection(HttpTransferSet& set, const HttpClientOptions& options,
                                 std::shared_ptr<const TlsClientSettings> tls)
    : set_(set), easy_(options, std::move(tls)) {}

Http2Connection::~Http2Connection() {
  if (in_set_) set_.remove(easy_);  // which closes it
}

Result<void> Http2Connection::dial(const std::string& origin) {
  if (Result<void> ok = easy_.aim_at(origin + "/"); !ok) return ok;
  CURL* easy = easy_.handle();
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, 0L);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &on_connected);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, static_cast<void*>(this));
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &prepare_tls);
  Result<void> added = set_.add(easy_);
  in_set_ = added.has_value();
  return added;
}

// The one moment at which libcurl shows the TLS connection: what was agreed on is noted.
int Http2Connection::on_connected(void* self, char*, char*, int, int) {
  auto& connection = *static_cast<Http2Connection*>(self);
  curl_tlssessioninfo* info = nullptr;
  curl_easy_getinfo(connection.easy_.handle(), CURLINFO_TLS_SSL_PTR, &info);
  if (info != nullptr && info->backend == CURLSSLBACKEND_OPENSSL && info->internals != nullptr) {
    const unsigned char* agreed = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(static_cast<const SSL*>(info->internals), &agreed, &size);
    connection.speaks_http2_ =
        std::string_view(reinterpret_cast<const char*>(agreed), size) == "h2";
  }
  return CURL_PREREQFUNC_OK;
}

Result<bool> Http2Connection::dialed(int code) {
  easy_.report_lookup();
  if (code != CURLE_OK) return fail(error_of(easy_.failure(code), easy_.tls()));
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy_.handle(), CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD || !speaks_http2_) return false;
  socket_ = socket;
  session_ = std::make_unique<Http2Session>();
  return true;
}

Error Http2Connection::lost(int code) const {
  HttpFailure failure = easy_.failure(code);
  if (code == CURLE_PARTIAL_FILE) failure.detail.clear();  // what it noted before
  return error_of(failure, easy_.tls());
}

Result<Http2Connection::Read> Http2Connection::read(std::vector<char>& buffer) {
  Read read = Read::kNothing;
  more_ = false;
  for (int reads = 0; reads < kMostReads; ++reads) {
    std::size_t got = 0;
    const CURLcode code = curl_easy_recv(easy_.handle(), buffer.data(), buffer.size(), &got);
    if (code == CURLE_AGAIN) return read;
    if (code != CURLE_OK) return fail(lost(code));
    if (got == 0) return fail(lost(CURLE_PARTIAL_FILE));
    read = Read::kSomething;
    if (Result<void> ok = session_->receive({buffer.data(), got}); !ok)
      return fail(std::move(ok.error()));
  }
  more_ = true;
  return read;
}

Result<void> Http2Connection::write() {
  blocked_ = false;
  for (;;) {
    if (written_ == out_.size()) {
      out_.clear();
      written_ = 0;
      if (Result<void> ok = session_->collect(out_, kEnough); !ok) return ok;
      if (out_.empty()) return {};
    }
    std::size_t taken = 0;
    const CURLcode code =
        curl_easy_send(easy_.handle(), out_.data() + written_, out_.size() - written_, &taken);
    if (code == CURLE_AGAIN) {
      blocked_ = true;
      return {};
    }
    if (code != CURLE_OK) return fail(lost(code));
    written_ += taken;
  }
}

}  // namespace berth::net
