// Short ways to read a configuration in tests.
#pragma once

#include <string>
#include <string_view>

#include "config/load.h"

namespace berth::config {

// `body` with apiVersion and kind before it.
inline std::string file(std::string_view body) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" +
         std::string(body) + "\n";
}

// A file whose only profile, "a", has arguments for one plugin.
inline std::string with_args(std::string_view plugin, std::string_view args) {
  return file("profiles:\n- schedulerName: a\n  pluginConfig:\n  - name: " + std::string(plugin) +
              "\n    args: " + std::string(args));
}

inline FeatureGates gates(std::string_view settings) {
  FeatureGates gates;
  static_cast<void>(gates.set(settings));
  return gates;
}

inline Result<Configuration> parse(std::string_view text, const FeatureGates& gates = {}) {
  Interner interner;
  return parse_configuration(text, gates, interner);
}

// The sentence with which `text` is refused; empty if it is not.
inline std::string error_of(std::string_view text, const FeatureGates& gates = {}) {
  const Result<Configuration> configuration = parse(text, gates);
  return configuration ? "" : configuration.error().message;
}

inline std::string type_error(std::string_view value, std::string_view field,
                              std::string_view type) {
  return "json: cannot unmarshal " + std::string(value) + " into Go struct field " +
         std::string(field) + " of type " + std::string(type);
}

}  // namespace berth::config
