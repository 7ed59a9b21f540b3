#include "memapi/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "api/release.h"
#include "memapi/crd_kinds.h"
#include "memapi/openapi_schema.h"
#include "wire/json_tree.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kAllVerbs = "create,delete,deletecollection,get,list,patch,update,watch";
constexpr std::string_view kNoCollectionVerbs = "create,delete,get,list,patch,update,watch";

JsonValue texts(std::string_view list) {
  JsonValue values = JsonValue::array();
  for_each_part(list,
                [&](std::string_view part) { values.items.push_back(JsonValue::of_text(part)); });
  return values;
}

std::string_view verbs_of(const Resource& resource) {
  switch (resource.verbs) {
    case Verbs::kAll: return kAllVerbs;
    case Verbs::kNoCollection: return kNoCollectionVerbs;
    case Verbs::kCreate: return "create";
  }
  return {};
}

struct SubresourceFacts {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view verbs;
};

SubresourceFacts subresource_facts(const Resource& resource, std::string_view name) {
  if (name == "binding") return {"", "", "Binding", "create"};
  if (name == "eviction") return {"policy", "v1", "Eviction", "create"};
  if (name == "scale") return {"autoscaling", "v1", "Scale", "get,patch,update"};
  if (name == "token") return {"authentication.k8s.io", "v1", "TokenRequest", "create"};
  if (name == "finalize") return {"", "", resource.kind, "update"};
  return {"", "", resource.kind, "get,patch,update"};
}

JsonValue response_kind(std::string_view group, std::string_view version, std::string_view kind) {
  JsonValue value = JsonValue::object();
  value.add("group", JsonValue::of_text(group));
  value.add("version", JsonValue::of_text(version));
  value.add("kind", JsonValue::of_text(kind));
  return value;
}

// ---- aggregated ---------------------------------------------------------------------------------

JsonValue aggregated_resource(const Resource& resource) {
  JsonValue value = JsonValue::object();
  value.add("resource", JsonValue::of_text(resource.plural));
  value.add("responseKind", response_kind(resource.group, resource.version, resource.kind));
  value.add("scope", JsonValue::of_text(resource.namespaced ? "Namespaced" : "Cluster"));
  value.add("singularResource", JsonValue::of_text(resource.singular));
  value.add("verbs", texts(verbs_of(resource)));
  if (!resource.short_names.empty()) value.add("shortNames", texts(resource.short_names));
  if (!resource.categories.empty()) value.add("categories", texts(resource.categories));
  JsonValue subresources = JsonValue::array();
  for_each_part(resource.subresources, [&](std::string_view name) {
    const SubresourceFacts facts = subresource_facts(resource, name);
    JsonValue one = JsonValue::object();
    one.add("subresource", JsonValue::of_text(name));
    one.add("responseKind", facts.version.empty()
                                ? response_kind(resource.group, resource.version, facts.kind)
                                : response_kind(facts.group, facts.version, facts.kind));
    one.add("verbs", texts(facts.verbs));
    subresources.items.push_back(std::move(one));
  });
  if (!subresources.items.empty()) value.add("subresources", std::move(subresources));
  return value;
}

// All that is served: the table, then the custom kinds.
using Served = std::vector<const Resource*>;

Served served_by(const ApiRequest& request) {
  Served served;
  for (const Resource& resource : resources()) served.push_back(&resource);
  if (request.custom)
    for (const auto& kind : request.custom->all()) served.push_back(&kind->resource);
  return served;
}

// In order, each once.
std::vector<std::string_view> groups(const Served& served) {
  std::vector<std::string_view> names;
  for (const Resource* resource : served)
    if (std::ranges::find(names, resource->group) == names.end()) names.push_back(resource->group);
  return names;
}

std::vector<std::string_view> versions_of(const Served& served, std::string_view group) {
  std::vector<std::string_view> versions;
  for (const Resource* resource : served) {
    if (resource->group == group &&
        std::ranges::find(versions, resource->version) == versions.end())
      versions.push_back(resource->version);
  }
  return versions;
}

