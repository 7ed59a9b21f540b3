#include "cel/macros.h"

#include <array>
#include <utility>

namespace berth::cel {

namespace {

// No expression can name it.
constexpr const char* kAccumulator = "@result";
// What older expressions could name.
constexpr const char* kOldAccumulator = "__result__";
constexpr const char* kUnused = "#unused";
constexpr const char* kSortByInput = "@__sortBy_input__";

struct Call {
  const ExprFactory& make;
  ExprPtr& target;
  std::vector<ExprPtr>& args;
};

Expansion expanded(ExprPtr expr) {
  Expansion result;
  result.outcome = Expansion::Outcome::kExpanded;
  result.expr = std::move(expr);
  return result;
}

Expansion misused(const Expr& at, std::string complaint) {
  Expansion result;
  result.outcome = Expansion::Outcome::kMisused;
  result.complaint = std::move(complaint);
  result.at = at.id;
  return result;
}

constexpr const char* kOverwrites = "iteration variable overwrites accumulator variable";

bool overwrites(const std::string& name) { return name == kAccumulator || name == kOldAccumulator; }

// The iteration variables of a call: its first argument or its first two.
struct Variables {
  std::string first;
  std::string second;
  std::size_t count = 1;
};

// A misuse, or kNoMacro if all is well.
Expansion read_variables(const Call& call, std::size_t count, const char* not_a_name,
                         Variables& variables) {
  variables.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr& arg = *call.args[i];
    if (arg.kind != ExprKind::kIdent) return misused(arg, not_a_name);
    (i == 0 ? variables.first : variables.second) = arg.name;
  }
  if (count == 2 && variables.first == variables.second) {
    return misused(*call.args[1], "duplicate variable name: " + variables.first);
  }
  if (overwrites(variables.first)) return misused(*call.args[0], kOverwrites);
  if (count == 2 && overwrites(variables.second)) return misused(*call.args[1], kOverwrites);
  return {};
}

ExprFactory::Fold fold_over(const Call& call, const Variables& variables) {
  ExprFactory::Fold fold;
  fold.range = std::move(call.target);
  fold.variable = variables.first;
  fold.second_variable = variables.second;
  fold.accumulator = kAccumulator;
  return fold;
}

// The fold whose result is what it has accumulated.
Expansion accumulated(const ExprFactory& make, ExprFactory::Fold fold) {
  fold.result = make.accumulator();
  return expanded(make.fold(std::move(fold)));
}

Expansion has(const Call& call) {
  Expr& arg = *call.args[0];
  if (arg.kind != ExprKind::kSelect || arg.test_only) {
    return misused(arg, "invalid argument to has() macro");
  }
  return expanded(call.make.has(std::move(arg.target), arg.name));
}

Expansion all(const Call& call, const Variables& variables) {
  const ExprFactory& make = call.make;
  auto fold = fold_over(call, variables);
  fold.init = make.literal(Value::boolean(true));
  fold.condition = make.call(operators::kNotStrictlyFalse, make.accumulator());
  fold.step = make.call(operators::kAnd, make.accumulator(), std::move(call.args[variables.count]));
  return accumulated(make, std::move(fold));
}

Expansion exists(const Call& call, const Variables& variables) {
  const ExprFactory& make = call.make;
  auto fold = fold_over(call, variables);
  fold.init = make.literal(Value::boolean(false));
  fold.condition =
      make.call(operators::kNotStrictlyFalse, make.call(operators::kNot, make.accumulator()));
  fold.step = make.call(operators::kOr, make.accumulator(), std::move(call.args[variables.count]));
  return accumulated(make, std::move(fold));
}

Expansion exists_one(const Call& call, const Variables& variables) {
  const ExprFactory& make = call.make;
  auto fold = fold_over(call, variables);
  fold.init = make.literal(Value::integer(0));
  fold.condition = make.literal(Value::boolean(true));
  fold.step =
      make.call(operators::kConditional, std::move(call.args[variables.count]),
                make.call(operators::kAdd, make.accumulator(), make.literal(Value::integer(1))),
                make.accumulator());
  fold.result = make.call(operators::kEquals, make.accumulator(), make.literal(Value::integer(1)));
  return expanded(make.fold(std::move(fold)));
}

// The step only where a filter, if there is one, lets it.
ExprPtr filtered(const ExprFactory& make, ExprPtr filter, ExprPtr step) {
  if (!filter) return step;
  return make.call(operators::kConditional, std::move(filter), std::move(step), make.accumulator());
}

// Filter and transformation: what follows the variables, one argument or two.
std::pair<ExprPtr, ExprPtr> filter_and_transform(const Call& call, std::size_t variables) {
  if (call.args.size() == variables + 2) {
    return {std::move(call.args[variables]), std::move(call.args[variables + 1])};
  }
  return {nullptr, std::move(call.args[variables])};
}

Expansion to_list(const Call& call, const Variables& variables) {
  const ExprFactory& make = call.make;
  auto [filter, transform] = filter_and_transform(call, variables.count);
  auto fold = fold_over(call, variables);
  fold.init = make.list();
  fold.condition = make.literal(Value::boolean(true));
  fold.step =
      filtered(make, std::move(filter),
               make.call(operators::kAdd, make.accumulator(), make.list(std::move(transform))));
  return accumulated(make, std::move(fold));
}

Expansion filter(const Call& call, const Variables& variables) {
  const ExprFactory& make = call.make;
  auto fold = fold_over(call, variables);
  fold.init = make.list();
  fold.condition = make.literal(Value::boolean(true));
  ExprPtr grow = make.call(operators::kAdd, make.accumulator(), make.list(std::move(call.args[0])));
  fold.step = filtered(make, std::move(call.args[1]), std::move(grow));
  return accumulated(make, std::move(fold));
}

Expansion to_map(const Call& call, const Variables& variables, bool entries) {
  const ExprFactory& make = call.make;
  auto [filter, transform] = filter_and_transform(call, variables.count);
  auto fold = fold_over(call, variables);
  fold.init = make.map();
  fold.condition = make.literal(Value::boolean(true));
  ExprPtr insert = entries
                       ? make.call(operators::kMapInsert, make.accumulator(), std::move(transform))
                       : make.call(operators::kMapInsert, make.accumulator(),
                                   make.ident(variables.first), std::move(transform));
  fold.step = filtered(make, std::move(filter), std::move(insert));
  return accumulated(make, std::move(fold));
}

// `result` with `name` standing for `init`: a fold over nothing, whose accumulator is the name.
ExprPtr let(const ExprFactory& make, std::string name, ExprPtr init, ExprPtr step, ExprPtr result) {
  ExprFactory::Fold fold;
  fold.range = make.list();
  fold.variable = kUnused;
  fold.accumulator = std::move(name);
  fold.init = std::move(init);
  fold.condition = make.literal(Value::boolean(false));
  fold.step = std::move(step);
  fold.result = std::move(result);
  return make.fold(std::move(fold));
}

Expansion cel_bind(const Call& call) {
  if (call.target->kind != ExprKind::kIdent || call.target->name != "cel") return {};
  const Expr& variable = *call.args[0];
  if (variable.kind != ExprKind::kIdent) {
    return misused(variable, "cel.bind() variable names must be simple identifiers");
  }
  return expanded(let(call.make, variable.name, std::move(call.args[1]),
                      call.make.ident(variable.name), std::move(call.args[2])));
}

Expansion opt_map(const Call& call, bool flat) {
  const ExprFactory& make = call.make;
  const Expr& variable = *call.args[0];
  if (variable.kind != ExprKind::kIdent) {
    return misused(variable, std::string(flat ? "optFlatMap" : "optMap") +
                                 "() variable name must be a simple identifier");
  }
  ExprPtr value = make.member_call("value", make.copy(*call.target));
  ExprPtr mapped = let(make, variable.name, std::move(value), make.ident(variable.name),
                       std::move(call.args[1]));
  if (!flat) mapped = make.call("optional.of", std::move(mapped));
  ExprPtr present = make.member_call("hasValue", std::move(call.target));
  return expanded(make.call(operators::kConditional, std::move(present), std::move(mapped),
                            make.call("optional.none")));
}

Expansion sort_by(const Call& call) {
  const ExprFactory& make = call.make;
  switch (call.target->kind) {
    case ExprKind::kList:
    case ExprKind::kSelect:
    case ExprKind::kIdent:
    case ExprKind::kFold:
    case ExprKind::kCall: break;
    default:
      return misused(*call.target,
                     "sortBy can only be applied to a list, identifier, comprehension, call or "
                     "select expression");
  }
  Variables variables;
  if (auto wrong = read_variables(call, 1, "argument is not an identifier", variables);
      wrong.outcome == Expansion::Outcome::kMisused) {
    return wrong;
  }
  ExprPtr input = std::move(call.target);
  ExprPtr range = make.ident(kSortByInput);
  Expansion keys = to_list({make, range, call.args}, variables);
  ExprPtr sorted =
      make.member_call(operators::kSortByKeys, make.ident(kSortByInput), std::move(keys.expr));
  return expanded(
      let(make, kSortByInput, std::move(input), make.ident(kSortByInput), std::move(sorted)));
}

// The macros that go over a list or map: name, variables, further arguments at least and at most.
struct FoldMacro {
  std::string_view name;
  std::size_t variables;
  std::size_t least;
  std::size_t most;
  Expansion (*expand)(const Call&, const Variables&);
};

Expansion transform_map(const Call& call, const Variables& variables) {
  return to_map(call, variables, false);
}
Expansion transform_map_entry(const Call& call, const Variables& variables) {
  return to_map(call, variables, true);
}

constexpr std::array<FoldMacro, 12> kFoldMacros = {{
    {"all", 1, 1, 1, all},
    {"exists", 1, 1, 1, exists},
    {"exists_one", 1, 1, 1, exists_one},
    {"map", 1, 1, 2, to_list},
    {"filter", 1, 1, 1, filter},
    {"all", 2, 1, 1, all},
    {"exists", 2, 1, 1, exists},
    {"exists_one", 2, 1, 1, exists_one},
    {"existsOne", 2, 1, 1, exists_one},
    {"transformList", 2, 1, 2, to_list},
    {"transformMap", 2, 1, 2, transform_map},
    {"transformMapEntry", 2, 1, 2, transform_map_entry},
}};

}  // namespace

