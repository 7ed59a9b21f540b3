#include "berth/cycle.h"

#include "base/check.h"
#include "berth/plugin.h"

namespace berth {

std::vector<std::string> Cycle::reasons_of(const Status& status, const Plugin* plugin) const {
  if (status.reason == Status::kListed) {
    BERTH_CHECK(scratch_ && status.argument < scratch_->listed_reasons.size());
    return scratch_->listed_reasons[status.argument];
  }
  if (!plugin || status.reason >= plugin->reasons().size()) return {};
  return {std::string(plugin->reasons()[status.reason])};
}

std::uint32_t Cycle::list_reasons(std::vector<std::string> reasons) const {
  BERTH_CHECK(scratch_ != nullptr);
  scratch_->listed_reasons.push_back(std::move(reasons));
  return static_cast<std::uint32_t>(scratch_->listed_reasons.size() - 1);
}

}  // namespace berth
