#include "plugins/dynamic_resources/testing/claim_server.h"

#include "base/check.h"

namespace berth::testing {
namespace {

constexpr std::string_view kClaimsNamespace = "default";

}  // namespace

// The pods whose statuses are written are not in the store.
ClaimServer::ClaimServer(Loop& loop, Cluster& cluster)
    : RecordingApi(&api_),
      cluster_(cluster),
      store_(loop, Duration::zero()),
      api_(loop, store_, {.keeps_statuses = false}) {
  store_.on_change([this](const Delta& delta) {
    if (kept_back_) return;
    const Ref<const Object>& claim = std::get<Ref<const Object>>(delta.object);
    if (delta.type == DeltaType::kDeleted)
      cluster_.remove(claim->kind, namespace_of(*claim), claim->name);
    else
      cluster_.put(claim);
  });
}

void ClaimServer::put(const Ref<const ResourceClaim>& claim) {
  const AnyObject object = Ref<const Object>(claim);
  const Result<void> done =
      has(claim->name) ? store_.update_object(object) : store_.create_object(object);
  BERTH_CHECK(done.has_value());
}

void ClaimServer::drop(std::string_view name) {
  const Result<void> removed =
      store_.remove_at_once(ObjectKind::kResourceClaim, kClaimsNamespace, name);
  BERTH_CHECK(removed.has_value());
}

const ResourceClaim& ClaimServer::stored(std::string_view name) const {
  const Ref<const Object> claim = store_.object(ObjectKind::kResourceClaim, kClaimsNamespace, name);
  BERTH_CHECK(claim != nullptr);
  return static_cast<const ResourceClaim&>(*claim);
}

bool ClaimServer::has(std::string_view name) const {
  return store_.object(ObjectKind::kResourceClaim, kClaimsNamespace, name) != nullptr;
}

std::vector<std::string> ClaimServer::names() const {
  std::vector<std::string> all;
  for (const Ref<const Object>& claim : store_.objects(ObjectKind::kResourceClaim))
    all.push_back(claim->name);
  return all;
}

void ClaimServer::show() {
  kept_back_ = false;
  for (const Ref<const Object>& claim : store_.objects(ObjectKind::kResourceClaim))
    cluster_.put(claim);
}

}  // namespace berth::testing
