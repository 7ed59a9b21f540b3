#include "app/object_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "memapi/resources.h"
#include "net/http_message.h"
#include "wire/json_tree.h"

namespace berth::app {

KubeObjects::KubeObjects(kube::ApiClient& api) : api_(api) {
  for (LiveKind& kind : live_kinds()) kinds_.emplace(kind.kind.kind_name, std::move(kind.kind));
  kinds_["CronJob"] = {ObjectKind::kOther, "batch/v1", "CronJob", "cronjobs", "", {"suggestions"}};
}

Task<std::optional<std::string>> KubeObjects::get(std::string kind, std::string namespace_name,
                                                  std::string name) {
  const auto known = kinds_.find(kind);
  if (known == kinds_.end()) co_return std::nullopt;
  const kube::WatchedKind& where = known->second;
  const bool core = where.api_version.find('/') == std::string::npos;
  std::string path = fmt::format("/{}/{}", core ? "api" : "apis", where.api_version);
  if (!namespace_name.empty()) path += "/namespaces/" + net::escape(namespace_name);
  path += fmt::format("/{}/{}", where.resource, net::escape(name));
  kube::ApiCall call = kube::json_call("GET", std::move(path));
  call.urgency = kube::Urgency::kLow;
  Task<kube::ApiResult> asking = api_.call(std::move(call));
  kube::ApiResult answer = co_await asking;
  if (!answer) co_return std::nullopt;
  co_return std::move(answer->body);
}

Task<std::optional<std::string>> EmbeddedObjects::get(std::string kind, std::string namespace_name,
                                                      std::string name) {
  const auto all = memapi::resources();
  const auto known = std::ranges::find_if(all, [&](const memapi::Resource& resource) {
    return resource.kind == kind && resource.stored_as.empty();
  });
  if (known == all.end()) co_return std::nullopt;
  const memapi::ObjectRef stored = api_.get(*known, namespace_name, name);
  if (!stored) co_return std::nullopt;
  JsonValue object = JsonValue::object();
  object.add("apiVersion", JsonValue::of_text(known->group_version()));
  object.add("kind", JsonValue::of_text(kind));
  for (JsonMember& member : stored->tree().members) object.members.push_back(std::move(member));
  co_return to_json(object);
}

}  // namespace berth::app
