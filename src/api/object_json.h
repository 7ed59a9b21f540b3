// The parts of objects that several kinds have, read from JSON: metadata, labels, selectors,
// amounts. For the decoders of this room.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json_reader.h"
#include "api/labels.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/loop.h"
#include "base/symbols.h"

namespace berth {

// metadata, of any kind. Symbols are held by the SymbolHold that it was read with.
struct WrittenMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_name;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::vector<Label> labels;
  std::vector<Label> annotations;  // only when asked for: most kinds have no use for them
  ControllerRef controller;
  std::string controller_uid;
  std::vector<std::string> finalizers;
  std::optional<WallTime> creation_time;
  std::optional<WallTime> deletion_time;
};

void read_metadata(JsonReader& json, SymbolHold& symbols, WrittenMeta& meta,
                   bool with_annotations = false);

// Takes over what every Object has. `namespaced` kinds without a namespace are in "default".
void set_object(Object& object, WrittenMeta&& meta, bool namespaced);

// map[string]string
std::vector<Label> read_labels(JsonReader& json, SymbolHold& symbols);
std::vector<Symbol> read_symbols(JsonReader& json, SymbolHold& symbols);
ResourceList read_resource_list(JsonReader& json, SymbolHold& symbols);
SelectorRequirement read_requirement(JsonReader& json, SymbolHold& symbols);
std::vector<SelectorRequirement> read_requirements(JsonReader& json, SymbolHold& symbols);
LabelSelector read_label_selector(JsonReader& json, SymbolHold& symbols);

}  // namespace berth
