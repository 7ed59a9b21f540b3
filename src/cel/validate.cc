// What the type check does not see: literals that cannot be converted, containers of mixed types,
// formats that do not suit their arguments.

#include <algorithm>
#include <array>

#include "cel/checker.h"
#include "cel/library/regex.h"
#include "cel/library/string_format.h"

namespace berth::cel {

namespace {

class Validator {
 public:
  Validator(const Parsed& parsed, const Checked& checked, Issues& issues)
      : parsed_(parsed), checked_(checked), issues_(issues) {}

  void visit(const Expr& expr, bool in_format) {
    switch (expr.kind) {
      case ExprKind::kCall:
        check_literal_argument(expr);
        if (expr.name == "format") {
          check_format(expr);
          in_format = true;
        }
        break;
      case ExprKind::kList:
        if (!in_format) check_list(expr);
        break;
      case ExprKind::kMap:
        if (!in_format) check_map(expr);
        break;
      default: break;
    }
    if (expr.target) visit(*expr.target, in_format);
    for (const ExprPtr& arg : expr.args) visit(*arg, in_format);
  }

 private:
  void complain(const Expr& at, std::string message) {
    issues_.add(parsed_.offset(at.id), std::move(message));
  }

  // duration("x"), timestamp("x"), matches("["). Parity: it is the first argument that is looked
  // at, also where the second is the pattern.
  void check_literal_argument(const Expr& call) {
    if (call.args.empty() || call.args[0]->kind != ExprKind::kLiteral) return;
    const Expr& arg = *call.args[0];
    bool good = true;
    if (call.name == "matches") {
      good = !arg.literal.is(Kind::kString) || Regex::compile(arg.literal.as_string()).has_value();
    } else if (call.name == "duration" || call.name == "timestamp") {
      const std::array<Value, 1> args = {arg.literal};
      good = !call_function(*functions().find(call.name), nullptr, args).is_error();
    }
    if (!good) complain(arg, "invalid " + call.name + " argument");
  }

  // The type of an element, of one marked with "?" what it is when it is there.
  TypeRef element_type(const Expr& expr, bool optional) const {
    const TypeRef& type = checked_.type(expr);
    return optional && !type->parameters().empty() ? type->parameters()[0] : type;
  }

  void mismatch(const Expr& at, const Type& expected, const Type& found) {
    complain(at,
             "expected type '" + type_text(expected) + "' but found '" + type_text(found) + "'");
  }

  void check_list(const Expr& list) {
    TypeRef first;
    for (std::size_t i = 0; i < list.args.size(); ++i) {
      const TypeRef type = element_type(*list.args[i], list.optional[i]);
      if (!first) {
        first = type;
      } else if (!equivalent_type(*first, *type)) {
        mismatch(*list.args[i], *first, *type);
        break;
      }
    }
  }

  void check_map(const Expr& map) {
    TypeRef first_key;
    TypeRef first_value;
    for (std::size_t i = 0; i < map.args.size(); i += 2) {
      const Expr& key = *map.args[i];
      const Expr& value = *map.args[i + 1];
      const TypeRef key_type = checked_.type(key);
      const TypeRef value_type = element_type(value, map.optional[i / 2]);
      if (!first_key) {
        first_key = key_type;
        first_value = value_type;
        continue;
      }
      if (!equivalent_type(*first_key, *key_type)) mismatch(key, *first_key, *key_type);
      if (!equivalent_type(*first_value, *value_type)) mismatch(value, *first_value, *value_type);
    }
  }

  // "…".format([…]), both literal.
  void check_format(const Expr& call) {
    if (!call.target || call.target->kind != ExprKind::kLiteral || call.args.size() != 1 ||
        !call.target->literal.is(Kind::kString) || call.args[0]->kind != ExprKind::kList) {
      return;
    }
    const auto& args = call.args[0]->args;
    const Expr* culprit = &call;
    std::string text;
    const auto used =
        read_format(call.target->literal.as_string(), args.size(), text,
                    [&](const FormatClause& clause) -> Result<std::string> {
                      const Expr& arg = *args[clause.argument];
                      if (const Expr* bad = find_unsuitable(arg, clause.verb)) {
                        culprit = bad;
                        return fail(ErrorKind::kInvalid,
                                    wrong_argument(clause.verb, checked_.type(*bad)->name()));
                      }
                      return std::string();
                    });
    if (!used) {
      complain(*culprit, used.error().message);
    } else if (args.size() > *used) {
      complain(call, "too many arguments supplied to string.format (expected " +
                         std::to_string(*used) + ", got " + std::to_string(args.size()) + ")");
    }
  }

  // The expression that the verb cannot print, or null.
  const Expr* find_unsuitable(const Expr& expr, char verb) const {
    using enum TypeKind;
    static constexpr std::array<TypeKind, 13> kText = {
        kList,      kMap,   kInt,      kUint, kDouble, kBool, kString,
        kTimestamp, kBytes, kDuration, kType, kNull,   kDyn};
    const TypeKind kind = checked_.type(expr)->kind();
    const auto is_one_of = [kind](std::initializer_list<TypeKind> kinds) {
      return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    bool good = false;
    switch (verb) {
      case 's': good = std::find(kText.begin(), kText.end(), kind) != kText.end(); break;
      case 'd':
      case 'o': good = is_one_of({kInt, kUint, kDyn}); break;
      case 'f':
      case 'e': good = is_one_of({kDouble, kString, kDyn}); break;
      case 'b': good = is_one_of({kInt, kUint, kBool, kDyn}); break;
      default: good = is_one_of({kInt, kUint, kString, kBytes, kDyn});
    }
    if (!good) return &expr;
    if (verb != 's' || (expr.kind != ExprKind::kList && expr.kind != ExprKind::kMap))
      return nullptr;
    for (const ExprPtr& part : expr.args) {
      if (const Expr* bad = find_unsuitable(*part, verb)) return bad;
    }
    return nullptr;
  }

  const Parsed& parsed_;
  const Checked& checked_;
  Issues& issues_;
};

}  // namespace

void validate(const Parsed& parsed, const Checked& checked, Issues& issues) {
  Validator(parsed, checked, issues).visit(*parsed.root, false);
}

}  // namespace berth::cel
