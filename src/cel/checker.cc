#include "cel/checker.h"

#include <array>
#include <optional>
#include <utility>

#include "cel/unify.h"

namespace berth::cel {

namespace {

constexpr const char* kUnsupportedSelection = "unsupported optional field selection: ";

// "a.b.c", if the expression is nothing else.
std::optional<std::string> qualified_name(const Expr& expr) {
  if (expr.kind == ExprKind::kIdent) return expr.name;
  if (expr.kind != ExprKind::kSelect || expr.test_only) return std::nullopt;
  const auto prefix = qualified_name(*expr.target);
  if (!prefix) return std::nullopt;
  return *prefix + "." + expr.name;
}

std::string_view without_dot(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  return name;
}

// The types that can be named in an expression.
TypeRef named_type(std::string_view name) {
  static const std::array<TypeRef, 15> kNamed = {types::boolean(),
                                                 types::bytes(),
                                                 types::floating(),
                                                 types::duration(),
                                                 types::integer(),
                                                 types::list(types::param("A")),
                                                 types::map(types::param("A"), types::param("B")),
                                                 types::null(),
                                                 types::string(),
                                                 types::timestamp(),
                                                 types::type(),
                                                 types::unsigned_integer(),
                                                 types::optional(types::param("V")),
                                                 types::ip(),
                                                 types::cidr()};
  for (const TypeRef& each : kNamed) {
    if (each->name() == name) return each;
  }
  return nullptr;
}

class Checker {
 public:
  Checker(Parsed& parsed, const Environment& environment, Issues& issues)
      : parsed_(parsed),
        environment_(environment),
        issues_(issues),
        globals_(environment.variables.size()),
        scopes_(environment.variables) {}

  Checked run() {
    check(*parsed_.root);
    for (auto& [id, type] : checked_.types) type = unifier_.resolve(type, true);
    return std::move(checked_);
  }

 private:
  void complain(const Expr& at, std::string message) { complain(at.id, std::move(message)); }
  void complain(std::int64_t id, std::string message) {
    issues_.add(parsed_.offset(id), std::move(message));
  }
  void mismatch(const Expr& at, const Type& expected, const Type& found) {
    complain(at,
             "expected type '" + type_text(expected) + "' but found '" + type_text(found) + "'");
  }
  void undeclared(const Expr& at, std::string_view name) {
    complain(at, "undeclared reference to '" + std::string(name) + "' (in container '')");
  }

  const TypeRef& type(const Expr& expr) const { return checked_.types.at(expr.id); }
  void set(const Expr& expr, TypeRef type) {
    if (type->weight() >= Type::kMaxWeight) {
      complain(expr, "type is too large");
      type = types::error();
    }
    checked_.types[expr.id] = std::move(type);
  }

  void check(Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kLiteral: return set(expr, type_of(expr.literal));
      case ExprKind::kIdent: return check_ident(expr);
      case ExprKind::kSelect: return check_select(expr);
      case ExprKind::kCall: return check_call(expr);
      case ExprKind::kList: return check_list(expr);
      case ExprKind::kMap: return check_map(expr);
      case ExprKind::kFold: return check_fold(expr);
      case ExprKind::kStruct:
        // No message type can be made in a selector.
        undeclared(expr, expr.name);
        return set(expr, types::error());
      case ExprKind::kUnspecified: return set(expr, types::error());
    }
  }

  // Of a fold; null if there is none of that name.
  const TypeRef* local_variable(std::string_view name) const {
    for (std::size_t i = scopes_.size(); i-- > globals_;)
      if (scopes_[i].first == name) return &scopes_[i].second;
    return nullptr;
  }

  // Of the environment; null if there is none of that name.
  const TypeRef* global_variable(std::string_view name) const {
    for (std::size_t i = 0; i < globals_; ++i)
      if (scopes_[i].first == name) return &scopes_[i].second;
    return nullptr;
  }

  // A variable or a type; false if there is none of that name. A name that begins with a dot is no
  // local variable.
  bool resolve_name(Expr& expr, std::string_view written) {
    const std::string_view name = without_dot(written);
    Checked::Reference reference;
    reference.name = name;
    const std::string_view begin = name.substr(0, name.find('.'));
    const TypeRef* local = local_variable(begin);
    if (local != nullptr && name == written) {
      if (begin != name) return false;  // a field of that variable
      set(expr, *local);
      checked_.references[expr.id] = std::move(reference);
      return true;
    }
    if (const TypeRef* global = global_variable(name)) {
      if (local != nullptr) reference.name = written;  // a name that no fold uses
      set(expr, *global);
      checked_.references[expr.id] = std::move(reference);
      return true;
    }
    const TypeRef named = named_type(name);
    if (!named) return false;
    reference.is_type = true;
    reference.type = named;
    set(expr, types::type_of(named));
    checked_.references[expr.id] = std::move(reference);
    return true;
  }

