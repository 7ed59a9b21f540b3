// Whatever somebody writes in a manifest, it is read or refused; nothing else happens.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/manifest.h"
#include "base/check.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "expanded.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string text = fuzz::expanded(data, size);
  Interner interner;
  Result<std::vector<ManifestObject>> objects = read_manifest(text, "fuzz.yaml", interner);
  if (!objects) {
    BERTH_CHECK(objects.error().message.starts_with("fuzz.yaml: "));
    return 0;
  }
  // What was read once reads the same again from the JSON that was kept.
  for (const ManifestObject& object : *objects) {
    const auto again = read_manifest(object.json, "again.json", interner);
    if (!again) continue;  // an item of a typed list need not name its kind
    BERTH_CHECK(again->size() == 1);
    BERTH_CHECK(again->front().kind == object.kind);
  }
  static_cast<void>(admit_all(*objects, interner, VirtualLoop::kDefaultStart));
  return 0;
}
