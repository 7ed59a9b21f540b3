// Tables of custom resources: the columns that a definition says, found in objects by JSONPath.

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "memapi/crd_objects.h"
#include "memapi/json_edit.h"
#include "memapi/table_columns.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kNameText =
    "Name must be unique within a namespace. Required when creating resources.";

// Follows a JSONPath as far as columns use it: .name, ['name'], [0], [*], and [?(@.a=="b")].
class PathWalk {
 public:
  explicit PathWalk(std::string_view path) : left_(path) {}

  // Nothing for a path that is none.
  std::optional<std::vector<const JsonValue*>> find(const JsonValue& root) {
    std::vector<const JsonValue*> found{&root};
    while (!left_.empty()) {
      std::vector<const JsonValue*> next;
      if (left_.starts_with('[')) {
        const std::optional<std::string_view> inside = bracketed();
        if (!inside || !step_into(*inside, found, next)) return std::nullopt;
      } else if (left_.starts_with('.')) {
        left_.remove_prefix(1);
        if (left_.starts_with('[')) continue;
        step_to(name(), found, next);
      } else {
        return std::nullopt;
      }
      found = std::move(next);
    }
    return found;
  }

 private:
  // A name ends at a dot or a bracket that no backslash precedes.
  std::string name() {
    std::string text;
    while (!left_.empty() && left_.front() != '.' && left_.front() != '[') {
      if (left_.front() == '\\' && left_.size() > 1) left_.remove_prefix(1);
      text += left_.front();
      left_.remove_prefix(1);
    }
    return text;
  }

  // What stands between brackets; quotes may hold brackets.
  std::optional<std::string_view> bracketed() {
    char quote = 0;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const char c = left_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']' && --depth == 0) {
        const std::string_view inside = left_.substr(1, i - 1);
        left_.remove_prefix(i + 1);
        return inside;
      }
    }
    return std::nullopt;
  }

  static void step_to(const std::string& name, const std::vector<const JsonValue*>& from,
                      std::vector<const JsonValue*>& to) {
    for (const JsonValue* value : from) {
      if (name == "*") {
        add_all(*value, to);
      } else if (value->kind == JsonValue::Kind::kObject) {
        if (const JsonValue* found = value->find(name)) to.push_back(found);
      }
    }
  }

  static void add_all(const JsonValue& value, std::vector<const JsonValue*>& to) {
    for (const JsonValue& item : value.items) to.push_back(&item);
    for (const JsonMember& member : value.members) to.push_back(&member.value);
  }

  static bool step_into(std::string_view inside, const std::vector<const JsonValue*>& from,
                        std::vector<const JsonValue*>& to) {
    if (inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"')) {
      step_to(std::string(inside.substr(1, inside.size() - 2)), from, to);
      return true;
    }
    if (inside.starts_with("?(") && inside.ends_with(')'))
      return filter(inside.substr(2, inside.size() - 3), from, to);
    if (inside == "*") {
      for (const JsonValue* value : from) add_all(*value, to);
      return true;
    }
    std::int64_t index = 0;
    const char* end = inside.data() + inside.size();
    const auto [stop, error] = std::from_chars(inside.data(), end, index);
    if (error != std::errc() || stop != end) return false;
    for (const JsonValue* value : from) {
      const auto size = static_cast<std::int64_t>(value->items.size());
      const std::int64_t place = index < 0 ? index + size : index;
      if (place >= 0 && place < size) to.push_back(&value->items[static_cast<std::size_t>(place)]);
    }
    return true;
  }

  static std::string_view trimmed_side(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
  }

  // "@.type=="Ready"", or "@.x" for those that have it.
  static bool filter(std::string_view condition, const std::vector<const JsonValue*>& from,
                     std::vector<const JsonValue*>& to) {
    std::size_t place = condition.find("==");
    const bool equals = place != std::string_view::npos;
    if (!equals) place = condition.find("!=");
    std::string_view left = trimmed_side(condition.substr(0, place));
    if (!left.starts_with('@')) return false;
    left.remove_prefix(1);
    std::string_view right;
    if (place != std::string_view::npos) {
      right = trimmed_side(condition.substr(place + 2));
      if (right.size() >= 2 && (right.front() == '"' || right.front() == '\''))
        right = right.substr(1, right.size() - 2);
    }
    for (const JsonValue* value : from) {
      for (const JsonValue& item : value->items) {
        const auto found = PathWalk(left).find(item);
        if (!found) return false;
        if (place == std::string_view::npos) {
          if (!found->empty()) to.push_back(&item);
          continue;
        }
        const bool same = !found->empty() && text_of(*found->front()) == right;
        if (same == equals) to.push_back(&item);
      }
    }
    return true;
  }

  static std::string text_of(const JsonValue& value) {
    if (value.kind == JsonValue::Kind::kBool) return value.boolean ? "true" : "false";
    return value.text;
  }

  std::string_view left_;
};

JsonValue cell_of(const JsonValue& value, std::string_view type, WallTime now) {
  using Kind = JsonValue::Kind;
  if (type == "integer" || type == "number") {
    if (value.kind != Kind::kNumber) return {};
    if (type == "number") return value;
    return JsonValue::of_int(static_cast<std::int64_t>(std::strtod(value.text.c_str(), nullptr)));
  }
  if (type == "boolean") return value.kind == Kind::kBool ? value : JsonValue();
  if (type == "date") {
    if (value.kind != Kind::kString) return {};
    return JsonValue::of_text(age_text(value.text, now));
  }
  switch (value.kind) {
    case Kind::kNull: return {};
    case Kind::kBool: return JsonValue::of_text(value.boolean ? "true" : "false");
    case Kind::kNumber:
    case Kind::kString: return JsonValue::of_text(value.text);
    default: return JsonValue::of_text(to_json(value));
  }
}

JsonValue column_definition(std::string_view name, std::string_view type, std::string_view format,
                            std::string_view description, std::int64_t priority) {
  JsonValue definition = JsonValue::object();
  definition.add("name", JsonValue::of_text(name));
  definition.add("type", JsonValue::of_text(type));
  definition.add("format", JsonValue::of_text(format));
  definition.add("description", JsonValue::of_text(description));
  definition.add("priority", JsonValue::of_int(priority));
  return definition;
}

}  // namespace

JsonValue custom_column_definitions(const CustomKind& kind) {
  JsonValue list = JsonValue::array();
  list.items.push_back(column_definition("Name", "string", "name", kNameText, 0));
  for (const CustomColumn& column : kind.columns) {
    list.items.push_back(column_definition(
        column.name, column.type, column.format,
        column.description.empty()
            ? "Custom resource definition column (in JSONPath format): " + column.path
            : column.description,
        column.priority));
  }
  return list;
}

std::vector<JsonValue> custom_cells(const CustomKind& kind, const JsonValue& object, WallTime now) {
  std::vector<JsonValue> cells;
  cells.push_back(JsonValue::of_text(text_at(object, "metadata.name")));
  for (const CustomColumn& column : kind.columns) {
    const auto found = PathWalk(column.path).find(object);
    cells.push_back(found && !found->empty() ? cell_of(*found->front(), column.type, now)
                                             : JsonValue());
  }
  return cells;
}

}  // namespace berth::memapi