Expansion expand_macro(const ExprFactory& make, std::string_view function, ExprPtr& target,
                       std::vector<ExprPtr>& args) {
  const Call call{make, target, args};
  if (!target) return function == "has" && args.size() == 1 ? has(call) : Expansion{};
  if (function == "bind" && args.size() == 3) return cel_bind(call);
  if (function == "optMap" && args.size() == 2) return opt_map(call, false);
  if (function == "optFlatMap" && args.size() == 2) return opt_map(call, true);
  if (function == "sortBy" && args.size() == 2) return sort_by(call);
  for (const FoldMacro& macro : kFoldMacros) {
    if (macro.name != function || args.size() < macro.variables + macro.least ||
        args.size() > macro.variables + macro.most) {
      continue;
    }
    // Parity: the two kinds of macros have their own words for the same mistake.
    const bool quantifier =
        macro.expand != filter && (macro.expand != to_list || macro.variables == 2);
    Variables variables;
    Expansion wrong = read_variables(
        call, macro.variables,
        quantifier ? "argument must be a simple name" : "argument is not an identifier", variables);
    if (wrong.outcome == Expansion::Outcome::kMisused) return wrong;
    return macro.expand(call, variables);
  }
  return {};
}

// ---------------------------------------------------------------------------------------------

ExprPtr ExprFactory::make(ExprKind kind) const {
  auto expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->id = new_id_();
  return expr;
}

