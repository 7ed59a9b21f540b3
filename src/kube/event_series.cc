#include "kube/event_series.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/time_text.h"

namespace berth::kube {
namespace {

constexpr std::size_t kLongestName = 253;

// Labels of small letters, digits and inner hyphens, with dots between them.
bool is_dns_subdomain(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  bool in_label = false;
  char last = '.';
  for (const char c : name) {
    if (c == '.') {
      if (!in_label || last == '-') return false;
      in_label = false;
    } else if (c == '-') {
      if (!in_label) return false;
    } else if (is_lower_case(c) || is_digit(c)) {
      in_label = true;
    } else {
      return false;
    }
    last = c;
  }
  return is_lower_case(last) || is_digit(last);
}

std::string random_uuid(Random& random) {
  const std::uint64_t high = (random.next() & ~std::uint64_t{0xf000}) | 0x4000;
  const std::uint64_t low = (random.next() >> 2) | (std::uint64_t{1} << 63);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffff);
}

std::string_view type_of(const PodEvent& event) {
  return event.type == EventType::kWarning ? "Warning" : "Normal";
}

// Parity: the note does not count, the version of the object does.
Uid key_of(const PodEvent& event) {
  const auto append = [](std::string& key, std::string_view part) {
    key += part;
    key += '\0';
  };
  std::string key;
  for (const std::string_view part :
       {type_of(event), std::string_view(event.action), std::string_view(event.reason),
        std::string_view(event.reporting_controller)})
    append(key, part);
  for (const Ref<const Pod>& pod : {event.pod, event.related}) {
    if (!pod) continue;
    for (const std::string_view part : {pod->namespace_name(), pod->name()}) append(key, part);
    append(key, pod->uid_text());
    append(key, pod->resource_version());
  }
  return Uid::of(key);
}

}  // namespace

std::string event_name(std::string_view object_name, WallTime time, Random& random) {
  std::string name = fmt::format("{}.{:x}", object_name, time.since_epoch.count());
  return is_dns_subdomain(name) ? name : random_uuid(random);
}

ObjectReference reference_to(const Pod& pod) {
  return {.kind = "Pod",
          .namespace_name = std::string(pod.namespace_name()),
          .name = std::string(pod.name()),
          .uid = pod.uid_text(),
          .api_version = "v1",
          .resource_version = std::string(pod.resource_version()),
          .field_path = {}};
}

EventRequest request_of(const Occurrence& occurrence, std::string_view hostname) {
  const PodEvent& event = occurrence.event;
  EventRequest request;
  request.namespace_name = event.pod->namespace_name();
  if (request.namespace_name.empty()) request.namespace_name = "default";
  request.name = occurrence.name;
  request.event_time = occurrence.time;
  request.series = occurrence.series;
  request.reporting_controller = event.reporting_controller;
  request.reporting_instance = fmt::format("{}-{}", event.reporting_controller, hostname);
  request.action = event.action;
  request.reason = event.reason;
  request.regarding = reference_to(*event.pod);
  if (event.related) request.related = reference_to(*event.related);
  request.note = event.note;
  request.type = type_of(event);
  return request;
}

std::string series_patch(const EventSeries& series) {
  return fmt::format(R"({{"series":{{"count":{},"lastObservedTime":"{}"}}}})", series.count,
                     rfc3339_micro(series.last_observed));
}

std::optional<Occurrence> SeriesOfEvents::add(Occurrence occurrence) {
  const Uid key = key_of(occurrence.event);
  Occurrence* first = seen_.find(key);
  if (first == nullptr) return seen_.set(key, std::move(occurrence));
  if (first->series) {
    ++first->series->count;
    first->series->last_observed = occurrence.time;
    return std::nullopt;
  }
  first->series = EventSeries{.count = 2, .last_observed = occurrence.time};
  return *first;
}

std::vector<Occurrence> SeriesOfEvents::running() {
  std::vector<Occurrence> series;
  seen_.for_each([&](const Occurrence& occurrence) {
    if (occurrence.series) series.push_back(occurrence);
  });
  return series;
}

std::vector<Occurrence> SeriesOfEvents::take_finished(WallTime now) {
  std::vector<Occurrence> series;
  seen_.erase_if([&](Occurrence& occurrence) {
    const WallTime last = occurrence.series ? occurrence.series->last_observed : occurrence.time;
    if (now - last <= kFinishAfter) return false;
    if (occurrence.series) series.push_back(std::move(occurrence));
    return true;
  });
  return series;
}

}  // namespace berth::kube
