#include "storeapi/call_fate.h"

namespace berth {

std::string_view to_string(ApiCall call) {
  switch (call) {
    case ApiCall::kBind: return "bind";
    case ApiCall::kPatchStatus: return "patchStatus";
    case ApiCall::kEvict: return "evict";
    case ApiCall::kUpdate: return "update";
    case ApiCall::kUpdateStatus: return "updateStatus";
    case ApiCall::kCreate: return "create";
    case ApiCall::kDelete: return "delete";
    case ApiCall::kGet: return "get";
  }
  return "get";
}

std::span<const ApiCall> api_calls() {
  static constexpr ApiCall kCalls[] = {ApiCall::kBind,   ApiCall::kPatchStatus,  ApiCall::kEvict,
                                       ApiCall::kUpdate, ApiCall::kUpdateStatus, ApiCall::kCreate,
                                       ApiCall::kDelete, ApiCall::kGet};
  return kCalls;
}

}  // namespace berth
