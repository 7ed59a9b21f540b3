#include "api/decode_proto.h"

#include <utility>

#include "api/decode.h"
#include "api/envelope.h"
#include "api/kinds_json.h"
#include "api/kinds_proto.h"
#include "api/node_json.h"
#include "api/node_proto.h"
#include "api/pod_proto.h"
#include "api/proto_json.h"
#include "api/storage_json.h"
#include "api/storage_proto.h"

namespace berth {
namespace {

Result<AnyObject> any_pod(std::string_view message, Interner& interner) {
  Result<Ref<const Pod>> pod = decode_pod_proto(message, interner);
  if (!pod) return fail(std::move(pod).error());
  return *std::move(pod);
}

Result<AnyObject> any_node(std::string_view message, Interner& interner) {
  Result<Ref<Node>> node = decode_written_node_proto(message, interner);
  if (!node) return fail(std::move(node).error());
  finish(**node);
  (*node)->symbols.shrink_to_fit();
  return Ref<const Object>(*std::move(node));
}

Result<AnyObject> any(Result<Ref<Object>> object) {
  if (!object) return fail(std::move(object).error());
  (*object)->symbols.shrink_to_fit();
  return Ref<const Object>(*std::move(object));
}

}  // namespace

Result<AnyObject> decode_object_proto(ObjectKind kind, std::string_view api_version,
                                      std::string_view message, Interner& interner) {
  if (kind == ObjectKind::kPod) return any_pod(message, interner);
  if (kind == ObjectKind::kNode) return any_node(message, interner);
  if (is_small_kind_proto(kind)) return any(decode_small_kind_proto(kind, message, interner));
  if (is_storage_kind(kind)) return any(decode_storage_proto(kind, message, interner));
  // Kinds of which there are few take the long way.
  if (!is_small_kind(kind)) return AnyObject();
  const Result<std::string> json = proto_to_json(api_version, to_string(kind), message);
  if (!json) return fail(json.error());
  return decode_object(kind, *json, interner, nullptr);
}

Result<AnyObject> decode_object_proto(std::string_view bytes, Interner& interner) {
  const Result<Envelope> envelope = open_envelope(bytes);
  if (!envelope) return fail(envelope.error());
  if (envelope->api_version.empty()) return fail(ErrorKind::kInvalid, "apiVersion: must be set");
  if (envelope->kind.empty()) return fail(ErrorKind::kInvalid, "kind: must be set");
  return decode_object_proto(object_kind(envelope->api_version, envelope->kind),
                             envelope->api_version, envelope->object, interner);
}

}  // namespace berth
