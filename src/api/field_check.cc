#include "api/field_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <utility>

#include "api/schema.h"
#include "base/ascii.h"
#include "base/go_quote.h"
#include "wire/json_scanner.h"

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
    const bool message = field.type == schema::Type::kMessage || field.type == schema::Type::kUnion;
    if (field.is(schema::kMap) && value.kind == JsonValue::Kind::kObject) {
      std::set<std::string_view> seen;
      for (const JsonMember& member : value.members) {
        if (bytes_ > kMostBytes) return;
        const std::string here = fmt::format("{}.{}", path, member.name);
        if (!seen.insert(member.name).second) {
          add({FieldFault::Kind::kDuplicate, here, member.name, field.message});
        } else if (message) {
          element(field, member.value, here);
        }
      }
    } else if (message && field.is(schema::kRepeated)) {
      for (std::size_t i = 0; i < value.items.size(); ++i)
        element(field, value.items[i], fmt::format("{}[{}]", path, i));
    } else if (message) {
      element(field, value, path);
    }
  }
  void element(const schema::Field& field, const JsonValue& value, const std::string& path) {
    if (field.type == schema::Type::kMessage) return object(field.message, value, path);
    const schema::Field* const one = value.kind == JsonValue::Kind::kArray
                                         ? schema::union_list(field.message)
                                         : schema::union_object(field.message);
    if (one != nullptr) this->value(*one, value, path);
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

// ---- the quick answer ---------------------------------------------------------------------------

// The fields of one message by name, in slots by a hash of it.
struct KnownFields::Names {
  explicit Names(schema::MessageId message) {
    std::vector<const schema::Field*> fields;
    each_named(message, [&](const schema::Field& field) { fields.push_back(&field); });
    slots.resize(std::bit_ceil(fields.size() * 2 + 1));
    for (const schema::Field* field : fields) {
      std::size_t at = slot_of(field->name);
      while (slots[at] != nullptr) at = (at + 1) & (slots.size() - 1);
      slots[at] = field;
      has_metadata = has_metadata || field->name == "metadata";
    }
  }

  // Nobody chooses these names so that they meet: the schema is fixed, and others are not kept.
  std::size_t slot_of(std::string_view name) const {
    const auto at = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(name[i])}; };
    if (name.empty()) return 0;
    const std::size_t parts =
        name.size() * 31 + at(0) * 7 + at(name.size() / 2) * 13 + at(name.size() - 1) * 3;
    return parts & (slots.size() - 1);
  }
  const schema::Field* find(std::string_view name) const {
    for (std::size_t at = slot_of(name); slots[at] != nullptr; at = (at + 1) & (slots.size() - 1))
      if (slots[at]->name == name) return slots[at];
    return nullptr;
  }

  std::vector<const schema::Field*> slots;
  bool has_metadata = false;
};

KnownFields::KnownFields() = default;
KnownFields::~KnownFields() = default;

const KnownFields::Names& KnownFields::names_of(schema::MessageId message) {
  if (message >= names_.size()) names_.resize(std::size_t{message} + 1);
  std::unique_ptr<Names>& names = names_[message];
  if (!names) names = std::make_unique<Names>(message);
  return *names;
}

bool KnownFields::cover(std::string_view api_version, std::string_view kind,
                        std::string_view json) {
  const auto message = schema::find_message(api_version, kind);
  if (!message) return true;
  JsonScanner scanner(json);
  depth_ = 0;
  return object(scanner, *message);
}

namespace {

// Calls on_value(name) at the value of each member, which goes past it, until it is false.
template <typename OnValue>
bool scan_members(JsonScanner& json, OnValue&& on_value) {
  if (!json.take('{')) return false;
  json.skip_space();
  if (json.take('}')) return true;
  do {
    json.skip_space();
    std::string_view name;
    if (!json.name(name)) return false;
    json.skip_space();
    if (!on_value(name)) return false;
    json.skip_space();
  } while (json.take(','));
  return json.take('}');
}

template <typename OnItem>
bool scan_items(JsonScanner& json, OnItem&& on_item) {
  if (!json.take('[')) return false;
  json.skip_space();
  if (json.take(']')) return true;
  do {
    json.skip_space();
    if (!on_item()) return false;
    json.skip_space();
  } while (json.take(','));
  return json.take(']');
}

}  // namespace

// What is not of the shape that the schema says is nobody's concern here.
bool KnownFields::object(JsonScanner& json, schema::MessageId message) {
  if (json.next() != '{') return json.value(1);
  // Definitions have schemas in schemas; deeper ones are for the slow answer.
  if (depth_ == kMostDepth) return false;
  ++depth_;
  const Names& names = names_of(message);
  const bool covered = scan_members(json, [&](std::string_view name) {
    if (const schema::Field* field = names.find(name)) return value(json, *field, false);
    const bool names_kind = (name == "kind" || name == "apiVersion") && names.has_metadata;
    return names_kind && json.value(1);
  });
  --depth_;
  return covered;
}

bool KnownFields::value(JsonScanner& json, const schema::Field& field, bool one) {
  const bool choice = field.type == schema::Type::kUnion;
  if (field.type != schema::Type::kMessage && !choice) return json.value(1);
  if (!one && field.is(schema::kMap) && json.next() == '{')
    return scan_members(json, [&](std::string_view) { return value(json, field, true); });
  if (!one && field.is(schema::kRepeated) && json.next() == '[')
    return scan_items(json, [&] { return value(json, field, true); });
  if (!choice) return object(json, field.message);
  const bool list = json.next() == '[';
  const schema::Field* const is =
      list ? schema::union_list(field.message) : schema::union_object(field.message);
  return is != nullptr && (list || json.next() == '{') ? value(json, *is, false) : json.value(1);
}

}  // namespace berth
