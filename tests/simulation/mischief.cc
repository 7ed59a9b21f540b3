#include "mischief.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/check.h"
#include "framework/pods_in_pre_bind.h"

namespace berth::simulation {
namespace {

using namespace std::chrono_literals;

// Reserves by writing down that it did.
class Ledger final : public ReservePlugin {
 public:
  Ledger(std::string name, Mischief& mischief) : name_(std::move(name)), mischief_(mischief) {}
  std::string_view name() const override { return name_; }

  Outcome reserve(Cycle& cycle, std::string_view) override {
    if (mischief_.happens(0.04)) return Outcome::unschedulable("the ledger is full");
    if (mischief_.happens(0.02)) return Outcome::failure("the ledger is lost");
    note(ReserveStep::Kind::kReserved, cycle.pod());
    return {};
  }
  void unreserve(Cycle& cycle, std::string_view) override {
    if (mischief_.forgets_to_unreserve) return;
    note(ReserveStep::Kind::kUnreserved, cycle.pod());
  }

 private:
  void note(ReserveStep::Kind kind, const Pod& pod) const {
    mischief_.history().reserve_steps.push_back({kind, name_, key_of(pod)});
  }
  std::string name_;
  Mischief& mischief_;
};

// Holds the pods whose label names it.
class Warden final : public PermitPlugin {
 public:
  Warden(std::string name, Mischief& mischief, const Handle& handle)
      : name_(std::move(name)), mischief_(mischief), symbols_(handle.cluster.symbol_table()) {
    label_ = symbols_.intern(kHeldLabel);
  }
  std::string_view name() const override { return name_; }

  PermitResult permit(Cycle& cycle, std::string_view) override {
    const std::string_view holders = cycle.pod().text(cycle.pod().labels().get(label_));
    if (mischief_.happens(0.03)) return {Outcome::unschedulable("not today"), {}};
    if (mischief_.happens(0.01)) return {Outcome::failure("the warden is ill"), {}};
    if ((holders == name_ || holders == "Both") && mischief_.happens(0.9))
      return PermitResult::wait(mischief_.happens(0.2) ? 20min : mischief_.delay(60s));
    return {};
  }

 private:
  std::string name_;
  Mischief& mischief_;
  SymbolHold symbols_;
  Symbol label_;
};

// Takes its time; may fail; ends early when it is told to.
class Courier final : public PreBindPlugin {
 public:
  Courier(std::string name, Mischief& mischief, const Handle& handle)
      : name_(std::move(name)), mischief_(mischief), pods_in_pre_bind_(handle.pods_in_pre_bind) {}
  std::string_view name() const override { return name_; }

  PreBindPreFlight pre_bind_pre_flight(Cycle&, std::string_view) const override {
    PreBindPreFlight flight;
    if (mischief_.happens(0.01))
      flight.outcome = Outcome::failure("no courier");
    else if (mischief_.random().chance(0.5))
      flight.outcome = Outcome::skip();
    flight.allow_parallel = mischief_.random().chance(0.5);
    return flight;
  }

  Task<Outcome> pre_bind(Cycle& cycle, std::string_view, CancelToken cancel) override {
    if (mischief_.never_ends_pre_bind) {
      Eventual<bool> never;
      co_await never;
    }
    if (mischief_.happens(0.5)) {
      Eventual<bool> arrived;  // false: told to stop
      Loop& loop = mischief_.loop();
      const Timer arrival(loop, mischief_.delay(20s), [&arrived] { arrived.set(true); });
      const CancelToken::Registration stop = cancel.on_cancel([&arrived] { arrived.set(false); });
      // A more important pod may want the place.
      std::optional<Timer> preemption;
      if (mischief_.happens(0.2))
        preemption.emplace(loop, mischief_.delay(20s), [this, uid = cycle.pod().uid()] {
          pods_in_pre_bind_.cancel(uid, "preempted by Mischief");
        });
      const bool finished = co_await arrived;
      if (!finished) co_return Outcome::failure(std::string(kContextCanceled));
    }
    if (mischief_.happens(0.05)) co_return Outcome::unschedulable("the road is closed");
    if (mischief_.happens(0.05)) co_return Outcome::failure("the cart is broken");
    co_return Outcome::success();
  }

 private:
  // A timer that ends with the task that set it.
  class Timer {
   public:
    Timer(Loop& loop, Duration delay, Callback work)
        : loop_(loop), id_(loop.after(delay, std::move(work))) {}
    ~Timer() { loop_.cancel(id_); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    Loop& loop_;
    TimerId id_;
  };

