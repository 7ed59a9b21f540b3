// Who a request is from, and whether it may be answered.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_quote.h"
#include "base/same_secret.h"
#include "memapi/api_server_state.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kScheme = "Bearer ";
constexpr std::string_view kImpersonatedUser = "Impersonate-User";

bool names_account(std::string_view user) {
  return user.starts_with(kAccountPrefix) && user.substr(kAccountPrefix.size()).contains(':');
}

// Whom the request's headers ask to be taken for; nothing: nobody else.
Answer<std::optional<UserInfo>> impersonated(const net::HttpHeaders& headers) {
  UserInfo wanted;
  wanted.name = headers.find(kImpersonatedUser).value_or("");
  wanted.uid = headers.find("Impersonate-Uid").value_or("");
  for (const auto& [name, value] : headers)
    if (std::ranges::equal(name, std::string_view("impersonate-group"), {}, [](char c) {
          return static_cast<char>(c >= 'A' && c <= 'Z' ? c | 32 : c);
        }))
      wanted.groups.push_back(value);
  if (!wanted.name.empty()) return wanted;
  if (wanted.uid.empty() && wanted.groups.empty()) return std::nullopt;
  return refuse(ApiError::bad_request(
      "requested groups or a UID to be impersonated without impersonating a user name"));
}

// Groups that come with the user.
void complete_groups(UserInfo& user) {
  if (user.name == kAnonymousUser) {
    if (user.groups.empty()) user.groups.emplace_back(kUnauthenticated);
    return;
  }
  if (names_account(user.name) && user.groups.empty())
    user.groups = service_account_user(user.name, "").groups;
  if (!user.in_group(kAuthenticated)) user.groups.emplace_back(kAuthenticated);
}

}  // namespace

bool ApiServer::State::authenticate(ApiRequest& request) const {
  const std::string_view given = request.http.headers.find("Authorization").value_or("");
  const net::HttpPeer& peer = request.http.peer;
  if (given.starts_with(kScheme)) {
    const std::string_view token = given.substr(kScheme.size());
    if (!options_.token.empty() && is_same_secret(token, options_.token)) return true;
    if (const auto account = tokens_.verify(token)) {
      request.user = service_account_user(account->user(), account->uid);
      return true;
    }
    return options_.token.empty();
  }
  if (!peer.common_name.empty() && !peer.verified_by.empty()) {
    request.user = {peer.common_name, "", peer.organizations};
    complete_groups(request.user);
    return true;
  }
  if (options_.token.empty()) return true;  // nobody else can reach it
  if (!rbac_) return false;
  request.user = anonymous_user();
  return true;
}

Answer<void> ApiServer::State::impersonate(ApiRequest& request) {
  Answer<std::optional<UserInfo>> wanted = impersonated(request.http.headers);
  if (!wanted) return refuse(std::move(wanted.error()));
  if (!*wanted) return {};
  UserInfo& user = **wanted;
  AccessQuestion question;
  question.user = request.user;
  question.verb = "impersonate";
  const auto ask = [&](std::string_view resource, std::string_view name) -> Answer<void> {
    question.resource = resource;
    question.name = name;
    const AccessVerdict verdict = rbac_ ? rbac_->decide(question) : AccessVerdict{true, ""};
    if (verdict.allowed) return {};
    return refuse(access_forbidden(question, verdict.reason));
  };
  if (names_account(user.name)) {
    const std::string_view rest = std::string_view(user.name).substr(kAccountPrefix.size());
    question.namespace_name = rest.substr(0, rest.find(':'));
    if (auto done = ask("serviceaccounts", rest.substr(rest.find(':') + 1)); !done) return done;
    question.namespace_name.clear();
  } else if (auto done = ask("users", user.name); !done) {
    return done;
  }
  for (const std::string& group : user.groups)
    if (auto done = ask("groups", group); !done) return done;
  if (!user.uid.empty()) {
    question.group = "authentication.k8s.io";
    if (auto done = ask("uids", user.uid); !done) return done;
  }
  complete_groups(user);
  request.user = std::move(user);
  return {};
}

Answer<void> ApiServer::State::authorize(const ApiRequest& request) {
  if (!rbac_) return {};
  const AccessQuestion question = question_of(request);
  const AccessVerdict verdict = rbac_->decide(question);
  if (verdict.allowed) return {};
  return refuse(access_forbidden(question, verdict.reason));
}

}  // namespace berth::memapi
