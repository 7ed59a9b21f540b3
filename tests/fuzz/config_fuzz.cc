// Whatever somebody writes in a configuration, it is read or refused; nothing else happens. What is
// read can be written, and what is written reads as the same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "berth/interner.h"
#include "config/load.h"
#include "config/write.h"
#include "expanded.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  using namespace berth::config;
  const std::string text = fuzz::expanded(data, size);
  Interner interner;
  const FeatureGates gates;
  const Result<Configuration> configuration = parse_configuration(text, gates, interner);
  if (!configuration) {
    BERTH_CHECK(!configuration.error().message.empty());
    return 0;
  }
  const std::string written = to_yaml(*configuration);
  const Result<Configuration> again = parse_configuration(written, gates, interner);
  BERTH_CHECK(again.has_value());
  BERTH_CHECK(to_yaml(*again) == written);
  return 0;
}
