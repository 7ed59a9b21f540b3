// Who asks the embedded API server, and for what, in the terms in which it is allowed or refused.
// Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "memapi/api_error.h"

namespace berth::memapi {

struct ApiRequest;

inline constexpr std::string_view kMasters = "system:masters";  // may do everything
inline constexpr std::string_view kAuthenticated = "system:authenticated";
inline constexpr std::string_view kAnonymousUser = "system:anonymous";
inline constexpr std::string_view kUnauthenticated = "system:unauthenticated";
inline constexpr std::string_view kAccountPrefix = "system:serviceaccount:";

struct UserInfo {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;

  bool in_group(std::string_view group) const;
};
// Whoever has the server's own token, or needs none.
UserInfo administrator();
// "system:serviceaccount:default:robot", with the groups that go with it.
UserInfo service_account_user(std::string name, std::string uid);
UserInfo anonymous_user();

// What somebody wants to do, with a resource or, if that is empty, with a path.
struct AccessQuestion {
  UserInfo user;
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string namespace_name;
  std::string name;
  std::string path;
};
AccessQuestion question_of(const ApiRequest& request);
// 403: `pods is forbidden: User "bob" cannot list resource "pods" …`, and `reason` if there is one.
ApiError access_forbidden(const AccessQuestion& question, std::string_view reason);

struct AccessVerdict {
  bool allowed = false;
  std::string reason;  // why, or what went wrong on the way
};

}  // namespace berth::memapi
