#include "net/http_failure.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/x509_vfy.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "base/ascii.h"
#include "base/go_quote.h"

namespace berth::net {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "connection refused", as Go writes it.
std::string os_text(int number) {
  std::string text = std::system_category().message(number);
  if (!text.empty()) text[0] = lower_case(text[0]);
  return text;
}

// The end of "OpenSSL SSL_read: …, errno 104".
int errno_in(std::string_view detail) {
  constexpr std::string_view kMark = "errno ";
  const std::size_t found = detail.rfind(kMark);
  if (found == std::string_view::npos) return 0;
  const std::string_view digits = detail.substr(found + kMark.size());
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string go_quoted(const std::string& text) { return '"' + text + '"'; }

// "certificate expired" of "…sslv3 alert certificate expired, errno 0": the server's complaint.
std::optional<std::string> alert_in(std::string_view detail) {
  constexpr std::string_view kMark = "alert ";
  const std::size_t found = detail.find(kMark);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view words = detail.substr(found + kMark.size());
  return std::string(words.substr(0, words.find(',')));
}

std::string dialing(const HttpFailure& failure, std::string_view what) {
  const std::string& to = failure.remote.empty() ? failure.host : failure.remote;
  return fmt::format("dial tcp {}: {}", to, what);
}

std::string on_wire(const HttpFailure& failure, std::string_view doing, std::string_view what) {
  if (failure.local.empty()) return fmt::format("{}: {}", doing, what);
  return fmt::format("{} tcp {}->{}: {}: {}", doing, failure.local, failure.remote, doing, what);
}

std::string untrusted(const HttpFailure& failure, const TlsClientSettings& tls) {
  const std::string& host = tls.server_name.empty() ? failure.host : tls.server_name;
  std::string why;
  // libcurl compares the names itself, after the rest was verified.
  if (contains(failure.detail, "host name"))
    return fmt::format(
        "tls: failed to verify certificate: x509: certificate is not valid for {} ({})", host,
        failure.detail);
  switch (failure.verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      why =
          fmt::format("certificate has expired or is not yet valid (shown by the server {})", host);
      break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      why = fmt::format(
          "certificate signed by unknown authority (shown by the server {}; trusted are {})", host,
          !tls.ca_file.empty()  ? "those of " + go_quoted(tls.ca_file)
          : !tls.ca_pem.empty() ? "the authorities of the inline CA data"
                                : "those of the system");
      break;
    default: why = fmt::format("{} (shown by the server {})", failure.detail, host); break;
  }
  return "tls: failed to verify certificate: x509: " + why;
}

std::string client_certificate(const TlsClientSettings& tls) {
  if (!tls.certificate_file.empty())
    return "the client certificate " + go_quoted(tls.certificate_file);
  if (!tls.certificate_pem.empty()) return "the inline client certificate";
  return {};
}

std::string lost(const HttpFailure& failure, const TlsClientSettings& tls) {
  const std::string& detail = failure.detail;
  if (const std::optional<std::string> alert = alert_in(detail)) {
    const std::string shown = client_certificate(tls);
    return fmt::format("remote error: tls: {}{}", *alert,
                       shown.empty() ? "" : fmt::format(" ({} was shown)", shown));
  }
  if (contains(detail, "wrong version number") || contains(detail, "http request"))
    return "http: server gave HTTP response to HTTPS client";
  const bool sending = failure.code == CURLE_SEND_ERROR;
  if (contains(detail, "reset by peer") || errno_in(detail) == ECONNRESET)
    return on_wire(failure, sending ? "write" : "read", os_text(ECONNRESET));
  if (contains(detail, "Broken pipe") || errno_in(detail) == EPIPE)
    return on_wire(failure, "write", os_text(EPIPE));
  if (const int number = errno_in(detail); number != 0)
    return on_wire(failure, sending ? "write" : "read", os_text(number));
  switch (failure.code) {
    case CURLE_GOT_NOTHING: return "EOF";
    case CURLE_PARTIAL_FILE: return "unexpected EOF";
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return fmt::format("http2: client connection lost ({})", detail);
    default: break;
  }
  if (contains(detail, "eof") || contains(detail, "EOF")) return "unexpected EOF";
  if (failure.code == CURLE_SSL_CONNECT_ERROR || failure.code == CURLE_SSL_CIPHER)
    return "tls: handshake failure: " + detail;
  return "connection lost: " + detail;
}

std::string late(const HttpFailure& failure) {
  if (contains(failure.detail, "too slow"))
    return fmt::format("nothing was received for {} s",
                       std::chrono::ceil<std::chrono::seconds>(failure.idle_timeout).count());
  if (!failure.connected) return dialing(failure, "i/o timeout");
  if (contains(failure.detail, "SSL connection timeout")) return "net/http: TLS handshake timeout";
  return "context deadline exceeded";
}

}  // namespace

Error error_of(const HttpFailure& failure, const TlsClientSettings& tls) {
  switch (failure.code) {
    case CURLE_OPERATION_TIMEDOUT: return {ErrorKind::kTimeout, late(failure)};
    case CURLE_COULDNT_CONNECT:
      return {ErrorKind::kUnavailable,
              dialing(failure, failure.os_error != 0 ? "connect: " + os_text(failure.os_error)
                                                     : failure.detail)};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {ErrorKind::kUnavailable,
              fmt::format("dial tcp: lookup {}: no such host", failure.host)};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR: return {ErrorKind::kUnavailable, untrusted(failure, tls)};
    case CURLE_SSL_CERTPROBLEM:
      return {ErrorKind::kInvalid,
              fmt::format("cannot use {}: {}", client_certificate(tls), failure.detail)};
    case CURLE_SSL_CACERT_BADFILE:
      return {ErrorKind::kInvalid,
              fmt::format("unable to load root certificates from {}: {}",
                          tls.ca_file.empty() ? "the inline CA data" : go_quoted(tls.ca_file),
                          failure.detail)};
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return {ErrorKind::kUnavailable, lost(failure, tls)};
    case CURLE_PROXY: return {ErrorKind::kUnavailable, "proxyconnect tcp: " + failure.detail};
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {ErrorKind::kUnavailable, "malformed HTTP response: " + failure.detail};
    default: return {ErrorKind::kInternal, failure.detail};
  }
}

}  // namespace berth::net
