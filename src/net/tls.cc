#include "net/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "net/freed.h"
#include "net/tls_context.h"

namespace berth::net {
namespace {

using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

constexpr std::string_view kLibraryFailed = "OpenSSL could not make a certificate";

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(
      text.data(), static_cast<int>(std::min<std::size_t>(text.size(), std::size_t{1} << 30))));
}

std::string contents(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

// There is no password prompt: a key that needs one cannot be read.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return -1; }

Result<std::vector<Certificate>> parse_certificates(std::string_view pem) {
  const Bio bio = reader(pem);
  std::vector<Certificate> all;
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr))
    all.emplace_back(next);
  const unsigned long error = ERR_peek_last_error();
  const bool ended = ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  const std::string reason = last_tls_error();
  if (!ended)
    return fail(ErrorKind::kInvalid, fmt::format("cannot read a certificate: {}", reason));
  if (all.empty()) return fail(ErrorKind::kInvalid, "no certificate found in the PEM text");
  return all;
}

Result<Key> parse_key(std::string_view pem) {
  const Bio bio = reader(pem);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key)
    return fail(ErrorKind::kInvalid,
                fmt::format("cannot read the private key: {}", last_tls_error()));
  return key;
}

std::vector<std::string> name_entries(const X509_NAME* name, int nid) {
  std::vector<std::string> entries;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, text);
    if (size < 0) continue;
    entries.emplace_back(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
  }
  return entries;
}

std::string first_or_empty(std::vector<std::string> entries) {
  return entries.empty() ? std::string() : std::move(entries.front());
}

std::string address_text(const ASN1_OCTET_STRING& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(&bytes) == 4 ? AF_INET : AF_INET6;
  if (ASN1_STRING_length(&bytes) != 4 && ASN1_STRING_length(&bytes) != 16) return {};
  inet_ntop(family, ASN1_STRING_get0_data(&bytes), text.data(), text.size());
  return text.data();
}

void read_alternative_names(const X509& certificate, CertificateFacts& facts) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  if (!names) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS) {
      const ASN1_IA5STRING* text = name->d.dNSName;
      facts.dns_names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                   static_cast<std::size_t>(ASN1_STRING_length(text)));
    } else if (name->type == GEN_IPADD) {
      facts.addresses.push_back(address_text(*name->d.iPAddress));
    }
  }
  GENERAL_NAMES_free(names);
}

WallTime wall_time(const ASN1_TIME& time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(&time, &parts) != 1) return {};
  using namespace std::chrono;
  const year_month_day day(year(parts.tm_year + 1900),
                           month(static_cast<unsigned>(parts.tm_mon + 1)),
                           std::chrono::day(static_cast<unsigned>(parts.tm_mday)));
  const seconds since_epoch = sys_days(day).time_since_epoch() + hours(parts.tm_hour) +
                              minutes(parts.tm_min) + seconds(parts.tm_sec);
  // Certificates that "never" expire have the year 9999, which 64 bits of nanoseconds cannot hold.
  constexpr seconds kLatest = duration_cast<seconds>(Duration::max());
  return {std::clamp(since_epoch, -kLatest, kLatest)};
}

CertificateFacts facts_of(X509& certificate) {
  CertificateFacts facts;
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  facts.common_name = first_or_empty(name_entries(subject, NID_commonName));
  facts.organizations = name_entries(subject, NID_organizationName);
  facts.issuer_common_name =
      first_or_empty(name_entries(X509_get_issuer_name(&certificate), NID_commonName));
  read_alternative_names(certificate, facts);
  facts.not_before = wall_time(*X509_get0_notBefore(&certificate));
  facts.not_after = wall_time(*X509_get0_notAfter(&certificate));
  facts.authority = X509_check_ca(&certificate) > 0;
  return facts;
}

// SHA-256 over the whole certificate, in hexadecimal.
std::string fingerprint(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  std::string text;
  if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

Key new_key(KeyKind kind) {
  return Key(kind == KeyKind::kRsa2048 ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"));
}

bool add_entry(X509_NAME* name, int nid, std::string_view text) {
  return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_time(ASN1_TIME* time, WallTime when) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(when.since_epoch).count();
  return ASN1_TIME_set(time, seconds) != nullptr;
}

bool add_extension(X509& certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, &certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool add_alternative_names(X509& certificate, const CertificateOrder& order) {
  if (order.dns_names.empty() && order.addresses.empty()) return true;
  const std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>> names(sk_GENERAL_NAME_new_null());
  for (const std::string& dns : order.dns_names) {
    GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, GEN_DNS, dns.c_str(), 0);
    if (!name || sk_GENERAL_NAME_push(names.get(), name) == 0) return false;
  }
  for (const std::string& address : order.addresses) {
    GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, GEN_IPADD, address.c_str(), 0);
    if (!name || sk_GENERAL_NAME_push(names.get(), name) == 0) return false;
  }
  return X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

bool set_serial(X509& certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] &= 0x7f;  // positive
  BIGNUM* number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  const bool set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(&certificate));
  BN_free(number);
  return set;
}

