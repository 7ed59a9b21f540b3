#include "kube/core_event_correlator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "base/time_text.h"
#include "wire/json_text.h"

namespace berth::kube {
namespace {

constexpr std::size_t kMostSimilar = 10;
constexpr Duration kSimilarFor = std::chrono::minutes(10);
constexpr std::string_view kCombined = "(combined from similar events): ";
constexpr double kBurst = 25;
constexpr std::chrono::duration<double> kOneMoreEvery = std::chrono::minutes(5);

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) {
    key += part;
    key += '\0';
  }
  return key;
}

std::string source_and_object(const CoreEventRequest& event) {
  const ObjectReference& object = event.involved_object;
  return joined({event.component, object.kind, object.namespace_name, object.name, object.uid,
                 object.api_version, event.type});
}

}  // namespace

std::optional<CoreEventCorrelator::Write> CoreEventCorrelator::add(CoreEventRequest event,
                                                                   TimePoint now) {
  const std::string key = combine(event, now);
  std::string patch = observe(event, key);
  // Parity: what is held back was counted all the same.
  if (!allowed(event, now)) return std::nullopt;
  return Write{std::move(event), std::move(patch)};
}

// The key under which the event counts. With many similar ones about, it becomes one for all.
std::string CoreEventCorrelator::combine(CoreEventRequest& event, TimePoint now) {
  const std::string own = joined(
      {source_and_object(event), event.involved_object.field_path, event.reason, event.message});
  std::string common = joined({source_and_object(event), event.reason, event.reporting_controller,
                               event.reporting_instance});
  Similar* similar = similar_.find(common);
  if (similar == nullptr || now - similar->last > kSimilarFor)
    similar = &similar_.set(common, Similar{});
  similar->messages.insert(event.message);
  similar->last = now;
  if (similar->messages.size() < kMostSimilar) return own;

  similar->messages.erase(similar->messages.begin());
  event.message = fmt::format("{}{}", kCombined, event.message);
  // Parity: the common one does not say who reports it.
  event.reporting_controller.clear();
  event.reporting_instance.clear();
  return common;
}

std::string CoreEventCorrelator::observe(CoreEventRequest& event, const std::string& key) {
  Seen* seen = seen_.find(key);
  if (seen == nullptr) {
    seen_.set(key, {event.count, event.first_timestamp, event.name});
    return {};
  }
  event.name = seen->name;
  event.first_timestamp = seen->first;
  event.count = ++seen->count;
  std::string patch = fmt::format(R"({{"count":{},"lastTimestamp":"{}")", event.count,
                                  rfc3339(event.last_timestamp));
  if (!event.message.empty()) {
    patch += R"(,"message":)";
    append_json_string(patch, event.message);
  }
  return patch + "}";
}

bool CoreEventCorrelator::allowed(const CoreEventRequest& event, TimePoint now) {
  const std::string key = source_and_object(event);
  Allowance* allowance = allowances_.find(key);
  if (allowance == nullptr) allowance = &allowances_.set(key, {kBurst, now});
  allowance->left = std::min(kBurst, allowance->left + (now - allowance->since) / kOneMoreEvery);
  allowance->since = now;
  if (allowance->left < 1) return false;
  allowance->left -= 1;
  return true;
}

}  // namespace berth::kube
