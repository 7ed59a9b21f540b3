// All objects as one text, and back.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "memapi/api_server_state.h"
#include "memapi/field_validation.h"
#include "memapi/json_edit.h"

namespace berth::memapi {

std::string ApiServer::State::save() const {
  std::string text = fmt::format(
      "{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{{\"resourceVersion\":\"{}\"}},"
      "\"items\":[",
      store_.version());
  bool first = true;
  const auto add = [&](const Resource& resource) {
    if (resource.verbs == Verbs::kCreate || !resource.stored_as.empty()) return;
    const Answer<ListPage> page = store_.list(resource, {}, {});
    if (!page) return;
    for (const ObjectRef& object : page->items) {
      text += first ? "\n" : ",\n";
      first = false;
      text += views_.object(resource, *object, Form::kObject, "");
    }
  };
  for (const Resource& resource : resources()) add(resource);
  const CustomKindsRef custom = crds_.kinds();
  for (const auto& kind : custom->stored()) add(kind->resource);
  text += "\n]}\n";
  return text;
}

namespace {

struct SavedObject {
  const Resource* resource = nullptr;
  std::uint64_t version = 0;
  std::size_t place = 0;  // in the list
  JsonValue object;
};

const Resource* resource_for(const JsonValue& object, const CustomKinds& custom) {
  const std::string_view kind = text_at(object, "kind");
  const std::string_view version = text_at(object, "apiVersion");
  for (const Resource& one : resources()) {
    if (one.kind == kind && one.group_version() == version && one.stored_as.empty() &&
        one.verbs != Verbs::kCreate)
      return &one;
  }
  return custom.find_kind(version, kind);
}

Result<void> put(Store& store, SavedObject one) {
  if (one.version > 0) store.advance_to(one.version - 1);
  const ObjectRef current = store.get(*one.resource, text_at(one.object, "metadata.namespace"),
                                      text_at(one.object, "metadata.name"));
  if (current) {
    static_cast<void>(store.replace(*one.resource, current, std::move(one.object)));
  } else if (auto created = store.create(*one.resource, std::move(one.object)); !created) {
    return fail(ErrorKind::kConflict, created.error().message);
  }
  return {};
}

}  // namespace

Result<void> ApiServer::State::load(std::string_view saved) {
  Result<JsonValue> list = parse_json(saved);
  if (!list) return fail(ErrorKind::kInvalid, list.error().message);
  if (text_at(*list, "kind") != "List" || !is_array(at(*list, "items")))
    return fail(ErrorKind::kInvalid, "not a List of objects");
  std::vector<JsonValue>& items = at(*list, "items")->items;
  // Definitions first, at a version before their objects, which are of no kind without them.
  const Resource& definitions = resource_of("customresourcedefinitions", "apiextensions.k8s.io");
  for (const JsonValue& object : items) {
    if (resource_for(object, CustomKinds()) != &definitions) continue;
    JsonValue definition = object;
    erase(definition, "kind");
    erase(definition, "apiVersion");
    if (auto done = put(store_, {&definitions, 0, 0, std::move(definition)}); !done) return done;
  }
  crds_.refresh();
  const CustomKindsRef custom = crds_.kinds();
  std::vector<SavedObject> objects;
  for (std::size_t place = 0; place < items.size(); ++place) {
    JsonValue& object = items[place];
    const Resource* resource = resource_for(object, *custom);
    if (resource == &definitions) continue;
    if (resource == nullptr || text_at(object, "metadata.name").empty()) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("items[{}]: {} {} is not an object that is kept here", place,
                              text_at(object, "apiVersion"), text_at(object, "kind")));
    }
    erase(object, "kind");
    erase(object, "apiVersion");
    if (auto fits = check_stored_types(*resource, object); !fits) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("items[{}], {}: {}", place, text_at(object, "metadata.name"),
                              fits.error().message));
    }
    const auto number = parse_version(text_at(object, "metadata.resourceVersion"));
    objects.push_back({resource, number.value_or(0), place, std::move(object)});
  }
  // Each gets the version that it had, unless that is not beyond what there is.
  std::ranges::sort(objects, {},
                    [](const SavedObject& one) { return std::pair(one.version, one.place); });
  for (SavedObject& one : objects)
    if (auto done = put(store_, std::move(one)); !done) return done;
  const std::string_view version = text_at(*list, "metadata.resourceVersion");
  if (const auto number = parse_version(version)) store_.advance_to(*number);
  return {};
}

}  // namespace berth::memapi
