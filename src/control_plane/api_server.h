// The embedded API server as this room sees it: the client through which controllers read and write
// its objects, and the functions on their JSON trees.
#pragma once

#include "memapi/admission.h"
#include "memapi/api_error.h"
#include "memapi/json_edit.h"
#include "memapi/local_client.h"
#include "memapi/resources.h"
#include "memapi/selection.h"
#include "memapi/store.h"
#include "memapi/writes.h"

namespace berth::control_plane {

using memapi::Answer;
using memapi::ApiError;
using memapi::Change;
using memapi::ChangeType;
using memapi::Following;
using memapi::LabelPairs;
using memapi::LabelRequirement;
using memapi::LocalClient;
using memapi::ObjectRef;
using memapi::Propagation;
using memapi::Resource;
using memapi::StoredObject;
using memapi::Verbs;

using memapi::kForegroundFinalizer;
using memapi::kOrphanFinalizer;
using memapi::label_selector_of;
using memapi::object_key;
using memapi::refuse;
using memapi::resource_index;
using memapi::resource_of;
using memapi::resources;
using memapi::set_condition;

using memapi::array_at;
using memapi::at;
using memapi::copy_member;
using memapi::equal;
using memapi::erase;
using memapi::int_at;
using memapi::is_array;
using memapi::is_object;
using memapi::items_at;
using memapi::normalize;
using memapi::object_at;
using memapi::set;
using memapi::set_default;
using memapi::set_text;
using memapi::text_at;
using memapi::true_at;

}  // namespace berth::control_plane
