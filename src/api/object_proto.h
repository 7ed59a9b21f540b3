// The parts of objects that several kinds have, read from protobuf: metadata, labels, selectors,
// amounts, taints. For the decoders of this room. What a list or map is made of comes one by one:
// each of the append_…() takes one entry, at the cursor.
#pragma once

#include <string>
#include <vector>

#include "api/labels.h"
#include "api/object_json.h"
#include "api/proto_reader.h"
#include "api/resources.h"
#include "api/taint.h"
#include "base/symbols.h"

namespace berth {

void read_metadata(ProtoReader& proto, SymbolHold& symbols, WrittenMeta& meta,
                   bool with_annotations = false);

// An entry of a map[string]string.
void append_label(ProtoReader& proto, SymbolHold& symbols, std::vector<Label>& labels);
void append_symbol(ProtoReader& proto, SymbolHold& symbols, std::vector<Symbol>& out);
void append_amount(ProtoReader& proto, SymbolHold& symbols, ResourceList& list);
void append_requirement(ProtoReader& proto, SymbolHold& symbols,
                        std::vector<SelectorRequirement>& out);

LabelSelector read_label_selector(ProtoReader& proto, SymbolHold& symbols);
Taint read_taint(ProtoReader& proto, SymbolHold& symbols);
Toleration read_toleration(ProtoReader& proto, SymbolHold& symbols);
Symbol read_symbol(ProtoReader& proto, SymbolHold& symbols);

}  // namespace berth
