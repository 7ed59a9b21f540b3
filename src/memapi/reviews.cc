#include "memapi/reviews.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kAccountPrefix = "system:serviceaccount:";

JsonValue user_info(std::string_view name) {
  std::vector<std::string> names = {"system:masters"};
  if (name.starts_with(kAccountPrefix)) {
    const std::string_view rest = name.substr(kAccountPrefix.size());
    names = {"system:serviceaccounts",
             fmt::format("system:serviceaccounts:{}", rest.substr(0, rest.find(':')))};
  }
  names.emplace_back("system:authenticated");
  JsonValue groups = JsonValue::array();
  for (const std::string& group : names) groups.items.push_back(JsonValue::of_text(group));
  JsonValue user = JsonValue::object();
  user.add("username", JsonValue::of_text(name));
  user.add("groups", std::move(groups));
  return user;
}

}  // namespace

void answer_review(const ApiRequest& request, std::string_view expected_token,
                   const ServiceAccountTokens& tokens, JsonValue& review) {
  const std::string_view kind = request.resource->kind;
  JsonValue status = JsonValue::object();
  if (kind == "TokenReview") {
    const std::string_view token = text_at(review, "spec.token");
    if (const auto account = tokens.verify(token)) {
      JsonValue user = user_info(account->user());
      set_text(user, "uid", account->uid);
      status.add("authenticated", JsonValue::of_bool(true));
      status.add("user", std::move(user));
    } else if (!token.empty() && (expected_token.empty() || token == expected_token)) {
      status.add("authenticated", JsonValue::of_bool(true));
      status.add("user", user_info(request.user));
    } else {
      status.add("user", JsonValue::object());
      status.add("error", JsonValue::of_text("invalid bearer token"));
    }
  } else if (kind == "SelfSubjectReview") {
    status.add("userInfo", user_info(request.user));
  } else {
    status.add("allowed", JsonValue::of_bool(true));
  }
  object_at(review, "metadata");
  set(review, "status", std::move(status));
}

}  // namespace berth::memapi
