#include "memapi/api_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/proto_json.h"
#include "base/go_quote.h"
#include "base/time_text.h"
#include "memapi/api_server_state.h"
#include "memapi/browser_guard.h"
#include "memapi/discovery.h"
#include "memapi/json_edit.h"
#include "memapi/openapi_v2.h"
#include "memapi/rbac_defaults.h"
#include "memapi/reviews.h"
#include "wire/json_text.h"

namespace berth::memapi {
namespace {

constexpr std::size_t kMostWarningBytes = 4096;  // more of them is more than clients read

JsonValue named(std::string_view name) {
  JsonValue metadata = JsonValue::object();
  metadata.add("name", JsonValue::of_text(name));
  JsonValue object = JsonValue::object();
  object.add("metadata", std::move(metadata));
  return object;
}

// Kinds that clients have made, and those that are not in the schema, are JSON only.
bool has_protobuf(const Resource* resource) {
  return resource == nullptr || has_proto(resource->group_version(), resource->kind);
}

void add_warnings(net::HttpResponse& response, const ApiRequest& request) {
  if (!request.warnings) return;
  std::size_t bytes = 0;
  for (const std::string& warning : *request.warnings) {
    std::string text = fmt::format("299 - {}", go_quoted(warning));
    bytes += text.size();
    if (bytes > kMostWarningBytes) return;
    response.headers.add("Warning", std::move(text));
  }
}

std::optional<std::vector<std::string>> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '/' ? 1 : 0);
    const std::size_t end = std::min(path.find('/'), path.size());
    std::optional<std::string> segment = net::unescape(path.substr(0, end));
    if (!segment) return std::nullopt;
    if (!segment->empty()) segments.push_back(std::move(*segment));
    path.remove_prefix(end);
  }
  return segments;
}

std::string_view options_kind(std::string_view method) {
  if (method == "POST") return "CreateOptions";
  if (method == "PUT") return "UpdateOptions";
  if (method == "PATCH") return "PatchOptions";
  return "DeleteOptions";
}

// Nothing takes so long that it would have to be given up; but what is no time is refused.
Answer<void> check_timeout(const ApiRequest& request) {
  const std::string_view timeout = request.parameter("timeout");
  if (timeout.empty() || request.flag("watch")) return {};
  const Result<Duration> parsed = parse_go_duration(timeout);
  if (parsed) return {};
  return refuse(ApiError::bad_request(
      fmt::format("invalid timeout specified in the request URL - {}", parsed.error().message)));
}

Answer<void> check_write_options(const ApiRequest& request) {
  std::vector<FieldProblem> problems;
  if (const std::string_view dry = request.parameter("dryRun"); !dry.empty() && dry != "All") {
    problems.push_back(
        FieldProblem::not_supported("dryRun", fmt::format("[{}]", go_quoted(dry)), "\"All\""));
  }
  const std::string_view validation = request.parameter("fieldValidation");
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" &&
      validation != "Strict") {
    problems.push_back(FieldProblem::not_supported("fieldValidation", go_quoted(validation),
                                                   R"("", "Ignore", "Strict", "Warn")"));
  }
  if (problems.empty()) return {};
  return refuse(ApiError::invalid_options(options_kind(request.http.method), std::move(problems)));
}

}  // namespace

// ---- what is there from the beginning -----------------------------------------------------------

void ApiServer::State::populate() {
  for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"})
    static_cast<void>(writes_.add(resource_of("namespaces"), named(name)));
  const Resource& classes = resource_of("priorityclasses", "scheduling.k8s.io");
  for (const auto& [name, value, description] :
       {std::tuple{"system-node-critical", 2'000'001'000,
                   "Used for system critical pods that must not be moved from their current node."},
        std::tuple{"system-cluster-critical", 2'000'000'000,
                   "Used for system critical pods that must run in the cluster, but can be moved "
                   "to another node if necessary."}}) {
    JsonValue object = named(name);
    object.add("value", JsonValue::of_int(value));
    object.add("description", JsonValue::of_text(description));
    static_cast<void>(writes_.add(classes, std::move(object)));
  }
  if (!rbac_) return;
  for (DefaultObject& object : default_rbac_objects())
    static_cast<void>(writes_.add(*object.resource, std::move(object.tree)));
}

// ---- answers ------------------------------------------------------------------------------------

