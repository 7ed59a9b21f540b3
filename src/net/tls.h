// Certificates and keys: made, read and judged. PEM text goes in and comes out; what OpenSSL makes
// of it stays in tls.cc. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"

namespace berth::net {

// What a server or a client shows, and the key that proves it is its own.
struct KeyPair {
  std::string certificate_pem;  // its own certificate first, then those that signed it
  std::string key_pem;

  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

// The content of a certificate.
struct CertificateFacts {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string issuer_common_name;
  std::vector<std::string> dns_names;
  std::vector<std::string> addresses;  // "127.0.0.1", "::1"
  WallTime not_before;
  WallTime not_after;
  bool authority = false;
};

// All certificates of a PEM text, in order. Text between them is passed over; none at all is an
// error.
Result<std::vector<CertificateFacts>> read_certificates(std::string_view pem);

// An error with the reason unless both can be read and belong together.
Result<void> check_key_pair(const KeyPair& pair);

// Until when all of the PEM text's certificates are valid.
Result<WallTime> expiry(std::string_view pem);

enum class KeyKind : std::uint8_t { kRsa2048, kEcdsaP256 };

// The content of a new certificate.
struct CertificateOrder {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> addresses;
  WallTime not_before;
  WallTime not_after;
  KeyKind key = KeyKind::kRsa2048;
};

// A certificate authority that signed itself.
Result<KeyPair> make_authority(const CertificateOrder& order);

// A certificate for servers and clients, signed by the authority, which is appended to it.
Result<KeyPair> issue_certificate(const KeyPair& authority, const CertificateOrder& order);

// What a server shows that was given no certificate: signed by an authority whose key is thrown
// away, for localhost and for the address it listens on.
Result<KeyPair> make_serving_certificate(std::string_view bind_address, WallTime now);

// Authorities whose client certificates are accepted, under the name that HttpPeer::verified_by
// has.
struct ClientAuthority {
  std::string name;
  std::string pem;
};

// A further certificate, shown to clients that ask for one of the names ("*.example.com" stands for
// any first label); without names, for those that the certificate itself has.
struct NamedCertificate {
  KeyPair certificate;
  std::vector<std::string> names;
};

// How a server does TLS.
struct TlsServerSettings {
  KeyPair certificate;
  std::vector<NamedCertificate> named_certificates;
  // Clients are asked for a certificate if there are any of these. None is turned away: a client
  // whose certificate is not valid is a client without one, and the handler decides.
  std::vector<ClientAuthority> client_authorities;
  std::string min_version;                 // as --tls-min-version: "VersionTLS12", which empty is
  std::vector<std::string> cipher_suites;  // as --tls-cipher-suites; up to TLS 1.2
};

}  // namespace berth::net
