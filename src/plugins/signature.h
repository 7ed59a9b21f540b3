// Parts of a pod's signature that several plugins write alike. Only equality of the values matters.
#pragma once

#include <string>
#include <string_view>

#include "api/pod.h"
#include "framework/plugin.h"

namespace berth::plugins {

// A text inside a signature's value, such that no two lists of texts look the same.
std::string delimited(std::string_view text);

// The pod's tolerations; the order in which they are written does not count.
SignatureFragment tolerations_fragment(const Pod& pod);

}  // namespace berth::plugins
