#include "serve/certificates.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "serve/authentication.h"

namespace berth::serve {
namespace {

bool has_authority(const net::TlsServerSettings& settings, std::string_view name) {
  for (const net::ClientAuthority& authority : settings.client_authorities)
    if (authority.name == name) return true;
  return false;
}

// Everything that may change, as one text.
std::string contents_of(const net::TlsServerSettings& settings) {
  std::string all;
  const auto add = [&](const std::string& text) { all += fmt::format("{}:{}", text.size(), text); };
  add(settings.certificate.certificate_pem);
  add(settings.certificate.key_pem);
  for (const net::NamedCertificate& named : settings.named_certificates) {
    add(named.certificate.certificate_pem);
    add(named.certificate.key_pem);
  }
  for (const net::ClientAuthority& authority : settings.client_authorities) {
    add(authority.name);
    add(authority.pem);
  }
  return all;
}

Result<net::KeyPair> read_pair(const std::string& cert_file, const std::string& key_file) {
  if (cert_file.empty()) return fail(ErrorKind::kInvalid, "missing filename for serving cert");
  if (key_file.empty()) return fail(ErrorKind::kInvalid, "missing filename for serving key");
  Result<std::string> certificate = read_file(cert_file);
  if (!certificate) return fail(certificate.error());
  Result<std::string> key = read_file(key_file);
  if (!key) return fail(key.error());
  net::KeyPair pair{std::move(*certificate), std::move(*key)};
  if (const Result<void> ok = net::check_key_pair(pair); !ok)
    return fail(ok.error().kind,
                fmt::format("{}, {}: {}", cert_file, key_file, ok.error().message));
  return pair;
}

}  // namespace

ServingCertificates::ServingCertificates(CertificateOptions options, telemetry::Log log)
    : options_(std::move(options)), log_(std::move(log)) {}

Result<std::unique_ptr<ServingCertificates>> ServingCertificates::load(CertificateOptions options,
                                                                       WallTime now,
                                                                       telemetry::Log log) {
  std::unique_ptr<ServingCertificates> made(
      new ServingCertificates(std::move(options), std::move(log)));
  if (const Result<void> found = made->find_pair(now); !found) return fail(found.error());
  Result<net::TlsServerSettings> settings = made->read();
  if (!settings) return fail(settings.error());
  made->settings_ = std::move(*settings);
  return made;
}

// Which files the certificate is in; makes one if there are none.
Result<void> ServingCertificates::find_pair(WallTime now) {
  if (!options_.cert_file.empty() || !options_.key_file.empty()) return {};
  std::string cert_file, key_file;
  if (!options_.cert_dir.empty()) {
    const std::filesystem::path folder(options_.cert_dir);
    cert_file = folder / (options_.pair_name + ".crt");
    key_file = folder / (options_.pair_name + ".key");
    const bool has_cert = read_file(cert_file).has_value();
    const bool has_key = read_file(key_file).has_value();
    if (has_cert != has_key)
      return fail(ErrorKind::kInvalid,
                  fmt::format("error reading {}, certificate and key must be supplied as a pair",
                              has_cert ? key_file : cert_file));
    options_.cert_file = cert_file;
    options_.key_file = key_file;
    if (has_cert) return {};
  }
  Result<net::KeyPair> made = net::make_serving_certificate(options_.bind_address, now);
  if (!made)
    return fail(made.error().kind,
                fmt::format("unable to generate self signed cert: {}", made.error().message));
  if (cert_file.empty()) {
    made_ = std::move(*made);
    log_.plain(telemetry::Severity::kInfo, "Generated self-signed cert in-memory");
    return {};
  }
  std::error_code problem;
  std::filesystem::create_directories(options_.cert_dir, problem);
  if (problem)
    return fail(ErrorKind::kInvalid,
                fmt::format("mkdir {}: {}", options_.cert_dir, problem.message()));
  if (const Result<void> ok = write_file(cert_file, made->certificate_pem, 0644); !ok) return ok;
  if (const Result<void> ok = write_file(key_file, made->key_pem, 0600); !ok) return ok;
  log_.plain(telemetry::Severity::kInfo,
             fmt::format("Generated self-signed cert ({}, {})", cert_file, key_file));
  return {};
}

Result<net::TlsServerSettings> ServingCertificates::read() const {
  net::TlsServerSettings settings;
  settings.min_version = options_.min_version;
  settings.cipher_suites = options_.cipher_suites;
  if (made_.certificate_pem.empty()) {
    Result<net::KeyPair> pair = read_pair(options_.cert_file, options_.key_file);
    if (!pair) return fail(pair.error());
    settings.certificate = std::move(*pair);
  } else {
    settings.certificate = made_;
  }
  for (const NamedCertificateFiles& named : options_.named) {
    Result<net::KeyPair> pair = read_pair(named.cert_file, named.key_file);
    if (!pair)
      return fail(pair.error().kind,
                  fmt::format("failed to load SNI cert and key: {}", pair.error().message));
    settings.named_certificates.push_back({std::move(*pair), named.names});
  }
  struct Source {
    std::string_view name;
    const std::string& file;
    const std::string& published;
  };
  for (const Source& source :
       {Source{kClientAuthority, options_.client_ca_file, cluster_.client_ca},
        Source{kRequestHeaderAuthority, options_.request_header_ca_file,
               cluster_.request_header_ca}}) {
    std::string pem = source.published;
    if (!source.file.empty()) {
      Result<std::string> text = read_file(source.file);
      if (!text) return fail(text.error());
      if (const auto facts = net::read_certificates(*text); !facts)
        return fail(facts.error().kind, fmt::format("{}: {}", source.file, facts.error().message));
      pem = std::move(*text);
    }
    if (!pem.empty()) settings.client_authorities.push_back({std::string(source.name), pem});
  }
  return settings;
}

bool ServingCertificates::has_client_authority() const {
  return has_authority(settings_, kClientAuthority);
}

bool ServingCertificates::has_request_header_authority() const {
  return has_authority(settings_, kRequestHeaderAuthority);
}

bool ServingCertificates::reload() {
  Result<net::TlsServerSettings> settings = read();
  if (!settings) {
    // In the middle of a rotation, perhaps; the old ones are as good as they were.
    if (last_problem_ != settings.error().message)
      log_.error(settings.error().message, "Failed to load certificates; the old ones stay in use");
    last_problem_ = settings.error().message;
    return false;
  }
  last_problem_.clear();
  const bool changed = contents_of(*settings) != contents_of(settings_);
  settings_ = std::move(*settings);
  return changed;
}

bool ServingCertificates::set_cluster_authorities(ClusterAuthorities authorities) {
  for (std::string* pem : {&authorities.client_ca, &authorities.request_header_ca}) {
    if (pem->empty()) continue;
    if (const auto facts = net::read_certificates(*pem); !facts) {
      log_.error(facts.error().message, "The cluster's CA bundle is not used");
      pem->clear();
    }
  }
  cluster_ = std::move(authorities);
  return reload();
}

}  // namespace berth::serve