void ApiServer::State::respond(const Responder& responder, const ApiRequest& request, int code,
                               std::string json) {
  AnswerForm form = request.form;
  Answer<std::string> body = views_.encoded(form.encoding, std::move(json));
  net::HttpResponse response;
  if (body) {
    response.body = std::move(*body);
  } else {
    // It cannot be said in the encoding that was asked for.
    form = {};
    code = body.error().code;
    response.body = to_json(body.error().to_status());
  }
  response.status = code;
  metrics_.count(request, code);
  response.headers.add("Content-Type", std::string(Views::content_type(form, false)));
  response.headers.add("Cache-Control", "no-cache, private");
  add_warnings(response, request);
  responder->respond(std::move(response));
}

void ApiServer::State::respond(const Responder& responder, const ApiRequest& request,
                               const ApiError& error) {
  ApiRequest plain = request;
  plain.form.form = Form::kObject;
  plain.form.aggregated_discovery = false;
  Answer<std::string> body = views_.encoded(plain.form.encoding, to_json(error.to_status()));
  if (!body) {
    plain.form = {};
    body = to_json(error.to_status());
  }
  net::HttpResponse response;
  response.status = error.code;
  metrics_.count(request, error.code);
  response.body = std::move(*body);
  response.headers.add("Content-Type", std::string(Views::content_type(plain.form, false)));
  if (error.retry_after_seconds > 0)
    response.headers.add("Retry-After", fmt::format("{}", error.retry_after_seconds));
  if (error.code == 401) response.headers.add("WWW-Authenticate", "Bearer");
  add_warnings(response, request);
  responder->respond(std::move(response));
}

void ApiServer::State::respond(const Responder& responder, const ApiRequest& request,
                               Answer<Written> written) {
  if (!written) {
    respond(responder, request, written.error());
  } else if (written->object) {
    respond(responder, request, written->code,
            views_.object(*request.resource, *written->object, request.form.form,
                          request.parameter("includeObject")));
  } else {
    respond(responder, request, written->code, std::move(written->status));
  }
}

void ApiServer::State::respond(const Responder& responder, const ApiRequest& request,
                               Answer<std::string> json) {
  if (!json) {
    respond(responder, request, json.error());
  } else {
    respond(responder, request, 200, std::move(*json));
  }
}

void ApiServer::State::respond_plain(const Responder& responder, int code, std::string text) {
  net::HttpResponse response;
  response.status = code;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = std::move(text);
  responder->respond(std::move(response));
}

// ---- requests -----------------------------------------------------------------------------------

bool ApiServer::State::answer_health(const ApiRequest& request, const Responder& responder) {
  if (request.segments.empty() || request.http.method != "GET") return false;
  const std::string& first = request.segments[0];
  if (first != "healthz" && first != "livez" && first != "readyz") return false;
  if (request.segments.size() > 2) return false;
  if (request.segments.size() == 2 && request.segments[1] != "ping") return false;
  respond_plain(
      responder, 200,
      request.flag("verbose") ? fmt::format("[+]ping ok\n{} check passed\n", first) : "ok");
  return true;
}

void ApiServer::State::handle(net::HttpRequest http,
                              std::shared_ptr<net::HttpResponder> responder) {
  ApiRequest request;
  request.http = std::move(http);
  request.query = net::parse_query(request.http.query());
  if (request.http.method != "GET") request.warnings = std::make_shared<std::vector<std::string>>();
  auto segments = path_segments(request.http.path());
  if (!segments) {
    respond(responder, request, ApiError::bad_request("the path is not a valid URL path"));
    return;
  }
  request.segments = std::move(*segments);
  request.custom = crds_.kinds();
  if (options_.token.empty()) {
    if (auto welcome = check_sender(request.http); !welcome) {
      respond(responder, request, welcome.error());
      return;
    }
  }
  if (answer_health(request, responder)) return;
  if (!authenticate(request)) {
    respond(responder, request, ApiError::unauthorized());
    return;
  }
  Answer<void> welcome = impersonate(request);
  if (welcome) welcome = authorize(request);
  if (!welcome) {
    respond(responder, request, welcome.error());
    return;
  }
  const Place place = locate(request);
  if (auto fits = check_timeout(request); !fits) {
    respond(responder, request, fits.error());
    return;
  }
  const auto form = negotiate(request.http.headers.joined("Accept"),
                              views_.have_protobuf() && has_protobuf(request.resource));
  if (place == Place::kElsewhere) {
    if (form) request.form = *form;
    handle_elsewhere(request, responder);
  } else if (!form) {
    respond(responder, request, ApiError::not_acceptable());
  } else {
    request.form = *form;
    if (place == Place::kNoSuchResource) {
      respond(responder, request, ApiError::no_such_resource());
    } else {
      const std::string_view warning = request.resource->warning;
      const std::string& method = request.http.method;
      if (!warning.empty() && (method == "POST" || method == "PUT" || method == "PATCH"))
        request.warnings->emplace_back(warning);
      handle_resource(request, responder);
    }
  }
}

