// Mischief: everything in a run that misbehaves. Plugins that refuse, hold pods, take their time
// and fail; an extender that answers late; an API server whose answers are not to be trusted. Until
// it is lifted: then all of them behave.
//
// The plugins also keep the books: what was reserved and given back is recorded by those who did
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/random.h"
#include "config/configuration.h"
#include "framework/extender.h"
#include "history.h"
#include "sim/sim_cluster.h"

namespace berth::simulation {

class Mischief {
 public:
  Mischief(Loop& loop, History& history, std::uint64_t seed)
      : loop_(loop), history_(history), random_(seed) {}

  // From now on nothing goes wrong any more.
  void lift() { lifted_ = true; }

  // Whether something with this probability goes wrong now.
  bool happens(double probability) { return !lifted_ && random_.chance(probability); }
  Duration delay(Duration longest) {
    return Duration(
        static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(longest.count()) + 1)));
  }
  Random& random() { return random_; }
  Loop& loop() { return loop_; }
  History& history() { return history_; }

  CallFate fate_of(ApiCall call, const Pod& pod);

  // Bugs to plant, for tests of the invariants.
  bool forgets_to_unreserve = false;
  bool never_ends_pre_bind = false;

 private:
  CallFate bind_fate(const Pod& pod);

  Loop& loop_;
  History& history_;
  Random random_;
  bool lifted_ = false;
};

// Pods with this label are held at Permit by the plugins that its value names, "Warden", "Usher" or
// "Both".
inline constexpr std::string_view kHeldLabel = "held-by";

// Adds the plugins to the table and to every profile of the configuration.
void add_plugins(PluginTable& table, config::Configuration& configuration, Mischief& mischief);

// Asked about pods whose name ends in an odd digit.
class LateExtender final : public Extender {
 public:
  explicit LateExtender(Mischief& mischief) : mischief_(mischief) {}

  std::string_view name() const override { return "late"; }
  bool interested_in(const Pod& pod) const override { return (pod.name().back() - '0') % 2 == 1; }
  bool ignorable() const override { return false; }
  bool filters() const override { return true; }
  bool prioritizes() const override { return true; }
  bool binds() const override { return false; }
  std::int64_t weight() const override { return 1; }

  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod> pod,
                                        std::vector<std::string> nodes) override;
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod> pod,
                                                      std::vector<std::string> nodes) override;
  Task<Result<void>> bind(Ref<const Pod> pod, std::string node) override;

 private:
  Mischief& mischief_;
};

}  // namespace berth::simulation