// Unsigned, with all that an authority and a leaf have in common.
Certificate draft(const CertificateOrder& order, EVP_PKEY& key) {
  Certificate certificate(X509_new());
  if (!certificate) return nullptr;
  X509& made = *certificate;
  X509_NAME* subject = X509_get_subject_name(&made);
  bool ok = X509_set_version(&made, X509_VERSION_3) == 1 && set_serial(made) &&
            set_time(X509_getm_notBefore(&made), order.not_before) &&
            set_time(X509_getm_notAfter(&made), order.not_after) &&
            X509_set_pubkey(&made, &key) == 1;
  for (const std::string& organization : order.organizations)
    ok = ok && add_entry(subject, NID_organizationName, organization);
  if (!order.common_name.empty()) ok = ok && add_entry(subject, NID_commonName, order.common_name);
  return ok ? std::move(certificate) : nullptr;
}

Result<KeyPair> to_pem(X509& certificate, EVP_PKEY& key) {
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  const Bio key_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate_text.get(), &certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_text.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1)
    return fail(ErrorKind::kInternal, fmt::format("{}: {}", kLibraryFailed, last_tls_error()));
  return KeyPair{contents(certificate_text), contents(key_text)};
}

std::unexpected<Error> not_made() {
  return fail(ErrorKind::kInvalid, fmt::format("{}: {}", kLibraryFailed, last_tls_error()));
}

bool is_address(std::string_view text) {
  std::array<unsigned char, 16> bytes{};
  const std::string name(text);
  return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

}  // namespace

Result<std::vector<CertificateFacts>> read_certificates(std::string_view pem) {
  const Result<std::vector<Certificate>> certificates = parse_certificates(pem);
  if (!certificates) return fail(certificates.error());
  std::vector<CertificateFacts> facts;
  facts.reserve(certificates->size());
  for (const Certificate& certificate : *certificates) facts.push_back(facts_of(*certificate));
  return facts;
}

Result<void> check_key_pair(const KeyPair& pair) {
  const Result<std::vector<Certificate>> certificates = parse_certificates(pair.certificate_pem);
  if (!certificates) return fail(certificates.error());
  const Result<Key> key = parse_key(pair.key_pem);
  if (!key) return fail(key.error());
  if (X509_check_private_key(certificates->front().get(), key->get()) != 1) {
    ERR_clear_error();
    return fail(ErrorKind::kInvalid, "the private key does not belong to the certificate");
  }
  return {};
}

Result<WallTime> expiry(std::string_view pem) {
  const Result<std::vector<CertificateFacts>> certificates = read_certificates(pem);
  if (!certificates) return fail(certificates.error());
  WallTime earliest = certificates->front().not_after;
  for (const CertificateFacts& facts : *certificates)
    earliest = std::min(earliest, facts.not_after);
  return earliest;
}

Result<KeyPair> make_authority(const CertificateOrder& order) {
  const Key key = new_key(order.key);
  if (!key) return not_made();
  const Certificate certificate = draft(order, *key);
  if (!certificate) return not_made();
  X509& made = *certificate;
  if (X509_set_issuer_name(&made, X509_get_subject_name(&made)) != 1 ||
      !add_extension(made, &made, NID_basic_constraints, "critical,CA:TRUE") ||
      !add_extension(made, &made, NID_key_usage,
                     "critical,digitalSignature,keyEncipherment,keyCertSign") ||
      !add_extension(made, &made, NID_subject_key_identifier, "hash") ||
      !add_alternative_names(made, order) || X509_sign(&made, key.get(), EVP_sha256()) == 0)
    return not_made();
  return to_pem(made, *key);
}

