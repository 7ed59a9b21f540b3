#include "memapi/service_account_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/base64.h"
#include "base/time_text.h"
#include "memapi/json_edit.h"
#include "net/message_digest.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kIssuer = "https://kubernetes.default.svc.cluster.local";
constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kLeastSeconds = 600;
constexpr std::int64_t kMostSeconds = std::int64_t{1} << 32;

std::int64_t unix_seconds(WallTime time) {
  return std::chrono::floor<std::chrono::seconds>(time.since_epoch).count();
}

JsonValue texts_of(std::string_view text) {
  JsonValue list = JsonValue::array();
  list.items.push_back(JsonValue::of_text(text));
  return list;
}

ApiError invalid_request(FieldProblem problem) {
  ApiError error = ApiError::invalid_options("TokenRequest", {std::move(problem)});
  error.group = "authentication.k8s.io";
  error.message = fmt::format("TokenRequest.authentication.k8s.io \"\" is invalid: {}: {}",
                              error.causes.front().field, error.causes.front().message);
  return error;
}

// Without reading on after a difference one could measure how much of it is right.
bool same_signature(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

void add_named(JsonValue& claims, std::string_view member, const StoredObject& object) {
  JsonValue& named = object_at(claims, member);
  set_text(named, "name", object.name);
  set_text(named, "uid", object.uid);
}

}  // namespace

std::string ServiceAccountTokens::Account::user() const {
  return fmt::format("system:serviceaccount:{}:{}", namespace_name, name);
}

std::string ServiceAccountTokens::sign(std::string_view text) const {
  return base64url(net::hmac_sha256(key_, text));
}

Answer<ObjectRef> ServiceAccountTokens::bound_object(std::string_view namespace_name,
                                                     const JsonValue& spec) const {
  const JsonValue* reference = at(spec, "boundObjectRef");
  if (!is_object(reference)) return nullptr;
  const std::string_view kind = text_at(*reference, "kind");
  const std::string_view plural = kind == "Pod"      ? "pods"
                                  : kind == "Secret" ? "secrets"
                                  : kind == "Node"   ? "nodes"
                                                     : "";
  if (plural.empty()) {
    return refuse(ApiError::bad_request(
        fmt::format("cannot bind token for serviceaccount to object of type {}", kind)));
  }
  const Resource& resource = resource_of(plural);
  const std::string_view name = text_at(*reference, "name");
  const ObjectRef object = store_.get(resource, resource.namespaced ? namespace_name : "", name);
  if (!object) return refuse(ApiError::not_found(resource, name));
  const std::string_view uid = text_at(*reference, "uid");
  if (uid.empty() || uid == object->uid) return object;
  return refuse(ApiError::conflict(
      resource, name,
      fmt::format("the UID in the bound object reference ({}) does not match the UID in record. "
                  "The object might have been deleted and then recreated",
                  uid)));
}

Answer<JsonValue> ServiceAccountTokens::issue(std::string_view namespace_name,
                                              std::string_view name, JsonValue request) const {
  const Resource& accounts = resource_of("serviceaccounts");
  const ObjectRef account = store_.get(accounts, namespace_name, name);
  if (!account) return refuse(ApiError::not_found(accounts, name));
  JsonValue& spec = object_at(request, "spec");
  const std::int64_t seconds = int_at(spec, "expirationSeconds").value_or(kDefaultSeconds);
  if (seconds < kLeastSeconds) {
    return refuse(
        invalid_request(FieldProblem::invalid("spec.expirationSeconds", fmt::format("{}", seconds),
                                              "may not specify a duration less than 10 minutes")));
  }
  if (seconds > kMostSeconds) {
    return refuse(invalid_request(
        FieldProblem::invalid("spec.expirationSeconds", fmt::format("{}", seconds),
                              "may not specify a duration larger than 2^32 seconds")));
  }
  const Answer<ObjectRef> bound = bound_object(namespace_name, spec);
  if (!bound) return refuse(bound.error());
  set(spec, "expirationSeconds", JsonValue::of_int(seconds));
  if (items_at(spec, "audiences").empty()) set(spec, "audiences", texts_of(kIssuer));

  const WallTime now = loop_.wall_now();
  JsonValue claims = JsonValue::object();
  claims.add("aud", *at(spec, "audiences"));
  claims.add("exp", JsonValue::of_int(unix_seconds(now) + seconds));
  claims.add("iat", JsonValue::of_int(unix_seconds(now)));
  claims.add("iss", JsonValue::of_text(kIssuer));
  JsonValue about = JsonValue::object();
  set_text(about, "namespace", namespace_name);
  if (*bound) {
    std::string kind(text_at(spec, "boundObjectRef.kind"));
    std::ranges::transform(kind, kind.begin(), [](char c) { return static_cast<char>(c | 32); });
    add_named(about, kind, **bound);
  }
  add_named(about, "serviceaccount", *account);
  claims.add("kubernetes.io", std::move(about));
  claims.add("nbf", JsonValue::of_int(unix_seconds(now)));
  claims.add("sub", JsonValue::of_text(Account{account->namespace_name, account->name, {}}.user()));
  const std::string text =
      base64url(R"({"alg":"HS256","typ":"JWT"})") + "." + base64url(to_json(claims));

  JsonValue status = JsonValue::object();
  status.add("token", JsonValue::of_text(text + "." + sign(text)));
  status.add("expirationTimestamp",
             JsonValue::of_text(rfc3339(now + std::chrono::seconds(seconds))));
  JsonValue& metadata = object_at(request, "metadata");
  set_text(metadata, "name", account->name);
  set_text(metadata, "namespace", account->namespace_name);
  set_text(metadata, "creationTimestamp", rfc3339(now));
  set(request, "status", std::move(status));
  set_text(request, "kind", "TokenRequest");
  set_text(request, "apiVersion", "authentication.k8s.io/v1");
  return request;
}

std::optional<ServiceAccountTokens::Account> ServiceAccountTokens::verify(
    std::string_view token) const {
  const std::size_t last = token.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const std::string_view text = token.substr(0, last);
  if (!same_signature(sign(text), token.substr(last + 1))) return std::nullopt;
  const std::optional<std::string> json = decode_base64url(text.substr(text.find('.') + 1));
  const Result<JsonValue> claims = json ? parse_json(*json) : Result<JsonValue>(JsonValue());
  if (!claims || int_at(*claims, "exp").value_or(0) <= unix_seconds(loop_.wall_now()))
    return std::nullopt;
  // The member's name has a dot in it.
  const JsonValue* about = claims->find("kubernetes.io");
  if (about == nullptr) return std::nullopt;
  Account account{std::string(text_at(*about, "namespace")),
                  std::string(text_at(*about, "serviceaccount.name")),
                  std::string(text_at(*about, "serviceaccount.uid"))};
  const ObjectRef stored =
      store_.get(resource_of("serviceaccounts"), account.namespace_name, account.name);
  if (!stored || stored->uid != account.uid) return std::nullopt;
  return account;
}

}  // namespace berth::memapi
