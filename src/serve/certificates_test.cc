#include "serve/certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/names.h"
#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

using net::testing::certificates;
using net::testing::real_now;

class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() {
    std::string pattern = ::testing::TempDir() + "berth-serve-XXXXXX";
    folder = ::mkdtemp(pattern.data());
  }
  ~CertificatesTest() override { std::filesystem::remove_all(folder); }

  std::string path(std::string_view name) const { return folder + "/" + std::string(name); }
  void put(std::string_view name, std::string_view text) const {
    ASSERT_TRUE(write_file(path(name), text));
  }
  void put_pair(const net::KeyPair& pair) const {
    put("tls.crt", pair.certificate_pem);
    put("tls.key", pair.key_pem);
  }
  CertificateOptions files() const {
    CertificateOptions options;
    options.cert_file = path("tls.crt");
    options.key_file = path("tls.key");
    return options;
  }
  std::unique_ptr<ServingCertificates> load(CertificateOptions options) {
    auto loaded = ServingCertificates::load(std::move(options), real_now(), log.log);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? std::move(*loaded) : nullptr;
  }
  std::string problem(CertificateOptions options) {
    const auto loaded = ServingCertificates::load(std::move(options), real_now(), log.log);
    return loaded ? "" : loaded.error().message;
  }
  static unsigned mode_of(const std::string& file) {
    struct stat facts{};
    ::stat(file.c_str(), &facts);
    return facts.st_mode & 0777;
  }

  std::string folder;
  TestLog log;
};

TEST_F(CertificatesTest, WithoutFilesOneIsMadeInMemory) {
  CertificateOptions options;
  options.bind_address = "10.1.2.3";
  const auto made = load(options);
  const auto facts = net::read_certificates(made->settings().certificate.certificate_pem);
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->size(), 2u);
  EXPECT_THAT(facts->at(0).common_name, HasSubstr("localhost@"));
  EXPECT_THAT(facts->at(0).issuer_common_name, HasSubstr("localhost-ca@"));
  EXPECT_THAT(facts->at(0).dns_names, ElementsAre("localhost"));
  EXPECT_THAT(facts->at(0).addresses, ElementsAre("127.0.0.1", "10.1.2.3"));
  EXPECT_EQ(facts->at(0).not_after - facts->at(0).not_before,
            Duration(std::chrono::hours(24 * 365)));
  EXPECT_TRUE(facts->at(1).authority);
  EXPECT_THAT(log.text, HasSubstr("Generated self-signed cert in-memory"));
  EXPECT_FALSE(made->reload());
}

TEST_F(CertificatesTest, AFolderIsFilledOnceAndThenUsed) {
  CertificateOptions options;
  options.cert_dir = path("deep/folder");
  const auto made = load(options);
  EXPECT_EQ(read_file(path("deep/folder/kube-scheduler.crt")).value(),
            made->settings().certificate.certificate_pem);
  EXPECT_EQ(mode_of(path("deep/folder/kube-scheduler.crt")), 0644u);
  EXPECT_EQ(mode_of(path("deep/folder/kube-scheduler.key")), 0600u);
  EXPECT_EQ(load(options)->settings().certificate, made->settings().certificate);

  std::filesystem::remove(path("deep/folder/kube-scheduler.key"));
  EXPECT_EQ(problem(options), "error reading " + path("deep/folder/kube-scheduler.key") +
                                  ", certificate and key must be supplied as a pair");
}

TEST_F(CertificatesTest, FilesAreReadAgainWhenTheyChange) {
  put_pair(certificates().server);
  const auto loaded = load(files());
  EXPECT_EQ(loaded->settings().certificate, certificates().server);
  EXPECT_FALSE(loaded->reload());

  // In the middle of a rotation the two do not belong together.
  put("tls.crt", certificates().renewed_server.certificate_pem);
  EXPECT_FALSE(loaded->reload());
  EXPECT_FALSE(loaded->reload());
  EXPECT_EQ(loaded->settings().certificate, certificates().server);
  const std::string complaint = "Failed to load certificates; the old ones stay in use";
  EXPECT_THAT(log.text, HasSubstr(complaint));
  EXPECT_EQ(log.text.find(complaint), log.text.rfind(complaint)) << "said once";

  put("tls.key", certificates().renewed_server.key_pem);
  EXPECT_TRUE(loaded->reload());
  EXPECT_EQ(loaded->settings().certificate, certificates().renewed_server);
}

TEST_F(CertificatesTest, WhatIsMissingIsNamed) {
  CertificateOptions options = files();
  EXPECT_EQ(problem(options), "open " + path("tls.crt") + ": no such file or directory");
  options.key_file.clear();
  put_pair(certificates().server);
  EXPECT_EQ(problem(options), "missing filename for serving key");
  options = files();
  options.client_ca_file = path("ca.crt");
  EXPECT_EQ(problem(options), "open " + path("ca.crt") + ": no such file or directory");
  put("ca.crt", "nothing");
  EXPECT_THAT(problem(options), HasSubstr(path("ca.crt") + ": no certificate found"));
  put("tls.key", certificates().renewed_server.key_pem);
  EXPECT_THAT(problem(files()), HasSubstr(path("tls.key")));
}

TEST_F(CertificatesTest, FurtherCertificatesAreShownByName) {
  put_pair(certificates().server);
  CertificateOptions options = files();
  options.named = {{path("tls.crt"), path("tls.key"), {"*.example.com"}}};
  const auto loaded = load(options);
  ASSERT_EQ(loaded->settings().named_certificates.size(), 1u);
  EXPECT_THAT(loaded->settings().named_certificates[0].names, ElementsAre("*.example.com"));
  options.named[0].key_file = path("none");
  EXPECT_EQ(problem(options), "failed to load SNI cert and key: open " + path("none") +
                                  ": no such file or directory");
}

TEST_F(CertificatesTest, WhomToBelieveComesFromFilesOrFromTheCluster) {
  const std::string& ours = certificates().authority.certificate_pem;
  const std::string& theirs = certificates().other_authority.certificate_pem;
  put_pair(certificates().server);
  const auto loaded = load(files());
  EXPECT_FALSE(loaded->has_client_authority());
  EXPECT_TRUE(loaded->set_cluster_authorities({ours, theirs}));
  EXPECT_TRUE(loaded->has_client_authority());
  EXPECT_TRUE(loaded->has_request_header_authority());
  EXPECT_FALSE(loaded->set_cluster_authorities({ours, theirs}));
  EXPECT_TRUE(loaded->set_cluster_authorities({ours, "nothing"}));
  EXPECT_FALSE(loaded->has_request_header_authority());
  EXPECT_THAT(log.text, HasSubstr("The cluster's CA bundle is not used"));

  put("ca.crt", ours);
  CertificateOptions options = files();
  options.client_ca_file = path("ca.crt");
  const auto from_file = load(options);
  EXPECT_TRUE(from_file->has_client_authority());
  EXPECT_FALSE(from_file->set_cluster_authorities({theirs, ""}));
  EXPECT_EQ(from_file->settings().client_authorities.at(0).pem, ours);
  put("ca.crt", theirs);
  EXPECT_TRUE(from_file->reload());
  EXPECT_EQ(from_file->settings().client_authorities.at(0).pem, theirs);
}

}  // namespace
}  // namespace berth::serve::testing