ExprPtr ExprFactory::literal(Value value) const {
  auto expr = make(ExprKind::kLiteral);
  expr->literal = std::move(value);
  return expr;
}

ExprPtr ExprFactory::ident(std::string name) const {
  auto expr = make(ExprKind::kIdent);
  expr->name = std::move(name);
  return expr;
}

ExprPtr ExprFactory::accumulator() const { return ident(kAccumulator); }

ExprPtr ExprFactory::list(ExprPtr element) const {
  auto expr = make(ExprKind::kList);
  if (element) {
    expr->args.push_back(std::move(element));
    expr->optional.push_back(false);
  }
  return expr;
}

ExprPtr ExprFactory::map() const { return make(ExprKind::kMap); }

ExprPtr ExprFactory::call(std::string function, ExprPtr a, ExprPtr b, ExprPtr c) const {
  auto expr = make(ExprKind::kCall);
  expr->name = std::move(function);
  if (a) expr->args.push_back(std::move(a));
  if (b) expr->args.push_back(std::move(b));
  if (c) expr->args.push_back(std::move(c));
  return expr;
}

ExprPtr ExprFactory::member_call(std::string function, ExprPtr target, ExprPtr argument) const {
  auto expr = call(std::move(function), std::move(argument));
  expr->target = std::move(target);
  return expr;
}

ExprPtr ExprFactory::has(ExprPtr operand, std::string field) const {
  auto expr = make(ExprKind::kSelect);
  expr->target = std::move(operand);
  expr->name = std::move(field);
  expr->test_only = true;
  return expr;
}

ExprPtr ExprFactory::fold(Fold fold) const {
  auto expr = make(ExprKind::kFold);
  expr->variable = std::move(fold.variable);
  expr->second_variable = std::move(fold.second_variable);
  expr->accumulator = std::move(fold.accumulator);
  expr->args.push_back(std::move(fold.range));
  expr->args.push_back(std::move(fold.init));
  expr->args.push_back(std::move(fold.condition));
  expr->args.push_back(std::move(fold.step));
  expr->args.push_back(std::move(fold.result));
  return expr;
}

ExprPtr ExprFactory::copy(const Expr& expr) const {
  auto result = std::make_unique<Expr>();
  result->kind = expr.kind;
  result->id = copy_id_(expr.id);
  result->literal = expr.literal;
  result->name = expr.name;
  result->test_only = expr.test_only;
  result->optional = expr.optional;
  result->field_names = expr.field_names;
  result->variable = expr.variable;
  result->second_variable = expr.second_variable;
  result->accumulator = expr.accumulator;
  if (expr.target) result->target = copy(*expr.target);
  for (const ExprPtr& arg : expr.args) result->args.push_back(copy(*arg));
  for (std::size_t i = 0; i < expr.entry_ids.size(); ++i) result->entry_ids.push_back(new_id_());
  return result;
}

}  // namespace berth::cel
