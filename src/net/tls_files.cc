#include "net/tls_files.h"

#include <string>
#include <utility>

#include "base/file.h"
#include "net/tls.h"

namespace berth::net {
namespace {

// Text wins over a file, which then does not count.
void drop_file_of_text(const std::string& text, std::string& file) {
  if (!text.empty()) file.clear();
}

void read_into(std::string& text, const std::string& file) {
  if (file.empty()) return;
  Result<std::string> contents = read_file(file);
  text = contents ? std::move(*contents) : std::string();
}

bool good_authorities(const TlsClientSettings& tls) {
  return read_certificates(tls.ca_pem).has_value();
}
bool good_pair(const TlsClientSettings& tls) {
  return check_key_pair({tls.certificate_pem, tls.key_pem}).has_value();
}

}  // namespace

bool TlsFiles::use(const TlsClientSettings& named) {
  TlsClientSettings read = named;
  drop_file_of_text(read.ca_pem, read.ca_file);
  drop_file_of_text(read.certificate_pem, read.certificate_file);
  drop_file_of_text(read.key_pem, read.key_file);
  if (read != named_) settings_.reset();  // the content of other files does not count
  named_ = std::move(read);
  return look();
}

bool TlsFiles::look() {
  TlsClientSettings read = named_;
  read_into(read.ca_pem, read.ca_file);
  read_into(read.certificate_pem, read.certificate_file);
  read_into(read.key_pem, read.key_file);
  if (settings_) {
    if (!good_authorities(read) && good_authorities(*settings_)) read.ca_pem = settings_->ca_pem;
    if (!good_pair(read) && good_pair(*settings_)) {
      read.certificate_pem = settings_->certificate_pem;
      read.key_pem = settings_->key_pem;
    }
    if (read == *settings_) return false;
  }
  settings_ = std::make_shared<const TlsClientSettings>(std::move(read));
  return true;
}

}  // namespace berth::net
