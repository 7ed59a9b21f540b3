#include "simulated_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/decode.h"
#include "base/check.h"
#include "memapi/json_edit.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSmallObject = 1024;  // bytes of a change, about

const memapi::Resource& resource_for(const JsonValue& object) {
  const auto all = memapi::resources();
  const auto found = std::ranges::find_if(all, [&](const memapi::Resource& one) {
    return one.kind == memapi::text_at(object, "kind") &&
           one.group_version() == memapi::text_at(object, "apiVersion") && one.stored_as.empty();
  });
  BERTH_CHECK(found != all.end());
  return *found;
}

}  // namespace

SimulatedServer::SimulatedServer(VirtualLoop& loop, Network& network, Random random)
    : loop_(loop),
      network_(network),
      random_(random),
      history_(random_.chance(0.3) ? kSmallObject * (5 + random_.below(40))
                                   : std::size_t{64} << 20) {
  make("", 0);
}

SimulatedServer::~SimulatedServer() {
  following_.reset();
  controllers_.reset();
}

void SimulatedServer::make(std::string_view saved, std::uint64_t beyond) {
  following_.reset();
  controllers_.reset();
  memapi::ApiServerOptions options;
  options.limits.history_bytes = history_;
  options.protobuf = &codec_;
  api_ = std::make_unique<memapi::ApiServer>(loop_, random_.fork(), std::move(options));
  if (beyond > 0) {
    const std::string empty = fmt::format(
        R"({{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}},"items":[]}})",
        beyond);
    BERTH_CHECK(api_->load(empty).has_value());
  }
  if (!saved.empty()) BERTH_CHECK(api_->load(saved).has_value());
  api_->start();
  const std::vector<std::string> all{"*"};
  control_plane::NodeAgentOptions agent;
  agent.start_time = 500ms;
  agent.stop_time = 2s;
  agent.lease_interval = Duration::zero();
  controllers_ = std::make_unique<control_plane::Controllers>(
      local(), control_plane::choose_controllers(all).value(), agent);
  following_ = local().follow(memapi::resource_of("pods"), [this](const memapi::Change& change) {
    if (!change.previous || !moved) return;
    const JsonValue before = change.previous->tree();
    const JsonValue after = change.object->tree();
    const std::string_view from = memapi::text_at(before, "spec.nodeName");
    if (!from.empty() && from != memapi::text_at(after, "spec.nodeName"))
      moved(fmt::format("{}/{}", change.object->namespace_name, change.object->name));
  });
}

void SimulatedServer::go_down() {
  up_ = false;
  network_.set_server({});
}

void SimulatedServer::come_up() {
  up_ = true;
  net::HttpHandler handler = [this](net::HttpRequest request,
                                    std::shared_ptr<net::HttpResponder> responder) {
    api_->handle(std::move(request), std::move(responder));
  };
  network_.set_server(planted ? planted(std::move(handler)) : std::move(handler));
}

void SimulatedServer::restore(Versions versions) {
  BERTH_CHECK(has_backup() && !up_);
  make(backup_, versions == Versions::kNew ? api_->version() + 1000 : 0);
}

void SimulatedServer::put(const std::string& json) {
  Result<JsonValue> object = parse_json(json);
  BERTH_CHECK(object.has_value());
  const memapi::Resource& resource = resource_for(*object);
  memapi::erase(*object, "kind");
  memapi::erase(*object, "apiVersion");
  static_cast<void>(local().create(resource, std::move(*object)));
}

std::vector<Ref<const Pod>> SimulatedServer::pods() {
  std::vector<Ref<const Pod>> pods;
  for (const memapi::ObjectRef& stored : local().list(memapi::resource_of("pods"))) {
    Result<AnyObject> object = decode_object(ObjectKind::kPod, stored->json, interner_, nullptr);
    BERTH_CHECK(object.has_value());
    pods.push_back(std::get<Ref<const Pod>>(*std::move(object)));
  }
  return pods;
}

const memapi::Resource& SimulatedServer::resource_of(ObjectKind kind) const {
  switch (kind) {
    case ObjectKind::kNode: return memapi::resource_of("nodes");
    case ObjectKind::kPersistentVolume: return memapi::resource_of("persistentvolumes");
    case ObjectKind::kPersistentVolumeClaim: return memapi::resource_of("persistentvolumeclaims");
    case ObjectKind::kResourceClaim:
      return memapi::resource_of("resourceclaims", "resource.k8s.io");
    default: BERTH_CHECK(false);
  }
}

std::vector<Ref<const Object>> SimulatedServer::objects(ObjectKind kind) {
  std::vector<Ref<const Object>> objects;
  for (const memapi::ObjectRef& stored : local().list(resource_of(kind))) {
    Result<AnyObject> object = decode_object(kind, stored->json, interner_, nullptr);
    BERTH_CHECK(object.has_value());
    objects.push_back(std::get<Ref<const Object>>(*std::move(object)));
  }
  return objects;
}

}  // namespace berth::chaos