JsonValue aggregated_group(const Served& served, std::string_view group) {
  JsonValue value = JsonValue::object();
  JsonValue metadata = JsonValue::object();
  if (!group.empty()) metadata.add("name", JsonValue::of_text(group));
  value.add("metadata", std::move(metadata));
  JsonValue versions = JsonValue::array();
  for (const std::string_view version : versions_of(served, group)) {
    JsonValue one = JsonValue::object();
    one.add("version", JsonValue::of_text(version));
    JsonValue list = JsonValue::array();
    for (const Resource* resource : served) {
      if (resource->group == group && resource->version == version)
        list.items.push_back(aggregated_resource(*resource));
    }
    one.add("resources", std::move(list));
    one.add("freshness", JsonValue::of_text("Current"));
    versions.items.push_back(std::move(one));
  }
  value.add("versions", std::move(versions));
  return value;
}

JsonValue aggregated(const Served& served, bool core) {
  JsonValue value = JsonValue::object();
  value.add("kind", JsonValue::of_text("APIGroupDiscoveryList"));
  value.add("apiVersion", JsonValue::of_text("apidiscovery.k8s.io/v2"));
  value.add("metadata", JsonValue::object());
  JsonValue items = JsonValue::array();
  for (const std::string_view group : groups(served))
    if (group.empty() == core) items.items.push_back(aggregated_group(served, group));
  value.add("items", std::move(items));
  return value;
}

// ---- classic ------------------------------------------------------------------------------------

JsonValue group_version(std::string_view group, std::string_view version) {
  JsonValue value = JsonValue::object();
  value.add("groupVersion", JsonValue::of_text(fmt::format("{}/{}", group, version)));
  value.add("version", JsonValue::of_text(version));
  return value;
}

JsonValue api_group(const Served& served, std::string_view group) {
  JsonValue value = JsonValue::object();
  value.add("name", JsonValue::of_text(group));
  JsonValue versions = JsonValue::array();
  for (const std::string_view version : versions_of(served, group))
    versions.items.push_back(group_version(group, version));
  value.add("versions", std::move(versions));
  value.add("preferredVersion", group_version(group, versions_of(served, group).front()));
  return value;
}

JsonValue api_resource(const Resource& resource) {
  JsonValue value = JsonValue::object();
  value.add("name", JsonValue::of_text(resource.plural));
  value.add("singularName", JsonValue::of_text(resource.singular));
  value.add("namespaced", JsonValue::of_bool(resource.namespaced));
  value.add("kind", JsonValue::of_text(resource.kind));
  value.add("verbs", texts(verbs_of(resource)));
  if (!resource.short_names.empty()) value.add("shortNames", texts(resource.short_names));
  if (!resource.categories.empty()) value.add("categories", texts(resource.categories));
  return value;
}

JsonValue api_resource_list(const Served& served, std::string_view group,
                            std::string_view version) {
  JsonValue value = JsonValue::object();
  value.add("kind", JsonValue::of_text("APIResourceList"));
  if (!group.empty()) value.add("apiVersion", JsonValue::of_text("v1"));
  value.add("groupVersion",
            JsonValue::of_text(group.empty() ? std::string(version)
                                             : fmt::format("{}/{}", group, version)));
  JsonValue list = JsonValue::array();
  for (const Resource* each : served) {
    const Resource& resource = *each;
    if (resource.group != group || resource.version != version) continue;
    list.items.push_back(api_resource(resource));
    for_each_part(resource.subresources, [&](std::string_view name) {
      const SubresourceFacts facts = subresource_facts(resource, name);
      JsonValue one = JsonValue::object();
      one.add("name", JsonValue::of_text(fmt::format("{}/{}", resource.plural, name)));
      one.add("singularName", JsonValue::of_text(""));
      one.add("namespaced", JsonValue::of_bool(resource.namespaced));
      if (!facts.version.empty()) {
        one.add("group", JsonValue::of_text(facts.group));
        one.add("version", JsonValue::of_text(facts.version));
      }
      one.add("kind", JsonValue::of_text(facts.kind));
      one.add("verbs", texts(facts.verbs));
      list.items.push_back(std::move(one));
    });
  }
  value.add("resources", std::move(list));
  return value;
}

