// Volumes and claims in the simulator's API server: versions, preconditions, finalizers, and the
// calls by which the scheduler writes them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/devices.h"
#include "base/task.h"
#include "sim/sim_cluster.h"

namespace berth::sim {
namespace {

const ResourceClaim& as_claim(const Object& object) {
  return static_cast<const ResourceClaim&>(object);
}

const Object& object_in(const AnyObject& object) { return *std::get<Ref<const Object>>(object); }

}  // namespace

// ---- the store

Ref<const Object> SimCluster::versioned(const Ref<const Object>& object) {
  Ref<Object> copy = copy_of(*object);
  if (!copy) return object;
  copy->resource_version = next_version();
  if (copy->uid.empty())
    copy->uid = deterministic_uid(to_string(copy->kind), namespace_of(*copy), copy->name);
  // UIDs of manifests follow from names; what comes again is another object all the same.
  const auto present = objects_.find(key_of(AnyObject(object)));
  const bool is_new = present == objects_.end() || object_in(present->second).uid != copy->uid;
  if (is_new && !objects_ever_.insert(copy->uid).second) {
    copy->uid = deterministic_uid(to_string(copy->kind), namespace_of(*copy),
                                  fmt::format("{}#{}", copy->name, objects_ever_.size()));
    objects_ever_.insert(copy->uid);
  }
  return copy;
}

void SimCluster::store(const Ref<const Object>& object, DeltaType type) {
  objects_[key_of(AnyObject(object))] = object;
  show(type, object);
}

Result<AnyObject> SimCluster::do_write(const Object& wanted, WrittenPart part) {
  const Ref<const Object> present = object(wanted.kind, namespace_of(wanted), wanted.name);
  if (!present) return fail(no_such_object(wanted.kind, wanted.name));
  if (present->resource_version != wanted.resource_version || present->uid != wanted.uid)
    return fail(modified_meanwhile(wanted.kind, wanted.name));
  const Ref<const Object> written = lay_over(*present, wanted, part, next_version());
  if (wanted.kind == ObjectKind::kResourceClaim) {
    // Devices that are free again may be what somebody waits for.
    if (as_claim(*present).allocated() && !as_claim(*written).allocated()) ++changes_;
    if (as_claim(*written).deleting() && as_claim(*written).finalizers.empty()) {
      store(written, DeltaType::kUpdated);
      static_cast<void>(remove_at_once(wanted.kind, namespace_of(wanted), wanted.name));
      return AnyObject(written);
    }
  }
  store(written, DeltaType::kUpdated);
  return AnyObject(written);
}

Result<AnyObject> SimCluster::do_create(const Object& wanted) {
  Ref<Object> made = copy_of(wanted);
  if (!made) return fail(ErrorKind::kInvalid, "only claims are created");
  if (made->name.empty() && made->kind == ObjectKind::kResourceClaim)
    made->name = fmt::format("{}{}", as_claim(wanted).generate_name, version_ + 1);
  if (object(made->kind, namespace_of(*made), made->name))
    return fail(ErrorKind::kConflict,
                fmt::format("{} \"{}\" already exists", written_resource(made->kind), made->name));
  if (made->kind == ObjectKind::kResourceClaim) {
    auto& claim = static_cast<ResourceClaim&>(*made);
    claim.creation_time = loop_.wall_now();
    claim.status = {};  // a status is not created with its object
  }
  const Ref<const Object> stored = versioned(made);
  store(stored, DeltaType::kAdded);
  return AnyObject(stored);
}

// A claim that has finalizers is marked, and goes when the last of them does.
Result<void> SimCluster::do_remove(const Object& wanted) {
  const Ref<const Object> present = object(wanted.kind, namespace_of(wanted), wanted.name);
  if (!present || (!wanted.uid.empty() && present->uid != wanted.uid))
    return fail(no_such_object(wanted.kind, wanted.name));
  if (present->kind != ObjectKind::kResourceClaim || as_claim(*present).finalizers.empty())
    return remove_at_once(present->kind, namespace_of(*present), present->name);
  if (as_claim(*present).deleting()) return {};
  auto going = make_ref<ResourceClaim>(as_claim(*present));
  going->deletion_time = loop_.wall_now();
  going->resource_version = next_version();
  ++changes_;
  store(going, DeltaType::kUpdated);
  return {};
}

Result<void> SimCluster::do_unreserve(const Object& wanted, const std::string& consumer_uid) {
  const Ref<const Object> present = object(wanted.kind, namespace_of(wanted), wanted.name);
  if (!present) return fail(no_such_object(wanted.kind, wanted.name));
  if (present->uid != wanted.uid) return fail(modified_meanwhile(wanted.kind, wanted.name));
  auto claim = make_ref<ResourceClaim>(as_claim(*present));
  const std::size_t gone = std::erase_if(
      claim->status.reserved_for,
      [&](const ResourceClaimConsumerReference& consumer) { return consumer.uid == consumer_uid; });
  if (gone == 0) return {};
  claim->resource_version = next_version();
  store(claim, DeltaType::kUpdated);
  return {};
}

// ---- the door

template <typename T>
Task<Result<T>> SimCluster::carry_out(CallFate fate, std::function<Result<T>()> effect) {
  auto truth = std::make_shared<std::optional<Result<T>>>();
  const auto arrive = [this, fate, effect, truth, alive = std::weak_ptr<int>(alive_)] {
    if (alive.expired()) return;
    if (fate.takes_effect) truth->emplace(effect());
    if (fate.takes_effect_twice)
      loop_.after(timing_.call + fate.second_delay, [effect, alive] {
        if (!alive.expired()) static_cast<void>(effect());
      });
  };
  const TimePoint arrival = loop_.now() + timing_.call + fate.extra_delay;
  if (fate.has_left) loop_.at(arrival, arrive);
  SleepUntil arrived(loop_, arrival);
  co_await arrived;
  if (!fate.has_left) arrive();
  SleepUntil answered(loop_, loop_.now() + fate.answer_delay);
  co_await answered;
  if (fate.error) co_return fail(*fate.error);
  if (*truth) co_return std::move(**truth);
  // "Done", and it was not. Where there is something to show, that cannot even be said.
  if constexpr (std::is_void_v<T>)
    co_return Result<void>();
  else
    co_return fail(ErrorKind::kUnavailable, "the server did not answer");
}
template Task<Result<void>> SimCluster::carry_out(CallFate, std::function<Result<void>()>);
template Task<Result<std::string>> SimCluster::carry_out(CallFate,
                                                         std::function<Result<std::string>()>);
template Task<Result<AnyObject>> SimCluster::carry_out(CallFate,
                                                       std::function<Result<AnyObject>()>);

CallFate SimCluster::object_fate(ApiCall call, ObjectKind kind, std::string_view namespace_name,
                                 std::string_view name) const {
  if (!object_fate_of_) return {};
  return object_fate_of_(
      call, kind,
      namespace_name.empty() ? std::string(name) : fmt::format("{}/{}", namespace_name, name));
}

Task<Result<AnyObject>> SimCluster::update(AnyObject any) {
  const Object& wanted = object_in(any);
  return carry_out<AnyObject>(
      object_fate(ApiCall::kUpdate, wanted.kind, namespace_of(wanted), wanted.name),
      [this, any] { return do_write(object_in(any), WrittenPart::kObject); });
}

Task<Result<AnyObject>> SimCluster::update_status(AnyObject any) {
  const Object& wanted = object_in(any);
  return carry_out<AnyObject>(
      object_fate(ApiCall::kUpdateStatus, wanted.kind, namespace_of(wanted), wanted.name),
      [this, any] { return do_write(object_in(any), WrittenPart::kStatus); });
}

Task<Result<AnyObject>> SimCluster::create(AnyObject any) {
  const Object& wanted = object_in(any);
  return carry_out<AnyObject>(
      object_fate(ApiCall::kCreate, wanted.kind, namespace_of(wanted), wanted.name),
      [this, any] { return do_create(object_in(any)); });
}

Task<Result<void>> SimCluster::remove(AnyObject any) {
  const Object& wanted = object_in(any);
  return carry_out<void>(
      object_fate(ApiCall::kDelete, wanted.kind, namespace_of(wanted), wanted.name),
      [this, any] { return do_remove(object_in(any)); });
}

Task<Result<AnyObject>> SimCluster::get(ObjectKind kind, std::string namespace_name,
                                        std::string name) {
  const CallFate fate = object_fate(ApiCall::kGet, kind, namespace_name, name);
  return carry_out<AnyObject>(fate, [this, kind, namespace_name, name]() -> Result<AnyObject> {
    const Ref<const Object> present = object(kind, namespace_name, name);
    if (!present) return fail(no_such_object(kind, name));
    return AnyObject(present);
  });
}

Task<Result<void>> SimCluster::unreserve_claim(Ref<const Object> claim, std::string consumer_uid) {
  const CallFate fate =
      object_fate(ApiCall::kUpdateStatus, claim->kind, namespace_of(*claim), claim->name);
  return carry_out<void>(
      fate, [this, claim, consumer_uid] { return do_unreserve(*claim, consumer_uid); });
}

}  // namespace berth::sim
