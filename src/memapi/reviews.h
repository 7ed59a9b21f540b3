// The questions about who somebody is and what they may do.
#pragma once

#include "memapi/api_request.h"
#include "memapi/rbac.h"
#include "memapi/service_account_tokens.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Fills in the status of a TokenReview, a SubjectAccessReview or one of their relatives. Without
// `rbac` everything is allowed. Errors say what is wrong with the question.
Answer<void> answer_review(const ApiRequest& request, std::string_view expected_token,
                           const ServiceAccountTokens& tokens, Rbac* rbac, JsonValue& review);

}  // namespace berth::memapi
