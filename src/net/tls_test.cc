#include "net/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "net/http_server.h"
#include "net/testing/loopback.h"

namespace berth::net {
namespace {

constexpr WallTime kNow{std::chrono::seconds(1767225600)};

CertificateOrder order(std::string name) {
  CertificateOrder result;
  result.common_name = std::move(name);
  result.not_before = kNow;
  result.not_after = kNow + std::chrono::hours(1);
  result.key = KeyKind::kEcdsaP256;
  return result;
}

TEST(Tls, ACertificateSaysWhatWasOrdered) {
  const Result<KeyPair> authority = make_authority(order("ca"));
  ASSERT_TRUE(authority) << authority.error().message;
  CertificateOrder wanted = order("näme");
  wanted.organizations = {"system:masters", "b"};
  wanted.dns_names = {"localhost", "kubernetes.default"};
  wanted.addresses = {"127.0.0.1", "::1"};
  const Result<KeyPair> pair = issue_certificate(*authority, wanted);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_TRUE(check_key_pair(*pair));

  const Result<std::vector<CertificateFacts>> chain = read_certificates(pair->certificate_pem);
  ASSERT_TRUE(chain) << chain.error().message;
  ASSERT_EQ(chain->size(), 2u);
  const CertificateFacts& leaf = chain->front();
  EXPECT_EQ(leaf.common_name, "näme");
  EXPECT_THAT(leaf.organizations, ElementsAre("system:masters", "b"));
  EXPECT_EQ(leaf.issuer_common_name, "ca");
  EXPECT_THAT(leaf.dns_names, ElementsAre("localhost", "kubernetes.default"));
  EXPECT_THAT(leaf.addresses, ElementsAre("127.0.0.1", "::1"));
  EXPECT_EQ(leaf.not_before, kNow);
  EXPECT_EQ(leaf.not_after, kNow + std::chrono::hours(1));
  EXPECT_FALSE(leaf.authority);
  EXPECT_TRUE(chain->back().authority);
  EXPECT_THAT(chain->back().dns_names, IsEmpty());
}

TEST(Tls, ExpiryIsThatOfTheFirstToExpire) {
  CertificateOrder long_lived = order("ca");
  long_lived.not_after = kNow + std::chrono::hours(1000);
  const KeyPair authority = make_authority(long_lived).value();
  const KeyPair pair = issue_certificate(authority, order("leaf")).value();
  EXPECT_EQ(expiry(pair.certificate_pem).value(), kNow + std::chrono::hours(1));
  EXPECT_EQ(expiry(authority.certificate_pem).value(), kNow + std::chrono::hours(1000));
}

TEST(Tls, ACertificateWithoutEndIsTheLatestTimeThereIs) {
  CertificateOrder endless = order("ca");
  endless.not_after = {std::chrono::hours(24 * 365 * 200)};
  const KeyPair pair = make_authority(endless).value();
  EXPECT_EQ(expiry(pair.certificate_pem).value(), endless.not_after);
}

TEST(Tls, WhatIsNoPemIsAnError) {
  EXPECT_THAT(read_certificates("").error().message, HasSubstr("no certificate"));
  EXPECT_THAT(read_certificates("nonsense").error().message, HasSubstr("no certificate"));
  const std::string broken =
      "-----BEGIN CERTIFICATE-----\nMIIBnonsense\n-----END CERTIFICATE-----\n";
  EXPECT_EQ(read_certificates(broken).error().kind, ErrorKind::kInvalid);
  const KeyPair good = make_authority(order("ca")).value();
  EXPECT_EQ(read_certificates(good.certificate_pem + broken).error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(check_key_pair({good.certificate_pem, "nonsense"}).error().message,
              HasSubstr("cannot read the private key"));
}

TEST(Tls, TextAroundCertificatesIsPassedOver) {
  const KeyPair pair = make_authority(order("ca")).value();
  EXPECT_EQ(read_certificates("# a comment\n" + pair.certificate_pem + "\nmore").value().size(),
            1u);
}

TEST(Tls, AKeyOfAnotherCertificateIsFound) {
  const KeyPair one = make_authority(order("one")).value();
  const KeyPair two = make_authority(order("two")).value();
  const Result<void> checked = check_key_pair({one.certificate_pem, two.key_pem});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "the private key does not belong to the certificate");
}

TEST(Tls, ServingCertificateIsForLocalhostAndTheAddress) {
  const KeyPair pair = make_serving_certificate("10.1.2.3", kNow).value();
  const std::vector<CertificateFacts> chain = read_certificates(pair.certificate_pem).value();
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].common_name, "localhost@1767225600");
  EXPECT_EQ(chain[1].common_name, "localhost-ca@1767225600");
  EXPECT_THAT(chain[0].dns_names, ElementsAre("localhost"));
  EXPECT_THAT(chain[0].addresses, ElementsAre("127.0.0.1", "10.1.2.3"));
  EXPECT_EQ(chain[0].not_before, kNow + -std::chrono::hours(1));
  EXPECT_EQ(chain[0].not_after, kNow + std::chrono::hours(365 * 24 - 1));
  EXPECT_THAT(pair.key_pem, HasSubstr("PRIVATE KEY"));
}

struct Setting {
  const char* what;
  std::string min_version;
  std::vector<std::string> suites;
  std::string error;  // empty: none
};

TEST(Tls, VersionsAndSuitesGoByTheirNames) {
  const std::vector<Setting> settings = {
      {"defaults", "", {}, ""},
      {"oldest", "VersionTLS10", {}, ""},
      {"newest", "VersionTLS13", {"TLS_AES_128_GCM_SHA256"}, ""},
      {"one suite", "VersionTLS12", {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}, ""},
      {"no such version", "TLS1.2", {}, "unknown tls version \"TLS1.2\""},
      {"no such suite", "", {"ROT13"}, "Cipher suite ROT13 not supported or doesn't exist"},
  };
  for (const Setting& setting : settings) {
    HttpServerOptions options;
    options.tls = testing::server_tls();
    options.tls->min_version = setting.min_version;
    options.tls->cipher_suites = setting.suites;
    const auto server = HttpServer::start(
        options, [](const HttpRequest&, const std::shared_ptr<HttpResponder>&) {});
    EXPECT_EQ(server ? "" : server.error().message, setting.error) << setting.what;
  }
}

}  // namespace
}  // namespace berth::net
