#include "memapi/apply_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "memapi/json_edit.h"

namespace berth::memapi {

// ---- sets ---------------------------------------------------------------------------------------

const FieldSet* FieldSet::below(const FieldPath& path) const {
  const FieldSet* here = this;
  for (const std::string& element : path) {
    const auto found = here->children_.find(element);
    if (found == here->children_.end()) return nullptr;
    here = &found->second;
  }
  return here;
}

bool FieldSet::has(const FieldPath& path) const {
  const FieldSet* found = below(path);
  return found != nullptr && found->member_;
}

bool FieldSet::has_below(const FieldPath& path) const {
  const FieldSet* found = below(path);
  return found != nullptr && !found->empty();
}

void FieldSet::insert(const FieldPath& path) {
  FieldSet* here = this;
  for (const std::string& element : path) here = &here->children_[element];
  here->member_ = true;
}

void FieldSet::add(const FieldSet& other) {
  member_ = member_ || other.member_;
  for (const auto& [element, set] : other.children_) children_[element].add(set);
}

void FieldSet::prune() {
  std::erase_if(children_, [](const auto& child) { return child.second.empty(); });
}

void FieldSet::remove(const FieldSet& other) {
  if (other.member_) member_ = false;
  for (const auto& [element, set] : other.children_)
    if (const auto found = children_.find(element); found != children_.end())
      found->second.remove(set);
  prune();
}

FieldSet FieldSet::common(const FieldSet& other) const {
  FieldSet both;
  both.member_ = member_ && other.member_;
  for (const auto& [element, set] : children_) {
    const auto found = other.children_.find(element);
    if (found == other.children_.end()) continue;
    FieldSet inner = set.common(found->second);
    if (!inner.empty()) both.children_.emplace(element, std::move(inner));
  }
  return both;
}

FieldSet FieldSet::only(const std::vector<FieldPath>& tops) const {
  FieldSet kept;
  for (const FieldPath& top : tops) {
    const FieldSet* found = below(top);
    if (found == nullptr || found->empty()) continue;
    FieldSet* here = &kept;
    for (const std::string& element : top) here = &here->children_[element];
    here->add(*found);
  }
  return kept;
}

FieldSet FieldSet::without(const std::vector<FieldPath>& tops) const {
  FieldSet kept = *this;
  const FieldSet dropped = only(tops);
  // All of a top goes, whatever is below it.
  kept.remove(dropped);
  return kept;
}

void FieldSet::visit(FieldPath& path, const std::function<void(const FieldPath& path)>& f) const {
  if (member_) f(path);
  for (const auto& [element, set] : children_) {
    path.push_back(element);
    set.visit(path, f);
    path.pop_back();
  }
}

void FieldSet::for_each(const std::function<void(const FieldPath& path)>& f) const {
  FieldPath path;
  visit(path, f);
}

JsonValue FieldSet::to_json() const {
  JsonValue json = JsonValue::object();
  if (member_ && !children_.empty()) json.add(".", JsonValue::object());
  for (const auto& [element, set] : children_) json.add(element, set.to_json());
  return json;
}

std::optional<FieldSet> FieldSet::parse(const JsonValue& fields) {
  if (fields.kind != JsonValue::Kind::kObject) return std::nullopt;
  FieldSet set;
  for (const JsonMember& member : fields.members) {
    if (member.name == ".") {
      set.member_ = true;
      continue;
    }
    if (member.name.size() < 2 || member.name[1] != ':') return std::nullopt;
    auto inner = parse(member.value);
    if (!inner) return std::nullopt;
    if (member.value.members.empty()) inner->member_ = true;
    set.children_.insert_or_assign(member.name, std::move(*inner));
  }
  return set;
}

std::string path_text(const FieldPath& path) {
  std::string text;
  for (const std::string& element : path) {
    const std::string_view what = std::string_view(element).substr(2);
    if (element.starts_with("f:")) {
      text += fmt::format(".{}", what);
    } else if (element.starts_with("k:")) {
      const JsonValue keys = parse_json(what).value_or(JsonValue());
      std::string inside;
      for (const JsonMember& key : keys.members)
        inside += fmt::format("{}{}={}", inside.empty() ? "" : ",", key.name, to_json(key.value));
      text += fmt::format("[{}]", inside);
    } else if (element.starts_with("v:")) {
      text += fmt::format("[={}]", what);
    } else {
      text += fmt::format("[{}]", what);
    }
  }
  return text;
}

// ---- values -------------------------------------------------------------------------------------

std::string item_element(const JsonValue& item, const Shape& list, std::size_t place) {
  const std::vector<std::string> keys = list.keys();
  if (keys.empty()) {
    JsonValue sorted = item;
    sort_members(sorted);
    return "v:" + to_json(sorted);
  }
  JsonValue identity = JsonValue::object();
  for (const std::string& key : keys) {
    const JsonValue* found = item.kind == JsonValue::Kind::kObject ? item.find(key) : nullptr;
    JsonValue value = found != nullptr ? *found : list.key_default(key);
    if (!value.is_null()) identity.add(key, std::move(value));
  }
  if (identity.members.empty()) return fmt::format("i:{}", place);
  return "k:" + to_json(identity);
}

namespace {

using FieldForm = Shape::Form;

bool is_empty(const JsonValue& value) {
  return value.is_null() || (value.kind == JsonValue::Kind::kObject && value.members.empty()) ||
         (value.kind == JsonValue::Kind::kArray && value.items.empty());
}

std::string member_element(std::string_view name) { return fmt::format("f:{}", name); }

void collect(const JsonValue& value, const Shape& shape, FieldPath& path, FieldSet& set) {
  switch (shape.form(value)) {
    case FieldForm::kWhole: set.insert(path); return;
    case FieldForm::kObject:
      for (const JsonMember& member : value.members) {
        path.push_back(member_element(member.name));
        collect(member.value, shape.member(member.name), path, set);
        if (is_empty(member.value) || !shape.has_field(member.name)) set.insert(path);
        path.pop_back();
      }
      return;
    case FieldForm::kSetList:
    case FieldForm::kMapList:
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        path.push_back(item_element(value.items[i], shape, i));
        collect(value.items[i], shape.item(), path, set);
        set.insert(path);
        path.pop_back();
      }
      return;
  }
}

// Items by what stands for them in paths.
std::map<std::string, const JsonValue*> items_by_element(const JsonValue* list,
                                                         const Shape& shape) {
  std::map<std::string, const JsonValue*> items;
  if (list == nullptr) return items;
  for (std::size_t i = 0; i < list->items.size(); ++i)
    items.emplace(item_element(list->items[i], shape, i), &list->items[i]);
  return items;
}

class Comparison {
 public:
  FieldChanges changes;

