#include "framework/extender.h"

namespace berth {

Task<Result<VictimsByNode>> Extender::preempt(Ref<const Pod>, VictimsByNode victims) {
  co_return victims;
}

}  // namespace berth
