// What the scheduler owns of objects that it writes, and everything else of them that it must not
// touch. The objects we hold are lean: written back as they are, whatever they do not have would be
// lost. So a write takes the object as it is stored and lays these over it:
//
//   PersistentVolume       spec.claimRef, the annotation bound-by-controller
//   PersistentVolumeClaim  the annotation selected-node
//   ResourceClaim          metadata.finalizers; of the status: allocation, reservedFor, and devices
//                          where it takes them away
//   PodGroup               of the status: the condition PodGroupInitiallyScheduled
//
// For whoever implements ClusterApi: over JSON where an API server keeps the objects, over lean
// objects where a simulator does. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"
#include "wire/json_tree.h"

namespace berth {

// All but the status, or the status alone.
enum class WrittenPart : std::uint8_t { kObject, kStatus };

// Whether the scheduler writes this part of objects of the kind.
bool is_written(ObjectKind kind, WrittenPart part);

// `stored` is the object as an API server has it. Errors are those of decoding.
Result<JsonValue> lay_over(JsonValue stored, const Object& object, WrittenPart part,
                           Interner& interner);

// A new object: `stored` with what `object` says, and this version.
Ref<const Object> lay_over(const Object& stored, const Object& object, WrittenPart part,
                           std::string resource_version);

// `stored` again, to be changed by whoever keeps such objects; null for kinds that nobody writes.
Ref<Object> copy_of(const Object& stored);

// "persistentvolumes", "resourceclaims.resource.k8s.io": as an API server's refusals name a kind
// that is written; empty for others.
std::string_view written_resource(ObjectKind kind);

// An API server's words for a version that is not the newest.
Error modified_meanwhile(ObjectKind kind, std::string_view name);
Error no_such_object(ObjectKind kind, std::string_view name);

}  // namespace berth
