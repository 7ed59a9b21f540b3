// What OpenSSL makes of TlsServerSettings. For http_server.cc and http_connection.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "net/http_message.h"
#include "net/tls.h"

// OpenSSL's own names for SSL and SSL_CTX.
struct ssl_st;
struct ssl_ctx_st;

namespace berth::net {

// The last error that OpenSSL noted on this thread, as a few words; forgets it.
std::string last_tls_error();

// Judges clients' certificates.
class ClientAuthorityPools {
 public:
  ClientAuthorityPools();
  ~ClientAuthorityPools();
  ClientAuthorityPools(ClientAuthorityPools&&) noexcept;
  ClientAuthorityPools& operator=(ClientAuthorityPools&&) noexcept;

  // The context will name them to clients, which choose their certificate by that.
  static Result<ClientAuthorityPools> make(const std::vector<ClientAuthority>& authorities,
                                           ssl_ctx_st& context);

  // Fills in the client's identity, if one of the pools verifies it at that time (none: the
  // system's).
  void identify(const ssl_st& connection, std::optional<WallTime> now, HttpPeer& peer) const;

 private:
  struct Pool;
  std::vector<Pool> pools_;
};

// Whether a handshake ended with HTTP/2 chosen.
bool speaks_http2(const ssl_st& connection);

Result<void> use_key_pair(ssl_ctx_st& context, const KeyPair& pair);

// The least version, by the names of --tls-min-version ("VersionTLS12"; empty: that).
Result<void> use_min_version(ssl_ctx_st& context, std::string_view name);

// The cipher suites of TLS up to 1.2, by the names of --tls-cipher-suites; none: a good default.
Result<void> use_cipher_suites(ssl_ctx_st& context, const std::vector<std::string>& names);

// A server's settings, ready for connections. Those that were begun with it may outlive it.
class TlsServerContext {
 public:
  // `http2`: clients are offered HTTP/2 before HTTP/1.1.
  static Result<std::shared_ptr<const TlsServerContext>> make(const TlsServerSettings& settings,
                                                              bool http2 = false);

  // An SSL object for a new connection, which the caller frees; null if there is no memory.
  ssl_st* new_connection() const;
  // Also of a connection that was begun with earlier settings: a removed authority must not
  // identify clients of open connections, either.
  void identify(const ssl_st& connection, std::optional<WallTime> now, HttpPeer& peer) const {
    pools_.identify(connection, now, peer);
  }

  // The context to go on with for a client that asked for this name.
  ssl_ctx_st* for_name(std::string_view name) const;

 private:
  struct FreeContext {
    void operator()(ssl_ctx_st* context) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, FreeContext>;
  struct Named {
    Context context;
    std::vector<std::string> names;
  };

  static Result<Context> prepare(const TlsServerSettings& settings, const KeyPair& certificate,
                                 bool http2);

  Context context_;
  std::vector<Named> named_;
  ClientAuthorityPools pools_;
};

}  // namespace berth::net
