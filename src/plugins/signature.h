// Parts of a pod's signature that several plugins write alike. Only equality of the values matters.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "berth/plugin.h"
#include "berth/pod.h"

namespace berth::plugins {

// A text inside a signature's value, such that no two lists of texts look the same.
std::string delimited(std::string_view text);

// Labels, such that no two sets look the same; their order does not count.
template <typename Labels>
std::string signature_of_labels(const Labels& labels, const Pod& pod) {
  std::vector<std::string> texts;
  for (const Label& label : labels)
    texts.push_back(delimited(pod.text(label.key)) + delimited(pod.text(label.value)));
  std::ranges::sort(texts);
  std::string all;
  for (const std::string& text : texts) all += text;
  return all;
}

// Signs pods by where their volumes come from, but for config maps and secrets; the order of the
// volumes does not count.
class SignVolumesPlugin : public SignPlugin {
 public:
  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;
};

// The pod's tolerations; the order in which they are written does not count.
SignatureFragment tolerations_fragment(const Pod& pod);

}  // namespace berth::plugins
