#include "plugins/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace berth::plugins {

std::string delimited(std::string_view text) { return fmt::format("{}:{}", text.size(), text); }

Outcome SignVolumesPlugin::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  std::vector<std::string> sources;
  for (const Volume& volume : pod.spec().volumes) {
    if (volume.source == VolumeSource::kConfigMap || volume.source == VolumeSource::kSecret)
      continue;
    std::string text =
        fmt::format("{}{}{}{}{}", static_cast<int>(volume.source), volume.read_only ? "r" : "w",
                    delimited(pod.text(volume.source_name)), delimited(pod.text(volume.detail)),
                    delimited(pod.text(volume.kind)));
    for (const Symbol monitor : volume.monitors) text += delimited(pod.text(monitor));
    sources.push_back(std::move(text));
  }
  std::ranges::sort(sources);
  fragments.push_back(
      {"v1.Pod.Spec.Volumes.NonSyntheticSources()", fmt::format("{}", fmt::join(sources, ","))});
  return Outcome::success();
}

SignatureFragment tolerations_fragment(const Pod& pod) {
  std::vector<std::string> texts;
  for (const Toleration& toleration : pod.spec().tolerations) {
    std::string text = delimited(pod.text(toleration.key)) + delimited(pod.text(toleration.value));
    text +=
        fmt::format("{}/{}", static_cast<int>(toleration.op), static_cast<int>(toleration.effect));
    if (toleration.toleration_seconds) text += fmt::format("/{}", *toleration.toleration_seconds);
    texts.push_back(std::move(text));
  }
  std::ranges::sort(texts);
  return {"v1.Pod.Spec.Tolerations", fmt::format("{}", fmt::join(texts, ";"))};
}

}  // namespace berth::plugins