  // One of the two may be null: absent.
  void compare(const JsonValue* before, const JsonValue* after, const Shape& shape) {
    const FieldForm was = before != nullptr ? shape.form(*before) : FieldForm::kWhole;
    const FieldForm now = after != nullptr ? shape.form(*after) : was;
    const bool parts = now != FieldForm::kWhole || (before != nullptr && was != FieldForm::kWhole);
    const bool both_empty =
        (before == nullptr || is_empty(*before)) && (after == nullptr || is_empty(*after));
    if (!parts || both_empty) return leaf(before, after);
    const FieldForm form = now != FieldForm::kWhole ? now : was;
    if (form == FieldForm::kObject) {
      members(before, after, shape);
    } else {
      items(before, after, shape);
    }
    if (before == nullptr) changes.added.insert(path_);
    if (after == nullptr) changes.removed.insert(path_);
  }

 private:
  void leaf(const JsonValue* before, const JsonValue* after) {
    if (before == nullptr) {
      changes.added.insert(path_);
    } else if (after == nullptr) {
      changes.removed.insert(path_);
    } else if (!equal(*before, *after)) {
      changes.modified.insert(path_);
    }
  }

  void step(std::string element, const JsonValue* before, const JsonValue* after,
            const Shape& shape) {
    path_.push_back(std::move(element));
    compare(before, after, shape);
    path_.pop_back();
  }

