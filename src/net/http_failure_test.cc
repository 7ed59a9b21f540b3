#include "net/http_failure.h"

#include <curl/curl.h>
#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>

#include <cerrno>

namespace berth::net {
namespace {

HttpFailure failure(int code, std::string detail = "") {
  HttpFailure result;
  result.code = code;
  result.detail = std::move(detail);
  result.connected = true;
  result.host = "api:6443";
  result.local = "10.0.0.2:40000";
  result.remote = "10.0.0.1:6443";
  return result;
}

TlsClientSettings files() {
  TlsClientSettings tls;
  tls.ca_file = "/pki/ca.crt";
  tls.certificate_file = "/pki/client.crt";
  return tls;
}

std::string words(const HttpFailure& of) { return error_of(of, files()).message; }

TEST(HttpFailure, ConnectionsThatAreNotMade) {
  HttpFailure refused = failure(CURLE_COULDNT_CONNECT, "Failed to connect");
  refused.os_error = ECONNREFUSED;
  EXPECT_EQ(error_of(refused, {}), (Error{ErrorKind::kUnavailable,
                                          "dial tcp 10.0.0.1:6443: connect: connection refused"}));
  EXPECT_FALSE(lost_connection(error_of(refused, {})));
  refused.remote = "";
  EXPECT_EQ(words(refused), "dial tcp api:6443: connect: connection refused");
  EXPECT_EQ(words(failure(CURLE_COULDNT_RESOLVE_HOST)), "dial tcp: lookup api:6443: no such host");
  HttpFailure slow = failure(CURLE_OPERATION_TIMEDOUT, "Connection timed out after 30000 ms");
  slow.connected = false;
  EXPECT_EQ(error_of(slow, {}),
            (Error{ErrorKind::kTimeout, "dial tcp 10.0.0.1:6443: i/o timeout"}));
}

TEST(HttpFailure, AnswersThatDoNotCome) {
  EXPECT_EQ(words(failure(CURLE_OPERATION_TIMEDOUT, "Operation timed out after 20 milliseconds")),
            "context deadline exceeded");
  HttpFailure silent = failure(CURLE_OPERATION_TIMEDOUT, "Operation too slow. Less than 1 bytes");
  silent.idle_timeout = std::chrono::milliseconds(1);
  EXPECT_EQ(words(silent), "nothing was received for 1 s");
}

TEST(HttpFailure, ConnectionsThatAreLost) {
  const std::pair<HttpFailure, std::string> cases[] = {
      {failure(CURLE_GOT_NOTHING, "Empty reply from server"), "EOF"},
      {failure(CURLE_PARTIAL_FILE), "unexpected EOF"},
      {failure(CURLE_RECV_ERROR, "Recv failure: Connection reset by peer"),
       "read tcp 10.0.0.2:40000->10.0.0.1:6443: read: connection reset by peer"},
      {failure(CURLE_SEND_ERROR, "Send failure: Broken pipe"),
       "write tcp 10.0.0.2:40000->10.0.0.1:6443: write: broken pipe"},
      {failure(CURLE_RECV_ERROR,
               "OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof "
               "while reading, errno 0"),
       "unexpected EOF"},
      {failure(CURLE_RECV_ERROR, "OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 104"),
       "read tcp 10.0.0.2:40000->10.0.0.1:6443: read: connection reset by peer"},
      {failure(CURLE_HTTP2_STREAM, "stream 3 was reset"),
       "http2: client connection lost (stream 3 was reset)"},
  };
  for (const auto& [of, text] : cases) {
    Error error = error_of(of, {});
    EXPECT_EQ(error, (Error{ErrorKind::kUnavailable, text}));
    error.message = error_prefix("GET", "https://api:6443/x") + error.message;
    EXPECT_TRUE(lost_connection(error)) << error.message;
  }
}

TEST(HttpFailure, ServersThatAreNotTrusted) {
  HttpFailure expired = failure(CURLE_PEER_FAILED_VERIFICATION, "SSL certificate problem");
  expired.verify_result = X509_V_ERR_CERT_HAS_EXPIRED;
  EXPECT_EQ(words(expired),
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid "
            "(shown by the server api:6443)");
  HttpFailure unknown = failure(CURLE_PEER_FAILED_VERIFICATION, "SSL certificate problem");
  unknown.verify_result = X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY;
  EXPECT_EQ(words(unknown),
            "tls: failed to verify certificate: x509: certificate signed by unknown authority "
            "(shown by the server api:6443; trusted are those of \"/pki/ca.crt\")");
  TlsClientSettings named = files();
  named.server_name = "kubernetes";
  const HttpFailure other =
      failure(CURLE_PEER_FAILED_VERIFICATION, "no match for target host name");
  EXPECT_EQ(error_of(other, named).message,
            "tls: failed to verify certificate: x509: certificate is not valid for kubernetes "
            "(no match for target host name)");
}

TEST(HttpFailure, CertificatesOfOursThatAreNoUse) {
  EXPECT_EQ(words(failure(CURLE_RECV_ERROR,
                          "OpenSSL SSL_read: error:0A000415:SSL routines::sslv3 "
                          "alert certificate expired, errno 0")),
            "remote error: tls: certificate expired (the client certificate \"/pki/client.crt\" was"
            " shown)");
  EXPECT_EQ(error_of(failure(CURLE_SSL_CERTPROBLEM, "no such file"), files()),
            (Error{ErrorKind::kInvalid,
                   "cannot use the client certificate \"/pki/client.crt\": no such file"}));
  EXPECT_EQ(words(failure(CURLE_SSL_CACERT_BADFILE, "no PEM")),
            "unable to load root certificates from \"/pki/ca.crt\": no PEM");
}

TEST(HttpFailure, ServersThatSpeakSomethingElse) {
  EXPECT_EQ(
      words(failure(CURLE_SSL_CONNECT_ERROR, "error:0A00010B:SSL routines::wrong version number")),
      "http: server gave HTTP response to HTTPS client");
}

TEST(HttpFailure, ErrorsBeginWithTheRequest) {
  EXPECT_EQ(error_prefix("DELETE", "http://a/b?c=d"), "Delete \"http://a/b?c=d\": ");
}

}  // namespace
}  // namespace berth::net
