#include "api/node_json.h"

#include <utility>

#include "api/object_json.h"
#include "api/taint_json.h"

namespace berth {
namespace {

void read_spec(JsonReader& json, Node& node) {
  json.fields([&](std::string_view name) {
    if (name == "unschedulable") {
      node.unschedulable = json.boolean();
    } else if (name == "taints") {
      node.taints.clear();
      json.items([&] { node.taints.push_back(read_taint(json, node.symbols)); });
    }
  });
}

ContainerImage read_image(JsonReader& json, SymbolHold& symbols) {
  ContainerImage image;
  json.fields([&](std::string_view name) {
    if (name == "names") {
      image.names = read_symbols(json, symbols);
    } else if (name == "sizeBytes") {
      image.size_bytes = json.int64();
    }
  });
  return image;
}

NodeCondition read_node_condition(JsonReader& json, SymbolHold& symbols) {
  NodeCondition condition;
  json.fields([&](std::string_view name) {
    if (name == "type") {
      condition.type = symbols.intern(json.text());
    } else if (name == "status") {
      condition.status = symbols.intern(json.text());
    }
  });
  return condition;
}

void read_status(JsonReader& json, Node& node) {
  json.fields([&](std::string_view name) {
    if (name == "capacity") {
      node.capacity = read_resource_list(json, node.symbols);
    } else if (name == "allocatable") {
      node.allocatable = read_resource_list(json, node.symbols);
    } else if (name == "images") {
      node.images.clear();
      json.items([&] { node.images.push_back(read_image(json, node.symbols)); });
    } else if (name == "conditions") {
      node.conditions.clear();
      json.items([&] { node.conditions.push_back(read_node_condition(json, node.symbols)); });
    } else if (name == "declaredFeatures") {
      node.declared_features = read_symbols(json, node.symbols);
    }
  });
}

}  // namespace

Result<Ref<Node>> decode_written_node(std::string_view text, Interner& interner) {
  JsonReader json(text);
  Ref<Node> node = make_ref<Node>(interner.hold());
  WrittenMeta meta;
  json.fields([&](std::string_view name) {
    if (name == "metadata") {
      read_metadata(json, node->symbols, meta, /*with_annotations=*/true);
    } else if (name == "spec") {
      read_spec(json, *node);
    } else if (name == "status") {
      read_status(json, *node);
    }
  });
  if (json.error()) return fail(*json.error());
  node->labels = LabelSet(std::move(meta.labels));
  node->annotations = LabelSet(std::move(meta.annotations));
  set_object(*node, std::move(meta), /*namespaced=*/false);
  return node;
}

void finish(Node& node) {
  node.symbol = node.symbols.intern(node.name);
  node.allocatable_resources = to_resources(node.allocatable, *node.symbols.table());
}

Result<Ref<const Node>> decode_node(std::string_view json, Interner& interner) {
  Result<Ref<Node>> node = decode_written_node(json, interner);
  if (!node) return fail(std::move(node).error());
  finish(**node);
  return Ref<const Node>(*std::move(node));
}

}  // namespace berth
