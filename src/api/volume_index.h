// VolumeIndex: PersistentVolumes by the claim that they name and, those that name none, by storage
// class. For whoever plays the volume controller. One thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/storage.h"
#include "berth/symbols.h"

namespace berth {

// Whether the volume is, or is to be, this claim's.
bool names_claim(const PersistentVolume& volume, const PersistentVolumeClaim& claim);

// Whether a volume that is nobody's would do for the claim (but for where it can be reached).
bool suits(const PersistentVolume& volume, const PersistentVolumeClaim& claim,
           const Symbols& symbols);

class VolumeIndex {
 public:
  void put(Ref<const PersistentVolume> volume);
  void remove(std::string_view name);

  Ref<const PersistentVolume> find(std::string_view name) const;
  // One that names the claim.
  Ref<const PersistentVolume> of(const PersistentVolumeClaim& claim) const;
  // Of those that are nobody's and would do, the smallest; of equals the first by name.
  Ref<const PersistentVolume> smallest_for(const PersistentVolumeClaim& claim,
                                           const Symbols& symbols) const;

 private:
  struct ClaimName {
    Symbol namespace_name;
    std::string name;
    friend auto operator<=>(const ClaimName&, const ClaimName&) = default;
  };
  using Names = std::set<std::string, std::less<>>;

  std::map<std::string, Ref<const PersistentVolume>, std::less<>> volumes_;
  std::map<ClaimName, Names> claimed_;
  std::map<Symbol, Names> free_;  // by class
};

}  // namespace berth
