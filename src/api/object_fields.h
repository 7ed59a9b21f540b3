// The parts of objects that several kinds have, as field lists: metadata, selectors, taints. For the
// lists of this room.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/fields.h"
#include "api/words.h"
#include "berth/labels.h"
#include "berth/loop.h"
#include "berth/node.h"
#include "berth/node_selector.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/symbols.h"
#include "wire/json_tree.h"

namespace berth {

// metadata, of any kind. Symbols are held by the SymbolHold that it was read with.
struct WrittenMeta {
  bool with_annotations = false;  // most kinds have no use for them
  std::string name;
  std::string generate_name;
  std::string namespace_name;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::vector<Label> labels;
  std::vector<Label> annotations;
  ControllerRef controller;
  std::string controller_uid;
  std::vector<std::string> finalizers;
  std::optional<WallTime> creation_time;
  std::optional<WallTime> deletion_time;
};

// Takes over what every Object has. `namespaced` kinds without a namespace are in "default".
void set_object(Object& object, WrittenMeta&& meta, bool namespaced);

// ---- metadata -----------------------------------------------------------------------------------

struct WrittenOwner {
  ControllerRef reference;
  std::string_view uid;
  bool controller = false;
};

template <>
struct Fields<WrittenOwner>
    : FieldList<"apimachinery.pkg.apis.meta.v1.OwnerReference",
                Field<"apiVersion", path<&WrittenOwner::reference, &ControllerRef::api_version>>,
                Field<"kind", path<&WrittenOwner::reference, &ControllerRef::kind>>,
                Field<"name", path<&WrittenOwner::reference, &ControllerRef::name>>,
                Field<"uid", &WrittenOwner::uid>,  //
                Field<"controller", &WrittenOwner::controller>> {};

// The first owner that is the controller counts.
inline constexpr auto read_owners = [](auto& reader, SymbolHold& symbols, WrittenMeta& meta) {
  if (kIsJson<std::remove_reference_t<decltype(reader)>>) {
    meta.controller = {};
    meta.controller_uid = {};
  }
  each_item(reader, [&] {
    WrittenOwner owner;
    Fields<WrittenOwner>::read(reader, symbols, owner);
    if (!owner.controller || !meta.controller.empty()) return;
    meta.controller = owner.reference;
    meta.controller_uid = owner.uid;
  });
};

inline constexpr auto read_name = [](auto& reader) {
  const std::string_view text = reader.text();
  if (text.size() > kMaxName) reader.fail(kNameTooLong);
  return text;
};

inline constexpr auto read_annotations = [](auto& reader, SymbolHold& symbols, WrittenMeta& meta) {
  constexpr std::uint16_t kRow = schema::row_of(
      schema::message_named("apimachinery.pkg.apis.meta.v1.ObjectMeta"), "annotations");
  if (meta.with_annotations) read_value<kRow, AsIs{}>(reader, symbols, meta.annotations);
};

template <>
struct Fields<WrittenMeta>
    : FieldList<
          "apimachinery.pkg.apis.meta.v1.ObjectMeta", Field<"name", &WrittenMeta::name, read_name>,
          Field<"generateName", &WrittenMeta::generate_name, read_name>,
          Field<"namespace", &WrittenMeta::namespace_name, read_name>,
          Field<"uid", &WrittenMeta::uid, read_name>,
          Field<"resourceVersion", &WrittenMeta::resource_version, read_name>,
          Field<"generation", &WrittenMeta::generation>, Field<"labels", &WrittenMeta::labels>,
          Custom<"annotations", read_annotations>, Custom<"ownerReferences", read_owners>,
          Field<"finalizers", &WrittenMeta::finalizers>,
          Field<"creationTimestamp", &WrittenMeta::creation_time>,
          Field<"deletionTimestamp", &WrittenMeta::deletion_time>> {};

// An object of a kind that is being read, with its metadata beside it: what the lists of whole kinds
// fill. Their first entry is Metadata.
template <typename Kind>
struct WrittenObject {
  WrittenObject(Kind& to_fill, SymbolHold& symbols) : object(to_fill), meta_symbols(symbols) {}
  operator Kind&() { return object; }  // NOLINT: the kind's members are its own

