// PrioritySort decides which pod is tried next: the higher priority first, among equals the one
// that has been in the queue longer. Reads spec.priority and the time of entry. Rejects nothing.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class PrioritySort final : public QueueSortPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "PrioritySort"; }
  Dependence dependence() const override { return Dependence::kRow; }
  bool less(const QueuedPod& a, const QueuedPod& b) const override;
};

}  // namespace berth::plugins
