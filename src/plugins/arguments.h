// A plugin's own arguments out of what the configuration has for it.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "berth/result.h"
#include "config/configuration.h"

namespace berth::plugins {

// The name of the arguments' type, as upstream's errors print it.
std::string type_text(const config::PluginArgs& arguments);

// None given: the defaults. Of another type: `want args to be of type <name>, got …`.
template <typename Args>
Result<Args> typed_arguments(const config::PluginArgs& arguments, std::string_view name) {
  if (std::holds_alternative<std::monostate>(arguments)) return Args{};
  if (const Args* own = std::get_if<Args>(&arguments)) return *own;
  return fail(ErrorKind::kInvalid,
              "want args to be of type " + std::string(name) + ", got " + type_text(arguments));
}

}  // namespace berth::plugins
