#include "api/object_proto.h"

#include <algorithm>
#include <utility>

#include "api/words.h"

namespace berth {
namespace {

std::string read_name(ProtoReader& proto) {
  const std::string_view text = proto.text();
  if (text.size() > kMaxName) proto.fail(kNameTooLong);
  return std::string(text);
}

void read_owner(ProtoReader& proto, SymbolHold& symbols, WrittenMeta& meta) {
  ControllerRef owner;
  std::string_view uid;
  bool is_controller = false;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: owner.kind = read_symbol(proto, symbols); break;
      case 3: owner.name = read_symbol(proto, symbols); break;
      case 4: uid = proto.text(); break;
      case 5: owner.api_version = read_symbol(proto, symbols); break;
      case 6: is_controller = proto.boolean(); break;
      default: break;
    }
  });
  if (!is_controller || !meta.controller.empty()) return;
  meta.controller = owner;
  meta.controller_uid = uid;
}

}  // namespace

void read_metadata(ProtoReader& proto, SymbolHold& symbols, WrittenMeta& meta,
                   bool with_annotations) {
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: meta.name = read_name(proto); break;
      case 2: meta.generate_name = read_name(proto); break;
      case 3: meta.namespace_name = read_name(proto); break;
      case 5: meta.uid = read_name(proto); break;
      case 6: meta.resource_version = read_name(proto); break;
      case 7: meta.generation = proto.int64(); break;
      case 8: meta.creation_time = proto.time(); break;
      case 9: meta.deletion_time = proto.time(); break;
      case 11: append_label(proto, symbols, meta.labels); break;
      case 12:
        if (with_annotations) append_label(proto, symbols, meta.annotations);
        break;
      case 13: read_owner(proto, symbols, meta); break;
      case 14: meta.finalizers.emplace_back(proto.text()); break;
      default: break;
    }
  });
}

Symbol read_symbol(ProtoReader& proto, SymbolHold& symbols) { return symbols.intern(proto.text()); }

void append_label(ProtoReader& proto, SymbolHold& symbols, std::vector<Label>& labels) {
  proto.entry([&](std::string_view key) {
    const Symbol symbol = symbols.intern(key);
    labels.push_back({symbol, read_symbol(proto, symbols)});
  });
}

void append_symbol(ProtoReader& proto, SymbolHold& symbols, std::vector<Symbol>& out) {
  out.push_back(read_symbol(proto, symbols));
}

void append_amount(ProtoReader& proto, SymbolHold& symbols, ResourceList& list) {
  proto.entry([&](std::string_view key) { list.set(symbols.intern(key), proto.quantity()); });
}

void append_requirement(ProtoReader& proto, SymbolHold& symbols,
                        std::vector<SelectorRequirement>& out) {
  SelectorRequirement& requirement = out.emplace_back();
  requirement.op = SelectorOperator::kUnknown;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: requirement.key = read_symbol(proto, symbols); break;
      case 2: {
        const std::string_view text = proto.text();
        requirement.op = selector_operator(text);
        if (requirement.op == SelectorOperator::kUnknown)
          requirement.operator_text = symbols.intern(text);
        break;
      }
      case 3: append_symbol(proto, symbols, requirement.values); break;
      default: break;
    }
  });
}

LabelSelector read_label_selector(ProtoReader& proto, SymbolHold& symbols) {
  LabelSelector selector;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_label(proto, symbols, selector.match_labels); break;
      case 2: append_requirement(proto, symbols, selector.match_expressions); break;
      default: break;
    }
  });
  // The order means nothing, and equal specs should be equal.
  std::sort(selector.match_labels.begin(), selector.match_labels.end());
  return selector;
}

Taint read_taint(ProtoReader& proto, SymbolHold& symbols) {
  Taint taint;
  taint.effect = TaintEffect::kUnknown;  // a taint without an effect has none
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: taint.key = read_symbol(proto, symbols); break;
      case 2: taint.value = read_symbol(proto, symbols); break;
      case 3:
        taint.effect = taint_effect(proto.text());
        if (taint.effect == TaintEffect::kAny) taint.effect = TaintEffect::kUnknown;
        break;
      default: break;
    }
  });
  return taint;
}

Toleration read_toleration(ProtoReader& proto, SymbolHold& symbols) {
  Toleration toleration;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: toleration.key = read_symbol(proto, symbols); break;
      case 2: toleration.op = toleration_operator(proto.text()); break;
      case 3: toleration.value = read_symbol(proto, symbols); break;
      case 4: toleration.effect = taint_effect(proto.text()); break;
      case 5: toleration.toleration_seconds = proto.int64(); break;
      default: break;
    }
  });
  return toleration;
}

}  // namespace berth
