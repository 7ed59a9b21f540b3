#include "api/field_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "api/schema.h"
#include "base/ascii.h"
#include "base/go_quote.h"

namespace berth {
namespace {

// The names of a message, those of its inline messages among them.
template <typename OnField>
void each_named(schema::MessageId message, OnField&& on_field) {
  for (const schema::Field& field : schema::fields_of(message)) {
    if (field.is(schema::kInline)) {
      each_named(field.message, on_field);
    } else {
      on_field(field);
    }
  }
}

// How many letters have to be put in, left out or replaced, whatever their case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower_case(a[i]) == lower_case(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

class Walk {
 public:
  explicit Walk(bool patch) : patch_(patch) {}

  // Ends early when the faults have become large: their paths may be as long as the object.
  void object(schema::MessageId message, const JsonValue& value, const std::string& path) {
    if (value.kind != JsonValue::Kind::kObject) return;
    std::set<std::string_view> seen;
    for (const JsonMember& member : value.members) {
      if (bytes_ > kMostBytes) return;
      if (patch_ && (member.name.starts_with('$') || member.value.is_null())) continue;
      const std::string here = path.empty() ? member.name : fmt::format("{}.{}", path, member.name);
      if (!seen.insert(member.name).second) {
        add({FieldFault::Kind::kDuplicate, here, member.name, message});
        continue;
      }
      if (const schema::Field* field = schema::find_field(message, member.name)) {
        this->value(*field, member.value, here);
        continue;
      }
      // Objects inside others (claim templates) may name their kind.
      const bool names_kind = (member.name == "kind" || member.name == "apiVersion") &&
                              schema::find_field(message, "metadata") != nullptr;
      if (!names_kind) add({FieldFault::Kind::kUnknown, here, member.name, message});
    }
  }

  std::vector<FieldFault> faults;

 private:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  void add(FieldFault fault) {
    bytes_ += fault.path.size() + fault.name.size();
    faults.push_back(std::move(fault));
  }
  void value(const schema::Field& field, const JsonValue& value, const std::string& path) {
    const bool message = field.type == schema::Type::kMessage;
    if (field.is(schema::kMap) && value.kind == JsonValue::Kind::kObject) {
      std::set<std::string_view> seen;
      for (const JsonMember& member : value.members) {
        if (bytes_ > kMostBytes) return;
        const std::string here = fmt::format("{}.{}", path, member.name);
        if (!seen.insert(member.name).second) {
          add({FieldFault::Kind::kDuplicate, here, member.name, field.message});
        } else if (message) {
          object(field.message, member.value, here);
        }
      }
    } else if (message && field.is(schema::kRepeated)) {
      for (std::size_t i = 0; i < value.items.size(); ++i)
        object(field.message, value.items[i], fmt::format("{}[{}]", path, i));
    } else if (message) {
      object(field.message, value, path);
    }
  }

  const bool patch_;
  std::size_t bytes_ = 0;  // of faults
};

std::vector<FieldFault> check(std::string_view api_version, std::string_view kind,
                              const JsonValue& object, bool patch) {
  const auto message = schema::find_message(api_version, kind);
  if (!message) return {};
  Walk walk(patch);
  walk.object(*message, object, "");
  return std::move(walk.faults);
}

}  // namespace

std::string FieldFault::text() const {
  return fmt::format("{} field {}", kind == Kind::kUnknown ? "unknown" : "duplicate",
                     go_quoted(path));
}

std::string FieldFault::meant() const {
  constexpr std::size_t kLongestName = 64;  // what is longer was not mistyped
  std::string nearest;
  if (kind != Kind::kUnknown || name.size() > kLongestName) return nearest;
  std::size_t least = name.size() < 5 ? 2 : 3;  // so far apart they are two words
  each_named(message, [&](const schema::Field& field) {
    const std::size_t distance = edit_distance(name, field.name);
    if (distance >= least) return;
    least = distance;
    nearest = field.name;
  });
  return nearest;
}

std::vector<FieldFault> check_fields(std::string_view api_version, std::string_view kind,
                                     const JsonValue& object) {
  return check(api_version, kind, object, /*patch=*/false);
}

std::vector<FieldFault> check_patch_fields(std::string_view api_version, std::string_view kind,
                                           const JsonValue& patch) {
  return check(api_version, kind, patch, /*patch=*/true);
}

}  // namespace berth
