// TypeMeta: apiVersion and kind, which say what an object is before anything else is read. Only for
// this room.
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"
#include "wire/json_tree.h"

namespace berth::config {

inline constexpr std::string_view kGroup = "kubescheduler.config.k8s.io";
inline constexpr std::string_view kGroupVersion = "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kConfigurationKind = "KubeSchedulerConfiguration";
inline constexpr std::string_view kArgsSuffix = "Args";

struct TypeMeta {
  std::string api_version;
  std::string kind;

  // "" when there is none.
  std::string_view version() const {
    const std::string_view text = api_version;
    return text.substr(text.find('/') + 1);
  }
};

Result<TypeMeta> type_meta_of(const JsonValue& json);

std::unexpected<Error> not_registered(const TypeMeta& meta);

// The plugin of an args kind; empty when there is no such kind.
std::string_view plugin_of(std::string_view kind);

}  // namespace berth::config
