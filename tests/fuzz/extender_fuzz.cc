// Whatever an extender answers is read or refused; and whatever object is kept for extenders, what
// they are told of it is JSON again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/written_pod.h"
#include "base/check.h"
#include "berth/interner.h"
#include "expanded.h"
#include "extender/kept_objects.h"
#include "extender/wire.h"
#include "wire/json_tree.h"

namespace berth::extender {
namespace {

void read_answers(std::string_view json) {
  for (const bool by_name : {false, true}) static_cast<void>(read_filter_result(json, by_name));
  static_cast<void>(read_host_priorities(json));
  static_cast<void>(read_binding_result(json));
  if (const Result<MetaVictimsByNode> victims = read_preemption_result(json))
    BERTH_CHECK(parse_json(preemption_args("{}", *victims)));
}

void tell(std::string_view json) {
  if (!parse_json(json)) return;  // what a decoder does not look at it takes as it stands
  Interner interner;
  const Result<Ref<const Pod>> pod = decode_pod(json, interner);
  if (!pod) return;
  KeptObjects kept({true, ObjectNeeds::Pods::kAll});
  kept.apply({DeltaType::kAdded, *pod}, std::make_shared<const std::string>(json));
  for (const Ref<const Pod>& one : {*pod, with_node(**pod, "n1")}) {
    const std::optional<std::string> text = kept.pod(*one);
    BERTH_CHECK(text && parse_json(*text));
  }
}

}  // namespace
}  // namespace berth::extender

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string json = berth::fuzz::expanded(data, size);
  berth::extender::read_answers(json);
  berth::extender::tell(json);
  return 0;
}
