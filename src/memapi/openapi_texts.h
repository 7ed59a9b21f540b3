// Short descriptions of kinds and fields for `kubectl explain`, in our own words.
#pragma once

#include <string_view>

namespace berth::memapi {

// Of a message ("api.core.v1.Pod"), and of a field, which means the same wherever it stands. Empty:
// there is none.
std::string_view describe_message(std::string_view message);
std::string_view describe_field(std::string_view field);

}  // namespace berth::memapi