JsonValue api_versions(std::string_view host) {
  JsonValue value = JsonValue::object();
  value.add("kind", JsonValue::of_text("APIVersions"));
  value.add("versions", texts("v1"));
  JsonValue address = JsonValue::object();
  address.add("clientCIDR", JsonValue::of_text("0.0.0.0/0"));
  address.add("serverAddress", JsonValue::of_text(host));
  JsonValue addresses = JsonValue::array();
  addresses.items.push_back(std::move(address));
  value.add("serverAddressByClientCIDRs", std::move(addresses));
  return value;
}

JsonValue api_group_list(const Served& served) {
  JsonValue value = JsonValue::object();
  value.add("kind", JsonValue::of_text("APIGroupList"));
  value.add("apiVersion", JsonValue::of_text("v1"));
  JsonValue list = JsonValue::array();
  for (const std::string_view group : groups(served))
    if (!group.empty()) list.items.push_back(api_group(served, group));
  value.add("groups", std::move(list));
  return value;
}

// ---- OpenAPI ------------------------------------------------------------------------------------

std::string openapi_path(std::string_view group, std::string_view version) {
  return group.empty() ? fmt::format("api/{}", version) : fmt::format("apis/{}/{}", group, version);
}

JsonValue openapi_index(const Served& served) {
  JsonValue paths = JsonValue::object();
  for (const std::string_view group : groups(served)) {
    for (const std::string_view version : versions_of(served, group)) {
      const std::string path = openapi_path(group, version);
      JsonValue entry = JsonValue::object();
      entry.add("serverRelativeURL",
                JsonValue::of_text(fmt::format("/openapi/v3/{}?hash=2", path)));
      paths.add(path, std::move(entry));
    }
  }
  JsonValue value = JsonValue::object();
  value.add("paths", std::move(paths));
  return value;
}

JsonValue openapi_operations(const Resource& resource) {
  JsonValue kind = response_kind(resource.group, resource.version, resource.kind);
  JsonValue parameters = JsonValue::array();
  for (const std::string_view name : {"dryRun", "fieldManager", "fieldValidation"}) {
    JsonValue schema = JsonValue::object();
    schema.add("type", JsonValue::of_text("string"));
    JsonValue parameter = JsonValue::object();
    parameter.add("name", JsonValue::of_text(name));
    parameter.add("in", JsonValue::of_text("query"));
    parameter.add("schema", std::move(schema));
    parameters.items.push_back(std::move(parameter));
  }
  JsonValue responses = JsonValue::object();
  JsonValue ok = JsonValue::object();
  ok.add("description", JsonValue::of_text("OK"));
  responses.add("200", std::move(ok));
  JsonValue patch = JsonValue::object();
  patch.add("parameters", std::move(parameters));
  patch.add("responses", std::move(responses));
  patch.add("x-kubernetes-action", JsonValue::of_text("patch"));
  patch.add("x-kubernetes-group-version-kind", std::move(kind));
  JsonValue operations = JsonValue::object();
  operations.add("patch", std::move(patch));
  return operations;
}

JsonValue openapi_group_version(const ApiRequest& request, std::string_view group,
                                std::string_view version) {
  JsonValue info = JsonValue::object();
  info.add("title", JsonValue::of_text("Kubernetes"));
  info.add("version", JsonValue::of_text(kKubernetesVersion));
  JsonValue paths = JsonValue::object();
  for (const Resource* one : served_by(request)) {
    const Resource& resource = *one;
    if (resource.group != group || resource.version != version || resource.verbs == Verbs::kCreate)
      continue;
    paths.add(fmt::format("/{}/{}{}/{{name}}", openapi_path(group, version),
                          resource.namespaced ? "namespaces/{namespace}/" : "", resource.plural),
              openapi_operations(resource));
  }
  JsonValue value = JsonValue::object();
  value.add("openapi", JsonValue::of_text("3.0.0"));
  value.add("info", std::move(info));
  value.add("paths", std::move(paths));
  JsonValue components = JsonValue::object();
  components.add("schemas", openapi_schemas(group, version, *request.custom));
  value.add("components", std::move(components));
  return value;
}

}  // namespace