  void check_ident(Expr& expr) {
    if (resolve_name(expr, expr.name)) return;
    undeclared(expr, expr.name);
    set(expr, types::error());
  }

  void check_select(Expr& expr) {
    if (const auto name = qualified_name(expr); name && resolve_name(expr, *name)) return;
    TypeRef result = select_field(expr, *expr.target, expr.name, false);
    if (expr.test_only) result = types::boolean();
    set(expr, unifier_.resolve(result, false));
  }

  TypeRef select_field(const Expr& expr, Expr& operand, const std::string& field, bool optional) {
    check(operand);
    TypeRef target = unifier_.resolve(type(operand), false);
    if (target->is_optional()) {
      optional = true;
      target = target->parameters()[0];
    }
    TypeRef result = types::error();
    switch (target->kind()) {
      case TypeKind::kMap: result = target->parameters()[1]; break;
      case TypeKind::kObject: {
        if (const TypeRef* found = environment_.field(target->name(), field)) {
          result = *found;
        } else if (environment_.objects.contains(target->name())) {
          complain(expr, "undefined field '" + field + "'");
        } else {
          complain(expr, "unexpected failed resolution of '" + target->name() + "'");
        }
        break;
      }
      case TypeKind::kParam:
        unifier_.assignable(types::dyn(), target);
        result = types::dyn();
        break;
      default:
        if (!target->is_dynamic() && target->kind() != TypeKind::kError) {
          complain(expr, "type '" + type_text(*target) + "' does not support field selection");
        }
        result = types::dyn();
    }
    return optional ? types::optional(result) : result;
  }

  void check_call(Expr& expr) {
    if (expr.name == operators::kOptionalSelect) return check_optional_select(expr);
    for (const ExprPtr& arg : expr.args) check(*arg);
    if (expr.target) {
      // Either a function in a namespace, or the receiver of one.
      const auto prefix = qualified_name(*expr.target);
      const Function* qualified =
          prefix ? functions().find(without_dot(*prefix + "." + expr.name)) : nullptr;
      if (qualified == nullptr) {
        check(*expr.target);
      } else {
        expr.name = qualified->name;
        expr.target = nullptr;
      }
    }
    const Function* function =
        functions().find(expr.target ? std::string_view(expr.name) : without_dot(expr.name));
    if (function == nullptr) {
      undeclared(expr, expr.name);
      return set(expr, types::error());
    }
    resolve_overload(expr, *function);
  }

  void check_optional_select(Expr& expr) {
    const Expr& field = *expr.args[1];
    if (!field.literal.is(Kind::kString)) {
      complain(field, std::string(kUnsupportedSelection) + "not a name");
      return set(expr, types::error());
    }
    const TypeRef result = select_field(expr, *expr.args[0], field.literal.as_string(), true);
    set(expr, unifier_.resolve(result, false));
    set(field, types::string());
  }

  void resolve_overload(const Expr& expr, const Function& function) {
    std::vector<TypeRef> args;
    if (expr.target) args.push_back(type(*expr.target));
    for (const ExprPtr& arg : expr.args) args.push_back(type(*arg));
    if (function.name == operators::kAnd || function.name == operators::kOr) {
      return check_logical(expr, function, args);
    }
    Checked::Reference reference;
    reference.function = &function;
    TypeRef result;
    for (const Overload& overload : function.overloads) {
      if (overload.member != (expr.target != nullptr)) continue;
      std::vector<std::string> names;
      for (const TypeRef& each : overload.args) collect_variables(each, names);
      collect_variables(overload.result, names);
      std::vector<std::pair<std::string, TypeRef>> variables;
      for (std::string& name : names) {
        variables.emplace_back(std::move(name), unifier_.new_variable());
      }
      std::vector<TypeRef> expected;
      for (const TypeRef& each : overload.args) expected.push_back(instantiate(each, variables));
      if (!unifier_.assignable(args, expected)) continue;
      reference.overloads.push_back(&overload);
      const TypeRef this_result = unifier_.resolve(instantiate(overload.result, variables), false);
      if (!result) {
        result = this_result;
      } else if (!result->is_dynamic() && !same_type(*this_result, *result)) {
        result = types::dyn();
      }
    }
    if (!result) {
      for (TypeRef& each : args) each = unifier_.resolve(each, true);
      complain(expr, "found no matching overload for '" + function.name + "' applied to '" +
                         signature_text(args, expr.target != nullptr) + "'");
      return set(expr, types::error());
    }
    set(expr, result);
    checked_.references[expr.id] = std::move(reference);
  }

