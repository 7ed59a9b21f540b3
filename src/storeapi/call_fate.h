// How calls of a StoreApi go: which calls there are, how long they take, and what a fault plan makes
// of them. Without any of it a call takes effect at once and says the truth.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth {

enum class ApiCall : std::uint8_t {
  // of pods
  kBind,
  kPatchStatus,
  kEvict,
  // of volumes and claims
  kUpdate,
  kUpdateStatus,
  kCreate,
  kDelete,
  kGet,
};
std::string_view to_string(ApiCall call);  // "bind", "patchStatus", …
// Of all, in the order above.
std::span<const ApiCall> api_calls();
constexpr bool is_about_pods(ApiCall call) { return call <= ApiCall::kEvict; }

// How one call goes. The default goes well.
struct CallFate {
  Duration extra_delay{0};  // before it takes effect
  bool takes_effect = true;
  bool takes_effect_twice = false;  // the request arrives a second time, later
  Duration second_delay{0};         // between its two effects, beside the usual time of a call
  bool has_left = false;            // it takes effect even if its task ends before
  std::optional<Error> error{};     // what the caller is told instead of the truth
  Duration answer_delay{0};         // between the effect and the answer: the watch may be faster
};
using FateOf = std::function<CallFate(ApiCall call, const Pod& pod)>;
// Objects by "namespace/name", or "name".
using ObjectFateOf =
    std::function<CallFate(ApiCall call, ObjectKind kind, const std::string& full_name)>;

}  // namespace berth
