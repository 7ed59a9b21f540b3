// Extenders: all extenders of a configuration, ready to be called, and the objects that they get
// (core.md §12.1). World thread.
//
//   Result<std::unique_ptr<Extenders>> extenders = Extenders::make(configuration.extenders, loop);
//   engine_options.extenders = (*extenders)->all();
//   // every delta: (*extenders)->objects().apply(delta, text), in turn with the engine's
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "extender/kept_objects.h"
#include "extender/webhook_extender.h"
#include "framework/extender.h"
#include "net/http_client.h"

namespace berth::extender {

class Extenders {
 public:
  // `loop` outlives them. Errors are upstream's, which does not start with them, and begin with
  // "couldn't build extenders: ". `may_bind`: see WebhookExtender; `make_client`: see transport.h.
  static Result<std::unique_ptr<Extenders>> make(std::span<const config::ExtenderConfig> configured,
                                                 Loop& loop, std::function<bool()> may_bind = {},
                                                 const net::MakeHttpTransport& make_client = {});

  // In the order of the configuration.
  std::vector<Extender*> all() const;
  KeptObjects& objects() { return objects_; }

 private:
  explicit Extenders(ObjectNeeds needs) : objects_(needs) {}

  KeptObjects objects_;
  std::vector<std::unique_ptr<WebhookExtender>> webhooks_;
};

// Whom an extender's client is to believe, and what it shows.
Result<net::TlsClientSettings> tls_settings(const config::ExtenderConfig& config);

}  // namespace berth::extender
