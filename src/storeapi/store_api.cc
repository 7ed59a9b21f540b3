#include "storeapi/store_api.h"

#include <fmt/format.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "berth/task.h"

namespace berth {
namespace {

// The plain way of a call; `effect` is kept in the coroutine's frame.
template <typename T, typename Effect>
Task<Result<T>> take_effect(Effect effect) {
  co_return effect();
}

// The same after a while.
template <typename T, typename Effect>
Task<Result<T>> take_effect_after(Loop& loop, Duration latency, Effect effect) {
  SleepUntil arrived(loop, loop.now() + latency);
  co_await arrived;
  co_return effect();
}

}  // namespace

StoreApi::StoreApi(Loop& loop, ObjectBackend& objects, StoreApiOptions options)
    : loop_(loop), objects_(objects), options_(options) {}

StoreApi::~StoreApi() = default;

// ---- when and how an effect takes place

bool StoreApi::goes_well(ApiCall call) const {
  return is_about_pods(call) ? !fate_of_ : !object_fate_of_;
}

CallFate StoreApi::fate(ApiCall call, const Pod& pod) const {
  return fate_of_ ? fate_of_(call, pod) : CallFate{};
}

CallFate StoreApi::fate(ApiCall call, ObjectKind kind, std::string_view namespace_name,
                        std::string_view name) const {
  if (!object_fate_of_) return {};
  return object_fate_of_(
      call, kind,
      namespace_name.empty() ? std::string(name) : fmt::format("{}/{}", namespace_name, name));
}

template <typename T, typename Effect>
Task<Result<T>> StoreApi::go_well(Effect effect) {
  if (options_.latency == Duration::zero()) return take_effect<T>(std::move(effect));
  return take_effect_after<T>(loop_, options_.latency, std::move(effect));
}

template <typename T, typename Effect>
Task<Result<T>> StoreApi::call(ApiCall call, const Pod& pod, Effect effect) {
  if (goes_well(call)) return go_well<T>(std::move(effect));
  return carry_out<T>(fate(call, pod), std::move(effect));
}

template <typename T, typename Effect>
Task<Result<T>> StoreApi::call(ApiCall call, const Object& object, Effect effect) {
  if (goes_well(call)) return go_well<T>(std::move(effect));
  return carry_out<T>(fate(call, object.kind, namespace_of(object), object.name),
                      std::move(effect));
}

template <typename T, typename Effect>
Task<Result<T>> StoreApi::call(ApiCall kind, const AnyObject& any, Effect effect) {
  const auto* object = std::get_if<Ref<const Object>>(&any);
  if (!object || !*object) return take_effect<T>(std::move(effect));  // which refuses it
  return call<T>(kind, **object, std::move(effect));
}

template <typename T>
Task<Result<T>> StoreApi::carry_out(CallFate fate, std::function<Result<T>()> effect) {
  auto truth = std::make_shared<std::optional<Result<T>>>();
  auto arrive = lifetime_.guard([this, fate, effect, truth] {
    if (fate.takes_effect) truth->emplace(effect());
    if (fate.takes_effect_twice)
      loop_.after(options_.latency + fate.second_delay,
                  lifetime_.guard([effect] { static_cast<void>(effect()); }));
  });
  const TimePoint arrival = loop_.now() + options_.latency + fate.extra_delay;
  if (fate.has_left) loop_.at(arrival, arrive);
  SleepUntil arrived(loop_, arrival);
  co_await arrived;
  if (!fate.has_left) arrive();
  SleepUntil answered(loop_, loop_.now() + fate.answer_delay);
  co_await answered;
  if (fate.error) co_return fail(*fate.error);
  if (*truth) co_return std::move(**truth);
  // The fate reports success without an effect; calls that return an object fail instead.
  if constexpr (std::is_void_v<T>)
    co_return Result<void>();
  else
    co_return fail(ErrorKind::kUnavailable, "the server did not answer");
}

// ---- ClusterApi

Task<Result<void>> StoreApi::bind(Ref<const Pod> pod, std::string node_name) {
  const Pod& named = *pod;
  return call<void>(ApiCall::kBind, named,
                    [this, pod = std::move(pod), node_name = std::move(node_name)] {
                      return do_bind(*pod, node_name);
                    });
}

Task<Result<std::string>> StoreApi::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  const Pod& named = *pod;
  return call<std::string>(ApiCall::kPatchStatus, named,
                           [this, pod = std::move(pod), patch = std::move(patch)] {
                             return do_patch_status(*pod, patch);
                           });
}

Task<Result<void>> StoreApi::evict(Ref<const Pod> pod) {
  const Pod& named = *pod;
  return call<void>(ApiCall::kEvict, named,
                    [this, pod = std::move(pod)] { return do_evict(*pod); });
}

Task<Result<AnyObject>> StoreApi::update(AnyObject any) {
  return call<AnyObject>(ApiCall::kUpdate, any,
                         [this, any] { return do_write(any, WrittenPart::kObject); });
}

Task<Result<AnyObject>> StoreApi::update_status(AnyObject any) {
  return call<AnyObject>(ApiCall::kUpdateStatus, any,
                         [this, any] { return do_write(any, WrittenPart::kStatus); });
}

Task<Result<AnyObject>> StoreApi::create(AnyObject any) {
  return call<AnyObject>(ApiCall::kCreate, any, [this, any] { return do_create(any); });
}

Task<Result<void>> StoreApi::remove(AnyObject any) {
  return call<void>(ApiCall::kDelete, any, [this, any] { return do_remove(any); });
}

Task<Result<AnyObject>> StoreApi::get(ObjectKind kind, std::string namespace_name,
                                      std::string name) {
  const auto effect = [this, kind, namespace_name, name] {
    return do_get(kind, namespace_name, name);
  };
  if (goes_well(ApiCall::kGet)) return go_well<AnyObject>(effect);
  return carry_out<AnyObject>(fate(ApiCall::kGet, kind, namespace_name, name), effect);
}

Task<Result<void>> StoreApi::unreserve_claim(Ref<const Object> claim, std::string consumer_uid) {
  const Object& named = *claim;
  return call<void>(ApiCall::kUpdateStatus, named,
                    [this, claim = std::move(claim), consumer_uid = std::move(consumer_uid)] {
                      return do_unreserve(*claim, consumer_uid);
                    });
}

void StoreApi::record(PodEvent) {}  // who wants events hears of them from the scheduler itself

}  // namespace berth
