#include "memapi/reviews.h"

#include <utility>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

JsonValue user_info(std::string_view name) {
  JsonValue groups = JsonValue::array();
  for (const std::string_view group : {"system:masters", "system:authenticated"})
    groups.items.push_back(JsonValue::of_text(group));
  JsonValue user = JsonValue::object();
  user.add("username", JsonValue::of_text(name));
  user.add("groups", std::move(groups));
  return user;
}

}  // namespace

void answer_review(const ApiRequest& request, std::string_view expected_token, JsonValue& review) {
  const std::string_view kind = request.resource->kind;
  JsonValue status = JsonValue::object();
  if (kind == "TokenReview") {
    const std::string_view token = text_at(review, "spec.token");
    if (!token.empty() && (expected_token.empty() || token == expected_token)) {
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
