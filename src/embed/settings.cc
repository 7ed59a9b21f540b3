#include "embed/settings.h"

#include <string>
#include <utility>

#include "config/load.h"

namespace berth {

Result<Settings> read_settings(std::string_view configuration, std::string_view feature_gates,
                               Interner& interner) {
  Settings settings;
  if (Result<void> set = settings.gates.set(std::string(feature_gates)); !set)
    return fail(set.error());
  if (Result<void> valid = settings.gates.validate(); !valid) return fail(valid.error());
  if (configuration.empty()) {
    settings.configuration = config::default_configuration(settings.gates);
    return settings;
  }
  Result<config::Configuration> parsed =
      config::parse_configuration(std::string(configuration), settings.gates, interner);
  if (!parsed) return fail(parsed.error());
  settings.configuration = std::move(*parsed);
  return settings;
}

}  // namespace berth
