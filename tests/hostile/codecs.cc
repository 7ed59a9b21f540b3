#include "codecs.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/manifest.h"
#include "api/proto_json.h"
#include "base/file.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "memapi/api_server.h"
#include "memapi/resources.h"
#include "wire/json_tree.h"
#include "wire/yaml.h"
#include "wire/yaml_text.h"

namespace {

using namespace berth;

struct Answered final : net::HttpResponder {
  void read_body(std::size_t, std::function<void(std::string)>) override {}  // it is whole
  void respond(net::HttpResponse response) override {
    status = response.status;
    body = std::move(response.body);
  }
  void begin(int code, net::HttpHeaders) override { status = code; }
  bool write(std::string) override { return true; }
  void end() override {}
  void on_gone(std::function<void()>) override {}

  int status = 0;
  std::string body;
};

class Server {
 public:
  Server() : server_(loop_, Random(1)) {}

  // Whether the answer's code is one of these; what went wrong is said.
  bool send(std::string method, std::string target, std::string_view type, std::string body,
            std::string_view accept = "application/json", int good_below = 300, int good_from = 0) {
    net::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers.add("Content-Type", std::string(type));
    request.headers.add("Accept", std::string(accept));
    const std::string what = request.method + " " + request.target;
    const auto answered = std::make_shared<Answered>();
    server_.handle(std::move(request), answered);
    if (answered->status >= good_from && answered->status < good_below) return true;
    fmt::print(stderr, "{}: {} {}\n", what, answered->status, answered->body.substr(0, 300));
    return false;
  }
  std::string save() const { return server_.save(); }

 private:
  VirtualLoop loop_;
  memapi::ApiServer server_;
};

std::string path_of(const ManifestObject& object) {
  for (const memapi::Resource& resource : memapi::resources()) {
    if (resource.kind != object.kind_text || resource.group_version() != object.api_version)
      continue;
    const std::string space =
        resource.namespaced ? fmt::format("/namespaces/{}", object.namespace_name) : "";
    return fmt::format("/{}/{}{}/{}", resource.group.empty() ? "api" : "apis", object.api_version,
                       space, resource.plural);
  }
  return {};
}

// As somebody would send it who creates it.
std::string without_version(std::string_view json) {
  Result<JsonValue> tree = parse_json(json);
  for (JsonMember& member : tree->members)
    if (member.name == "metadata")
      std::erase_if(member.value.members,
                    [](const JsonMember& one) { return one.name == "resourceVersion"; });
  return to_json(*tree);
}

// What the server is to answer to the object, if it is to refuse it (`refused` in cluster.py).
bool is_refused(const ManifestObject& object) {
  return object.json.find(R"("annotations":{"refused":"422"})") != std::string::npos;
}

bool serve(Server& server, const ManifestObject& object) {
  const std::string path = path_of(object);
  if (path.empty()) return true;
  if (is_refused(object))
    return server.send("POST", path, "application/json", without_version(object.json),
                       "application/json", 423, 422);
  const std::string one = path + "/" + object.name;
  if (!server.send("POST", path, "application/json", without_version(object.json))) return false;
  bool good = true;
  for (const std::string_view type :
       {"application/strategic-merge-patch+json", "application/merge-patch+json"}) {
    Result<JsonValue> patch = parse_json(object.json);
    std::erase_if(patch->members, [](const JsonMember& member) { return member.name != "spec"; });
    good &= server.send("PATCH", one, type, to_json(*patch), "application/json", 500);
  }
  good &= server.send("PATCH", one, "application/json-patch+json",
                      R"([{"op":"add","path":"/metadata/annotations","value":{"a":"b"}}])");
  return good && server.send("GET", one, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
}

bool convert(const ManifestObject& object, Interner& interner) {
  if (!parse_yaml(json_to_yaml(object.json))) return false;
  if (!has_proto(object.api_version, object.kind_text)) return true;
  const Result<std::string> message =
      json_to_proto(object.api_version, object.kind_text, object.json);
  if (!message) {
    fmt::print(stderr, "{}: {}\n", object.where, message.error().message);
    return false;
  }
  const Result<AnyObject> decoded = decode_object_proto(object.kind, *message, interner);
  if (!decoded) fmt::print(stderr, "{}: {}\n", object.where, decoded.error().message);
  return decoded && proto_to_json(object.api_version, object.kind_text, *message);
}

}  // namespace

int berth::hostile::run_codecs(const std::string& path) {
  const Result<std::string> text = read_file(path);
  Interner interner;
  const Result<std::vector<ManifestObject>> objects =
      text ? read_manifest(*text, path, interner) : fail(text.error());
  if (!objects) {
    fmt::print(stderr, "{}\n", objects.error().message);
    return 1;
  }
  Server server;
  bool good = true;
  for (const ManifestObject& object : *objects) {
    if (!object.namespace_name.empty() && object.namespace_name != "default")
      server.send("POST", "/api/v1/namespaces", "application/json",
                  fmt::format(R"({{"metadata":{{"name":"{}"}}}})", object.namespace_name));
    good &= convert(object, interner) && serve(server, object);
  }
  return good && !server.save().empty() ? 0 : 1;
}