std::optional<std::string> discovery_document(const ApiRequest& request) {
  const auto& segments = request.segments;
  if (segments.empty() || segments.size() > 3) return std::nullopt;
  const Served served = served_by(request);
  const auto has_group_version = [&](std::string_view group, std::string_view version) {
    const auto versions = versions_of(served, group);
    return std::ranges::find(versions, version) != versions.end();
  };
  if (segments[0] == "api") {
    if (segments.size() == 1) {
      if (request.form.aggregated_discovery) return to_json(aggregated(served, true));
      return to_json(api_versions(request.http.headers.find("Host").value_or("")));
    }
    if (segments.size() == 2 && has_group_version("", segments[1]))
      return to_json(api_resource_list(served, "", segments[1]));
    return std::nullopt;
  }
  if (segments[0] != "apis") return std::nullopt;
  if (segments.size() == 1)
    return to_json(request.form.aggregated_discovery ? aggregated(served, false)
                                                     : api_group_list(served));
  if (segments[1].empty() || versions_of(served, segments[1]).empty()) return std::nullopt;
  if (segments.size() == 2) {
    JsonValue group = api_group(served, segments[1]);
    group.members.insert(group.members.begin(), {{"kind", JsonValue::of_text("APIGroup")},
                                                 {"apiVersion", JsonValue::of_text("v1")}});
    return to_json(group);
  }
  if (!has_group_version(segments[1], segments[2])) return std::nullopt;
  return to_json(api_resource_list(served, segments[1], segments[2]));
}

std::optional<std::string> openapi_document(const ApiRequest& request) {
  const auto& segments = request.segments;
  if (segments.size() < 2 || segments[0] != "openapi" || segments[1] != "v3") return std::nullopt;
  if (segments.size() == 2) return to_json(openapi_index(served_by(request)));
  if (segments.size() == 4 && segments[2] == "api" && is_group_version("", segments[3]))
    return to_json(openapi_group_version(request, "", segments[3]));
  if (segments.size() == 5 && segments[2] == "apis" &&
      (is_group_version(segments[3], segments[4]) ||
       request.custom->has_group_version(segments[3], segments[4])))
    return to_json(openapi_group_version(request, segments[3], segments[4]));
  return std::nullopt;
}

std::string paths_document() {
  std::set<std::string> paths = {"/api",        "/apis",       "/healthz",     "/healthz/ping",
                                 "/livez",      "/livez/ping", "/metrics",     "/openapi/v2",
                                 "/openapi/v3", "/readyz",     "/readyz/ping", "/version"};
  for (const Resource& resource : resources()) {
    if (!resource.group.empty()) paths.insert(fmt::format("/apis/{}", resource.group));
    paths.insert("/" + openapi_path(resource.group, resource.version));
  }
  JsonValue list = JsonValue::array();
  for (const std::string& path : paths) list.items.push_back(JsonValue::of_text(path));
  JsonValue document = JsonValue::object();
  document.add("paths", std::move(list));
  return to_json(document);
}

std::string version_document() {
  return fmt::format(
      R"({{"major":"1","minor":"{0}","emulationMajor":"1","emulationMinor":"{0}",)"
      R"("minCompatibilityMajor":"1","minCompatibilityMinor":"{1}","gitVersion":"{2}",)"
      R"("gitCommit":"","gitTreeState":"","buildDate":"1970-01-01T00:00:00Z","goVersion":"",)"
      R"("compiler":"","platform":"linux/amd64"}})",
      kKubernetesMinor, kKubernetesMinor - 1, kKubernetesVersion);
}

}  // namespace berth::memapi
