#include "api/object_json.h"

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/words.h"

namespace berth {
namespace {

std::string read_name(JsonReader& json) {
  const std::string_view text = json.text();
  if (text.size() > kMaxName) json.fail(kNameTooLong);
  return std::string(text);
}

void read_owners(JsonReader& json, SymbolHold& symbols, WrittenMeta& meta) {
  meta.controller = {};
  json.items([&] {
    ControllerRef owner;
    std::string_view uid;
    bool is_controller = false;
    json.fields([&](std::string_view name) {
      if (name == "apiVersion") {
        owner.api_version = symbols.intern(json.text());
      } else if (name == "kind") {
        owner.kind = symbols.intern(json.text());
      } else if (name == "name") {
        owner.name = symbols.intern(json.text());
      } else if (name == "uid") {
        uid = json.text();
      } else if (name == "controller") {
        is_controller = json.boolean();
      }
    });
    if (!is_controller || !meta.controller.empty()) return;
    meta.controller = owner;
    meta.controller_uid = uid;
  });
}

}  // namespace

void read_metadata(JsonReader& json, SymbolHold& symbols, WrittenMeta& meta,
                   bool with_annotations) {
  json.fields([&](std::string_view name) {
    if (name == "name") {
      meta.name = read_name(json);
    } else if (name == "generateName") {
      meta.generate_name = read_name(json);
    } else if (name == "namespace") {
      meta.namespace_name = read_name(json);
    } else if (name == "uid") {
      meta.uid = read_name(json);
    } else if (name == "resourceVersion") {
      meta.resource_version = read_name(json);
    } else if (name == "generation") {
      meta.generation = json.int64();
    } else if (name == "labels") {
      meta.labels = read_labels(json, symbols);
    } else if (name == "annotations" && with_annotations) {
      meta.annotations = read_labels(json, symbols);
    } else if (name == "ownerReferences") {
      read_owners(json, symbols, meta);
    } else if (name == "finalizers") {
      json.items([&] { meta.finalizers.emplace_back(json.text()); });
    } else if (name == "creationTimestamp") {
      meta.creation_time = json.time();
    } else if (name == "deletionTimestamp") {
      meta.deletion_time = json.time();
    }
  });
}

void set_object(Object& object, WrittenMeta&& meta, bool namespaced) {
  if (namespaced) {
    object.namespace_name = meta.namespace_name.empty()
                                ? names::kDefaultNamespace
                                : object.symbols.intern(meta.namespace_name);
  }
  object.name = std::move(meta.name);
  object.uid = std::move(meta.uid);
  object.resource_version = std::move(meta.resource_version);
  object.generation = meta.generation;
}

std::vector<Label> read_labels(JsonReader& json, SymbolHold& symbols) {
  std::vector<Label> labels;
  json.entries([&](std::string_view key) {
    const Symbol symbol = symbols.intern(key);
    labels.push_back({symbol, symbols.intern(json.text())});
  });
  return labels;
}

std::vector<Symbol> read_symbols(JsonReader& json, SymbolHold& symbols) {
  std::vector<Symbol> out;
  json.items([&] { out.push_back(symbols.intern(json.text())); });
  return out;
}

ResourceList read_resource_list(JsonReader& json, SymbolHold& symbols) {
  std::vector<ResourceAmount> amounts;
  json.entries([&](std::string_view key) {
    const Symbol symbol = symbols.intern(key);
    amounts.push_back({symbol, json.quantity()});
  });
  return ResourceList(std::move(amounts));
}

SelectorRequirement read_requirement(JsonReader& json, SymbolHold& symbols) {
  SelectorRequirement requirement;
  requirement.op = SelectorOperator::kUnknown;
  json.fields([&](std::string_view name) {
    if (name == "key") {
      requirement.key = symbols.intern(json.text());
    } else if (name == "operator") {
      const std::string_view text = json.text();
      requirement.op = selector_operator(text);
      if (requirement.op == SelectorOperator::kUnknown)
        requirement.operator_text = symbols.intern(text);
    } else if (name == "values") {
      requirement.values = read_symbols(json, symbols);
    }
  });
  return requirement;
}

std::vector<SelectorRequirement> read_requirements(JsonReader& json, SymbolHold& symbols) {
  std::vector<SelectorRequirement> out;
  json.items([&] { out.push_back(read_requirement(json, symbols)); });
  return out;
}

LabelSelector read_label_selector(JsonReader& json, SymbolHold& symbols) {
  LabelSelector selector;
  json.fields([&](std::string_view name) {
    if (name == "matchLabels") {
      selector.match_labels = read_labels(json, symbols);
      // The order means nothing, and equal specs should be equal.
      std::sort(selector.match_labels.begin(), selector.match_labels.end());
    } else if (name == "matchExpressions") {
      selector.match_expressions = read_requirements(json, symbols);
    }
  });
  return selector;
}

}  // namespace berth
