#include "api/taint_json.h"

namespace berth {
namespace {

TaintEffect taint_effect(std::string_view text) {
  if (text.empty()) return TaintEffect::kAny;
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kUnknown;
}

TolerationOperator toleration_operator(std::string_view text) {
  if (text.empty() || text == "Equal") return TolerationOperator::kEqual;
  if (text == "Exists") return TolerationOperator::kExists;
  if (text == "Lt") return TolerationOperator::kLessThan;
  if (text == "Gt") return TolerationOperator::kGreaterThan;
  return TolerationOperator::kUnknown;
}

}  // namespace

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
