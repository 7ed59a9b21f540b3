// What follows when CustomResourceDefinitions or their objects change: names are accepted,
// definitions established, objects of a definition that goes are deleted, and the kinds that are
// served become others.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "memapi/admission.h"
#include "memapi/crd_definition.h"
#include "memapi/crd_kinds.h"
#include "memapi/json_edit.h"
#include "memapi/writes.h"

namespace berth::memapi {
namespace {

const Resource& definitions_resource() {
  return resource_of("customresourcedefinitions", "apiextensions.k8s.io");
}

// Names of other definitions of the group.
struct TakenNames {
  std::set<std::string, std::less<>> resources;  // plural, singular, short
  std::set<std::string, std::less<>> kinds;      // kind, listKind
};

TakenNames taken_names(const std::vector<JsonValue>& all, const JsonValue& definition) {
  TakenNames taken;
  for (const JsonValue& other : all) {
    if (text_at(other, "metadata.uid") == text_at(definition, "metadata.uid") ||
        text_at(other, "spec.group") != text_at(definition, "spec.group"))
      continue;
    const JsonValue* names = at(other, "status.acceptedNames");
    if (!is_object(names)) continue;
    for (const std::string_view name : {"plural", "singular"})
      taken.resources.emplace(text_at(*names, name));
    for (const JsonValue& name : items_at(*names, "shortNames")) taken.resources.insert(name.text);
    for (const std::string_view name : {"kind", "listKind"})
      taken.kinds.emplace(text_at(*names, name));
  }
  taken.resources.erase("");
  taken.kinds.erase("");
  return taken;
}

struct Conflict {
  std::string_view reason;
  std::string message;
};

std::string in_use(std::string_view name) { return fmt::format("\"{}\" is already in use", name); }

// The last thing that is in the way of the names; what can be accepted is put into `accepted`.
std::optional<Conflict> accept_names(const JsonValue& wanted, const TakenNames& taken,
                                     JsonValue& accepted) {
  std::optional<Conflict> conflict;
  const auto take = [&](std::string_view name, const auto& names, std::string_view reason) {
    const std::string said(text_at(wanted, name));
    if (said.empty()) return;
    if (names.contains(said)) {
      conflict = Conflict{reason, in_use(said)};
    } else {
      set_text(accepted, name, said);
    }
  };
  take("plural", taken.resources, "PluralConflict");
  take("singular", taken.resources, "SingularConflict");
  bool short_names_free = true;
  for (const JsonValue& name : items_at(wanted, "shortNames")) {
    if (!taken.resources.contains(name.text)) continue;
    conflict = Conflict{"ShortNamesConflict", in_use(name.text)};
    short_names_free = false;
  }
  if (short_names_free) copy_member(accepted, wanted, "shortNames");
  take("kind", taken.kinds, "KindConflict");
  take("listKind", taken.kinds, "ListKindConflict");
  copy_member(accepted, wanted, "categories");
  return conflict;
}

bool is_true(const JsonValue& definition, std::string_view type) {
  return std::ranges::any_of(items_at(definition, "status.conditions"), [&](const JsonValue& one) {
    return text_at(one, "type") == type && text_at(one, "status") == "True";
  });
}

void settle_status(JsonValue& definition, const std::vector<JsonValue>& all, WallTime now) {
  default_definition(definition);  // the versions that are stored
  JsonValue& status = object_at(definition, "status");
  JsonValue accepted =
      is_object(at(status, "acceptedNames")) ? *at(status, "acceptedNames") : JsonValue::object();
  const JsonValue wanted = *at(definition, "spec.names");
  const auto conflict = accept_names(wanted, taken_names(all, definition), accepted);
  set(status, "acceptedNames", std::move(accepted));
  if (conflict) {
    set_condition(status, "NamesAccepted", "False", conflict->reason, conflict->message, now);
    if (!is_true(definition, "Established"))
      set_condition(status, "Established", "False", "NotAccepted", "not all names are accepted",
                    now);
  } else {
    set_condition(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now);
    set_condition(status, "Established", "True", "InitialNamesAccepted",
                  "the initial names have been accepted", now);
  }
}

}  // namespace

void mark_definition_going(JsonValue& definition, WallTime now) {
  JsonValue& finalizers = array_at(definition, "metadata.finalizers");
  const auto same = [](const JsonValue& one) { return one.text == kDefinitionFinalizer; };
  if (std::ranges::none_of(finalizers.items, same))
    finalizers.items.push_back(JsonValue::of_text(kDefinitionFinalizer));
  set_condition(object_at(definition, "status"), "Terminating", "True", "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                "soon",
                now);
}

void Writes::settle_definitions() {
  const Resource& resource = definitions_resource();
  const Answer<ListPage> page = store_.list(resource, {}, {});
  if (!page) return;
  std::vector<ObjectRef> refs = page->items;
  // Who has accepted names keeps them, whoever comes.
  std::ranges::sort(refs, {}, [](const ObjectRef& one) {
    return std::pair(!one->json.contains("\"acceptedNames\""), one->version);
  });
  std::vector<JsonValue> all;
  for (const ObjectRef& ref : refs) all.push_back(ref->tree());
  for (std::size_t i = 0; i < refs.size(); ++i) {
    if (at(all[i], "metadata.deletionTimestamp") != nullptr) continue;
    settle_status(all[i], all, loop_.wall_now());
    static_cast<void>(store_.replace(resource, refs[i], all[i]));
  }
  crds_.refresh();
  sweep_definitions();
}

void Writes::sweep_definitions() {
  const CustomKindsRef kinds = crds_.kinds();
  const Resource& resource = definitions_resource();
  bool gone = false;
  const auto free = [&](const ObjectRef& definition) {
    JsonValue tree = definition->tree();
    JsonValue& finalizers = array_at(tree, "metadata.finalizers");
    std::erase_if(finalizers.items,
                  [](const JsonValue& one) { return one.text == kDefinitionFinalizer; });
    const bool last = finalizers.items.empty();
    if (last) erase(object_at(tree, "metadata"), "finalizers");
    const ObjectRef written = last ? store_.remove(resource, definition, std::move(tree))
                                   : store_.replace(resource, definition, std::move(tree));
    gone = gone || written;
  };
  const Answer<ListPage> definitions = store_.list(resource, {}, {});
  if (!definitions) return;
  for (const ObjectRef& definition : definitions->items) {
    if (!definition->json.contains("\"deletionTimestamp\"") ||
        !definition->json.contains(kDefinitionFinalizer))
      continue;
    const auto stored = kinds->stored();
    const auto kind = std::ranges::find_if(
        stored, [&](const auto& one) { return one->definition == definition->name; });
    if (kind == stored.end()) {
      free(definition);
      continue;
    }
    const Answer<ListPage> objects = store_.list((*kind)->resource, {}, {});
    if (!objects) continue;
    for (const ObjectRef& object : objects->items) {
      if (object->json.contains("\"deletionTimestamp\"")) continue;
      static_cast<void>(remove_named((*kind)->resource, object->namespace_name, object->name, {}));
    }
    const Answer<ListPage> left = store_.list((*kind)->resource, {}, {});
    if (left && left->items.empty()) free(definition);
  }
  if (gone) settle_definitions();
}

void Writes::settle_after(const Resource& resource) {
  if (resource.custom != nullptr) {
    if (resource.custom->going) sweep_definitions();
  } else if (resource.plural == "customresourcedefinitions") {
    settle_definitions();
  }
}

}  // namespace berth::memapi