void ApiServer::State::handle_elsewhere(const ApiRequest& request, const Responder& responder) {
  if (options_.elsewhere && options_.elsewhere(request.http, responder)) return;
  ApiRequest json_request = request;  // these documents are JSON only
  json_request.form.encoding = Encoding::kJson;
  if (request.http.method == "GET") {
    const bool whole_list = request.segments.size() == 1 &&
                            (request.segments[0] == "api" || request.segments[0] == "apis");
    if (auto document = discovery_document(json_request)) {
      if (!whole_list) json_request.form.aggregated_discovery = false;
      respond(responder, json_request, 200, std::move(*document));
      return;
    }
    json_request.form.aggregated_discovery = false;
    if (request.segments.size() == 2 && request.segments[0] == "openapi" &&
        request.segments[1] == "v2") {
      respond_openapi_v2(request, responder);
      return;
    }
    if (auto document = openapi_document(json_request)) {
      respond(responder, json_request, 200, std::move(*document));
      return;
    }
    if (request.segments.size() == 1 && request.segments[0] == "version") {
      respond(responder, json_request, 200, version_document());
      return;
    }
    if (request.segments.size() == 1 && request.segments[0] == "metrics") {
      respond_plain(responder, 200, metrics_.text(store_));
      return;
    }
    if (request.segments.empty()) {
      respond(responder, json_request, 200, paths_document());
      return;
    }
  }
  respond_plain(responder, 404, "404 page not found\n");
}

void ApiServer::State::respond_openapi_v2(const ApiRequest& request, const Responder& responder) {
  const JsonValue document = openapi_v2_document(*request.custom);
  const std::string accepted = request.http.headers.joined("Accept");
  const bool protobuf =
      accepted.contains(kOpenApiV2Protobuf) || accepted.contains(kOpenApiV2ProtobufAsked);
  net::HttpResponse response;
  response.status = 200;
  response.body = protobuf ? openapi_v2_protobuf(document) : to_json(document);
  response.headers.add("Content-Type",
                       protobuf ? std::string(kOpenApiV2Protobuf) : "application/json");
  metrics_.count(request, response.status);
  responder->respond(std::move(response));
}

void ApiServer::State::handle_resource(const ApiRequest& request, const Responder& responder) {
  if (request.http.method != "GET") {
    if (auto fits = check_write_options(request); !fits) {
      respond(responder, request, fits.error());
      return;
    }
  }
  const Resource& resource = *request.resource;
  if (resource.verbs == Verbs::kCreate) {
    const bool placed = !resource.namespaced || !request.namespace_name.empty();
    if (request.http.method != "POST" || !request.name.empty() || !placed) {
      respond(responder, request, ApiError::method_not_allowed());
    } else if (resource.kind == "Binding") {
      respond(responder, request, writes_.bind(request));
    } else if (request.form.form != Form::kObject) {
      respond(responder, request, ApiError::not_acceptable());
    } else {
      review(request, responder);
    }
  } else if (request.name.empty()) {
    handle_collection(request, responder);
  } else if (request.subresource.empty()) {
    handle_object(request, responder);
  } else {
    handle_subresource(request, responder);
  }
}

