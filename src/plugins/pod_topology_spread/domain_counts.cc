#include "plugins/pod_topology_spread/domain_counts.h"

#include <algorithm>

namespace berth::plugins {

void DomainCounts::filled() {
  for (Domain domain = 0; domain < counts_.size(); ++domain) {
    const std::int64_t count = counts_[domain];
    if (count == kAbsent) continue;
    ++size_;
    if (count < first_) {
      second_ = first_;
      first_ = count;
      first_domain_ = domain;
    } else {
      second_ = std::min(second_, count);
    }
  }
}

void DomainCounts::change(Domain domain, std::int32_t by) {
  counts_[domain] += by;
  const auto found = std::ranges::find(changed_, domain, &Changed::domain);
  if (found == changed_.end()) {
    changed_.push_back({domain, by});
  } else if (found->by += by; found->by == 0) {
    *found = changed_.back();
    changed_.pop_back();
  }
}

std::int64_t DomainCounts::smallest() const {
  if (changed_.empty()) return first_;
  if (changed_.size() > 1) return *std::ranges::min_element(counts_);
  const Domain domain = changed_.front().domain;
  return std::min(counts_[domain], domain == first_domain_ ? second_ : first_);
}

}  // namespace berth::plugins
