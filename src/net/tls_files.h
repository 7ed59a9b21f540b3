// TlsFiles: the current content of a client's certificate files. A file that is being replaced (not
// there, half written, a key without its certificate) changes nothing until it is whole again. For
// http_client.cc; one thread.
#pragma once

#include <memory>

#include "net/http_client.h"

namespace berth::net {

class TlsFiles {
 public:
  explicit TlsFiles(const TlsClientSettings& named) { use(named); }

  // Other settings, which may name other files. True: settings() is new.
  bool use(const TlsClientSettings& named);
  // Reads the files again. True: they have changed, and settings() is new.
  bool look();

  // With the files' contents as text; their names are still there, for error messages. A file that
  // could never be read has no text: libcurl reports the reason.
  const std::shared_ptr<const TlsClientSettings>& settings() const { return settings_; }

 private:
  TlsClientSettings named_;
  std::shared_ptr<const TlsClientSettings> settings_;
};

}  // namespace berth::net
