#include "cel/unify.h"

#include <algorithm>

namespace berth::cel {

namespace {

bool is_param(const TypeRef& type) { return type->kind() == TypeKind::kParam; }

bool is_wildcard(const TypeRef& type) {
  return type->is_dynamic() || type->kind() == TypeKind::kError;
}

// Objects, opaque types and times may be null.
bool is_nullable(const TypeRef& type) {
  switch (type->kind()) {
    case TypeKind::kNull:
    case TypeKind::kOpaque:
    case TypeKind::kObject:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp: return true;
    default: return false;
  }
}

bool equal_or_more_general(const TypeRef& a, const TypeRef& b) {
  if (a->is_dynamic() || is_param(a)) return true;
  if (b->is_dynamic() || is_param(b)) return false;
  if (a->kind() != b->kind()) return false;
  switch (a->kind()) {
    case TypeKind::kType: return true;
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap: {
      const auto& x = a->parameters();
      const auto& y = b->parameters();
      return a->name() == b->name() &&
             std::equal(x.begin(), x.end(), y.begin(), y.end(), equal_or_more_general);
    }
    default: return same_type(*a, *b);
  }
}

// The type with its parameters replaced by `replace` of each.
template <typename Replace>
TypeRef rebuild(const TypeRef& type, const Replace& replace) {
  if (type->parameters().empty()) return type;
  std::vector<TypeRef> parameters;
  for (const TypeRef& each : type->parameters()) parameters.push_back(replace(each));
  return std::make_shared<const Type>(type->kind(), type->name(), std::move(parameters));
}

}  // namespace

const TypeRef& more_general(const TypeRef& a, const TypeRef& b) {
  return equal_or_more_general(a, b) ? a : b;
}

TypeRef instantiate(const TypeRef& type,
                    const std::vector<std::pair<std::string, TypeRef>>& variables) {
  if (!type->is_open()) return type;
  if (is_param(type)) {
    for (const auto& [name, variable] : variables) {
      if (name == type->name()) return variable;
    }
  }
  return rebuild(type, [&](const TypeRef& each) { return instantiate(each, variables); });
}

void collect_variables(const TypeRef& type, std::vector<std::string>& names) {
  if (!type->is_open()) return;
  if (is_param(type) && std::find(names.begin(), names.end(), type->name()) == names.end()) {
    names.push_back(type->name());
  }
  for (const TypeRef& each : type->parameters()) collect_variables(each, names);
}

bool Unifier::assignable(const TypeRef& from, const TypeRef& to) {
  const std::size_t before = journal_.size();
  if (assign(from, to)) return true;
  undo(before);
  return false;
}

bool Unifier::assignable(const std::vector<TypeRef>& from, const std::vector<TypeRef>& to) {
  const std::size_t before = journal_.size();
  if (assign_all(from, to)) return true;
  undo(before);
  return false;
}

bool Unifier::assign_all(const std::vector<TypeRef>& from, const std::vector<TypeRef>& to) {
  if (from.size() != to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!assign(from[i], to[i])) return false;
  }
  return true;
}

bool Unifier::assign(const TypeRef& from, const TypeRef& to) {
  bool known = false;
  if (is_param(to)) {
    if (substitutes(from, to, known)) return true;
    if (known) return false;
  }
  if (is_param(from)) return substitutes(to, from, known);
  if (is_wildcard(from) || is_wildcard(to)) return true;
  if (from->kind() == TypeKind::kNull) return is_nullable(to);
  if (to->kind() == TypeKind::kNull) return is_nullable(from);
  if (from->kind() != to->kind()) return false;
  if (from->kind() == TypeKind::kType) return true;
  return from->name() == to->name() && assign_all(from->parameters(), to->parameters());
}

// May `variable`, or what it stands for already (then `known`), be `type`?
bool Unifier::substitutes(const TypeRef& type, const TypeRef& variable, bool& known) {
  known = true;
  if (same_type(*type, *variable)) return true;
  if (const TypeRef* found = bound(*variable)) {
    const TypeRef current = *found;
    if (same_type(*type, *current)) return true;
    if (!assign(type, current)) return false;
    const TypeRef wider = more_general(type, current);
    if (!occurs(variable, wider)) bind(variable, wider);
    return true;
  }
  known = false;
  if (occurs(variable, type)) return false;
  bind(variable, type);
  return true;
}

bool Unifier::occurs(const TypeRef& variable, const TypeRef& within) const {
  if (same_type(*variable, *within)) return true;
  if (!within->is_open()) return false;
  if (is_param(within)) {
    const TypeRef* found = bound(*within);
    return found != nullptr && occurs(variable, *found);
  }
  return std::any_of(within->parameters().begin(), within->parameters().end(),
                     [&](const TypeRef& each) { return occurs(variable, each); });
}

TypeRef Unifier::resolve(const TypeRef& type, bool free_to_dyn) const {
  if (!type->is_open()) return type;
  if (is_param(type)) {
    if (const TypeRef* found = bound(*type)) return resolve(*found, free_to_dyn);
    return free_to_dyn ? types::dyn() : type;
  }
  return rebuild(type, [&](const TypeRef& each) { return resolve(each, free_to_dyn); });
}

TypeRef Unifier::new_variable() { return types::param("_var" + std::to_string(variables_++)); }

void Unifier::bind(const TypeRef& variable, const TypeRef& type) {
  TypeRef& place = bindings_[variable->name()];
  journal_.emplace_back(variable->name(), place);
  place = type;
}

const TypeRef* Unifier::bound(const Type& variable) const {
  const auto found = bindings_.find(variable.name());
  return found == bindings_.end() || found->second == nullptr ? nullptr : &found->second;
}

void Unifier::undo(std::size_t to) {
  while (journal_.size() > to) {
    bindings_[journal_.back().first] = std::move(journal_.back().second);
    journal_.pop_back();
  }
}

}  // namespace berth::cel