Result<KeyPair> issue_certificate(const KeyPair& authority, const CertificateOrder& order) {
  const Result<std::vector<Certificate>> chain = parse_certificates(authority.certificate_pem);
  if (!chain) return fail(chain.error());
  const Result<Key> signing_key = parse_key(authority.key_pem);
  if (!signing_key) return fail(signing_key.error());
  X509& issuer = *chain->front();

  const Key key = new_key(order.key);
  if (!key) return not_made();
  const Certificate certificate = draft(order, *key);
  if (!certificate) return not_made();
  X509& made = *certificate;
  if (X509_set_issuer_name(&made, X509_get_subject_name(&issuer)) != 1 ||
      !add_extension(made, &issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(made, &issuer, NID_key_usage, "critical,digitalSignature,keyEncipherment") ||
      !add_extension(made, &issuer, NID_ext_key_usage, "serverAuth,clientAuth") ||
      !add_extension(made, &issuer, NID_subject_key_identifier, "hash") ||
      !add_extension(made, &issuer, NID_authority_key_identifier, "keyid") ||
      !add_alternative_names(made, order) ||
      X509_sign(&made, signing_key->get(), EVP_sha256()) == 0)
    return not_made();
  Result<KeyPair> pair = to_pem(made, *key);
  if (pair) pair->certificate_pem += authority.certificate_pem;
  return pair;
}

Result<KeyPair> make_serving_certificate(std::string_view bind_address, WallTime now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.since_epoch).count();
  CertificateOrder order;
  order.common_name = fmt::format("localhost-ca@{}", seconds);
  order.not_before = now + -std::chrono::hours(1);
  order.not_after = order.not_before + std::chrono::hours(24 * 365);
  const Result<KeyPair> authority = make_authority(order);
  if (!authority) return fail(authority.error());

  order.common_name = fmt::format("localhost@{}", seconds);
  order.dns_names = {"localhost"};
  order.addresses = {"127.0.0.1"};
  const bool everywhere = bind_address.empty() || bind_address == "0.0.0.0" || bind_address == "::";
  if (!everywhere && bind_address != "127.0.0.1" && bind_address != "localhost")
    (is_address(bind_address) ? order.addresses : order.dns_names).emplace_back(bind_address);
  return issue_certificate(*authority, order);
}

// ---------------------------------------------------------------------------------------------

std::string last_tls_error() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(error);
  return reason ? reason : "unknown reason";
}

struct ClientAuthorityPools::Pool {
  std::string name;
  std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> store;
};

ClientAuthorityPools::ClientAuthorityPools() = default;
ClientAuthorityPools::~ClientAuthorityPools() = default;
ClientAuthorityPools::ClientAuthorityPools(ClientAuthorityPools&&) noexcept = default;
ClientAuthorityPools& ClientAuthorityPools::operator=(ClientAuthorityPools&&) noexcept = default;

Result<ClientAuthorityPools> ClientAuthorityPools::make(
    const std::vector<ClientAuthority>& authorities, ssl_ctx_st& context) {
  ClientAuthorityPools pools;
  for (const ClientAuthority& authority : authorities) {
    const Result<std::vector<Certificate>> certificates = parse_certificates(authority.pem);
    if (!certificates)
      return fail(ErrorKind::kInvalid, fmt::format("client certificate authority \"{}\": {}",
                                                   authority.name, certificates.error().message));
    Pool pool{authority.name, {}};
    pool.store.reset(X509_STORE_new());
    if (!pool.store) return not_made();
    for (const Certificate& certificate : *certificates) {
      X509_STORE_add_cert(pool.store.get(), certificate.get());
      SSL_CTX_add_client_CA(&context, certificate.get());
    }
    pools.pools_.push_back(std::move(pool));
  }
  ERR_clear_error();
  return pools;
}

void ClientAuthorityPools::identify(const ssl_st& connection, std::optional<WallTime> now,
                                    HttpPeer& peer) const {
  const Certificate certificate(SSL_get1_peer_certificate(&connection));
  if (!certificate) return;
  CertificateFacts facts = facts_of(*certificate);
  peer.certificate_shown = true;
  peer.certificate_sha256 = fingerprint(*certificate);
  peer.certificate_not_after = facts.not_after;
  for (const Pool& pool : pools_) {
    const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> judge(X509_STORE_CTX_new());
    if (!judge || X509_STORE_CTX_init(judge.get(), pool.store.get(), certificate.get(),
                                      SSL_get_peer_cert_chain(&connection)) != 1)
      continue;
    X509_STORE_CTX_set_purpose(judge.get(), X509_PURPOSE_SSL_CLIENT);
    if (now)
      X509_STORE_CTX_set_time(
          judge.get(), 0,
          std::chrono::duration_cast<std::chrono::seconds>(now->since_epoch).count());
    if (X509_verify_cert(judge.get()) == 1) peer.verified_by.push_back(pool.name);
  }
  ERR_clear_error();
  if (peer.verified_by.empty()) return;
  peer.common_name = std::move(facts.common_name);
  peer.organizations = std::move(facts.organizations);
}

Result<void> use_key_pair(ssl_ctx_st& context, const KeyPair& pair) {
  if (const Result<void> checked = check_key_pair(pair); !checked) return checked;
  const Result<std::vector<Certificate>> chain = parse_certificates(pair.certificate_pem);
  const Result<Key> key = parse_key(pair.key_pem);
  if (!chain || !key) return fail(ErrorKind::kInvalid, "the certificate changed while it was read");
  if (SSL_CTX_use_certificate(&context, chain->front().get()) != 1 ||
      SSL_CTX_use_PrivateKey(&context, key->get()) != 1)
    return fail(ErrorKind::kInvalid,
                fmt::format("cannot use the certificate: {}", last_tls_error()));
  SSL_CTX_clear_chain_certs(&context);
  for (std::size_t i = 1; i < chain->size(); ++i)
    SSL_CTX_add1_chain_cert(&context, (*chain)[i].get());
  return {};
}

}  // namespace berth::net
