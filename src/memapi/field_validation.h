// What fieldValidation is about: members of a body that its kind does not have, or that stand
// twice (api/field_check.h), in upstream's words. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "memapi/api_request.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// What the request's fieldValidation makes of the body of a new or replaced object: an error
// (Strict), warnings with the answer (Warn, and saying nothing), or nothing.
Answer<void> validate_fields(const ApiRequest& request, std::string_view kind,
                             const JsonValue& object);
// The same for a patch. `shown` is asked for what the error shows of it.
Answer<void> validate_patch_fields(const ApiRequest& request, const JsonValue& patch,
                                   const std::function<std::string()>& shown);

// 400 unless every field that the kind has is of its type, so that it can be told in protobuf as
// well: one object of the wrong shape would keep all others from being listed.
Answer<void> check_body_types(std::string_view api_version, std::string_view kind,
                              const JsonValue& object);
// The same of an object as it is stored.
Answer<void> check_stored_types(const Resource& resource, const JsonValue& object);
// 422 for an object that a patch left so, which shows the patch, or the object unless it was
// patched as a tree.
Answer<void> check_patched_types(const Resource& resource, const JsonValue& object,
                                 const JsonValue* tree_patch);

// As Go prints a map with %+v.
std::string go_map_text(const JsonValue& value);

}  // namespace berth::memapi