  Kind& object;
  SymbolHold& meta_symbols;
  WrittenMeta meta;
};

template <bool WithAnnotations>
inline constexpr auto read_metadata = [](auto& reader, SymbolHold& /*symbols*/, auto& written) {
  written.meta.with_annotations = WithAnnotations;
  Fields<WrittenMeta>::read(reader, written.meta_symbols, written.meta);
};
using Metadata = Custom<"metadata", read_metadata<false>>;
using MetadataWithAnnotations = Custom<"metadata", read_metadata<true>>;

// ---- selectors ----------------------------------------------------------------------------------

inline constexpr auto read_operator = [](auto& reader, SymbolHold& symbols,
                                         SelectorRequirement& requirement) {
  const std::string_view text = reader.text();
  requirement.op = selector_operator(text);
  if (requirement.op == SelectorOperator::kUnknown)
    requirement.operator_text = symbols.intern(text);
};

inline constexpr auto write_operator = [](const SelectorRequirement& requirement,
                                          const Symbols& symbols) {
  return JsonValue::of_text(operator_text(requirement, symbols));
};

// Without an operator it has none, rather than that of an empty SelectorRequirement.
inline constexpr auto without_operator = [](SymbolHold&, SelectorRequirement& requirement) {
  requirement.op = SelectorOperator::kUnknown;
};

// Requirements of labels and of nodes have the same fields, in messages of their own.
template <FieldName Message>
using RequirementFields = FieldList<Message, Before<without_operator>,  //
                                    Field<"key", &SelectorRequirement::key>,
                                    Custom<"operator", read_operator, write_operator>,
                                    Field<"values", &SelectorRequirement::values>>;
using LabelRequirementFields =
    RequirementFields<"apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement">;
using NodeRequirementFields = RequirementFields<"api.core.v1.NodeSelectorRequirement">;

// The order means nothing, and equal specs should be equal.
inline constexpr auto sort_match_labels = [](SymbolHold&, LabelSelector& selector) {
  std::ranges::sort(selector.match_labels);
};

template <>
struct Fields<LabelSelector>
    : FieldList<"apimachinery.pkg.apis.meta.v1.LabelSelector",
                Field<"matchLabels", &LabelSelector::match_labels>,
                Field<"matchExpressions", &LabelSelector::match_expressions,
                      By<LabelRequirementFields>{}>,
                After<sort_match_labels>> {};

template <>
struct Fields<NodeSelectorTerm>
    : FieldList<
          "api.core.v1.NodeSelectorTerm",
          Field<"matchExpressions", &NodeSelectorTerm::match_expressions,
                By<NodeRequirementFields>{}>,
          Field<"matchFields", &NodeSelectorTerm::match_fields, By<NodeRequirementFields>{}>> {};

template <>
struct Fields<std::vector<NodeSelectorTerm>>
    : FieldList<"api.core.v1.NodeSelector", Field<"nodeSelectorTerms", std::identity{}>> {};

// ---- taints -------------------------------------------------------------------------------------

// A taint without an effect has none.
inline constexpr auto effect_of_taint = [](std::string_view text) {
  const TaintEffect effect = taint_effect(text);
  return effect == TaintEffect::kAny ? TaintEffect::kUnknown : effect;
};
inline constexpr auto without_effect = [](SymbolHold&, Taint& taint) {
  taint.effect = TaintEffect::kUnknown;
};

template <>
struct Fields<Taint>
    : FieldList<"api.core.v1.Taint", Before<without_effect>,  //
                Field<"key", &Taint::key>,                    //
                Field<"value", &Taint::value>, Field<"effect", &Taint::effect, effect_of_taint>> {};

template <>
struct Fields<Toleration> : FieldList<"api.core.v1.Toleration", Field<"key", &Toleration::key>,
                                      Field<"operator", &Toleration::op, toleration_operator>,
                                      Field<"value", &Toleration::value>,
                                      Field<"effect", &Toleration::effect, taint_effect>,
                                      Field<"tolerationSeconds", &Toleration::toleration_seconds>> {
};

// ---- words that an API server checks -----------------------------------------------------------

inline constexpr auto read_preemption_policy = [](auto& reader) {
  const std::string_view text = reader.text();
  const std::optional<PreemptionPolicy> policy = preemption_policy(text);
  if (!policy) reader.fail(unsupported_preemption_policy(text));
  return policy.value_or(PreemptionPolicy::kPreemptLowerPriority);
};

}  // namespace berth
