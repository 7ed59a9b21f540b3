#include "plugins/image_locality/image_locality.h"

#include <algorithm>

#include "plugins/arithmetic.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMinThreshold = 23 * kMiB;
constexpr std::int64_t kMaxThresholdPerContainer = 1000 * kMiB;

// Calls `visit(image)` for the image of every container.
template <typename Visit>
void for_each_container_image(const PodSpec& spec, Visit visit) {
  for (const Container& container : spec.init_containers) visit(container.image);
  for (const Container& container : spec.containers) visit(container.image);
}

std::int64_t weight_of(const ImageState& image, double node_count) {
  const double spread = static_cast<double>(image.node_count) / node_count;
  return truncated(static_cast<double>(image.size_bytes) * spread);
}

Score score_of(std::int64_t sum, std::int64_t max_threshold) {
  if (sum < kMinThreshold)
    sum = kMinThreshold;
  else if (sum > max_threshold)
    sum = max_threshold;
  return wrapping_mul(kMaxScore, sum - kMinThreshold) / (max_threshold - kMinThreshold);
}

}  // namespace

std::string normalized_image_name(std::string_view image) {
  std::string name(image);
  const std::size_t colon = image.rfind(':');
  const std::size_t slash = image.rfind('/');
  // A colon before the last slash is that of a registry's port.
  const bool has_tag =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  if (!has_tag) name += ":latest";
  return name;
}

const std::vector<Symbol>& ImageNames::of(const Pod& pod) {
  const auto address = reinterpret_cast<std::uintptr_t>(pod.spec_ref().get());
  Remembered& entry = remembered_[(address >> 4 ^ address >> 10) % remembered_.size()];
  if (entry.spec == pod.spec_ref()) return entry.images;
  entry = {pod.spec_ref(), {}, SymbolHold(pod.spec().symbols.table())};
  const auto add = [&](Symbol image) {
    entry.images.push_back(entry.symbols.intern(normalized_image_name(pod.text(image))));
  };
  for_each_container_image(pod.spec(), add);
  for (const Volume& volume : pod.spec().volumes)
    if (volume.source == VolumeSource::kImage) add(volume.source_name);
  return entry.images;
}

Result<std::unique_ptr<Plugin>> ImageLocality::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<ImageLocality>();
}

Outcome ImageLocality::score(const Cycle& cycle, const NodeSet& feasible,
                             std::span<Score> by_row) const {
  const PodSpec& spec = cycle.pod().spec();
  const NodeTable& nodes = cycle.nodes();
  const std::vector<Symbol>& wanted = names_.of(cycle.pod());
  // Image volumes count as images, but not as containers.
  const std::int64_t max_threshold =
      kMaxThresholdPerContainer *
      static_cast<std::int64_t>(spec.init_containers.size() + spec.containers.size());
  if (std::ranges::none_of(wanted, [&](Symbol image) { return nodes.may_have_image(image); })) {
    const Score score = score_of(0, max_threshold);
    feasible.for_each([&](NodeRow row) { by_row[row] = score; });
    return Outcome::success();
  }
  const auto node_count = static_cast<double>(nodes.node_count());
  feasible.for_each([&](NodeRow row) {
    std::int64_t sum = 0;
    for (const ImageState& image : nodes.images(row)) {
      const auto uses = std::ranges::count(wanted, image.name);
      if (uses != 0) sum = wrapping_add(sum, wrapping_mul(uses, weight_of(image, node_count)));
    }
    by_row[row] = score_of(sum, max_threshold);
  });
  return Outcome::success();
}

Outcome ImageLocality::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  // Parity: without those of image volumes.
  std::vector<std::string> images;
  for_each_container_image(
      pod.spec(), [&](Symbol image) { images.push_back(normalized_image_name(pod.text(image))); });
  std::ranges::sort(images);
  const auto repeated = std::ranges::unique(images);
  images.erase(repeated.begin(), repeated.end());
  SignatureFragment fragment{"v1.Pod.Spec.CanonicalImageNames()", {}};
  for (const std::string& image : images) fragment.value += delimited(image);
  fragments.push_back(std::move(fragment));
  return Outcome::success();
}

}  // namespace berth::plugins
