#include "memapi/crd_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

const Resource& definitions() {
  return resource_of("customresourcedefinitions", "apiextensions.k8s.io");
}

// "a,b" of a list of strings.
std::string comma_joined(const std::vector<JsonValue>& items) {
  std::string all;
  for (const JsonValue& item : items) all += (all.empty() ? "" : ",") + item.text;
  return all;
}

// ".spec.replicas" as our own paths are written.
std::string plain_path(std::string_view path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  return std::string(path);
}

// 2 for "v1", 1 for "v1beta1", 0 for "v1alpha1", -1 for anything else; then the numbers.
std::tuple<int, int, int> version_rank(std::string_view version) {
  const std::tuple<int, int, int> none{-1, 0, 0};
  if (!version.starts_with('v')) return none;
  const char* end = version.data() + version.size();
  int major = 0;
  auto [stop, error] = std::from_chars(version.data() + 1, end, major);
  if (error != std::errc()) return none;
  if (stop == end) return {2, major, 0};
  std::string_view rest(stop, static_cast<std::size_t>(end - stop));
  const bool beta = rest.starts_with("beta");
  if (!beta && !rest.starts_with("alpha")) return none;
  rest.remove_prefix(beta ? 4 : 5);
  int minor = 0;
  const auto [last, wrong] = std::from_chars(rest.data(), end, minor);
  if (wrong != std::errc() || last != end) return none;
  return {beta ? 1 : 0, major, minor};
}

bool condition_holds(const JsonValue& definition, std::string_view type) {
  return std::ranges::any_of(items_at(definition, "status.conditions"), [&](const JsonValue& one) {
    return text_at(one, "type") == type && text_at(one, "status") == "True";
  });
}

void read_columns(const JsonValue& version, CustomKind& kind) {
  const JsonValue* columns = at(version, "additionalPrinterColumns");
  if (!is_array(columns) || columns->items.empty()) {
    kind.columns.push_back({"Age", "date", "", "", 0, ".metadata.creationTimestamp"});
    return;
  }
  for (const JsonValue& column : columns->items) {
    kind.columns.push_back(
        {std::string(text_at(column, "name")), std::string(text_at(column, "type")),
         std::string(text_at(column, "format")), std::string(text_at(column, "description")),
         int_at(column, "priority").value_or(0), std::string(text_at(column, "jsonPath"))});
  }
}

void read_subresources(const JsonValue& version, CustomKind& kind) {
  if (const JsonValue* scale = at(version, "subresources.scale"); is_object(scale)) {
    kind.subresources = "scale";
    kind.scale = CustomScale{plain_path(text_at(*scale, "specReplicasPath")),
                             plain_path(text_at(*scale, "statusReplicasPath")),
                             plain_path(text_at(*scale, "labelSelectorPath"))};
  }
  if (is_object(at(version, "subresources.status")))
    kind.subresources += kind.subresources.empty() ? "status" : ",status";
}

void read_deprecation(const JsonValue& version, CustomKind& kind) {
  if (!true_at(version, "deprecated")) return;
  kind.deprecation = text_at(version, "deprecationWarning");
  if (kind.deprecation.empty())
    kind.deprecation = fmt::format("{}/{} {} is deprecated", kind.group, kind.version, kind.kind);
}

std::shared_ptr<CustomKind> read_kind(const JsonValue& definition, const JsonValue& version,
                                      std::size_t slot) {
  auto kind = std::make_shared<CustomKind>();
  kind->definition = text_at(definition, "metadata.name");
  kind->going = at(definition, "metadata.deletionTimestamp") != nullptr;
  kind->group = text_at(definition, "spec.group");
  kind->version = text_at(version, "name");
  static const JsonValue kNoNames = JsonValue::object();
  const JsonValue* accepted = at(definition, "status.acceptedNames");
  const JsonValue* names = accepted != nullptr ? accepted : &kNoNames;
  kind->plural = text_at(*names, "plural");
  kind->singular = text_at(*names, "singular");
  kind->kind = text_at(*names, "kind");
  kind->list_kind = text_at(*names, "listKind");
  kind->short_names = comma_joined(items_at(*names, "shortNames"));
  kind->categories = comma_joined(items_at(*names, "categories"));
  if (const JsonValue* schema = at(version, "schema.openAPIV3Schema"); is_object(schema)) {
    kind->schema_json = *schema;
    if (!true_at(definition, "spec.preserveUnknownFields"))
      kind->schema = read_schema(*schema, true);
  }
  read_columns(version, *kind);
  read_subresources(version, *kind);
  read_deprecation(version, *kind);
  for (const JsonValue& field : items_at(version, "selectableFields"))
    kind->selectable.push_back(plain_path(text_at(field, "jsonPath")));

  Resource& resource = kind->resource;
  resource.group = kind->group;
  resource.version = kind->version;
  resource.plural = kind->plural;
  resource.singular = kind->singular;
  resource.kind = kind->kind;
  resource.namespaced = text_at(definition, "spec.scope") == "Namespaced";
  resource.short_names = kind->short_names;
  resource.categories = kind->categories;
  resource.subresources = kind->subresources;
  resource.generation = true;
  resource.custom = kind.get();
  resource.slot = slot;
  return kind;
}

// What of a definition a kind is made of.
std::string definition_text(const JsonValue& definition) {
  JsonValue text = JsonValue::object();
  for (const std::string_view part : {"spec", "status.acceptedNames", "metadata.deletionTimestamp"})
    if (const JsonValue* found = at(definition, part)) text.add(part, *found);
  return to_json(text);
}

}  // namespace

