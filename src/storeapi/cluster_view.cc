#include "storeapi/cluster_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/defaulting.h"
#include "api/owned_fields.h"

namespace berth {

void ClusterView::serve(const Cluster& cluster, std::function<void(Delta)> apply) {
  cluster_ = &cluster;
  apply_ = std::move(apply);
}

ClusterView::Key ClusterView::key_of(const AnyObject& object) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object))
    return {ObjectKind::kPod, (*pod)->full_name()};
  const Object& other = *std::get<Ref<const Object>>(object);
  return {other.kind, fmt::format("{}/{}", namespace_of(other), other.name)};
}

// ---- reads

Ref<const Pod> ClusterView::stored_pod(const Pod& named_alike) const {
  if (!written_.empty()) {
    const auto written = written_.find({ObjectKind::kPod, named_alike.full_name()});
    if (written != written_.end()) {
      const auto* pod = std::get_if<Ref<const Pod>>(&written->second);
      return pod ? *pod : nullptr;
    }
  }
  return cluster_->seen_pod(named_alike);
}

Ref<const Object> ClusterView::stored_object(ObjectKind kind, std::string_view namespace_name,
                                             std::string_view name) const {
  if (!written_.empty()) {
    const auto written = written_.find({kind, fmt::format("{}/{}", namespace_name, name)});
    if (written != written_.end()) {
      const auto* object = std::get_if<Ref<const Object>>(&written->second);
      return object ? *object : nullptr;
    }
  }
  return cluster_->find(kind, namespace_name, name);
}

std::string ClusterView::next_version(std::string_view than) {
  std::uint64_t number = 0;
  std::from_chars(than.data(), than.data() + than.size(), number);
  version_ = std::max(version_, number) + 1;
  return std::to_string(version_);
}

// ---- writes

void ClusterView::write(DeltaType type, const AnyObject& before, AnyObject after) {
  if (shows_ == Shows::kAtOnce) {
    apply_({type, std::move(after)});
    return;
  }
  written_[key_of(after)] = type == DeltaType::kDeleted ? AnyObject() : after;
  loop_.post(lifetime_.guard(
      [this, type, before, after = std::move(after)] { show(type, before, after); }));
}

void ClusterView::show(DeltaType type, const AnyObject& before, const AnyObject& after) {
  // A later write to the same object is still to be shown: that one is what is stored.
  const auto written = written_.find(key_of(after));
  if (written != written_.end() &&
      written->second == (type == DeltaType::kDeleted ? AnyObject() : after))
    written_.erase(written);
  const auto* pod = std::get_if<Ref<const Pod>>(&after);
  if (!pod) {
    apply_({type, after});
    return;
  }
  const Ref<const Pod> seen = cluster_->seen_pod(**pod);
  if (!seen || seen->uid() != (*pod)->uid()) return;  // removed meanwhile
  if (AnyObject(seen) == before) {
    apply_({type, after});
  } else if (type == DeltaType::kDeleted) {
    apply_({type, seen});
  } else if (seen->node().empty() && !(*pod)->node().empty()) {  // changed meanwhile
    apply_({type, bound_to(*seen, (*pod)->node_name(), next_version(seen->resource_version()))});
  }
}

void ClusterView::replace_pod(const Ref<const Pod>& before, Ref<const Pod> after) {
  write(DeltaType::kUpdated, before, std::move(after));
}

void ClusterView::replace_object(const Ref<const Object>& before, Ref<const Object> after) {
  write(DeltaType::kUpdated, before, std::move(after));
}

void ClusterView::delete_pod(const Ref<const Pod>& stored) {
  write(DeltaType::kDeleted, stored, stored);
}

void ClusterView::delete_object(const Ref<const Object>& stored) {
  write(DeltaType::kDeleted, stored, stored);
}

Result<Ref<const Object>> ClusterView::create_claim(const ResourceClaim& claim) {
  auto made = make_ref<ResourceClaim>(claim);
  made->resource_version = next_version({});
  if (made->name.empty()) made->name = made->generate_name + made->resource_version;
  if (stored_object(made->kind, namespace_of(*made), made->name))
    return fail(ErrorKind::kConflict,
                fmt::format("{} \"{}\" already exists", written_resource(made->kind), made->name));
  made->uid = deterministic_uid("ResourceClaim", namespace_of(*made),
                                fmt::format("{}#{}", made->name, made->resource_version));
  made->creation_time = loop_.wall_now();
  made->status = {};  // a status is not created with its object
  const Ref<const Object> stored = made;
  write(DeltaType::kAdded, {}, stored);
  return stored;
}

}  // namespace berth
