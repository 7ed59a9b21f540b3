// ServingCertificates: the server's certificate and the CAs of its clients, from files that are
// read again for new connections (shell.md §4.4). Without files a self-signed certificate.
//
// Files are rotated under a running server: what cannot be used (a key that does not belong to its
// certificate yet) leaves everything as it was. World thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "net/tls.h"
#include "telemetry/log.h"

namespace berth::serve {

// One of --tls-sni-cert-key.
struct NamedCertificateFiles {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names;  // empty: those of the certificate
};

struct CertificateOptions {
  std::string bind_address;  // named in a certificate of our own making
  std::string pair_name = "kube-scheduler";
  std::string cert_dir;  // <pair_name>.crt and .key there are used, or made
  std::string cert_file;
  std::string key_file;
  std::vector<NamedCertificateFiles> named;
  std::string client_ca_file;
  std::string request_header_ca_file;
  std::string min_version;                 // "VersionTLS12"; empty: that
  std::vector<std::string> cipher_suites;  // Go's names; empty: a good choice
};

// Authorities that the cluster publishes, as PEM texts. Those from files go first.
struct ClusterAuthorities {
  std::string client_ca;
  std::string request_header_ca;

  friend bool operator==(const ClusterAuthorities&, const ClusterAuthorities&) = default;
};

class ServingCertificates {
 public:
  // An error is upstream's text.
  static Result<std::unique_ptr<ServingCertificates>> load(CertificateOptions options, WallTime now,
                                                           telemetry::Log log);

  const net::TlsServerSettings& settings() const { return settings_; }
  // Whether there is a CA for clients, and one for proxies.
  bool has_client_authority() const;
  bool has_request_header_authority() const;

  // Reads all files again. True: settings() are others now.
  bool reload();
  // True: settings() are others now. What is no certificate is left out, and logged.
  bool set_cluster_authorities(ClusterAuthorities authorities);

 private:
  ServingCertificates(CertificateOptions options, telemetry::Log log);
  Result<void> find_pair(WallTime now);
  Result<net::TlsServerSettings> read() const;

  CertificateOptions options_;  // with cert_file and key_file, unless `made_` is used
  const telemetry::Log log_;
  net::KeyPair made_;
  ClusterAuthorities cluster_;
  net::TlsServerSettings settings_;
  std::string last_problem_;  // reported once, not each time
};

}  // namespace berth::serve
