#include "memapi/reviews.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

JsonValue list_of(const std::vector<std::string>& texts) {
  JsonValue list = JsonValue::array();
  for (const std::string& text : texts) list.items.push_back(JsonValue::of_text(text));
  return list;
}

JsonValue user_json(const UserInfo& info) {
  JsonValue user = JsonValue::object();
  user.add("username", JsonValue::of_text(info.name));
  if (!info.uid.empty()) user.add("uid", JsonValue::of_text(info.uid));
  user.add("groups", list_of(info.groups));
  return user;
}

void review_token(const ApiRequest& request, std::string_view expected_token,
                  const ServiceAccountTokens& tokens, const JsonValue& review, JsonValue& status) {
  const std::string_view token = text_at(review, "spec.token");
  if (const auto account = tokens.verify(token)) {
    status.add("authenticated", JsonValue::of_bool(true));
    status.add("user", user_json(service_account_user(account->user(), account->uid)));
  } else if (!token.empty() && (expected_token.empty() || token == expected_token)) {
    status.add("authenticated", JsonValue::of_bool(true));
    status.add("user", user_json(expected_token.empty() ? request.user : administrator()));
  } else {
    status.add("user", JsonValue::object());
    status.add("error", JsonValue::of_text("invalid bearer token"));
  }
}

// ---- access

ApiError invalid_question(FieldProblem problem) {
  ApiError error = ApiError::invalid_options("", {std::move(problem)});
  error.group = "authorization.k8s.io";
  error.message = fmt::format(".authorization.k8s.io \"\" is invalid: {}: {}",
                              error.causes.front().field, error.causes.front().message);
  return error;
}

Answer<AccessQuestion> read_question(const ApiRequest& request, const JsonValue& review) {
  AccessQuestion question;
  const bool own = request.resource->kind == "SelfSubjectAccessReview";
  question.user = own ? request.user : UserInfo{};
  if (!own) {
    question.user.name = text_at(review, "spec.user");
    question.user.uid = text_at(review, "spec.uid");
    for (const JsonValue& group : items_at(review, "spec.groups"))
      question.user.groups.push_back(group.text);
    if (question.user.name.empty() && question.user.groups.empty()) {
      return refuse(invalid_question(FieldProblem::invalid(
          "spec.user", "\"\"", "at least one of user or group must be specified")));
    }
  }
  const JsonValue* about = at(review, "spec.resourceAttributes");
  const JsonValue* path = at(review, "spec.nonResourceAttributes");
  if (is_object(about) == is_object(path)) {
    return refuse(invalid_question(FieldProblem::invalid(
        "spec", "null",
        "exactly one of nonResourceAttributes or resourceAttributes must be specified")));
  }
  const JsonValue& attributes = is_object(about) ? *about : *path;
  question.verb = text_at(attributes, "verb");
  if (!is_object(about)) {
    question.path = text_at(attributes, "path");
    return question;
  }
  for (const auto& [member, target] : {std::pair{"group", &question.group},
                                       {"resource", &question.resource},
                                       {"subresource", &question.subresource},
                                       {"namespace", &question.namespace_name},
                                       {"name", &question.name}})
    *target = text_at(attributes, member);
  if (request.resource->kind == "LocalSubjectAccessReview" &&
      question.namespace_name != request.namespace_name) {
    return refuse(ApiError::bad_request("spec.resourceAttributes.namespace must match namespace: " +
                                        request.namespace_name));
  }
  return question;
}

Answer<void> review_access(const ApiRequest& request, Rbac* rbac, const JsonValue& review,
                           JsonValue& status) {
  const Answer<AccessQuestion> question = read_question(request, review);
  if (!question) return refuse(question.error());
  const AccessVerdict verdict = rbac != nullptr ? rbac->decide(*question) : AccessVerdict{true, ""};
  status.add("allowed", JsonValue::of_bool(verdict.allowed));
  if (!verdict.reason.empty()) status.add("reason", JsonValue::of_text(verdict.reason));
  return {};
}

Answer<void> review_rules(const ApiRequest& request, Rbac* rbac, const JsonValue& review,
                          JsonValue& status) {
  const std::string_view space = text_at(review, "spec.namespace");
  if (space.empty()) return refuse(ApiError::bad_request("no namespace on request"));
  const std::vector<std::string> all = {"*"};
  const std::vector<PolicyRule> everything = {{all, all, all, {}, {}}, {all, {}, {}, {}, all}};
  JsonValue resources_list = JsonValue::array();
  JsonValue paths = JsonValue::array();
  for (const PolicyRule& rule :
       rbac != nullptr ? rbac->rules_of(request.user, space) : everything) {
    JsonValue one = JsonValue::object();
    one.add("verbs", list_of(rule.verbs));
    if (!rule.paths.empty()) {
      one.add("nonResourceURLs", list_of(rule.paths));
      paths.items.push_back(std::move(one));
      continue;
    }
    one.add("apiGroups", list_of(rule.groups));
    one.add("resources", list_of(rule.resources));
    if (!rule.names.empty()) one.add("resourceNames", list_of(rule.names));
    resources_list.items.push_back(std::move(one));
  }
  status.add("resourceRules", std::move(resources_list));
  status.add("nonResourceRules", std::move(paths));
  status.add("incomplete", JsonValue::of_bool(false));
  return {};
}

}  // namespace

Answer<void> answer_review(const ApiRequest& request, std::string_view expected_token,
                           const ServiceAccountTokens& tokens, Rbac* rbac, JsonValue& review) {
  const std::string_view kind = request.resource->kind;
  JsonValue status = JsonValue::object();
  Answer<void> done;
  if (kind == "TokenReview") {
    review_token(request, expected_token, tokens, review, status);
  } else if (kind == "SelfSubjectReview") {
    status.add("userInfo", user_json(request.user));
  } else if (kind == "SelfSubjectRulesReview") {
    done = review_rules(request, rbac, review, status);
  } else {
    done = review_access(request, rbac, review, status);
  }
  if (!done) return done;
  object_at(review, "metadata");
  set(review, "status", std::move(status));
  return {};
}

}  // namespace berth::memapi