void ApiServer::State::handle_collection(const ApiRequest& request, const Responder& responder) {
  const std::string& method = request.http.method;
  const Resource& resource = *request.resource;
  const bool placed = !resource.namespaced || !request.namespace_name.empty();
  if (method == "GET") {
    if (request.flag("watch")) {
      watch(request, responder);
    } else {
      respond(responder, request, list_json(request, store_, views_));
    }
  } else if (method == "POST" && placed) {
    respond(responder, request, writes_.create(request));
  } else if (method == "DELETE" && placed && resource.verbs == Verbs::kAll) {
    Answer<ListPage> removed = writes_.remove_collection(request);
    if (!removed) {
      respond(responder, request, removed.error());
    } else {
      respond(responder, request, 200,
              views_.list(resource, *removed, request.form.form, request.parameter("includeObject"),
                          "", false));
    }
  } else {
    respond(responder, request, ApiError::method_not_allowed());
  }
}

void ApiServer::State::handle_object(const ApiRequest& request, const Responder& responder) {
  const std::string& method = request.http.method;
  if (method == "GET") {
    if (request.flag("watch")) {
      watch(request, responder);
    } else {
      get(request, responder);
    }
  } else if (method == "PUT") {
    respond(responder, request, writes_.update(request));
  } else if (method == "PATCH") {
    respond(responder, request, writes_.patch(request));
  } else if (method == "DELETE") {
    respond(responder, request, writes_.remove(request));
  } else {
    respond(responder, request, ApiError::method_not_allowed());
  }
}

void ApiServer::State::handle_subresource(const ApiRequest& request, const Responder& responder) {
  const std::string& method = request.http.method;
  const std::string& part = request.subresource;
  if (part == "binding" && method == "POST") {
    respond(responder, request, writes_.bind(request));
  } else if (part == "eviction" && method == "POST") {
    respond(responder, request, writes_.evict(request));
  } else if (part == "scale" && (method == "GET" || method == "PUT" || method == "PATCH")) {
    respond(responder, request, writes_.scale(request));
  } else if (part == "token" && method == "POST") {
    issue_token(request, responder);
  } else if (part == "status" && method == "GET") {
    get(request, responder);
  } else if ((part == "status" || part == "finalize") && method == "PUT") {
    respond(responder, request, writes_.update(request));
  } else if (part == "status" && method == "PATCH") {
    respond(responder, request, writes_.patch(request));
  } else {
    respond(responder, request, ApiError::method_not_allowed());
  }
}

void ApiServer::State::get(const ApiRequest& request, const Responder& responder) {
  const ObjectRef object = store_.get(*request.resource, request.namespace_name, request.name);
  if (!object) {
    respond(responder, request, ApiError::not_found(*request.resource, request.name));
    return;
  }
  respond(responder, request, Written{200, object, ""});
}

void ApiServer::State::issue_token(const ApiRequest& request, const Responder& responder) {
  Answer<JsonValue> body = writes_.decode(request, "TokenRequest");
  if (body) body = tokens_.issue(request.namespace_name, request.name, std::move(*body));
  if (!body) {
    respond(responder, request, body.error());
  } else {
    respond(responder, request, 201, to_json(*body));
  }
}

void ApiServer::State::review(const ApiRequest& request, const Responder& responder) {
  Answer<JsonValue> review = writes_.decode(request, request.resource->kind);
  if (!review) {
    respond(responder, request, review.error());
    return;
  }
  if (auto done = answer_review(request, options_.token, tokens_, rbac_.get(), *review); !done) {
    respond(responder, request, done.error());
    return;
  }
  set_text(*review, "kind", request.resource->kind);
  set_text(*review, "apiVersion", request.resource->group_version());
  respond(responder, request, 201, to_json(*review));
}

// ---- the door -----------------------------------------------------------------------------------

ApiServer::ApiServer(Loop& loop, Random random, ApiServerOptions options)
    : state_(std::make_shared<State>(loop, std::move(random), std::move(options))) {
  state_->populate();
}

ApiServer::~ApiServer() { state_->end_watches(); }

void ApiServer::handle(net::HttpRequest request, std::shared_ptr<net::HttpResponder> responder) {
  state_->handle(std::move(request), std::move(responder));
}

void ApiServer::start() {
  state_->tick();
  state_->tick_events();
}
std::string ApiServer::save() const { return state_->save(); }
Result<void> ApiServer::load(std::string_view saved) { return state_->load(saved); }
LocalClient& ApiServer::local() { return state_->local(); }
void ApiServer::end_watches() { state_->end_watches(); }
std::uint64_t ApiServer::version() const { return state_->store().version(); }
std::size_t ApiServer::watchers() const { return state_->store().watchers(); }

}  // namespace berth::memapi
