// What fieldValidation is about: members of a body that its kind does not have, or that stand
// twice. In upstream's words. By the table of fields (api/proto_table.h). Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_tree.h"
#include "memapi/api_request.h"

namespace berth::memapi {

// `unknown field "spec.foo"`, `duplicate field "spec.bar"`, in the order in which they stand. Of a
// kind that the table does not have: nothing. In a patch nulls and directives are no fields.
std::vector<std::string> field_problems(std::string_view api_version, std::string_view kind,
                                        const JsonValue& object, bool patch = false);

// What the request's fieldValidation makes of the body of a new or replaced object: an error
// (Strict), warnings with the answer (Warn, and saying nothing), or nothing.
Answer<void> validate_fields(const ApiRequest& request, std::string_view kind,
                             const JsonValue& object);
// The same for a patch. `shown` is asked for what the error shows of it.
Answer<void> validate_patch_fields(const ApiRequest& request, const JsonValue& patch,
                                   const std::function<std::string()>& shown);

// 400 unless every field that the kind has is of its type, so that it can be told in protobuf as
// well: one object of the wrong shape would keep all others from being listed.
Answer<void> check_types(const Resource& resource, const JsonValue& object);

// As Go prints a map with %+v.
std::string go_map_text(const JsonValue& value);

}  // namespace berth::memapi
