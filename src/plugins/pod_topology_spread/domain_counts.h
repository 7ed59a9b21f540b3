// DomainCounts: matching pods per topology domain, and the smallest of these counts.
//
// PreFilter fills it once; trials then change a domain at a time and change it back. Questions
// about one node touch one domain, and for those the smallest count costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/topology.h"

namespace berth::plugins {

class DomainCounts {
 public:
  explicit DomainCounts(std::size_t domains) : counts_(domains, kAbsent) {}

  // ---- filling. A domain exists once a counted node is in it, matching pods or not.
  void enter(Domain domain) {
    if (counts_[domain] == kAbsent) counts_[domain] = 0;
  }
  void add(Domain domain, std::int32_t pods) { counts_[domain] += pods; }
  void filled();

  // ---- afterwards
  // Of a domain that exists. Counts may become negative.
  void change(Domain domain, std::int32_t by);
  // 0 for a domain that does not exist.
  std::int64_t of(Domain domain) const { return counts_[domain] == kAbsent ? 0 : counts_[domain]; }
  // By domain; domains that do not exist have a number of their own.
  std::span<const std::int64_t> numbers() const { return counts_; }
  std::size_t size() const { return size_; }
  // The greatest 32-bit number when there is no domain.
  std::int64_t smallest() const;

 private:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int32_t>::max();
  struct Changed {
    Domain domain;
    std::int32_t by;
  };

  std::vector<std::int64_t> counts_;  // by domain
  std::size_t size_ = 0;
  // As filled: the domain with the smallest count, that count, and the smallest of all others.
  Domain first_domain_ = kNoDomain;
  std::int64_t first_ = kAbsent;
  std::int64_t second_ = kAbsent;
  std::vector<Changed> changed_;  // domains that are not as filled, each once
};

}  // namespace berth::plugins
