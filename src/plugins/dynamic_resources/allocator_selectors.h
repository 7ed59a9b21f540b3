// Keeps the results of device selectors: every expression is compiled once, and evaluated once for
// each device of a slice. An evaluation that takes long goes on in another thread. For the
// allocator's own files.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/devices.h"
#include "base/worker.h"
#include "berth/result.h"
#include "cel/device_selector.h"

namespace berth::plugins {

// An expression, as long as the table's epoch is the same.
using SelectorId = std::uint32_t;

// The answers of one slice: by expression and device.
class SelectorAnswers {
 public:
  enum class Answer : std::uint8_t { kUnknown, kNo, kYes, kError, kTooLong };

  // Of a device that was not asked yet: kUnknown.
  Answer& at(SelectorId selector, std::uint32_t device, std::size_t devices, std::uint64_t epoch);

 private:
  struct OfSelector {
    SelectorId selector;
    std::vector<Answer> by_device;
  };
  std::uint64_t epoch_ = 0;
  std::vector<OfSelector> selectors_;  // sorted
};

class SelectorTable {
 public:
  SelectorTable(std::shared_ptr<const Symbols> symbols, bool allow_multiple_allocations)
      : symbols_(std::move(symbols)), allow_multiple_allocations_(allow_multiple_allocations) {}

  SelectorId id_of(const std::string& expression);

  // Whether the selector matches the device. Errors begin with "CEL compile error: " (kInvalid) or
  // "CEL runtime error: " (kInternal); kTimeout is one that takes too long ever to be answered.
  //
  // While an evaluation goes on in another thread, `may_wait` is called every millisecond. When it
  // returns false the result is nullopt; the same call later waits for the same evaluation, another
  // one gives it up.
  using MayWait = std::function<bool()>;
  std::optional<Result<bool>> matches(SelectorId selector, const Ref<const ResourceSlice>& slice,
                                      std::uint32_t device, SelectorAnswers& answers,
                                      const MayWait& may_wait);
  // ... waits as long as it takes.
  Result<bool> matches(SelectorId selector, const Ref<const ResourceSlice>& slice,
                       std::uint32_t device, SelectorAnswers& answers) {
    return *matches(selector, slice, device, answers, [] { return true; });
  }

  // Forgets expressions when there are too many: people may write as many as they like. Everything
  // that is known of earlier epochs is void then.
  void trim();
  std::uint64_t epoch() const { return epoch_; }
  // How often an expression was evaluated: an answer that is kept does not count.
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  struct Expression {
    const std::string* text = nullptr;
    std::optional<Result<std::shared_ptr<const DeviceSelector>>> compiled;
  };
  static constexpr std::size_t kMaxExpressions = 512;

  // Evaluations of so many steps are done at once: less than a millisecond.
  static constexpr std::uint64_t kQuickSteps = 10'000;
  // One that takes longer. Its answer may be read when the job is done.
  struct LongEvaluation {
    SelectorId selector = 0;
    std::uint64_t epoch = 0;
    Ref<const ResourceSlice> slice;
    std::uint32_t device = 0;
    std::shared_ptr<Result<bool>> answer;
    std::shared_ptr<Worker::Job> job;
  };

  SelectorDevice describe(const ResourceSlice& slice, const Device& device) const;
  std::optional<Result<bool>> evaluate(SelectorId selector,
                                       const std::shared_ptr<const DeviceSelector>& compiled,
                                       const Ref<const ResourceSlice>& slice, std::uint32_t device,
                                       const MayWait& may_wait);

  std::shared_ptr<const Symbols> symbols_;
  bool allow_multiple_allocations_;  // whether selectors see it
  std::uint64_t epoch_ = 1;
  std::uint64_t evaluations_ = 0;
  std::map<std::string, SelectorId, std::less<>> ids_;
  std::vector<Expression> expressions_;
  std::optional<LongEvaluation> long_;
  Worker worker_{"selectors"};
};

}  // namespace berth::plugins
