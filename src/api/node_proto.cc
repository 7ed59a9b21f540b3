#include "api/node_proto.h"

#include <utility>

#include "api/node_json.h"
#include "api/object_proto.h"

namespace berth {
namespace {

void read_spec(ProtoReader& proto, Node& node) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 4: node.unschedulable = proto.boolean(); break;
      case 5: node.taints.push_back(read_taint(proto, node.symbols)); break;
      default: break;
    }
  });
}

ContainerImage read_image(ProtoReader& proto, SymbolHold& symbols) {
  ContainerImage image;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_symbol(proto, symbols, image.names); break;
      case 2: image.size_bytes = proto.int64(); break;
      default: break;
    }
  });
  return image;
}

NodeCondition read_node_condition(ProtoReader& proto, SymbolHold& symbols) {
  NodeCondition condition;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: condition.type = read_symbol(proto, symbols); break;
      case 2: condition.status = read_symbol(proto, symbols); break;
      default: break;
    }
  });
  return condition;
}

void read_status(ProtoReader& proto, Node& node) {
  SymbolHold& symbols = node.symbols;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_amount(proto, symbols, node.capacity); break;
      case 2: append_amount(proto, symbols, node.allocatable); break;
      case 4: node.conditions.push_back(read_node_condition(proto, symbols)); break;
      case 8: node.images.push_back(read_image(proto, symbols)); break;
      case 14: append_symbol(proto, symbols, node.declared_features); break;
      default: break;
    }
  });
}

}  // namespace

Result<Ref<Node>> decode_written_node_proto(std::string_view message, Interner& interner) {
  ProtoReader proto(message);
  Ref<Node> node = make_ref<Node>(interner.hold());
  WrittenMeta meta;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: read_metadata(proto, node->symbols, meta, /*with_annotations=*/true); break;
      case 2: read_spec(proto, *node); break;
      case 3: read_status(proto, *node); break;
      default: break;
    }
  });
  if (proto.error()) return fail(*proto.error());
  node->labels = LabelSet(std::move(meta.labels));
  node->annotations = LabelSet(std::move(meta.annotations));
  set_object(*node, std::move(meta), /*namespaced=*/false);
  return node;
}

Result<Ref<const Node>> decode_node_proto(std::string_view message, Interner& interner) {
  Result<Ref<Node>> node = decode_written_node_proto(message, interner);
  if (!node) return fail(std::move(node).error());
  finish(**node);
  return Ref<const Node>(*std::move(node));
}

}  // namespace berth