  void members(const JsonValue* before, const JsonValue* after, const Shape& shape) {
    std::map<std::string_view, std::pair<const JsonValue*, const JsonValue*>> pairs;
    if (is_object(before))
      for (const JsonMember& member : before->members) pairs[member.name].first = &member.value;
    if (is_object(after))
      for (const JsonMember& member : after->members) pairs[member.name].second = &member.value;
    for (const auto& [name, pair] : pairs)
      step(member_element(name), pair.first, pair.second, shape.member(name));
  }

  void items(const JsonValue* before, const JsonValue* after, const Shape& shape) {
    const auto old_items = items_by_element(is_array(before) ? before : nullptr, shape);
    const auto new_items = items_by_element(is_array(after) ? after : nullptr, shape);
    for (const auto& [element, item] : old_items) {
      const auto found = new_items.find(element);
      step(element, item, found == new_items.end() ? nullptr : found->second, shape.item());
    }
    for (const auto& [element, item] : new_items)
      if (!old_items.contains(element)) step(element, nullptr, item, shape.item());
  }

  FieldPath path_;
};

void drop_fields(JsonValue& value, const FieldSet& fields, const Shape& shape, FieldPath& path) {
  // Whether the field itself is to go, or what is below it.
  const auto drop = [&](JsonValue& part, std::string element, const Shape& below) {
    path.push_back(std::move(element));
    bool gone = fields.has(path);
    if (!gone && fields.has_below(path)) {
      const bool some = !is_empty(part);
      drop_fields(part, fields, below, path);
      gone = some && is_empty(part);
    }
    path.pop_back();
    return gone;
  };
  switch (shape.form(value)) {
    case FieldForm::kWhole: return;
    case FieldForm::kObject:
      std::erase_if(value.members, [&](JsonMember& member) {
        return drop(member.value, member_element(member.name), shape.member(member.name));
      });
      return;
    case FieldForm::kSetList:
    case FieldForm::kMapList: {
      std::size_t place = 0;
      std::erase_if(value.items, [&](JsonValue& item) {
        return drop(item, item_element(item, shape, place++), shape.item());
      });
      return;
    }
  }
}

}  // namespace

FieldSet fields_of_value(const JsonValue& value, const Shape& shape) {
  FieldSet set;
  FieldPath path;
  collect(value, shape, path, set);
  return set;
}

FieldChanges compare_fields(const JsonValue& before, const JsonValue& after, const Shape& shape) {
  Comparison comparison;
  comparison.compare(&before, &after, shape);
  return std::move(comparison.changes);
}

void merge_fields(JsonValue& object, const JsonValue& wish, const Shape& shape) {
  const FieldForm form = shape.form(wish);
  if (form == FieldForm::kWhole || shape.form(object) != form) {
    object = wish;
    return;
  }
  if (form == FieldForm::kObject) {
    for (const JsonMember& member : wish.members) {
      const auto found = std::ranges::find(object.members, member.name, &JsonMember::name);
      if (found == object.members.end()) {
        object.add(member.name, member.value);
      } else {
        merge_fields(found->value, member.value, shape.member(member.name));
      }
    }
    return;
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < object.items.size(); ++i)
    places.emplace(item_element(object.items[i], shape, i), i);
  for (std::size_t i = 0; i < wish.items.size(); ++i) {
    const auto found = places.find(item_element(wish.items[i], shape, i));
    if (found == places.end()) {
      object.items.push_back(wish.items[i]);
    } else {
      merge_fields(object.items[found->second], wish.items[i], shape.item());
    }
  }
}

void remove_fields(JsonValue& object, const FieldSet& fields, const Shape& shape) {
  FieldPath path;
  drop_fields(object, fields, shape, path);
}

}  // namespace berth::memapi
