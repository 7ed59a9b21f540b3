#include "explain/object_texts.h"

#include <utility>

namespace berth::explain {

ManifestTexts::ManifestTexts(std::span<const ManifestObject> objects) {
  for (const ManifestObject& object : objects)
    by_name_.try_emplace({object.kind_text, object.namespace_name, object.name}, &object);
}

std::optional<JsonValue> ManifestTexts::of(std::string_view kind, std::string_view namespace_name,
                                           std::string_view name) const {
  const auto found = by_name_.find({kind, namespace_name, name});
  if (found == by_name_.end()) return std::nullopt;
  Result<JsonValue> parsed = parse_json(found->second->json);
  if (!parsed) return std::nullopt;
  return *std::move(parsed);
}

}  // namespace berth::explain