  std::string name_;
  Mischief& mischief_;
  PodsInPreBind& pods_in_pre_bind_;
};

Error some_error(Random& random) {
  static constexpr ErrorKind kKinds[] = {ErrorKind::kTimeout, ErrorKind::kUnavailable,
                                         ErrorKind::kConflict, ErrorKind::kInternal};
  const ErrorKind kind = kKinds[random.below(std::size(kKinds))];
  return {kind, fmt::format("mischief: {}", to_string(kind))};
}

}  // namespace

void add_plugins(PluginTable& table, config::Configuration& configuration, Mischief& mischief) {
  using config::ExtensionPoint;
  using Make = std::function<std::unique_ptr<Plugin>(const std::string&, const Handle&)>;
  const auto add = [&](const std::string& name, ExtensionPoint point, Make make) {
    PluginEntry entry;
    entry.name = name;
    entry.create = [name, make = std::move(make)](const config::PluginArgs&, const Handle& handle)
        -> Result<std::unique_ptr<Plugin>> { return make(name, handle); };
    BERTH_CHECK(table.add(std::move(entry)).has_value());
    for (config::Profile& profile : configuration.profiles)
      profile.plugins.at(point).enabled.push_back({name, 0});
  };
  for (const char* name : {"LedgerA", "LedgerB"})
    add(name, ExtensionPoint::kReserve, [&mischief](const std::string& called, const Handle&) {
      return std::make_unique<Ledger>(called, mischief);
    });
  for (const char* name : {"Warden", "Usher"})
    add(name, ExtensionPoint::kPermit,
        [&mischief](const std::string& called, const Handle& handle) {
          return std::make_unique<Warden>(called, mischief, handle);
        });
  for (const char* name : {"CourierA", "CourierB"})
    add(name, ExtensionPoint::kPreBind,
        [&mischief](const std::string& called, const Handle& handle) {
          return std::make_unique<Courier>(called, mischief, handle);
        });
}

// ---- the API server

CallFate Mischief::fate_of(ApiCall call, const Pod& pod) {
  if (call == ApiCall::kBind) return bind_fate(pod);
  CallFate fate;
  if (happens(0.2)) {
    fate.error = some_error(random_);
    fate.takes_effect = random_.chance(0.5);
  }
  if (happens(0.1)) fate.extra_delay = delay(10s);
  if (happens(0.1)) fate.answer_delay = delay(10s);
  fate.takes_effect_twice = happens(0.05);
  if (fate.takes_effect_twice) fate.second_delay = delay(30s);
  // On the wire: whoever gives up waiting does not know what comes of it.
  fate.has_left = call == ApiCall::kPatchStatus && happens(0.5);
  return fate;
}

CallFate Mischief::bind_fate(const Pod& pod) {
  CallFate fate;
  if (happens(0.15)) {
    fate.error = some_error(random_);
    fate.takes_effect = false;
  } else if (happens(0.12)) {
    fate.error = some_error(random_);
  }
  if (happens(0.15)) fate.extra_delay = delay(30s);
  if (happens(0.15)) fate.answer_delay = delay(15s);
  fate.takes_effect_twice = happens(0.08);
  // The scheduler is told that the place is free again, and it is not.
  if (fate.error && (fate.takes_effect || fate.takes_effect_twice))
    history_.placed_unasked.insert(key_of(pod));
  return fate;
}

// ---- the extender

Task<Result<ExtenderVerdicts>> LateExtender::filter(Ref<const Pod>,
                                                    std::vector<std::string> nodes) {
  if (mischief_.happens(0.5)) {
    SleepUntil thought(mischief_.loop(), mischief_.loop().now() + mischief_.delay(5s));
    co_await thought;
  }
  if (mischief_.happens(0.05)) co_return fail(ErrorKind::kUnavailable, "the extender is out");
  ExtenderVerdicts verdicts;
  for (std::string& node : nodes) {
    if (mischief_.happens(0.1))
      verdicts.failed[node] = "the extender does not like it";
    else
      verdicts.nodes.push_back(std::move(node));
  }
  co_return verdicts;
}

Task<Result<std::vector<ExtenderScore>>> LateExtender::prioritize(Ref<const Pod>,
                                                                  std::vector<std::string> nodes) {
  if (mischief_.happens(0.3)) {
    SleepUntil thought(mischief_.loop(), mischief_.loop().now() + mischief_.delay(2s));
    co_await thought;
  }
  if (mischief_.happens(0.05)) co_return fail(ErrorKind::kTimeout, "the extender is asleep");
  std::vector<ExtenderScore> scores;
  for (std::string& node : nodes)
    scores.push_back({std::move(node), static_cast<std::int64_t>(mischief_.random().below(11))});
  co_return scores;
}

Task<Result<void>> LateExtender::bind(Ref<const Pod>, std::string) { co_return Result<void>(); }

}  // namespace berth::simulation
