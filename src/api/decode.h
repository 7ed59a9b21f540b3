// Any object from its JSON or its protobuf.
#pragma once

#include <string>
#include <string_view>

#include "api/defaulting.h"
#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"

namespace berth {

class JsonReader;

// By group and kind; the version does not count. kOther for what the engine has no name for: a
// Service of another group is not a Service.
ObjectKind object_kind(std::string_view api_version, std::string_view kind);

// Whether objects of the kind live in a namespace.
bool is_namespaced(ObjectKind kind);

// Whether controllers make pods of such objects: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job.
bool is_workload(ObjectKind kind);

// Without admission: as an API server has it. With it: as somebody wrote it, with an API server's
// defaults. Errors begin with the path of the field. Kinds that are not decoded give an empty
// object; `name` is for objects that have none of their own (generateName).
Result<AnyObject> decode_object(std::string_view json, Interner& interner,
                                const Admission* admission);
Result<AnyObject> decode_object(ObjectKind kind, std::string_view json, Interner& interner,
                                const Admission* admission, std::string_view name = {});
Result<AnyObject> decode_object(ObjectKind kind, JsonReader& json, Interner& interner,
                                const Admission* admission, std::string_view name = {});

// A custom resource, as ClusterEvent::other names it: of our kind for it if there is one, else as its
// JSON (OtherObject). One without a namespace is cluster-wide then.
Result<AnyObject> decode_other_object(std::string_view resource, std::string_view json,
                                      Interner& interner);

// The resource of a kind, as ClusterEvent::other names it, with the plural that a kind usually has:
// "cranes.v1.example.com" for a Crane of example.com/v1.
std::string usual_resource(std::string_view api_version, std::string_view kind);

// The message of one object as an API server has it, without envelope: an item of a list. Kinds that
// are not decoded give an empty object. Errors begin with the numbers of the field.
Result<AnyObject> decode_object_proto(ObjectKind kind, std::string_view message,
                                      Interner& interner);

}  // namespace berth