  void check_logical(const Expr& expr, const Function& function, const std::vector<TypeRef>& args) {
    bool good = true;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (unifier_.assignable(args[i], types::boolean())) continue;
      mismatch(*expr.args[i], *types::boolean(), *args[i]);
      good = false;
    }
    if (!good) return set(expr, types::error());
    set(expr, types::boolean());
    Checked::Reference reference;
    reference.function = &function;
    reference.overloads = {&function.overloads[0]};
    checked_.references[expr.id] = std::move(reference);
  }

  // The type that both are. Of mixed types it is not known; what else is wrong with that,
  // validate() says.
  TypeRef join(const TypeRef& before, const TypeRef& now) {
    if (!before) return now;
    return unifier_.assignable(before, now) ? more_general(before, now) : types::dyn();
  }

  // What an element marked with "?" is when it is there.
  TypeRef unwrapped(const Expr& at, const TypeRef& type, bool optional) {
    if (!optional) return type;
    if (type->is_optional()) return type->parameters()[0];
    if (!type->is_dynamic()) mismatch(at, *types::optional(type), *type);
    return type;
  }

  void check_list(Expr& expr) {
    TypeRef element;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Expr& each = *expr.args[i];
      check(each);
      element = join(element, unwrapped(each, type(each), expr.optional[i]));
    }
    set(expr, types::list(element ? element : unifier_.new_variable()));
  }

  void check_map(Expr& expr) {
    TypeRef key_type;
    TypeRef value_type;
    for (std::size_t i = 0; i < expr.args.size(); i += 2) {
      Expr& key = *expr.args[i];
      check(key);
      key_type = join(key_type, type(key));
      Expr& value = *expr.args[i + 1];
      check(value);
      value_type = join(value_type, unwrapped(value, type(value), expr.optional[i / 2]));
    }
    if (!key_type) {
      key_type = unifier_.new_variable();
      value_type = unifier_.new_variable();
    }
    set(expr, types::map(key_type, value_type));
  }

  // The types of a fold's variables, for a range of this type.
  std::pair<TypeRef, TypeRef> variable_types(const Expr& range, const TypeRef& of, bool two) {
    switch (of->kind()) {
      case TypeKind::kList:
        if (two) return {types::integer(), of->parameters()[0]};
        return {of->parameters()[0], nullptr};
      case TypeKind::kMap: return {of->parameters()[0], of->parameters()[1]};
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kParam:
        unifier_.assignable(types::dyn(), of);
        return {types::dyn(), types::dyn()};
      default:
        complain(range, "expression of type '" + type_text(*of) +
                            "' cannot be range of a comprehension (must be list, map, or dynamic)");
        return {types::error(), types::error()};
    }
  }

  void check_fold(Expr& expr) {
    Expr& range = *expr.args[Expr::kRange];
    Expr& init = *expr.args[Expr::kInit];
    check(range);
    check(init);
    const TypeRef range_type = unifier_.resolve(type(range), false);
    const TypeRef accumulated = type(init);
    const std::size_t outside = scopes_.size();
    scopes_.push_back({expr.accumulator, accumulated});
    const bool two = !expr.second_variable.empty();
    const auto [first, second] = variable_types(range, range_type, two);
    scopes_.push_back({expr.variable, first});
    if (two) scopes_.push_back({expr.second_variable, second});
    check_as(*expr.args[Expr::kCondition], types::boolean());
    check_as(*expr.args[Expr::kStep], accumulated);
    scopes_.resize(outside + 1);
    Expr& result = *expr.args[Expr::kResult];
    check(result);
    scopes_.resize(outside);
    set(expr, unifier_.resolve(type(result), false));
  }

  void check_as(Expr& expr, const TypeRef& expected) {
    check(expr);
    if (!unifier_.assignable(expected, type(expr))) mismatch(expr, *expected, *type(expr));
  }

  Parsed& parsed_;
  const Environment& environment_;
  Issues& issues_;
  Checked checked_;
  Unifier unifier_;
  const std::size_t globals_;                            // the first scopes: the environment's
  std::vector<std::pair<std::string, TypeRef>> scopes_;  // the innermost last
};

}  // namespace

const TypeRef& Checked::type(const Expr& expr) const {
  const auto found = types.find(expr.id);
  return found == types.end() ? types::error() : found->second;
}

const Checked::Reference* Checked::reference(const Expr& expr) const {
  const auto found = references.find(expr.id);
  return found == references.end() ? nullptr : &found->second;
}

Checked check(Parsed& parsed, const Environment& environment, Issues& issues) {
  return Checker(parsed, environment, issues).run();
}

}  // namespace berth::cel
