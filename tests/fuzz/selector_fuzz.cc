// Whatever somebody writes as a device selector, it compiles or it is refused; and what compiles
// decides or fails, the same way each time, within its cost.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cel/device_selector.h"
#include "expanded.h"

namespace {

using namespace berth;

SelectorDevice device(bool bare) {
  SelectorDevice result("gpu.example.com", !bare);
  if (bare) return result;
  result.add_attribute("model", "A100-SXM");
  result.add_attribute("count", std::int64_t{8});
  result.add_attribute("fast", true);
  result.add_version("version", "1.2.3-rc.1+build");
  result.add_attribute("other.example.com/name", "ünïcode");
  result.add_capacity("memory", *Quantity::parse("40Gi"));
  result.add_capacity("other.example.com/share", *Quantity::parse("500m"));
  return result;
}

void evaluate(const DeviceSelector& selector, const SelectorDevice& with) {
  std::uint64_t cost = 0;
  const auto once = selector.matches(with, &cost);
  BERTH_CHECK(once || !once.error().message.empty());
  if (cost > DeviceSelector::kCostLimit / 10) return;  // seen often enough
  std::uint64_t again_cost = 0;
  const auto again = selector.matches(with, &again_cost);
  BERTH_CHECK(once == again);
  BERTH_CHECK(cost == again_cost);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SelectorDevice kFull = device(false);
  static const SelectorDevice kBare = device(true);
  const std::string text = fuzz::expanded(data, size);
  const auto selector = DeviceSelector::compile(text);
  if (!selector) {
    BERTH_CHECK(!selector.error().message.empty());
    return 0;
  }
  evaluate(**selector, kFull);
  evaluate(**selector, kBare);
  return 0;
}
