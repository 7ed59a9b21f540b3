#include "plugins/dynamic_resources/allocator_selectors.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <variant>

namespace berth::plugins {
namespace {

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

Result<bool> SelectorTable::matches(SelectorId selector, const ResourceSlice& slice,
                                    std::uint32_t device, SelectorAnswers& answers) {
  using Answer = SelectorAnswers::Answer;
  Answer& known = answers.at(selector, device, slice.devices.size(), epoch_);
  if (known == Answer::kYes || known == Answer::kNo) return known == Answer::kYes;

  ++evaluations_;
  // An error ends the attempt: rare enough to be found again each time.
  Expression& expression = expressions_[selector];
  if (!expression.compiled)
    expression.compiled = DeviceSelector::compile(*expression.text, features_);
  if (!*expression.compiled) {
    return fail(ErrorKind::kInvalid, "CEL compile error: " + expression.compiled->error().message);
  }
  const Result<bool> matches =
      (**expression.compiled)->matches(describe(slice, slice.devices[device]));
  if (!matches) {
    known = Answer::kError;
    return fail(ErrorKind::kInvalid, "CEL runtime error: " + matches.error().message);
  }
  known = *matches ? Answer::kYes : Answer::kNo;
  return *matches;
}

void SelectorTable::trim() {
  if (expressions_.size() <= kMaxExpressions) return;
  ++epoch_;
  ids_.clear();
  expressions_.clear();
}

}  // namespace berth::plugins
