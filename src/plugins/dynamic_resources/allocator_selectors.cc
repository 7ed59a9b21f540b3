#include "plugins/dynamic_resources/allocator_selectors.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <variant>

namespace berth::plugins {
namespace {

// What an expression that looks for something absent had better do.
constexpr std::string_view kNoSuchKeyHint =
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
    "has() for optional fields";

// Adds one attribute to the description of a device.
struct AddAttribute {
  SelectorDevice& device;
  std::string_view name;

  void operator()(std::monostate) const { device.add_unsupported(name); }
  void operator()(std::int64_t value) const { device.add_attribute(name, value); }
  void operator()(bool value) const { device.add_attribute(name, value); }
  void operator()(const std::string& value) const {
    device.add_attribute(name, std::string_view(value));
  }
  void operator()(const DeviceVersion& value) const { device.add_version(name, value.text); }
  void operator()(const std::vector<std::int64_t>& values) const { device.add_list(name, values); }
  void operator()(const std::vector<bool>& values) const {
    const auto flags = std::make_unique<bool[]>(values.size());
    std::ranges::copy(values, flags.get());
    device.add_list(name, std::span<const bool>(flags.get(), values.size()));
  }
  void operator()(const std::vector<std::string>& values) const { device.add_list(name, values); }
  void operator()(const std::vector<DeviceVersion>& values) const {
    std::vector<std::string> versions;
    for (const DeviceVersion& value : values) versions.push_back(value.text);
    device.add_version_list(name, versions);
  }
};

}  // namespace

SelectorAnswers::Answer& SelectorAnswers::at(SelectorId selector, std::uint32_t device,
                                             std::size_t devices, std::uint64_t epoch) {
  if (epoch_ != epoch) {
    selectors_.clear();
    epoch_ = epoch;
  }
  auto found = std::ranges::lower_bound(selectors_, selector, {}, &OfSelector::selector);
  if (found == selectors_.end() || found->selector != selector) {
    found = selectors_.insert(found, {selector, std::vector<Answer>(devices, Answer::kUnknown)});
  }
  return found->by_device[device];
}

SelectorId SelectorTable::id_of(const std::string& expression) {
  const auto [entry, added] =
      ids_.try_emplace(expression, static_cast<SelectorId>(expressions_.size()));
  if (added) expressions_.push_back({&entry->first, {}});
  return entry->second;
}

SelectorDevice SelectorTable::describe(const ResourceSlice& slice, const Device& device) const {
  SelectorDevice out(std::string(symbols_->text(slice.driver)),
                     allow_multiple_allocations_ && device.allow_multiple_allocations);
  for (const DeviceAttribute& attribute : device.attributes)
    std::visit(AddAttribute{out, symbols_->text(attribute.name)}, attribute.value);
  for (const DeviceCapacity& capacity : device.capacity)
    out.add_capacity(symbols_->text(capacity.name), capacity.value);
  return out;
}

std::optional<Result<bool>> SelectorTable::matches(SelectorId selector,
                                                   const Ref<const ResourceSlice>& slice,
                                                   std::uint32_t device, SelectorAnswers& answers,
                                                   const MayWait& may_wait) {
  using Answer = SelectorAnswers::Answer;
  const auto too_long = [] { return fail(ErrorKind::kTimeout, "CEL runtime error: interrupted"); };
  const Answer known = answers.at(selector, device, slice->devices.size(), epoch_);
  if (known == Answer::kYes || known == Answer::kNo) return known == Answer::kYes;
  if (known == Answer::kTooLong) return too_long();

  ++evaluations_;
  // An error ends the attempt: rare enough to be found again each time.
  Expression& expression = expressions_[selector];
  if (!expression.compiled) expression.compiled = DeviceSelector::compile(*expression.text);
  if (!*expression.compiled) {
    return fail(ErrorKind::kInvalid, "CEL compile error: " + expression.compiled->error().message);
  }
  std::optional<Result<bool>> matches =
      evaluate(selector, **expression.compiled, slice, device, may_wait);
  if (!matches) return std::nullopt;
  Answer& answer = answers.at(selector, device, slice->devices.size(), epoch_);
  if (*matches) {
    answer = **matches ? Answer::kYes : Answer::kNo;
    return matches;
  }
  if (matches->error().kind == ErrorKind::kTimeout) {
    answer = Answer::kTooLong;
    return too_long();
  }
  answer = Answer::kError;
  std::string message = "CEL runtime error: " + matches->error().message;
  if (message.find("no such key:") != std::string::npos) message += kNoSuchKeyHint;
  return fail(ErrorKind::kInternal, std::move(message));
}

std::optional<Result<bool>> SelectorTable::evaluate(
    SelectorId selector, const std::shared_ptr<const DeviceSelector>& compiled,
    const Ref<const ResourceSlice>& slice, std::uint32_t device, const MayWait& may_wait) {
  const bool is_under_way = long_ && long_->selector == selector && long_->epoch == epoch_ &&
                            long_->slice == slice && long_->device == device;
  if (!is_under_way) {
    if (long_) long_->job->cancel();
    long_.reset();
    SelectorDevice described = describe(*slice, slice->devices[device]);
    Result<bool> quick = compiled->matches(described, {.steps = kQuickSteps});
    if (quick || quick.error().kind != ErrorKind::kTimeout) return quick;
    // It begins anew, with as much time as there is.
    const auto answer = std::make_shared<Result<bool>>();
    const auto asked = std::make_shared<const SelectorDevice>(std::move(described));
    long_ = {selector,
             epoch_,
             slice,
             device,
             answer,
             worker_.start([=](const std::atomic<bool>& cancelled) {
               *answer = compiled->matches(*asked, {.cancelled = &cancelled});
             })};
  }
  while (!long_->job->wait(std::chrono::milliseconds(1)))
    if (!may_wait()) return std::nullopt;
  Result<bool> answer = std::move(*long_->answer);
  long_.reset();
  return answer;
}

void SelectorTable::trim() {
  if (expressions_.size() <= kMaxExpressions) return;
  ++epoch_;
  ids_.clear();
  expressions_.clear();
}

}  // namespace berth::plugins
