#include "plugins/image_locality/image_locality.h"

#include <algorithm>

#include "plugins/arithmetic.h"
#include "plugins/signature.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMinThreshold = 23 * kMiB;
constexpr std::int64_t kMaxThresholdPerImage = 1000 * kMiB;

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

// Calls `visit(uses, image)` for the images of a node that the pod uses. Both are sorted by name;
// the names of the shorter list are looked for in the longer one.
template <typename Visit>
void for_each_wanted(std::span<const ImageNames::Wanted> wanted, std::span<const ImageState> images,
                     Visit visit) {
  if (wanted.size() < images.size()) {
    for (const ImageNames::Wanted& want : wanted) {
      const auto found = std::ranges::lower_bound(images, want.name, {}, &ImageState::name);
      if (found != images.end() && found->name == want.name) visit(want.uses, *found);
    }
    return;
  }
  for (const ImageState& image : images) {
    const auto found = std::ranges::lower_bound(wanted, image.name, {}, &ImageNames::Wanted::name);
    if (found != wanted.end() && found->name == image.name) visit(found->uses, image);
  }
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

const std::vector<ImageNames::Wanted>& ImageNames::of(const Pod& pod) {
  if (const Images* found = recent_.find(pod.spec_ref())) return found->wanted;
  Images images{{}, SymbolHold(pod.spec().symbols.table())};
  std::vector<Symbol> names;
  const auto add = [&](Symbol image) {
    names.push_back(images.symbols.intern(normalized_image_name(pod.text(image))));
  };
  for_each_container_image(pod.spec(), add);
  for (const Volume& volume : pod.spec().volumes)
    if (volume.source == VolumeSource::kImage) add(volume.source_name);
  std::ranges::sort(names);
  for (const Symbol name : names) {
    if (images.wanted.empty() || images.wanted.back().name != name)
      images.wanted.push_back({name, 0});
    ++images.wanted.back().uses;
  }
  return recent_.keep(pod.spec_ref(), std::move(images)).wanted;
}

Result<std::unique_ptr<Plugin>> ImageLocality::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<ImageLocality>();
}

Outcome ImageLocality::score(const Cycle& cycle, const NodeSet& feasible,
                             std::span<Score> by_row) const {
  const NodeTable& nodes = cycle.nodes();
  const std::vector<ImageNames::Wanted>& wanted = names_.of(cycle.pod());
  std::int64_t max_threshold = 0;
  for (const ImageNames::Wanted& image : wanted)
    max_threshold += image.uses * kMaxThresholdPerImage;
  if (std::ranges::none_of(
          wanted, [&](Symbol image) { return nodes.may_have_image(image); },
          &ImageNames::Wanted::name)) {
    const Score score = score_of(0, max_threshold);
    feasible.for_each([&](NodeRow row) { by_row[row] = score; });
    return Outcome::success();
  }
  const auto node_count = static_cast<double>(nodes.node_count());
  feasible.for_each([&](NodeRow row) {
    std::int64_t sum = 0;
    for_each_wanted(wanted, nodes.images(row), [&](std::int64_t uses, const ImageState& image) {
      sum = wrapping_add(sum, wrapping_mul(uses, weight_of(image, node_count)));
    });
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