bool version_precedes(std::string_view a, std::string_view b) {
  const auto left = version_rank(a);
  const auto right = version_rank(b);
  return left != right ? left > right : a < b;
}

void normalize_for(const Resource& resource, JsonValue& object) {
  if (resource.custom != nullptr) {
    sort_members(object);
  } else {
    normalize(object);
  }
}

const Resource* CustomKinds::find(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  for (const auto& kind : kinds_)
    if (kind->group == group && kind->version == version && kind->plural == plural)
      return &kind->resource;
  return nullptr;
}

const Resource* CustomKinds::find_kind(std::string_view group_version,
                                       std::string_view kind) const {
  for (const auto& one : kinds_)
    if (one->kind == kind && one->resource.group_version() == group_version) return &one->resource;
  return nullptr;
}

bool CustomKinds::has_group(std::string_view group) const {
  return std::ranges::any_of(kinds_, [&](const auto& kind) { return kind->group == group; });
}

bool CustomKinds::has_group_version(std::string_view group, std::string_view version) const {
  return std::ranges::any_of(
      kinds_, [&](const auto& kind) { return kind->group == group && kind->version == version; });
}

std::vector<std::shared_ptr<const CustomKind>> CustomKinds::stored() const {
  std::vector<std::shared_ptr<const CustomKind>> one_of_each;
  for (const auto& kind : kinds_) {
    const auto same = [&](const auto& other) {
      return other->resource.slot == kind->resource.slot;
    };
    if (std::ranges::none_of(one_of_each, same)) one_of_each.push_back(kind);
  }
  return one_of_each;
}

CustomKindsRef CrdRegistry::kinds() const {
  const MutexLock lock(mutex_);
  return kinds_;
}

std::size_t CrdRegistry::slot_of(const std::string& definition) {
  if (const auto found = slots_.find(definition); found != slots_.end()) return found->second;
  std::size_t slot = 0;
  if (free_.empty()) {
    slot = resources().size() + made_++;
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_.emplace(definition, slot);
  return slot;
}

void CrdRegistry::refresh() {
  std::vector<std::size_t> dropped;
  {
    const MutexLock lock(mutex_);
    const Answer<ListPage> page = store_.list(definitions(), {}, {});
    if (!page) return;
    std::vector<std::shared_ptr<const CustomKind>> next;
    std::map<std::string, std::size_t, std::less<>> kept;
    for (const ObjectRef& object : page->items) {
      const JsonValue definition = object->tree();
      if (!condition_holds(definition, "Established")) continue;
      const std::size_t slot = slot_of(object->uid);
      kept.emplace(object->uid, slot);
      store_.add_kind(slot);
      const std::string text = definition_text(definition);
      for (const JsonValue& version : items_at(definition, "spec.versions")) {
        if (!true_at(version, "served") ||
            text_at(definition, "status.acceptedNames.plural").empty())
          continue;
        const auto same = std::ranges::find_if(kinds_->all(), [&](const auto& kind) {
          return kind->resource.slot == slot && kind->version == text_at(version, "name") &&
                 kind->definition_text == text;
        });
        if (same != kinds_->all().end()) {
          next.push_back(*same);
          continue;
        }
        auto made = read_kind(definition, version, slot);
        made->definition_text = text;
        next.push_back(std::move(made));
      }
    }
    std::ranges::sort(next, [](const auto& a, const auto& b) {
      if (a->group != b->group) return a->group < b->group;
      if (a->version != b->version) return version_precedes(a->version, b->version);
      return a->plural < b->plural;
    });
    for (const auto& [definition, slot] : slots_)
      if (!kept.contains(definition)) dropped.push_back(slot);
    slots_ = std::move(kept);
    kinds_ = std::make_shared<const CustomKinds>(std::move(next));
  }
  for (const std::size_t slot : dropped) store_.drop_kind(slot);
  const MutexLock lock(mutex_);
  free_.insert(free_.end(), dropped.begin(), dropped.end());
}

// ---- scale --------------------------------------------------------------------------------------

JsonValue scale_without_replicas(const JsonValue& object) {
  JsonValue scale = JsonValue::object();
  scale.add("kind", JsonValue::of_text("Scale"));
  scale.add("apiVersion", JsonValue::of_text("autoscaling/v1"));
  JsonValue metadata = JsonValue::object();
  for (const std::string_view name :
       {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    copy_member(metadata, *at(object, "metadata"), name);
  scale.add("metadata", std::move(metadata));
  return scale;
}

JsonValue custom_scale_of(const CustomKind& kind, const JsonValue& object) {
  JsonValue scale = scale_without_replicas(object);
  JsonValue spec = JsonValue::object();
  JsonValue status = JsonValue::object();
  if (const auto wanted = int_at(object, kind.scale->spec_replicas))
    spec.add("replicas", JsonValue::of_int(*wanted));
  status.add("replicas",
             JsonValue::of_int(int_at(object, kind.scale->status_replicas).value_or(0)));
  if (!kind.scale->selector.empty()) {
    if (const auto selector = text_at(object, kind.scale->selector); !selector.empty())
      status.add("selector", JsonValue::of_text(selector));
  }
  scale.add("spec", std::move(spec));
  scale.add("status", std::move(status));
  return scale;
}

void set_custom_replicas(const CustomKind& kind, JsonValue& object, std::int64_t replicas) {
  const std::string& path = kind.scale->spec_replicas;
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return;
  set(object_at(object, path.substr(0, dot)), path.substr(dot + 1), JsonValue::of_int(replicas));
}

}  // namespace berth::memapi
