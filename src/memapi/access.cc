#include "memapi/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_quote.h"
#include "memapi/api_request.h"

namespace berth::memapi {
namespace {

std::string_view request_verb(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "get";
}

// The object that a list's field selector names.
std::string_view selected_name(const ApiRequest& request) {
  constexpr std::string_view kName = "metadata.name=";
  const std::string_view selector = request.parameter("fieldSelector");
  if (!selector.starts_with(kName) || selector.contains(',')) return {};
  std::string_view name = selector.substr(kName.size());
  return name.starts_with('=') ? name.substr(1) : name;
}

}  // namespace

bool UserInfo::in_group(std::string_view group) const {
  return std::ranges::find(groups, group) != groups.end();
}

UserInfo administrator() {
  return {"system:admin", "", {std::string(kMasters), std::string(kAuthenticated)}};
}

UserInfo service_account_user(std::string name, std::string uid) {
  const std::string_view rest = std::string_view(name).substr(kAccountPrefix.size());
  std::vector<std::string> groups = {
      "system:serviceaccounts",
      fmt::format("system:serviceaccounts:{}", rest.substr(0, rest.find(':'))),
      std::string(kAuthenticated)};
  return {std::move(name), std::move(uid), std::move(groups)};
}

UserInfo anonymous_user() {
  return {std::string(kAnonymousUser), "", {std::string(kUnauthenticated)}};
}

AccessQuestion question_of(const ApiRequest& request) {
  AccessQuestion question;
  question.user = request.user;
  const std::vector<std::string>& parts = request.segments;
  const bool grouped = !parts.empty() && parts[0] == "apis";
  const bool core = !parts.empty() && parts[0] == "api";
  std::size_t next = grouped ? 3 : 2;
  if ((!grouped && !core) || parts.size() <= next) {
    question.path = "/";
    for (const std::string& part : parts)
      question.path += (question.path.size() > 1 ? "/" : "") + part;
    std::ranges::transform(request.http.method, std::back_inserter(question.verb),
                           [](char c) { return static_cast<char>(c | 32); });
    return question;
  }
  if (grouped) question.group = parts[1];
  question.verb = request_verb(request.http.method);
  const auto left = [&] { return parts.size() - next; };
  if (parts[next] == "namespaces" && left() > 1) {
    question.namespace_name = parts[next + 1];
    if (left() > 2 && parts[next + 2] != "status" && parts[next + 2] != "finalize") next += 2;
  }
  question.resource = parts[next];
  if (left() > 1) question.name = parts[next + 1];
  if (left() > 2) question.subresource = parts[next + 2];
  if (!question.name.empty()) return question;
  if (question.verb == "get") {
    question.verb = request.flag("watch") ? "watch" : "list";
    question.name = selected_name(request);
  } else if (question.verb == "delete") {
    question.verb = "deletecollection";
  }
  return question;
}

ApiError access_forbidden(const AccessQuestion& question, std::string_view reason) {
  ApiError error;
  error.code = 403;
  error.reason = "Forbidden";
  error.has_details = true;
  const std::string user = go_quoted(question.user.name);
  std::string why;
  if (question.resource.empty()) {
    why = fmt::format("forbidden: User {} cannot {} path {}", user, question.verb,
                      go_quoted(question.path));
  } else {
    const std::string shown = question.subresource.empty()
                                  ? question.resource
                                  : fmt::format("{}/{}", question.resource, question.subresource);
    why = fmt::format("{}{}{} {}is forbidden: User {} cannot {} resource {} in API group {} {}",
                      question.resource, question.group.empty() ? "" : ".", question.group,
                      question.name.empty() ? "" : go_quoted(question.name) + " ", user,
                      question.verb, go_quoted(shown), go_quoted(question.group),
                      question.namespace_name.empty()
                          ? "at the cluster scope"
                          : fmt::format("in the namespace {}", go_quoted(question.namespace_name)));
    error.name = question.name;
    error.group = question.group;
    error.kind = question.resource;
  }
  error.message = reason.empty() ? why : fmt::format("{}: {}", why, reason);
  return error;
}

}  // namespace berth::memapi
