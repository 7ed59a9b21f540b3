// What an ApiServer consists of. Only for its own .cc files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread.h"
#include "memapi/api_server.h"
#include "memapi/crd_kinds.h"
#include "memapi/rbac.h"
#include "memapi/reads.h"
#include "memapi/server_metrics.h"
#include "memapi/service_account_tokens.h"
#include "memapi/writes.h"

namespace berth::memapi {

class ApiServer::State : public std::enable_shared_from_this<ApiServer::State> {
 public:
  State(Loop& loop, Random random, ApiServerOptions options)
      : loop_(loop),
        options_(std::move(options)),
        store_(loop, options_.limits),
        views_(options_.protobuf, loop),
        crds_(store_),
        tokens_(store_, loop, options_.token_key),
        rbac_(options_.authorization == Authorization::kRbac ? std::make_unique<Rbac>(store_)
                                                             : nullptr),
        writes_(store_, crds_, loop, std::move(random), options_.admission, options_.protobuf,
                rbac_.get()),
        local_(store_, crds_, writes_, loop) {}

  void populate();
  void handle(net::HttpRequest http, std::shared_ptr<net::HttpResponder> responder);
  void tick();
  void tick_events();
  std::string save() const;
  Result<void> load(std::string_view saved);
  void end_watches() EXCLUDES(watchers_mutex_);
  const Store& store() const { return store_; }
  LocalClient& local() { return local_; }

 private:
  using Responder = std::shared_ptr<net::HttpResponder>;

  void respond(const Responder& responder, const ApiRequest& request, int code, std::string json);
  void respond(const Responder& responder, const ApiRequest& request, const ApiError& error);
  void respond(const Responder& responder, const ApiRequest& request, Answer<Written> written);
  void respond(const Responder& responder, const ApiRequest& request, Answer<std::string> json);
  static void respond_plain(const Responder& responder, int code, std::string text);

  // Whether the request may be answered; fills in whose it is.
  bool authenticate(ApiRequest& request) const;
  // Makes it somebody else's, if it asks for that and may.
  Answer<void> impersonate(ApiRequest& request);
  Answer<void> authorize(const ApiRequest& request);
  void issue_token(const ApiRequest& request, const Responder& responder);
  bool answer_health(const ApiRequest& request, const Responder& responder);
  void respond_openapi_v2(const ApiRequest& request, const Responder& responder);
  void handle_elsewhere(const ApiRequest& request, const Responder& responder);
  void handle_resource(const ApiRequest& request, const Responder& responder);
  void handle_collection(const ApiRequest& request, const Responder& responder);
  void handle_object(const ApiRequest& request, const Responder& responder);
  void handle_subresource(const ApiRequest& request, const Responder& responder);
  void get(const ApiRequest& request, const Responder& responder);
  void review(const ApiRequest& request, const Responder& responder);
  void watch(const ApiRequest& request, const Responder& responder);
  void limit_watch(const ApiRequest& request, const std::shared_ptr<Watcher>& watcher,
                   Duration length);

  Loop& loop_;
  const ApiServerOptions options_;
  Store store_;
  Views views_;
  ServerMetrics metrics_;
  CrdRegistry crds_;
  ServiceAccountTokens tokens_;
  const std::unique_ptr<Rbac> rbac_;  // null: everything is allowed
  Writes writes_;
  LocalClient local_;
  Mutex watchers_mutex_;
  std::vector<std::weak_ptr<Watcher>> watchers_ GUARDED_BY(watchers_mutex_);
};

}  // namespace berth::memapi
