// Whatever file is given as a trace, it is read or refused with a sentence; what is read is in order.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "berth/interner.h"
#include "trace/trace.h"

namespace berth::trace {
namespace {

void check(const Trace& trace) {
  BERTH_CHECK(std::ranges::is_sorted(trace.steps, {}, &Step::at));
  for (const Step& step : trace.steps) {
    BERTH_CHECK(step.at >= Duration{0});
    BERTH_CHECK(step.manifest.empty() == !std::holds_alternative<std::monostate>(step.object));
  }
  for (const PodPast& past : trace.pods) {
    BERTH_CHECK(past.arrived >= Duration{0});
    BERTH_CHECK(!past.run_time || (past.bound && *past.run_time >= Duration{0}));
    BERTH_CHECK(!past.removed_after_end || *past.removed_after_end >= Duration{0});
  }
}

}  // namespace
}  // namespace berth::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("trace", 0);
  BERTH_CHECK(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size));
  for (const auto share :
       {berth::trace::GpuShare::kDevices, berth::trace::GpuShare::kExtendedResource}) {
    berth::Interner interner;
    const auto trace = berth::trace::read_traces({"/proc/self/fd/" + std::to_string(file)},
                                                 {.gpu_share = share}, interner);
    if (trace)
      berth::trace::check(*trace);
    else
      BERTH_CHECK(!trace.error().message.empty());
  }
  ::close(file);
  return 0;
}
