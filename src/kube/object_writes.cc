#include "kube/object_writes.h"

#include <fmt/format.h>

#include <utility>

#include "api/claim_json.h"
#include "api/decode.h"
#include "api/devices.h"
#include "api/requests.h"
#include "wire/json_text.h"

namespace berth::kube {
namespace {

std::string path_of(ObjectKind kind, std::string_view namespace_name, std::string_view name) {
  std::string_view root = "/api/v1";
  std::string_view resource = written_resource(kind);
  if (kind == ObjectKind::kResourceClaim) root = "/apis/resource.k8s.io/v1";
  if (kind == ObjectKind::kPodGroup) root = "/apis/scheduling.k8s.io/v1beta1";
  resource = resource.substr(0, resource.find('.'));
  std::string path(root);
  if (!namespace_name.empty()) path += fmt::format("/namespaces/{}", namespace_name);
  path += fmt::format("/{}", resource);
  if (!name.empty()) path += fmt::format("/{}", name);
  return path;
}

std::string path_of(const Object& object) {
  return path_of(object.kind, object.symbols.text(object.namespace_name), object.name);
}

std::unexpected<Error> not_written(ObjectKind kind) {
  return fail(ErrorKind::kInvalid, fmt::format("a {} is not written", to_string(kind)));
}

std::string version_in(const JsonValue& object) {
  const JsonValue* metadata = object.find("metadata");
  const JsonValue* version = metadata ? metadata->find("resourceVersion") : nullptr;
  return version ? version->text : std::string();
}

}  // namespace

// The server's answer about an object that was read or written.
Result<AnyObject> ObjectWrites::answered(ObjectKind kind, const std::string& path,
                                         const ApiAnswer& answer) {
  Result<AnyObject> object = decode_object(kind, answer.body, interner_, nullptr);
  if (!object) return object;
  if (answer.body.size() <= kMaxRecentSize)
    if (Result<JsonValue> json = parse_json(answer.body)) {
      std::string version = version_in(*json);
      recent_.set(path, {std::move(version), *std::move(json)});
    }
  return object;
}

Task<Result<AnyObject>> ObjectWrites::get(ObjectKind kind, std::string namespace_name,
                                          std::string name) {
  if (!is_written(kind, WrittenPart::kObject)) co_return not_written(kind);
  const std::string path = path_of(kind, namespace_name, name);
  Task<ApiResult> calling = client_.call(json_call("GET", path));
  ApiResult answer = co_await calling;
  if (!answer) co_return fail(std::move(answer.error().error));
  co_return answered(kind, path, *answer);
}

// The object as it is stored, from memory if its version is known.
Task<Result<JsonValue>> ObjectWrites::stored(std::string path, std::string version) {
  if (const Recent* recent = recent_.find(path); recent && recent->version == version)
    co_return recent->object;
  Task<ApiResult> calling = client_.call(json_call("GET", std::move(path)));
  ApiResult answer = co_await calling;
  if (!answer) co_return fail(std::move(answer.error().error));
  co_return parse_json(answer->body);
}

Task<Result<AnyObject>> ObjectWrites::update(Ref<const Object> object, WrittenPart part) {
  if (!is_written(object->kind, part)) co_return not_written(object->kind);
  const std::string path = path_of(*object);
  Task<Result<JsonValue>> reading = stored(path, object->resource_version);
  Result<JsonValue> present = co_await reading;
  if (!present) co_return fail(std::move(present.error()));
  if (version_in(*present) != object->resource_version)
    co_return fail(modified_meanwhile(object->kind, object->name));
  Result<JsonValue> wanted = lay_over(*std::move(present), *object, part, interner_);
  if (!wanted) co_return fail(std::move(wanted.error()));
  std::string part_path = part == WrittenPart::kStatus ? path + "/status" : path;
  Task<ApiResult> calling = client_.call(json_call("PUT", std::move(part_path), to_json(*wanted)));
  ApiResult answer = co_await calling;
  if (!answer) co_return fail(std::move(answer.error().error));
  co_return answered(object->kind, path, *answer);
}

Task<Result<AnyObject>> ObjectWrites::create(Ref<const Object> object) {
  if (object->kind != ObjectKind::kResourceClaim) co_return not_written(object->kind);
  std::string path = path_of(object->kind, object->symbols.text(object->namespace_name), "");
  std::string body = to_json(claim_json(static_cast<const ResourceClaim&>(*object)));
  Task<ApiResult> calling = client_.call(json_call("POST", std::move(path), std::move(body)));
  ApiResult answer = co_await calling;
  if (!answer) co_return fail(std::move(answer.error().error));
  Result<AnyObject> made = decode_object(object->kind, answer->body, interner_, nullptr);
  const auto* claim = made ? std::get_if<Ref<const Object>>(&*made) : nullptr;
  if (claim == nullptr) co_return made;
  co_return answered(object->kind, path_of(**claim), *answer);
}

Task<Result<void>> delete_object(ApiClient& client, std::string path, std::string uid) {
  DeleteRequest options;
  if (!uid.empty()) options.uid = std::move(uid);
  ApiCall call;
  call.method = "DELETE";
  call.path = std::move(path);
  call.body = body_of(options, client.format());
  call.content_type = content_type_of(client.format());
  Task<ApiResult> calling = client.call(std::move(call));
  ApiResult answer = co_await calling;
  if (answer) co_return Result<void>();
  Error error = std::move(answer.error().error);
  // A conflict can only be about the UID: the object is gone.
  if (answer.error().status.code == 409) error.kind = ErrorKind::kNotFound;
  co_return fail(std::move(error));
}

Task<Result<void>> ObjectWrites::remove(Ref<const Object> object) {
  if (object->kind != ObjectKind::kResourceClaim) co_return not_written(object->kind);
  Task<Result<void>> deleting = delete_object(client_, path_of(*object), object->uid);
  Result<void> deleted = co_await deleting;
  co_return deleted;
}

Task<Result<void>> ObjectWrites::unreserve(Ref<const Object> claim, std::string consumer_uid) {
  if (claim->kind != ObjectKind::kResourceClaim) co_return not_written(claim->kind);
  ApiCall call;
  call.method = "PATCH";
  call.path = path_of(*claim) + "/status";
  call.body = R"({"metadata": {"uid": )";
  append_json_string(call.body, claim->uid);
  call.body += R"(}, "status": { "reservedFor": [ {"$patch": "delete", "uid": )";
  append_json_string(call.body, consumer_uid);
  call.body += "} ] }}";
  call.content_type = "application/strategic-merge-patch+json";
  Task<ApiResult> calling = client_.call(std::move(call));
  ApiResult answer = co_await calling;
  if (!answer) co_return fail(std::move(answer.error().error));
  co_return Result<void>();
}

}  // namespace berth::kube
