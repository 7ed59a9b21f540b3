// Settings: the texts that an embedder gives as configuration and feature gates, read and checked.
// Scheduler and Evaluator read them alike.
#pragma once

#include <string_view>

#include "berth/interner.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "config/feature_gates.h"

namespace berth {

struct Settings {
  config::Configuration configuration;
  config::FeatureGates gates;
};

// `configuration` is YAML or JSON, or empty for the default. Errors are upstream's sentences.
Result<Settings> read_settings(std::string_view configuration, std::string_view feature_gates,
                               Interner& interner);

}  // namespace berth
