// LeaseServer: the one Lease that electors in tests fight over, with versions, and clients to it
// whose network is as bad as a test wants it. Virtual time; world thread.
//
//   LeaseServer server;
//   LeaseClient client(loop, server);
//   client.set_fault([](const ApiCall& call) { return Fault{.answer_lost = true}; });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "kube/cancellable_sleep.h"
#include "kube/testing/fake_api_client.h"
#include "wire/json_tree.h"

namespace berth::kube::testing {

class LeaseServer {
 public:
  bool exists() const { return !json_.empty(); }
  // The object as it is; empty: there is none.
  const std::string& json() const { return json_; }
  Lease lease() const { return read_lease(json_).value(); }
  std::string holder() const { return exists() ? lease().holder_identity.value_or("") : ""; }
  int writes() const { return writes_; }

  // As somebody else writes it: the whole object, whatever was there.
  void put(JsonValue object) {
    ++version_;
    ++writes_;
    set(member(object, "metadata"), "resourceVersion", std::to_string(version_));
    set(member(object, "metadata"), "uid", "lease-uid");
    json_ = to_json(object);
  }
  void put(std::string_view json) { put(parse_json(json).value()); }
  void remove() { json_.clear(); }

  ApiResult handle(const ApiCall& call) {
    if (call.method == "GET") {
      if (!exists()) return not_found();
      return answered(json_);
    }
    Result<std::string> body = call.content_type.starts_with(kProtoContentType)
                                   ? envelope_to_json(call.body)
                                   : Result<std::string>(call.body);
    JsonValue object = parse_json(body.value()).value();
    if (call.method == "POST") {
      if (exists())
        return refused(409, "AlreadyExists", "leases.coordination.k8s.io \"l\" already exists");
      put(std::move(object));
      return answered(json_, 201);
    }
    if (!exists()) return not_found();
    const JsonValue* version = member(object, "metadata").find("resourceVersion");
    if (version && version->text != std::to_string(version_)) {
      return refused(
          409, "Conflict",
          "Operation cannot be fulfilled on leases.coordination.k8s.io \"l\": the object "
          "has been modified");
    }
    put(std::move(object));
    return answered(json_);
  }

  static JsonValue& member(JsonValue& object, std::string_view name) {
    for (JsonMember& present : object.members)
      if (present.name == name) return present.value;
    object.add(name, JsonValue::object());
    return object.members.back().value;
  }
  static void set(JsonValue& object, std::string_view name, std::string_view text) {
    member(object, name) = JsonValue::of_text(text);
  }

 private:
  static ApiResult not_found() {
    return refused(404, "NotFound", "leases.coordination.k8s.io \"l\" not found");
  }

  std::string json_;
  int version_ = 100;
  int writes_ = 0;
};

// What happens to one request on its way.
struct Fault {
  Duration there{0};                      // how long it takes to the server,
  Duration back{0};                       // and its answer to us
  bool request_lost = false;              // it never arrives
  bool answer_lost = false;               // it takes effect, and we do not hear of it
  std::optional<ApiResult> instead = {};  // answered without effect
};

class LeaseClient final : public ApiClient {
 public:
  struct Sent {
    TimePoint when;
    ApiCall call;
  };

  LeaseClient(Loop& loop, LeaseServer& server, BodyFormat format = BodyFormat::kJson)
      : loop_(loop), server_(server), format_(format) {}

  void set_fault(std::function<Fault(const ApiCall&)> fault) { fault_ = std::move(fault); }
  const std::vector<Sent>& sent() const { return sent_; }
  std::vector<std::string> methods() const {
    std::vector<std::string> methods;
    for (const Sent& request : sent_) methods.push_back(request.call.method);
    return methods;
  }
  // Answers in protobuf, as a server does that was asked for it.
  void answer_in_protobuf() { protobuf_answers_ = true; }

  Task<ApiResult> call(ApiCall call, CancelToken cancel = {}) override {
    const auto answer = std::make_shared<Eventual<ApiResult>>();
    const ScopedTimer timeout(loop_, loop_.now() + call.timeout, [answer] {
      answer->set(
          no_answer("context deadline exceeded (Client.Timeout exceeded while awaiting "
                    "headers)",
                    ErrorKind::kTimeout));
    });
    const CancelToken::Registration cancelled = cancel.on_cancel(
        [answer, cancel] { answer->set(no_answer(cancel.cause(), ErrorKind::kCancelled)); });
    if (!cancel.cancelled()) send(std::move(call), answer);
    ApiResult result = co_await *answer;
    co_return result;
  }

  net::HttpCallId stream(ApiCall, net::HttpStreamCallbacks) override { return 0; }
  void cancel(net::HttpCallId) override {}
  BodyFormat format() const override { return format_; }

 private:
  // What is on its way arrives, also when nobody waits for it any more, not even this client.
  void send(ApiCall call, const std::shared_ptr<Eventual<ApiResult>>& answer) {
    sent_.push_back({loop_.now(), call});
    Fault fault = fault_ ? fault_(call) : Fault{};
    if (fault.request_lost) return;
    loop_.after(fault.there, [&loop = loop_, &server = server_, protobuf = protobuf_answers_,
                              call = std::move(call), answer, fault = std::move(fault)] {
      ApiResult result = fault.instead ? *fault.instead : server.handle(call);
      if (fault.answer_lost) return;
      if (protobuf && result) {
        result->body = json_to_envelope(result->body).value();
        result->content_type = kProtoContentType;
      }
      loop.after(fault.back, [answer, result = std::move(result)] { answer->set(result); });
    });
  }

  Loop& loop_;
  LeaseServer& server_;
  const BodyFormat format_;
  bool protobuf_answers_ = false;
  std::function<Fault(const ApiCall&)> fault_;
  std::vector<Sent> sent_;
};

}  // namespace berth::kube::testing
