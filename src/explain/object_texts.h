// ObjectTexts: the objects of a cluster as JSON, by kind and name. Patches are made on this text; it
// comes from a file of manifests, a live cluster or a running scheduler.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "api/manifest.h"
#include "wire/json_tree.h"

namespace berth::explain {

class ObjectTexts {
 public:
  virtual ~ObjectTexts() = default;
  // nullopt when there is no such object. `namespace_name` is empty for kinds that have none.
  virtual std::optional<JsonValue> of(std::string_view kind, std::string_view namespace_name,
                                      std::string_view name) const = 0;
};

// Of objects that outlive it.
class ManifestTexts final : public ObjectTexts {
 public:
  explicit ManifestTexts(std::span<const ManifestObject> objects);
  std::optional<JsonValue> of(std::string_view kind, std::string_view namespace_name,
                              std::string_view name) const override;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const ManifestObject*> by_name_;
};

}  // namespace berth::explain
