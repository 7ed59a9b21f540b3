// CustomKind: one version of one CustomResourceDefinition as the server serves it. CustomKinds: all
// of them at one moment; a request keeps the state it began with. CrdRegistry makes the next state
// when definitions have changed. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "memapi/crd_schema.h"
#include "memapi/resources.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct CustomColumn {
  std::string name;
  std::string type;
  std::string format;
  std::string description;
  std::int64_t priority = 0;
  std::string path;  // of JSON
};

struct CustomScale {
  std::string spec_replicas;    // "spec.replicas"
  std::string status_replicas;  // "status.replicas"
  std::string selector;         // empty: none
};

struct CustomKind {
  CustomKind() = default;
  CustomKind(const CustomKind&) = delete;
  CustomKind& operator=(const CustomKind&) = delete;

  Resource resource;  // of texts below; its `custom` is this

  std::string group, version, plural, singular, kind, list_kind, short_names, categories,
      subresources;
  std::string definition;               // the CustomResourceDefinition's name
  std::string definition_text;          // of which it was read
  bool going = false;                   // its definition is being deleted
  JsonValue schema_json;                // null: there is none
  std::unique_ptr<CrdSchema> schema;    // null: whatever is said is kept
  std::vector<CustomColumn> columns;    // without the name
  std::vector<std::string> selectable;  // "spec.color"
  std::optional<CustomScale> scale;
  std::string deprecation;  // warning for clients; empty: none
};

class CustomKinds {
 public:
  CustomKinds() = default;
  explicit CustomKinds(std::vector<std::shared_ptr<const CustomKind>> kinds)
      : kinds_(std::move(kinds)) {}

  // Groups by name, versions in their order of preference, kinds by plural.
  std::span<const std::shared_ptr<const CustomKind>> all() const { return kinds_; }
  const Resource* find(std::string_view group, std::string_view version,
                       std::string_view plural) const;
  // By kind, of any version when `version` is empty.
  const Resource* find_kind(std::string_view group_version, std::string_view kind) const;
  bool has_group(std::string_view group) const;
  bool has_group_version(std::string_view group, std::string_view version) const;
  // One of each definition.
  std::vector<std::shared_ptr<const CustomKind>> stored() const;

 private:
  std::vector<std::shared_ptr<const CustomKind>> kinds_;
};
using CustomKindsRef = std::shared_ptr<const CustomKinds>;

class CrdRegistry {
 public:
  explicit CrdRegistry(Store& store) : store_(store) {}

  CustomKindsRef kinds() const EXCLUDES(mutex_);
  // Reads the definitions that changed since the last call; one call at a time makes a state.
  void refresh() EXCLUDES(mutex_);

 private:
  std::size_t slot_of(const std::string& definition) REQUIRES(mutex_);

  Store& store_;
  mutable Mutex mutex_;
  CustomKindsRef kinds_ GUARDED_BY(mutex_) = std::make_shared<const CustomKinds>();
  std::map<std::string, std::size_t, std::less<>> slots_ GUARDED_BY(mutex_);  // by UID
  std::vector<std::size_t> free_ GUARDED_BY(mutex_);
  std::size_t made_ GUARDED_BY(mutex_) = 0;  // slots, ever
};

// v2 before v1 before v2beta1 before v1alpha3 before anything else.
bool version_precedes(std::string_view a, std::string_view b);

// As stores keep an object: members by name, and no nulls, which mean something only in custom
// resources.
void normalize_for(const Resource& resource, JsonValue& object);

// The autoscaling/v1 Scale of an object, as far as it is the same for every kind.
JsonValue scale_without_replicas(const JsonValue& object);
// The autoscaling/v1 Scale of a custom resource, and the wish of one put into the object.
JsonValue custom_scale_of(const CustomKind& kind, const JsonValue& object);
void set_custom_replicas(const CustomKind& kind, JsonValue& object, std::int64_t replicas);

}  // namespace berth::memapi
