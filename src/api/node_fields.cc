// Nodes: which member takes which field.

#include "api/kind_decoders.h"
#include "berth/node.h"

namespace berth {

template <>
struct Fields<ContainerImage> : FieldList<"api.core.v1.ContainerImage",  //
                                          Field<"names", &ContainerImage::names>,
                                          Field<"sizeBytes", &ContainerImage::size_bytes>> {};

template <>
struct Fields<NodeCondition>
    : FieldList<"api.core.v1.NodeCondition",  //
                Field<"type", &NodeCondition::type>, Field<"status", &NodeCondition::status>> {};

template <>
struct Fields<NodePodPreemptionPolicy>
    : FieldList<
          "api.core.v1.NodePodPreemptionPolicy",  //
          Field<"disableResizePreemption", &NodePodPreemptionPolicy::disable_resize_preemption>> {};

template <>
struct Fields<Node>
    : FieldList<
          "api.core.v1.Node",  //
          MetadataWithAnnotations,
          Inside<"spec",  //
                 Field<"unschedulable", &Node::unschedulable>, Field<"taints", &Node::taints>,
                 Field<"podPreemptionPolicy", &Node::pod_preemption_policy>>,
          Inside<"status",                                                                      //
                 Field<"capacity", &Node::capacity>, Field<"allocatable", &Node::allocatable>,  //
                 Field<"conditions", &Node::conditions>,                                        //
                 Field<"images", &Node::images>,
                 Field<"declaredFeatures", &Node::declared_features>>> {};

template <>
void take_metadata(WrittenObject<Node>& written) {
  Node& node = written.object;
  node.labels = LabelSet(std::move(written.meta.labels));
  node.annotations = LabelSet(std::move(written.meta.annotations));
  set_object(node, std::move(written.meta), /*namespaced=*/false);
}

template <typename Reader>
KindDecoder<Reader> node_decoder(ObjectKind kind) {
  return kind == ObjectKind::kNode ? decode_kind<Node, Reader> : nullptr;
}
template KindDecoder<JsonReader> node_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> node_decoder(ObjectKind kind);

}  // namespace berth
