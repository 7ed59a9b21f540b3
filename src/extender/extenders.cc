#include "extender/extenders.h"

#include <string>
#include <utility>

#include "base/file.h"
#include "extender/transport.h"
#include "net/tls.h"

namespace berth::extender {
namespace {

Result<std::string> text_or_file(const std::string& text, const std::string& file) {
  if (!text.empty() || file.empty()) return text;
  return read_file(file);
}

}  // namespace

Result<net::TlsClientSettings> tls_settings(const config::ExtenderConfig& config) {
  const config::ExtenderTls given = config.tls.value_or(config::ExtenderTls());
  net::TlsClientSettings tls;
  tls.ca_pem = given.ca_data;
  tls.ca_file = given.ca_file;
  tls.certificate_pem = given.cert_data;
  tls.certificate_file = given.cert_file;
  tls.key_pem = given.key_data;
  tls.key_file = given.key_file;
  tls.server_name = given.server_name;
  const bool has_authority = !tls.ca_pem.empty() || !tls.ca_file.empty();
  // Parity: HTTPS that is asked for without an authority is HTTPS with anybody.
  tls.insecure = given.insecure || (config.enable_https && !has_authority);
  if (tls.insecure && has_authority)
    return fail(ErrorKind::kInvalid,
                "specifying a root certificates file with the insecure flag is not allowed");
  // Files are read again with each connection; a file that cannot be read now is an error now.
  const Result<std::string> authority = text_or_file(tls.ca_pem, tls.ca_file);
  if (!authority) return fail(authority.error());
  Result<std::string> certificate = text_or_file(tls.certificate_pem, tls.certificate_file);
  if (!certificate) return fail(certificate.error());
  Result<std::string> key = text_or_file(tls.key_pem, tls.key_file);
  if (!key) return fail(key.error());
  if (has_authority)
    if (const auto read = net::read_certificates(*authority); !read)
      return fail(read.error().kind, "unable to load root certificates: " + read.error().message);
  if (certificate->empty() || key->empty()) {  // half a pair proves nothing, and is not shown
    tls.certificate_pem.clear();
    tls.certificate_file.clear();
    tls.key_pem.clear();
    tls.key_file.clear();
  } else if (Result<void> pair = net::check_key_pair({*std::move(certificate), *std::move(key)});
             !pair) {
    return fail(pair.error());
  }
  return tls;
}

Result<std::unique_ptr<Extenders>> Extenders::make(
    std::span<const config::ExtenderConfig> configured, Loop& loop, std::function<bool()> may_bind,
    const net::MakeHttpTransport& make_client) {
  std::unique_ptr<Extenders> extenders(new Extenders(needs_of(configured)));
  for (const config::ExtenderConfig& one : configured) {
    Result<net::TlsClientSettings> tls = tls_settings(one);
    if (!tls) return fail(tls.error().kind, "couldn't build extenders: " + tls.error().message);
    extenders->webhooks_.push_back(std::make_unique<WebhookExtender>(
        one, loop, extenders->objects_,
        make_http_transport(loop, *std::move(tls), kMostAnswerBytes, make_client), may_bind));
  }
  return extenders;
}

std::vector<Extender*> Extenders::all() const {
  std::vector<Extender*> all;
  for (const std::unique_ptr<WebhookExtender>& webhook : webhooks_) all.push_back(webhook.get());
  return all;
}

}  // namespace berth::extender
