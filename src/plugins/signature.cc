#include "plugins/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace berth::plugins {

std::string delimited(std::string_view text) { return fmt::format("{}:{}", text.size(), text); }

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
