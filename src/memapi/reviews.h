// The questions about who somebody is and what they may do. The embedded server lets everybody in
// who got this far, and allows everything.
#pragma once

#include "memapi/api_request.h"
#include "memapi/service_account_tokens.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Fills in the status of a TokenReview, a SubjectAccessReview or one of their relatives.
void answer_review(const ApiRequest& request, std::string_view expected_token,
                   const ServiceAccountTokens& tokens, JsonValue& review);

}  // namespace berth::memapi
