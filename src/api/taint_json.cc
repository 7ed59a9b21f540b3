#include "api/taint_json.h"

#include "api/words.h"

namespace berth {
Taint read_taint(JsonReader& json, SymbolHold& symbols) {
  Taint taint;
  taint.effect = TaintEffect::kUnknown;  // a taint without an effect has none
  json.fields([&](std::string_view name) {
    if (name == "key") {
      taint.key = symbols.intern(json.text());
    } else if (name == "value") {
      taint.value = symbols.intern(json.text());
    } else if (name == "effect") {
      taint.effect = taint_effect(json.text());
      if (taint.effect == TaintEffect::kAny) taint.effect = TaintEffect::kUnknown;
    }
  });
  return taint;
}

Toleration read_toleration(JsonReader& json, SymbolHold& symbols) {
  Toleration toleration;
  json.fields([&](std::string_view name) {
    if (name == "key") {
      toleration.key = symbols.intern(json.text());
    } else if (name == "value") {
      toleration.value = symbols.intern(json.text());
    } else if (name == "operator") {
      toleration.op = toleration_operator(json.text());
    } else if (name == "effect") {
      toleration.effect = taint_effect(json.text());
    } else if (name == "tolerationSeconds") {
      toleration.toleration_seconds = json.int64();
    }
  });
  return toleration;
}

}  // namespace berth
