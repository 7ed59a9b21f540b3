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
  for (const Resource& resource : resources()) {
    if (resource.verbs == Verbs::kCreate || !resource.stored_as.empty()) continue;
    const Answer<ListPage> page = store_.list(resource, {}, {});
    if (!page) continue;
    for (const ObjectRef& object : page->items) {
      text += first ? "\n" : ",\n";
      first = false;
      text += views_.object(resource, *object, Form::kObject, "");
    }
  }
  text += "\n]}\n";
  return text;
}

Result<void> ApiServer::State::load(std::string_view saved) {
  Result<JsonValue> list = parse_json(saved);
  if (!list) return fail(ErrorKind::kInvalid, list.error().message);
  if (text_at(*list, "kind") != "List" || !is_array(at(*list, "items")))
    return fail(ErrorKind::kInvalid, "not a List of objects");
  struct Saved {
    const Resource* resource;
    std::uint64_t version;
    std::size_t place;  // in the list
    JsonValue object;
  };
  std::vector<Saved> objects;
  std::size_t place = 0;
  for (JsonValue& object : at(*list, "items")->items) {
    const std::string kind(text_at(object, "kind"));
    const std::string version(text_at(object, "apiVersion"));
    const auto all = resources();
    const auto resource = std::ranges::find_if(all, [&](const Resource& one) {
      return one.kind == kind && one.group_version() == version && one.stored_as.empty() &&
             one.verbs != Verbs::kCreate;
    });
    if (resource == all.end() || text_at(object, "metadata.name").empty()) {
      return fail(
          ErrorKind::kInvalid,
          fmt::format("items[{}]: {} {} is not an object that is kept here", place, version, kind));
    }
    erase(object, "kind");
    erase(object, "apiVersion");
    if (auto fits = check_stored_types(*resource, object); !fits) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("items[{}], {}: {}", place, text_at(object, "metadata.name"),
                              fits.error().message));
    }
    const auto number = parse_version(text_at(object, "metadata.resourceVersion"));
    objects.push_back({&*resource, number.value_or(0), place++, std::move(object)});
  }
  // Each gets the version that it had, unless that is not beyond what there is.
  std::ranges::sort(objects, {},
                    [](const Saved& one) { return std::pair(one.version, one.place); });
  for (Saved& one : objects) {
    if (one.version > 0) store_.advance_to(one.version - 1);
    const ObjectRef current = store_.get(*one.resource, text_at(one.object, "metadata.namespace"),
                                         text_at(one.object, "metadata.name"));
    if (current) {
      static_cast<void>(store_.replace(*one.resource, current, std::move(one.object)));
    } else if (auto created = store_.create(*one.resource, std::move(one.object)); !created) {
      return fail(ErrorKind::kConflict, created.error().message);
    }
  }
  const std::string_view version = text_at(*list, "metadata.resourceVersion");
  if (const auto number = parse_version(version)) store_.advance_to(*number);
  return {};
}

}  // namespace berth::memapi
