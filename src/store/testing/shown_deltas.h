// For tests: what a ClusterStore shows to those that watch it, as lines of text.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time_text.h"
#include "berth/loop.h"
#include "berth/pod.h"
#include "store/cluster_store.h"

namespace berth::testing {

// "1s added p", "2s updated p on n1", "3s deleted p on n1 terminating"
inline std::string text_of(const Delta& delta, TimePoint now) {
  static constexpr std::array kTypes = {"added", "updated", "deleted"};
  std::string text = fmt::format("{} {} ", go_duration(now.since_start),
                                 kTypes.at(static_cast<std::size_t>(delta.type)));
  const auto* pod = std::get_if<Ref<const Pod>>(&delta.object);
  if (!pod) return text + std::get<Ref<const Object>>(delta.object)->name;
  text += (*pod)->name();
  if (!(*pod)->node().empty()) text += fmt::format(" on {}", (*pod)->node_name());
  if ((*pod)->terminating()) text += " terminating";
  return text;
}

// Appends a line to `shown` for each delta from now on.
inline void log_deltas(ClusterStore& cluster, const Loop& loop, std::vector<std::string>& shown) {
  cluster.on_delta(
      [&loop, &shown](const Delta& delta) { shown.push_back(text_of(delta, loop.now())); });
}

}  // namespace berth::testing
