// Timers for the measurements of a profile: one run of an extension point, one call into a plugin.
// World thread only.
#pragma once

#include <cstdint>

#include "berth/measurements.h"

namespace berth {

// Times one run of an extension point. Without measurements it does nothing.
class PointTimer {
 public:
  PointTimer(ProfileMeasurements* measurements, Point point)
      : measurements_(measurements),
        point_(point),
        start_(measurements ? measurements->tick() : TimePoint{}) {}

  void ended(Code code) const {
    if (measurements_) measurements_->point_ran(point_, code, measurements_->tick() - start_);
  }

 private:
  ProfileMeasurements* measurements_;
  Point point_;
  TimePoint start_;
};

// Times one call into a plugin, in the cycles that are sampled.
class PluginTimer {
 public:
  PluginTimer(ProfileMeasurements* measurements, bool sampled, std::uint16_t plugin, Point point)
      : measurements_(sampled ? measurements : nullptr),
        plugin_(plugin),
        point_(point),
        start_(measurements_ ? measurements_->tick() : TimePoint{}) {}

  void ended(Code code) const {
    if (measurements_)
      measurements_->plugin_ran(plugin_, point_, code, measurements_->tick() - start_);
  }

 private:
  ProfileMeasurements* measurements_;
  std::uint16_t plugin_;
  Point point_;
  TimePoint start_;
};

}  // namespace berth
