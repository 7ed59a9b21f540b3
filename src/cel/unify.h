// Unification: which types are assignable to which, and what follows for type variables.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cel/type.h"

namespace berth::cel {

class Unifier {
 public:
  // May `from` be given where `to` is expected? Type variables that must stand for something for
  // that do so from now on; if not, nothing changes.
  bool assignable(const TypeRef& from, const TypeRef& to);
  bool assignable(const std::vector<TypeRef>& from, const std::vector<TypeRef>& to);

  // With variables replaced by what they stand for; free ones by dyn, if `free_to_dyn`.
  TypeRef resolve(const TypeRef& type, bool free_to_dyn) const;

  TypeRef new_variable();

 private:
  bool assign(const TypeRef& from, const TypeRef& to);
  bool assign_all(const std::vector<TypeRef>& from, const std::vector<TypeRef>& to);
  bool substitutes(const TypeRef& type, const TypeRef& variable, bool& bound);
  bool occurs(const TypeRef& variable, const TypeRef& within) const;
  void bind(const TypeRef& variable, const TypeRef& type);
  const TypeRef* bound(const Type& variable) const;
  void undo(std::size_t to);

  std::unordered_map<std::string, TypeRef> bindings_;
  std::vector<std::pair<std::string, TypeRef>> journal_;  // what was there before, null if nothing
  int variables_ = 0;
};

// The more general of two types that unify.
const TypeRef& more_general(const TypeRef& a, const TypeRef& b);

// With the single-letter variables of a signature replaced.
TypeRef instantiate(const TypeRef& type,
                    const std::vector<std::pair<std::string, TypeRef>>& variables);
void collect_variables(const TypeRef& type, std::vector<std::string>& names);

}  // namespace berth::cel
