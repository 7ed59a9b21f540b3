#include "memapi/server_metrics.h"

#include <fmt/format.h>

#include "api/release.h"

namespace berth::memapi {
namespace {

// "LIST" is a GET of a collection, "WATCH" one that stays.
std::string_view verb_of(const ApiRequest& request) {
  const std::string& method = request.http.method;
  const bool collection = request.resource != nullptr && request.name.empty();
  if (method == "GET" && request.resource != nullptr && request.flag("watch")) return "WATCH";
  if (method == "GET") return collection ? "LIST" : "GET";
  if (method == "DELETE") return collection ? "DELETECOLLECTION" : "DELETE";
  for (const std::string_view known : {"POST", "PUT", "PATCH"})
    if (method == known) return known;
  return "other";
}

std::string_view scope_of(const ApiRequest& request) {
  if (request.resource == nullptr) return "";
  if (!request.name.empty()) return "resource";
  return request.namespace_name.empty() ? "cluster" : "namespace";
}

}  // namespace

void ServerMetrics::count(const ApiRequest& request, int code) {
  const Resource* resource = request.resource;
  std::string labels = fmt::format(
      "code=\"{}\",component=\"apiserver\",dry_run=\"{}\",group=\"{}\",resource=\"{}\",scope=\"{}"
      "\","
      "subresource=\"{}\",verb=\"{}\",version=\"{}\"",
      code, request.dry_run() ? "All" : "", resource != nullptr ? resource->group : "",
      resource != nullptr ? resource->plural : "", scope_of(request),
      resource != nullptr && resource->has(request.subresource) ? request.subresource : "",
      verb_of(request), resource != nullptr ? resource->version : "");
  const MutexLock lock(mutex_);
  ++requests_[std::move(labels)];
}

std::string ServerMetrics::text(const Store& store) const {
  std::string text =
      "# HELP apiserver_request_total [STABLE] Requests that have been answered.\n"
      "# TYPE apiserver_request_total counter\n";
  {
    const MutexLock lock(mutex_);
    for (const auto& [labels, count] : requests_)
      text += fmt::format("apiserver_request_total{{{}}} {}\n", labels, count);
  }
  text +=
      "# HELP apiserver_resource_objects [ALPHA] Objects that are stored.\n"
      "# TYPE apiserver_resource_objects gauge\n";
  for (const Resource& resource : resources()) {
    if (resource.verbs == Verbs::kCreate || !resource.stored_as.empty()) continue;
    text += fmt::format("apiserver_resource_objects{{group=\"{}\",resource=\"{}\"}} {}\n",
                        resource.group, resource.plural, store.count(resource));
  }
  text += fmt::format(
      "# HELP apiserver_longrunning_requests [STABLE] Watches that are open.\n"
      "# TYPE apiserver_longrunning_requests gauge\n"
      "apiserver_longrunning_requests{{component=\"apiserver\",verb=\"WATCH\"}} {}\n"
      "# HELP kubernetes_build_info [ALPHA] The version of Kubernetes whose API is served.\n"
      "# TYPE kubernetes_build_info gauge\n"
      "kubernetes_build_info{{git_version=\"{}\",major=\"1\",minor=\"{}\"}} 1\n",
      store.watchers(), kKubernetesVersion, kKubernetesMinor);
  return text;
}

}  // namespace berth::memapi
