#include "memapi/table_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time_text.h"
#include "memapi/resources.h"
#include "memapi/table_cells.h"
#include "memapi/table_pods.h"

namespace berth::memapi {

// ---- cells --------------------------------------------------------------------------------------

std::string cell::joined(const std::vector<JsonValue>& items, std::string_view member) {
  std::string all;
  for (const JsonValue& item : items) {
    if (!all.empty()) all += ',';
    all += member.empty() ? std::string_view(item.text) : text_at(item, member);
  }
  return all;
}

std::string cell::selector_text(const JsonValue* labels) {
  if (!is_object(labels) || labels->members.empty()) return "<none>";
  std::string all;
  for (const JsonMember& label : labels->members) {
    if (!all.empty()) all += ',';
    all += fmt::format("{}={}", label.name, label.value.text);
  }
  return all;
}

// ---- tables -------------------------------------------------------------------------------------

namespace {

constexpr Column kUsual[] = {{"Name"}, {"Age"}};
void usual_cells(const JsonValue& object, WallTime now, Cells& cells) {
  cells = {cell::name(object), cell::age(object, now)};
}

constexpr Table kUsualTable{"", kUsual, usual_cells};

const Table& table_of(const Resource& resource) {
  for (const std::span<const Table> tables :
       {cluster_tables(), storage_tables(), workload_tables()})
    if (const auto found = std::ranges::find(tables, resource.plural, &Table::plural);
        found != tables.end())
      return *found;
  return kUsualTable;
}

}  // namespace

std::span<const Column> table_columns(const Resource& resource) {
  return resource.plural == "pods" ? pod_columns() : table_of(resource).columns;
}

std::vector<JsonValue> table_cells(const Resource& resource, const JsonValue& object,
                                   WallTime now) {
  Cells cells;
  if (resource.plural == "pods") return pod_cells(object, now);
  table_of(resource).cells(object, now, cells);
  return cells;
}

// ---- time ---------------------------------------------------------------------------------------

std::string human_duration(Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return fmt::format("{}s", seconds);
  const std::int64_t minutes = seconds / 60;
  const auto pair = [](std::int64_t high, char high_unit, std::int64_t low, char low_unit) {
    return low == 0 ? fmt::format("{}{}", high, high_unit)
                    : fmt::format("{}{}{}{}", high, high_unit, low, low_unit);
  };
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 365L * 2) return fmt::format("{}d", days);
  if (days < 365L * 8) return pair(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

std::string age_text(std::string_view timestamp, WallTime now) {
  const Result<WallTime> then = parse_rfc3339(timestamp);
  return then ? human_duration(now - *then) : "<unknown>";
}

}  // namespace berth::memapi
