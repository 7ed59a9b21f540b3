#include "net/tls_context.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ascii.h"

namespace berth::net {
namespace {

// The IANA name and OpenSSL's. Those without the latter are known and accepted, as upstream does,
// but they cannot be offered: TLS 1.3's are not chosen one by one, RC4 is gone.
struct CipherSuite {
  std::string_view name;
  const char* openssl;
};
constexpr auto kCipherSuites = std::to_array<CipherSuite>({
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", ""},
    {"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", ""},
    {"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_RSA_WITH_RC4_128_SHA", ""},
});
constexpr const char* kDefaultCiphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";

struct Version {
  std::string_view name;
  int openssl;
};
constexpr auto kVersions = std::to_array<Version>({
    {"VersionTLS10", TLS1_VERSION},
    {"VersionTLS11", TLS1_1_VERSION},
    {"VersionTLS12", TLS1_2_VERSION},
    {"VersionTLS13", TLS1_3_VERSION},
});

int take_any_certificate(int /*preverified*/, X509_STORE_CTX* /*context*/) { return 1; }

// Names with their lengths, the most wanted first, as ALPN has them.
constexpr const char* kHttp1 = "\x08http/1.1";
constexpr const char* kHttp2AndHttp1 =
    "\x02h2"
    "\x08http/1.1";

int choose_protocol(SSL* /*connection*/, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned offered_size, void* user) {
  const auto* ours = static_cast<const char*>(user);
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, chosen_size, reinterpret_cast<const unsigned char*>(ours),
                            static_cast<unsigned>(std::strlen(ours)), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

int choose_certificate(SSL* connection, int* /*alert*/, void* user) {
  const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  if (name)
    if (SSL_CTX* context = static_cast<const TlsServerContext*>(user)->for_name(name))
      SSL_set_SSL_CTX(connection, context);
  return SSL_TLSEXT_ERR_OK;
}

bool covers(std::string_view pattern, std::string_view name) {
  if (pattern == name) return true;
  const std::size_t dot = name.find('.');
  return pattern.starts_with("*.") && dot != std::string_view::npos && dot > 0 &&
         pattern.substr(1) == name.substr(dot);
}

}  // namespace

Result<void> use_min_version(ssl_ctx_st& context, std::string_view name) {
  if (name.empty()) name = "VersionTLS12";
  const auto version = std::ranges::find(kVersions, name, &Version::name);
  if (version == kVersions.end())
    return fail(ErrorKind::kInvalid, fmt::format("unknown tls version \"{}\"", name));
  SSL_CTX_set_min_proto_version(&context, version->openssl);
  // What these two sign with is below what OpenSSL takes for safe; they were asked for explicitly.
  if (version->openssl < TLS1_2_VERSION) SSL_CTX_set_security_level(&context, 0);
  return {};
}

Result<void> use_cipher_suites(ssl_ctx_st& context, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    const auto suite = std::ranges::find(kCipherSuites, name, &CipherSuite::name);
    if (suite == kCipherSuites.end())
      return fail(ErrorKind::kInvalid,
                  fmt::format("Cipher suite {} not supported or doesn't exist", name));
    if (*suite->openssl == '\0') continue;
    if (!list.empty()) list += ':';
    list += suite->openssl;
  }
  if (list.empty()) list = kDefaultCiphers;
  if (SSL_CTX_set_cipher_list(&context, list.c_str()) != 1)
    return fail(ErrorKind::kInvalid,
                fmt::format("cannot use the cipher suites: {}", last_tls_error()));
  return {};
}

void TlsServerContext::FreeContext::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsServerContext::Context> TlsServerContext::prepare(const TlsServerSettings& settings,
                                                            const KeyPair& certificate,
                                                            bool http2) {
  Context context(SSL_CTX_new(TLS_server_method()));
  if (!context) return fail(ErrorKind::kInternal, "OpenSSL could not make a TLS context");
  if (const Result<void> ok = use_min_version(*context, settings.min_version); !ok)
    return fail(ok.error());
  if (const Result<void> ok = use_cipher_suites(*context, settings.cipher_suites); !ok)
    return fail(ok.error());
  if (const Result<void> ok = use_key_pair(*context, certificate); !ok) return fail(ok.error());
  // A session that is taken up again would keep the client's certificate from being judged anew.
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // A connection that only waits needs no buffers.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol,
                             const_cast<char*>(http2 ? kHttp2AndHttp1 : kHttp1));
  if (!settings.client_authorities.empty())
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, take_any_certificate);
  return context;
}

Result<std::shared_ptr<const TlsServerContext>> TlsServerContext::make(
    const TlsServerSettings& settings, bool http2) {
  auto made = std::make_shared<TlsServerContext>();
  Result<Context> context = prepare(settings, settings.certificate, http2);
  if (!context) return fail(context.error());
  made->context_ = std::move(*context);
  Result<ClientAuthorityPools> pools =
      ClientAuthorityPools::make(settings.client_authorities, *made->context_);
  if (!pools) return fail(pools.error());
  made->pools_ = std::move(*pools);

  for (const NamedCertificate& named : settings.named_certificates) {
    Result<Context> further = prepare(settings, named.certificate, http2);
    if (!further) return fail(further.error());
    std::vector<std::string> names = named.names;
    if (names.empty()) {
      const auto facts = read_certificates(named.certificate.certificate_pem);
      if (!facts) return fail(facts.error());
      names = facts->front().dns_names;
      if (names.empty()) names.push_back(facts->front().common_name);
    }
    for (std::string& name : names) name = lower_case(name);
    made->named_.push_back({std::move(*further), std::move(names)});
  }
  // Handshakes that look a name up hold the context that this belongs to: see http_worker.cc.
  SSL_CTX_set_tlsext_servername_callback(made->context_.get(), choose_certificate);
  SSL_CTX_set_tlsext_servername_arg(made->context_.get(), made.get());
  return made;
}

bool speaks_http2(const ssl_st& connection) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(&connection, &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

ssl_st* TlsServerContext::new_connection() const { return SSL_new(context_.get()); }

ssl_ctx_st* TlsServerContext::for_name(std::string_view name) const {
  const std::string wanted = lower_case(name);
  for (const Named& named : named_)
    for (const std::string& pattern : named.names)
      if (covers(pattern, wanted)) return named.context.get();
  return nullptr;
}

}  // namespace berth::net
